"""What is kept of a source: equal content in equal bytes, paths as they were, and nothing of what failed."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import LoadProblem
from crane_core.errors import SourceError
from crane_core.importers.filetree import open_tree
from crane_core.pipeline.loading.sources import (
    KeptTree,
    RecordingTree,
    fingerprint,
    pack,
    staged_archive,
    staged_files,
    staged_sources,
)

NAMES = st.text("abc_.1é ", min_size=1, max_size=8).filter(
    lambda name: not name.startswith(".") and name.strip()
)
FILES = st.dictionaries(NAMES, st.binary(max_size=50), min_size=1, max_size=5)


@given(files=FILES)
def test_packing_depends_on_names_and_content_alone(
    files: dict[str, bytes],
) -> None:
    assert pack(files) == pack(dict(reversed(files.items())))


@pytest.mark.parametrize(
    "names",
    [
        ["a.txt"],
        ["sub/a.txt"],
        ["sub/a.txt", "sub/b.txt"],
        ["a", "b/c"],
        ["x/y/z", "x/w"],
    ],
)
def test_paths_come_back_as_they_were(tmp_path: Path, names: list[str]) -> None:
    """Although a tree leaves a single top folder out."""
    files = {name: name.encode() for name in names}
    (tmp_path / "kept.tar.gz").write_bytes(pack(files))
    tree = open_tree(tmp_path / "kept.tar.gz")
    assert {path: tree.read(path) for path in tree.paths} == files


def folder_tree(folder: Path) -> RecordingTree:
    for name in ("a.txt", "sub/b.txt", "sub/never.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return RecordingTree(open_tree(folder))


def test_of_a_folder_only_what_was_read_is_kept(tmp_path: Path) -> None:
    tree = folder_tree(tmp_path / "mine")
    (tmp_path / "mine" / "a.txt").unlink()
    with pytest.raises(SourceError):
        tree.read("a.txt")
    tree.read("sub/b.txt")
    with staged_files(
        tree, kind="made", origin="mine", into=tmp_path / "sources"
    ) as source:
        pass
    [kept] = staged_sources(tmp_path / "sources")
    assert kept == source
    again = KeptTree(
        open_tree(tmp_path / "sources" / kept.source_id / kept.file),
        kept.left_out,
    )
    assert again.paths == tree.paths == ["a.txt", "sub/b.txt", "sub/never.txt"]
    assert again.read("sub/b.txt") == b"sub/b.txt"
    assert "sub/never.txt" in again
    with pytest.raises(SourceError, match=r"a\.txt cannot be read"):
        again.read("a.txt")
    with pytest.raises(SourceError, match=r"sub/never\.txt was not kept"):
        again.read("sub/never.txt")


def test_the_sidecar_tells_what_people_ask(tmp_path: Path) -> None:
    tree = folder_tree(tmp_path / "Meine Paare")
    tree.problems.append(
        LoadProblem("x", "archive member", "it is a link; skipped")
    )
    tree.read("a.txt")
    with staged_files(
        tree, kind="made", origin="somewhere", into=tmp_path / "sources"
    ):
        pass
    [kept] = staged_sources(tmp_path / "sources")
    assert (kept.name, kept.kind, kept.origin, kept.problems) == (
        "Meine Paare",
        "made",
        "somewhere",
        (tree.problems[0],),
    )
    assert kept.source_id == kept.sha256[:12]
    path = tmp_path / "sources" / kept.source_id / kept.file
    assert (fingerprint(path), path.stat().st_size) == (
        kept.sha256,
        kept.n_bytes,
    )
    assert kept.imported.tzinfo is None


def archive(tmp_path: Path, name: str = "mine.tar.gz") -> Path:
    with tarfile.open(tmp_path / name, "w:gz") as packed:
        packed.add(folder_file(tmp_path), "a.txt")
    return tmp_path / name


def folder_file(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("a")
    return tmp_path / "a.txt"


def test_an_archive_is_kept_as_it_came(tmp_path: Path) -> None:
    path = archive(tmp_path)
    with staged_archive(
        path, kind="made", name="mine", into=tmp_path / "sources"
    ) as source:
        assert staged_sources(tmp_path / "sources") == []
    assert (
        tmp_path / "sources" / source.source_id / "mine.tar.gz"
    ).read_bytes() == path.read_bytes()
    kept = (tmp_path / "sources" / source.source_id).iterdir()
    assert sorted(path.name for path in kept) == ["mine.tar.gz", "source.json"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_when_the_body_raises_nothing_stays(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    with (
        pytest.raises(failure),
        staged_archive(
            archive(tmp_path),
            kind="made",
            name="mine",
            into=tmp_path / "sources",
        ),
    ):
        raise failure
    assert list((tmp_path / "sources").iterdir()) == []


def test_keeping_the_same_archive_again_leaves_the_first(
    tmp_path: Path,
) -> None:
    path, into = archive(tmp_path), tmp_path / "sources"
    for _ in range(2):
        with staged_archive(path, kind="made", name="mine", into=into):
            pass
    [kept] = staged_sources(into)
    first = kept.imported_at
    with staged_archive(path, kind="other", name="mine", into=into):
        pass
    assert [source.imported_at for source in staged_sources(into)] == [first]
    assert len(list(into.iterdir())) == 1


def test_sources_come_oldest_first(tmp_path: Path) -> None:
    for number in range(5):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(str(number))
        with staged_archive(
            path, kind="made", name=str(number), into=tmp_path / "sources"
        ):
            pass
    assert [source.name for source in staged_sources(tmp_path / "sources")] == [
        "0",
        "1",
        "2",
        "3",
        "4",
    ]


def test_without_a_folder_there_are_no_sources(tmp_path: Path) -> None:
    assert staged_sources(tmp_path / "nowhere") == []
