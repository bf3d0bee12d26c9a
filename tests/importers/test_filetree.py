"""Folders and archives give the same files, and nothing from outside them."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from crane_core.errors import SourceError
from crane_core.importers.archive_safety import ArchiveLimits
from crane_core.importers.filetree import open_files, open_tree

FILES = {
    "README": b"hello",
    "a/one.txt": b"1",
    "a/b/two.txt": "zwei \u00e4".encode(),
}
SMALL = ArchiveLimits(
    files=50,
    file_bytes=1_000,
    total_bytes=20_000,
    ratio=20,
    ratio_from_bytes=2_000,
)


def write_folder(target: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return target


def write_tar(
    target: Path, files: Mapping[str, bytes], mode: str = "w:gz"
) -> Path:
    with tarfile.open(target, mode) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return target


def write_zip(target: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target


SOURCES: dict[str, Callable[[Path, Mapping[str, bytes]], Path]] = {
    "folder": lambda tmp, files: write_folder(tmp / "bench", files),
    "tar.gz": lambda tmp, files: write_tar(tmp / "bench.tar.gz", files),
    "tgz": lambda tmp, files: write_tar(tmp / "bench.tgz", files),
    "tar": lambda tmp, files: write_tar(tmp / "bench.tar", files, "w"),
    "zip": lambda tmp, files: write_zip(tmp / "bench.zip", files),
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("top", ["", "bench-main/"])
def test_every_kind_of_source_gives_the_same_files_without_its_top_folder(
    tmp_path: Path, kind: str, top: str
) -> None:
    tree = open_tree(
        SOURCES[kind](
            tmp_path, {top + name: data for name, data in FILES.items()}
        )
    )
    assert tree.name == "bench"
    assert tree.paths == sorted(FILES)
    assert {path: tree.read(path) for path in tree.paths} == FILES
    assert tree.problems == []


@pytest.mark.parametrize("kind", SOURCES)
def test_hidden_files_and_checkpoints_are_left_out_without_a_word(
    tmp_path: Path, kind: str
) -> None:
    hidden = {
        ".git/config": b"x",
        "a/.ipynb_checkpoints/n.ipynb": b"x",
        "a/.DS_Store": b"x",
    }
    tree = open_tree(SOURCES[kind](tmp_path, FILES | hidden))
    assert (tree.paths, tree.problems) == (sorted(FILES), [])


@pytest.mark.parametrize("kind", ["tar.gz", "tar", "zip"])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../evil.txt", "leaves the archive"),
        ("a/../../evil.txt", "leaves the archive"),
        ("..\\evil.txt", "leaves the archive"),
        ("/etc/passwd", "absolute path"),
        ("C:\\evil.txt", "absolute path"),
    ],
)
def test_a_name_that_leads_outside_is_one_problem(
    tmp_path: Path, kind: str, name: str, reason: str
) -> None:
    tree = open_tree(SOURCES[kind](tmp_path, FILES | {name: b"evil"}))
    assert tree.paths == sorted(FILES)
    [problem] = tree.problems
    assert reason in problem.reason
    assert problem.path.replace("\\", "/") == name.replace("\\", "/")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (tarfile.SYMTYPE, "a link"),
        (tarfile.LNKTYPE, "a link"),
        (tarfile.CHRTYPE, "not a regular file"),
        (tarfile.FIFOTYPE, "not a regular file"),
    ],
)
def test_links_and_devices_in_a_tar_are_refused(
    tmp_path: Path, kind: bytes, reason: str
) -> None:
    path = tmp_path / "bench.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        special = tarfile.TarInfo("special")
        special.type, special.linkname = kind, "/etc/passwd"
        archive.addfile(special)
        good = tarfile.TarInfo("good.txt")
        good.size = 2
        archive.addfile(good, io.BytesIO(b"ok"))
    tree = open_tree(path)
    assert tree.paths == ["good.txt"]
    assert [
        (problem.path, reason in problem.reason) for problem in tree.problems
    ] == [("special", True)]


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "bench.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("good.txt", "ok")
    tree = open_tree(tmp_path / "bench.zip")
    assert (tree.paths, [problem.path for problem in tree.problems]) == (
        ["good.txt"],
        ["link"],
    )


def test_a_folder_does_not_follow_links_that_lead_out_of_it(
    tmp_path: Path,
) -> None:
    outside = write_folder(tmp_path / "outside", {"secret.txt": b"secret"})
    bench = write_folder(tmp_path / "bench", FILES)
    (bench / "file_link").symlink_to(outside / "secret.txt")
    (bench / "folder_link").symlink_to(outside)
    (bench / "inside_link").symlink_to(bench / "README")
    os.mkfifo(bench / "pipe")
    tree = open_tree(bench)
    assert tree.paths == sorted([*FILES, "inside_link"])
    assert sorted(problem.path for problem in tree.problems) == [
        "file_link",
        "folder_link",
        "pipe",
    ]


@pytest.mark.parametrize("kind", ["tar.gz", "tar", "zip"])
def test_the_first_of_two_members_of_a_name_counts_and_the_second_is_a_problem(
    tmp_path: Path, kind: str
) -> None:
    path = SOURCES[kind](tmp_path, FILES | {"a\\one.txt": b"second"})
    tree = open_tree(path)
    assert tree.read("a/one.txt") == b"1"
    assert ["duplicate" in problem.reason for problem in tree.problems] == [
        True
    ]


@pytest.mark.parametrize("kind", ["tar.gz", "tar", "zip"])
def test_an_oversize_member_is_one_problem_and_the_rest_is_read(
    tmp_path: Path, kind: str
) -> None:
    tree = open_tree(
        SOURCES[kind](tmp_path, FILES | {"big.bin": os.urandom(1_001)}), SMALL
    )
    assert tree.paths == sorted(FILES)
    assert [
        (problem.path, "larger than 1,000" in problem.reason)
        for problem in tree.problems
    ] == [("big.bin", True)]


def test_an_oversize_file_of_a_folder_is_refused_when_it_is_read(
    tmp_path: Path,
) -> None:
    tree = open_tree(
        write_folder(tmp_path / "bench", FILES | {"big.bin": bytes(1_001)}),
        SMALL,
    )
    with pytest.raises(SourceError, match="larger than 1,000 bytes"):
        tree.read("big.bin")


@pytest.mark.parametrize("kind", ["tar.gz", "zip"])
def test_a_bomb_by_ratio_or_total_is_refused_as_a_whole(
    tmp_path: Path, kind: str
) -> None:
    by_ratio = SOURCES[kind](tmp_path, {"zeros.bin": bytes(100_000)})
    with pytest.raises(SourceError, match="more than 20 times its size"):
        open_tree(by_ratio, ArchiveLimits(ratio=20, ratio_from_bytes=2_000))
    by_total = SOURCES[kind](
        tmp_path, {f"{n}.bin": os.urandom(900) for n in range(30)}
    )
    with pytest.raises(SourceError, match="more than 20,000 bytes"):
        open_tree(by_total, SMALL)


@pytest.mark.parametrize("kind", SOURCES)
def test_too_many_files_are_refused_as_a_whole(
    tmp_path: Path, kind: str
) -> None:
    source = SOURCES[kind](tmp_path, {f"{n}.txt": b"" for n in range(51)})
    with pytest.raises(SourceError, match="more than 50 files"):
        open_tree(source, ArchiveLimits(files=50))


@pytest.mark.parametrize("kind", ["tar.gz", "tar", "zip"])
def test_an_archive_cut_anywhere_is_refused_as_a_whole(
    tmp_path: Path, kind: str
) -> None:
    path = SOURCES[kind](tmp_path, FILES)
    whole = path.read_bytes()
    end = 512 * 2 * len(FILES) if kind == "tar" else len(whole) - 1
    for length in [*range(0, end, 97), end]:
        path.write_bytes(whole[:length])
        with pytest.raises(SourceError):
            open_tree(path)


def test_a_tar_with_a_damaged_header_in_the_middle_is_refused(
    tmp_path: Path,
) -> None:
    path = write_tar(tmp_path / "bench.tar", FILES, "w")
    data = bytearray(path.read_bytes())
    data[1024 + 10] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(SourceError, match="damaged at byte 1,024"):
        open_tree(path)


def test_a_damaged_zip_member_is_told_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bench.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.txt", "abcdef")
        archive.writestr("b.txt", "good")
    path.write_bytes(path.read_bytes().replace(b"abcdef", b"abcxef"))
    tree = open_tree(path)
    with pytest.raises(SourceError, match=r"a\.txt cannot be unpacked"):
        tree.read("a.txt")
    assert tree.read("b.txt") == b"good"


@pytest.mark.parametrize(
    "name", ["bench.tar.gz", "bench.tgz", "bench.tar", "bench.zip"]
)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not an archive",
        b"\x1f\x8bnot gzip",
        gzip.compress(b"no tar", mtime=0),
    ],
)
def test_what_is_no_archive_is_refused_with_a_remedy(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SourceError) as refusal:
        open_tree(path)
    assert name in str(refusal.value.args[0])
    assert refusal.value.remedy


def test_single_files_make_a_tree(tmp_path: Path) -> None:
    write_folder(
        tmp_path,
        {
            "x/n_fixed.ipynb": b"f",
            "y/n_reproduced.ipynb": b"r",
            "z/p.jsonl": b"{}",
        },
    )
    assert open_tree(tmp_path / "z" / "p.jsonl").paths == ["p.jsonl"]
    pair = open_files(
        [
            tmp_path / "x" / "n_fixed.ipynb",
            tmp_path / "y" / "n_reproduced.ipynb",
        ],
        "n",
    )
    assert (
        pair.name,
        pair.read("n_fixed.ipynb"),
        pair.read("n_reproduced.ipynb"),
    ) == (
        "n",
        b"f",
        b"r",
    )


def test_a_missing_path_and_two_files_of_one_name_are_refused(
    tmp_path: Path,
) -> None:
    write_folder(tmp_path, {"x/n.ipynb": b"", "y/n.ipynb": b""})
    with pytest.raises(SourceError, match="does not exist"):
        open_tree(tmp_path / "nowhere")
    with pytest.raises(SourceError, match="same name"):
        open_files(
            [tmp_path / "x" / "n.ipynb", tmp_path / "y" / "n.ipynb"], "n"
        )


def test_a_path_that_is_not_in_the_tree_cannot_be_read(tmp_path: Path) -> None:
    write_folder(tmp_path, {"outside.txt": b"secret", "bench/in.txt": b"x"})
    with pytest.raises(SourceError, match="is not in bench"):
        open_tree(tmp_path / "bench").read("../outside.txt")


def test_the_published_archive_is_indexed_whole(
    crane_llm_archive: Path,
) -> None:
    tree = open_tree(crane_llm_archive)
    assert (len(tree.paths), tree.problems, tree.name) == (
        18_009,
        [],
        "crane_llm",
    )
    assert (
        len(
            tree.by_folder()[
                "llms/llms_outputs/results_raw/gpt_5/crash_detection_code/other"
            ]
        )
        == 32
    )


def write_lying_zip(
    target: Path, name: str, data: bytes, declared: int
) -> Path:
    """A zip whose directory and header both say that `name` unpacks to `declared` bytes."""
    write_zip(target, {name: data})
    told, lie = len(data).to_bytes(4, "little"), declared.to_bytes(4, "little")
    packed = target.read_bytes()
    assert packed.count(told) == 2
    target.write_bytes(packed.replace(told, lie))
    return target


def peak_bytes(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_zip_member_that_unpacks_to_more_than_it_declares_is_refused_without_unpacking_it(
    tmp_path: Path,
) -> None:
    tree = open_tree(
        write_lying_zip(
            tmp_path / "bench.zip", "a.ipynb", bytes(50_000_001), declared=1_000
        )
    )

    def read() -> None:
        with pytest.raises(SourceError, match=r"a\.ipynb cannot be unpacked"):
            tree.read("a.ipynb")

    assert peak_bytes(read) < 2_000_000


def test_a_crowded_zip_is_refused_before_its_directory_is_read(
    tmp_path: Path,
) -> None:
    crowded = write_zip(
        tmp_path / "bench.zip", {str(number): b"" for number in range(5_000)}
    )

    def read() -> None:
        with pytest.raises(SourceError, match="more than 50 files"):
            open_tree(crowded, ArchiveLimits(files=50))

    assert peak_bytes(read) < 500_000


def test_a_gzipped_tar_is_held_in_memory_once(tmp_path: Path) -> None:
    packed = write_tar(
        tmp_path / "bench.tar.gz", {"zeros.bin": bytes(20_000_000)}
    )
    assert peak_bytes(lambda: open_tree(packed)) < 30_000_000
