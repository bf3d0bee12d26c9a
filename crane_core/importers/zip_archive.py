"""Reading .zip files member by member, without writing anything to disk.

Knows the zip format through `zipfile` and which members to refuse. Refuses to know what the files mean.
"""

from __future__ import annotations

import lzma
import stat
import struct
import zipfile
import zlib
from pathlib import Path

from crane_core.errors import SourceError
from crane_core.importers.archive_safety import (
    Contents,
    Limits,
    is_hidden,
    normal_name,
    refuse_bomb,
    refuse_crowd,
    unsafe_name,
)

_ENCRYPTED = 0x1
_FETCH_AGAIN = "Download or pack it again, then import it again."
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error, lzma.LZMAError),
    *(EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError, OSError),
)
"""All that zipfile raises for damaged bytes, unknown methods of packing and missing passwords."""


def open_zip(path: Path, limits: Limits) -> Contents:
    """Index a zip archive; members are unpacked when they are asked for, and their checksum is verified then.

    Raises SourceError for a file that is no zip archive, is damaged or cut short, or is a bomb.
    """
    try:
        archive = zipfile.ZipFile(path)
    except _BROKEN as error:
        raise SourceError(f"{path.name} is not a readable zip archive: {error}.", remedy=_FETCH_AGAIN) from error
    members = archive.infolist()
    refuse_crowd(len(members), path.name, limits)
    refuse_bomb(sum(member.file_size for member in members), path.stat().st_size, path.name, limits)
    kept: dict[str, zipfile.ZipInfo] = {}
    contents = Contents(read=lambda name: _read(archive, kept[name]))
    for member in members:
        name = normal_name(member.filename)
        if name.endswith("/") or is_hidden(name) and unsafe_name(name) is None:
            continue
        reason = _refusal(member, name, limits, known=name in kept)
        if reason:
            contents.refuse(member.filename, reason)
        else:
            kept[name] = member
    contents.names = list(kept)
    return contents


def _refusal(member: zipfile.ZipInfo, name: str, limits: Limits, *, known: bool) -> str | None:
    mode = member.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "it is a link"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "it is not an ordinary file"
    if member.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if member.file_size > limits.file_bytes:
        return f"it is larger than {limits.file_bytes:,} bytes"
    return unsafe_name(name) or ("a file of this name came before" if known else None)


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(member)
    except _BROKEN as error:
        raise SourceError(f"{member.filename} cannot be unpacked: {error}.", remedy=_FETCH_AGAIN) from error
