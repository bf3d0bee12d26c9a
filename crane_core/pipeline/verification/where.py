"""Where the notebooks of a benchmark lie: in a folder or archive that is named, in what ships, or in a kept source.

A kept source holds no data files. Its folder is used where it is still there with the same notebooks, else its copy.

A notebook runs in a copy of its folder, so that nothing of the benchmark changes.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from crane_core.domain import Version
from crane_core.errors import SourceError
from crane_core.given_path import special_files
from crane_core.importers.filetree import FileTree, open_tree
from crane_core.importers.pairs import KIND, PairFiles, pair_files
from crane_core.pipeline.loading.sources import StagedSource, staged_sources
from crane_core.pipeline.places import DataFolder, embedded
from crane_core.runtime.isolation import is_small

MINIBENCH = "minibench"


class Pair(NamedTuple):
    """Two notebooks that claim to be a pair; `fault` is why they cannot be, None if nothing speaks against it."""

    case_id: str
    paths: dict[Version, Path]
    exception: str | None
    fault: str | None


class Bench(NamedTuple):
    """Pairs of one benchmark. A notebook may read what lies below `root`, which they all do."""

    benchmark: str
    root: Path
    pairs: list[Pair]


def benches(what: str, folder: DataFolder, into: Path) -> list[Bench]:
    """The pairs that a path or the name of a benchmark means; archives are unpacked below `into`.

    Raises SourceError if there are none.
    """
    path = Path(what)
    found = (
        [_of_path(path, into)]
        if path.exists()
        else named_benches(what, folder, into)
    )
    if not any(bench.pairs for bench in found):
        known = sorted({MINIBENCH, *(name for name, _ in _kept(folder))})
        raise SourceError(
            f"{what} is neither a folder with pairs nor a benchmark whose notebooks are here.",
            remedy=f"Name a folder with <case>_reproduced.ipynb and <case>_fixed.ipynb, or one of: {', '.join(known)}.",
        )
    return found


def named_benches(
    benchmark: str, folder: DataFolder, into: Path
) -> list[Bench]:
    """The pairs of a benchmark by its name; empty where none of its notebooks are here."""
    if benchmark == MINIBENCH:
        return [_of_path(embedded()[MINIBENCH], into)]
    return list(_of_sources(benchmark, folder, into))


def _of_path(path: Path, into: Path) -> Bench:
    tree = open_tree(path)
    if path.is_dir():
        return _bench(tree, path.resolve() / tree.top, path.resolve().parent)
    root = _unpacked(tree, into / path.name)
    return _bench(tree, root, root)


def _of_sources(
    benchmark: str, folder: DataFolder, into: Path
) -> Iterator[Bench]:
    for name, source in _kept(folder):
        if name == benchmark:
            tree = open_tree(folder.sources / source.source_id / source.file)
            if (root := _as_it_was(tree, source)) is not None:
                yield _bench(tree, root, root.parent)
            else:
                root = _unpacked(tree, into / source.source_id)
                yield _bench(tree, root, root)


def _kept(folder: DataFolder) -> Iterator[tuple[str, StagedSource]]:
    """Kept sources that hold pairs, with the benchmark of each."""
    for source in staged_sources(folder.sources):
        if source.kind == KIND:
            yield (
                pair_files(
                    open_tree(folder.sources / source.source_id / source.file)
                )[0].benchmark,
                source,
            )


def _as_it_was(tree: FileTree, source: StagedSource) -> Path | None:
    """Where the files of a source lay when it was imported, if the same notebooks still lie there."""
    origin = Path(source.origin)
    try:
        root = (
            origin / open_tree(origin).top if origin.is_dir() else origin.parent
        )
    except SourceError:
        return None
    for pair in pair_files(tree)[1]:
        for path in pair.paths.values():
            file = root / path
            if not file.is_file() or file.read_bytes() != tree.read(path):
                return None
    return root.resolve()


def _unpacked(tree: FileTree, into: Path) -> Path:
    for path in tree.paths:
        file = into / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(tree.read(path))
    return into.resolve()


def _bench(tree: FileTree, notebooks: Path, root: Path) -> Bench:
    benchmark, pairs = pair_files(tree)
    return Bench(
        benchmark.benchmark, root, [_pair(pair, notebooks) for pair in pairs]
    )


def _pair(pair: PairFiles, root: Path) -> Pair:
    missing = [version for version in Version if version not in pair.paths]
    fault = (
        f"there is no {pair.case_id}_{missing[0]}.ipynb" if missing else None
    )
    if pair.doubles:
        fault = f"there are several {pair.doubles[0].rpartition('/')[2]}"
    return Pair(
        pair.case_id,
        {version: root / path for version, path in pair.paths.items()},
        pair.exception,
        fault,
    )


@contextmanager
def own_copy(root: Path, folder: Path) -> Iterator[Path]:
    """A copy of `folder`, which is `root` or lies in it. What is beside it up to `root` is linked, not copied.

    So paths like ../data work. Of a folder too large to copy every entry is a link.
    """
    with TemporaryDirectory(prefix="crane-copy-") as place:
        here, there = Path(place).resolve(), root.resolve()
        for part in folder.resolve().relative_to(there).parts:
            _link(there, here, leave_out=part)
            here, there = here / part, there / part
            here.mkdir()
        if is_small(there) and not here.is_relative_to(there):
            shutil.copytree(
                there,
                here,
                symlinks=True,
                dirs_exist_ok=True,
                ignore=special_files,
            )
        else:
            _link(there, here)
        yield here


def _link(there: Path, here: Path, leave_out: str | None = None) -> None:
    for entry in there.iterdir():
        if entry.name != leave_out:
            (here / entry.name).symlink_to(entry)
