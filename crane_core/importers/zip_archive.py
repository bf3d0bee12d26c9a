"""Reading .zip files member by member, without writing anything to disk.

Knows the zip format through `zipfile`, Zstandard through pyarrow, and which members to refuse. Refuses to know what the
files mean.
"""

import copy
import lzma
import mmap
import re
import stat
import struct
import zipfile
import zlib
from itertools import islice
from pathlib import Path

from crane_core.errors import SourceError
from crane_core.importers import archive_safety

_ENCRYPTED = 0x1
_ZSTANDARD = 93
"""The method of packing in Inspect's logs, which `zipfile` reads from Python 3.14 on."""

_ENTRY = re.escape(b"PK\x01\x02")
_FETCH_AGAIN = "Download or pack it again, then import it again."
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error, lzma.LZMAError),
    *(
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
        OverflowError,
        OSError,
    ),
)
"""All that zipfile raises for damaged bytes, unknown methods of packing and missing passwords."""


def open_zip(
    path: Path, limits: archive_safety.ArchiveLimits
) -> archive_safety.Contents:
    """Index a zip archive; members are unpacked on request, and their checksum is verified then.

    Raises SourceError for a file that is not a zip archive, is damaged or cut short, or is a bomb.
    """
    try:
        archive_safety.refuse_crowd(
            _entries(path, limits.files + 1), path.name, limits
        )
        archive = zipfile.ZipFile(path)
    except _BROKEN as error:
        raise SourceError(
            f"{path.name} is not a readable zip archive: {error}.",
            remedy=_FETCH_AGAIN,
        ) from error
    members = archive.infolist()
    archive_safety.refuse_bomb(
        sum(member.file_size for member in members),
        path.stat().st_size,
        path.name,
        limits,
    )
    kept: dict[str, zipfile.ZipInfo] = {}
    contents = archive_safety.Contents(
        read=lambda name: read_member(archive, kept[name])
    )
    for member in members:
        name = archive_safety.normal_name(member.filename)
        if (
            name.endswith("/")
            or archive_safety.is_hidden(name)
            and archive_safety.unsafe_name(name) is None
        ):
            continue
        reason = _refusal(member, name, limits, known=name in kept)
        if reason:
            contents.refuse(member.filename, reason)
        else:
            kept[name] = member
    contents.names = list(kept)
    return contents


def _refusal(
    member: zipfile.ZipInfo,
    name: str,
    limits: archive_safety.ArchiveLimits,
    *,
    known: bool,
) -> str | None:
    mode = member.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "it is a link"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "it is not a regular file"
    if member.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if member.file_size > limits.file_bytes:
        return f"it is larger than {limits.file_bytes:,} bytes"
    return archive_safety.unsafe_name(name) or (
        "duplicate file name" if known else None
    )


def _entries(path: Path, at_most: int) -> int:
    """Entries of the directory, counted before zipfile makes an object of each; files stored unpacked may add some."""
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        return sum(1 for _ in islice(re.finditer(_ENTRY, data), at_most))


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of one member, never more than it declares; SourceError if it is damaged or declares too few.

    `ZipFile.read` unpacks everything there is before it looks at the declared size.
    """
    try:
        if member.compress_type == _ZSTANDARD:
            return _read_zstandard(archive, member)
        with archive.open(member) as file:
            return file.read(member.file_size + 1)
    except _BROKEN as error:
        raise SourceError(
            f"{member.filename} cannot be unpacked: {error}.",
            remedy=_FETCH_AGAIN,
        ) from error


def _read_zstandard(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The packed bytes, read as if they were stored, and unpacked up to one byte more than declared."""
    import pyarrow as pa  # 0.2 s, which other archives need not wait for

    packed = copy.copy(member)
    packed.compress_type, packed.file_size = (
        zipfile.ZIP_STORED,
        member.compress_size,
    )
    del packed.CRC  # it is that of the unpacked bytes
    with (
        archive.open(packed) as file,
        pa.input_stream(file, compression="zstd") as unpacked,
    ):
        data: bytes = unpacked.read(member.file_size + 1)
    if zlib.crc32(data) != member.CRC:
        raise zipfile.BadZipFile("its checksum is wrong")
    return data
