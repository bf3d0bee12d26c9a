"""The quick reader of tar headers says what Python's own says, of every format and of damaged headers."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.importers.tar_archive import LeanHeader
from tests.examples import examples

LONG = "folder/" * 30 + "notebook.json"
LINKS = (tarfile.SYMTYPE, tarfile.LNKTYPE)
KINDS = (tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, *LINKS)


def packed(names: list[str], kind: bytes, tar_format: int) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tar_format) as archive:
        for n_bytes, name in enumerate(names):
            member = tarfile.TarInfo(name)
            member.type, member.size = (
                kind,
                n_bytes if kind == tarfile.REGTYPE else 0,
            )
            member.mtime, member.uname, member.linkname = (
                1_700_000_000,
                "ada",
                "elsewhere" if kind in LINKS else "",
            )
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return file.getvalue()


def listed(
    data: bytes, header: type[tarfile.TarInfo]
) -> list[tuple[object, ...]] | str:
    """What matters of each member, or the words of the refusal."""
    try:
        with tarfile.open(
            fileobj=io.BytesIO(data), mode="r:", tarinfo=header
        ) as archive:
            return [
                (m.name, m.size, m.type, m.offset, m.offset_data, m.linkname)
                for m in archive
            ]
    except tarfile.TarError as error:
        return str(error)


@pytest.mark.parametrize(
    "tar_format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_and_format_is_read_as_tarfile_reads_it(
    kind: bytes, tar_format: int
) -> None:
    data = packed(["a.json", LONG, "Zürich.ipynb"], kind, tar_format)
    assert listed(data, LeanHeader) == listed(data, tarfile.TarInfo)


def test_a_plain_file_does_not_go_to_the_slow_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = packed(["a.json", LONG], tarfile.REGTYPE, tarfile.GNU_FORMAT)
    monkeypatch.setattr(tarfile, "nti", None)
    assert LeanHeader.frombuf(data[:512], "utf-8", "strict").name == "a.json"


@examples(200)
@given(st.integers(0, 511), st.integers(0, 255))
def test_a_changed_byte_of_a_header_is_refused_as_tarfile_refuses_it(
    place: int, byte: int
) -> None:
    data = bytearray(packed(["a.json"], tarfile.REGTYPE, tarfile.GNU_FORMAT))
    data[place] = byte
    assert listed(bytes(data), LeanHeader) == listed(
        bytes(data), tarfile.TarInfo
    )
