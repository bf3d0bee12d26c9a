"""`import`: recognise and load the user's files."""

import argparse
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.domain import JsonObject, ProblemKind, Setting
from crane_core.errors import SourceError
from crane_core.importers import (
    captured_states,
    mapped_answers,
    pairs,
    predictions,
)
from crane_core.importers.answer_maps.answer_map import WHOLE_FILE
from crane_core.importers.crane_dataset import MARKER
from crane_core.importers.filetree import open_tree
from crane_core.importers.mapped_answers import proposed_map
from crane_core.pipeline.export.evidence import Unpacked, is_pack, unpack
from crane_core.pipeline.export.run_file import is_run_file, opened_run
from crane_core.pipeline.loading import editions, load, notebook_column
from crane_core.pipeline.loading.in_place import import_in_place
from crane_core.pipeline.loading.mapped import beside_map
from crane_core.pipeline.loading.saved_dataset import readable
from crane_core.pipeline.own_notebooks.capture_many import CapturedNotebook
from crane_core.pipeline.own_notebooks.check import refuse_if_forbidden
from crane_core.pipeline.places import DataFolder
from crane_core.runtime.limits import KernelLimits
from crane_core.storage.tables import noun
from crane_core.terminal import as_typed, give, give_either, one_line, tell
from crane_core.verbs.capture import ELSEWHERE, add_bounds, captured_into
from crane_core.verbs.check import add_isolation
from crane_core.verbs.remove import add_by, who

NAME = "import"
HELP = (
    "load an archive (.tar.gz, .zip), a folder, a notebook pair, predictions (.jsonl, .csv, .parquet),"
    " captured states (.json), logs and exports of other evaluation tools, or a dataset with a notebook column"
)
EXAMPLE = """python -m crane_core import crane_llm.tar.gz
         python -m crane_core import my_1_reproduced.ipynb my_1_fixed.ipynb
         python -m crane_core import my_pairs --capture
         python -m crane_core import results.json --setting runtime
         python -m crane_core import --in-place predictions/"""
SHOWN_PROBLEMS = 20
STATES = "states"
"""Folder of the data folder with what --capture wrote, a folder for each benchmark."""
_WHOLE = frozenset(
    {
        pairs.KIND,
        predictions.KIND,
        mapped_answers.KIND,
        captured_states.KIND,
    }
)
"""Kinds of people's own files, which should come in whole; published ones have known gaps."""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what `import` takes: paths of sources, and whether notebooks are captured or files kept in place."""
    add(
        verb,
        option(
            "paths PATH",
            "an archive, a folder, a file of predictions, states or logs, or the notebooks of pairs",
            arguments.path,
            nargs="+",
        ),
        flag(
            "--capture",
            "also run each notebook of a folder of pairs up to its target, and load the kernel states that it finds;"
            f" states are kept in {STATES}/ of the data folder, and only those of changed notebooks are captured again",
        ),
        flag(
            "--replace",
            "where a folder changed since its import, take its new content and remove the old source",
        ),
        flag(
            "--in-place",
            "runs or judgements by the million: keep Parquet files as they are, and read them where they are kept"
            " (columns: docs/admin/scale.md)",
        ),
    )
    add_by(verb)
    add(
        verb,
        flag("--json", "print counts and problems as JSON to stdout"),
    )
    add(
        verb.add_argument_group(
            "answers in a file of another tool",
            "which member of a row means what; mappings for several tools ship: docs/researcher/other-tools.md",
        ),
        option("--map TOML", "the mapping of the file", arguments.path),
        flag(
            "--propose-map",
            "print a mapping to begin with, made from the file's first rows, and import nothing",
        ),
        option(
            "--detector NAME",
            "what answered, in the whole file",
            arguments.name,
        ),
        option(
            "--setting S",
            f"what it was shown, in the whole file: {', '.join(Setting)}",
            choices=[str(setting) for setting in Setting],
        ),
        option(
            "--benchmark NAME",
            "the benchmark of the instances, in the whole file",
            arguments.name,
        ),
    )
    add(
        verb.add_argument_group(
            "with --capture",
            "the options of `capture`, which says more about them",
        ),
        option(
            "--python PATH",
            "interpreter to run; it must have ipykernel",
            arguments.name,
        ),
        option(
            "--timeout-s S",
            "for each cell",
            arguments.seconds,
            default=KernelLimits().cell_s,
        ),
    )
    add_bounds(verb)
    add_isolation(verb)


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Import each path as a source, an evidence pack or a run, and print counts and problems.

    Returns 0, or 1 if a part of one's own files could not be read (the rest is loaded). Raises SourceError for a
    path of no known kind or a folder that changed since its import.
    """
    if chosen.capture:
        return _with_states(chosen, folder)
    if chosen.propose_map:
        return _propose_map(chosen)
    only = chosen.paths[0] if len(chosen.paths) == 1 else None
    # A pack and a run carry ledger files, which are copied and checked, not read as a source.
    if only is not None and not chosen.in_place:
        if is_pack(only):
            return _take_pack(only, folder, as_json=chosen.json)
        if is_run_file(only):
            with opened_run(only) as opened:
                return _take_pack(
                    opened, folder, as_json=chosen.json, name=only.name
                )
    imports = _imports(chosen, folder)
    _give(imports, chosen)
    return 1 if any(_is_partial(entry) for entry in imports) else 0


def _imports(
    chosen: argparse.Namespace, folder: DataFolder
) -> list[load.Imported]:
    if chosen.in_place:
        return list(import_in_place(chosen.paths, folder))
    by = who(chosen) if chosen.replace else None
    imports: list[load.Imported] = []
    stated = {
        name: getattr(chosen, name)
        for name in WHOLE_FILE
        if getattr(chosen, name) is not None
    }
    if chosen.map is not None or stated:
        for path in chosen.paths:
            with readable([path]) as sources:
                for [file] in sources:
                    with beside_map(file, chosen.map, stated) as mapped:
                        imports.append(
                            load.import_paths(mapped, folder, replace_by=by)
                        )
        return imports
    for source in load.as_sources(chosen.paths):
        with readable(source) as sources:
            for paths in sources:
                imports += _imported(paths, folder, by)
    return imports


def _propose_map(chosen: argparse.Namespace) -> int:
    """Print a mapping for the one file that is named. Raises SourceError."""
    if len(chosen.paths) != 1:
        raise SourceError(
            "--propose-map takes one file.", remedy="Name one file of answers."
        )
    give(proposed_map(open_tree(chosen.paths[0])))
    return 0


def _give(
    imports: list[load.Imported],
    chosen: argparse.Namespace,
    failed: list[CapturedNotebook] | None = None,
) -> None:
    """What was imported; `failed`: the notebooks without a state, if states were requested."""
    document: JsonObject = {"imports": [_as_json(entry) for entry in imports]}
    lines = [in_words(entry) for entry in imports]
    if failed is not None:
        document["not_captured"] = [
            {"notebook": str(one.of.notebook), "error": str(one.error)}
            for one in failed
        ]
        lines += [
            f"  not captured: {one.of.notebook}: {one_line(str(one.error))}"
            for one in failed
        ]
    give_either(document, "\n".join(lines), as_json=chosen.json)


def _with_states(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """A folder of pairs, then the states of its notebooks: what `import`, `capture` and `import` do one by one.

    The pairs are loaded even where a notebook cannot be run: they are a benchmark without states.
    """
    top = _folder_of_pairs(chosen)
    # Before the pairs are imported, so that a refused command leaves nothing behind.
    refuse_if_forbidden(os.environ, remedy=ELSEWHERE)
    by = who(chosen)
    pairs_in = load.import_paths(
        [top], folder, replace_by=by if chosen.replace else None
    )
    if pairs_in.kind != pairs.KIND:
        raise SourceError(
            f"{top} is {pairs_in.kind}, not a folder of pairs.",
            remedy="It is imported; omit --capture.",
        )
    tree = open_tree(top)
    benchmark, files = pairs.pair_files(tree)
    targets: dict[Path, int | None] = {}
    for pair in files:
        target = pairs.target_of(tree, pair)
        # The fixed notebook has the target of the crashing one: the same index among the code cells.
        targets |= {_on_disk(top, path): target for path in pair.paths.values()}
    kept = folder.path / STATES / benchmark.benchmark
    failed = captured_into(kept, targets, benchmark.benchmark, chosen)
    imports = [pairs_in]
    # If no notebook could be run, the benchmark stands without states.
    if any(kept.glob("*.json")):
        imports.append(load.import_paths([kept], folder, replace_by=by))
    _give(imports, chosen, failed)
    return 1 if failed or any(_is_partial(entry) for entry in imports) else 0


def _folder_of_pairs(chosen: argparse.Namespace) -> Path:
    """The one folder that is named. Raises SourceError."""
    top: Path = chosen.paths[0]
    is_one = len(chosen.paths) == 1
    if is_one and not top.exists():
        raise SourceError(
            f"{top} does not exist.",
            remedy="Check the spelling of the folder's path.",
        )
    if chosen.in_place or not is_one or not top.is_dir():
        raise SourceError(
            "--capture takes one folder of pairs.",
            remedy="Name the folder: `import FOLDER --capture`.",
        )
    return top


def _on_disk(top: Path, path: str) -> Path:
    """A file of a folder's tree, whose paths leave out a folder that holds everything."""
    inner = [top, *(folder for folder in top.iterdir() if folder.is_dir())]
    return next(folder / path for folder in inner if (folder / path).is_file())


def _is_partial(entry: load.Imported) -> bool:
    """Whether something of one's own files could not be read."""
    # Published archives have known irregularities, which are listed and do not make the import fail.
    return entry.kind in _WHOLE and any(
        problem.kind is ProblemKind.UNREADABLE for problem in entry.problems
    )


def _imported(
    paths: list[Path], folder: DataFolder, replace_by: str | None
) -> Iterator[load.Imported]:
    """One source, or of a dataset with a notebook column one for every few hundred notebooks."""
    path = paths[0]
    is_dataset = (
        path.is_dir() and not (path / MARKER).is_file()
    ) or path.suffix in {
        ".parquet",
        ".jsonl",
    }
    dataset = (
        notebook_column.notebook_column(path)
        if len(paths) == 1 and path.exists() and is_dataset
        else None
    )
    if dataset is None:
        yield load.import_paths(paths, folder, replace_by=replace_by)
        return
    # Datasets may have gigabytes of notebooks: a few hundred at a time are reduced to one file and imported.
    with tempfile.TemporaryDirectory() as place:
        for file in notebook_column.kept_files(dataset, Path(place)):
            tell(f"{dataset.name}: {file.stem.partition('.')[0]}")
            yield load.import_paths([file], folder)
            # The store has its own copy by now, so the temporary folder holds one batch at a time.
            file.unlink()


def _take_pack(
    path: Path, folder: DataFolder, *, as_json: bool, name: str | None = None
) -> int:
    """An evidence pack: what it brings is loaded at once, or by the running app at its next page view."""
    taken = unpack(path, folder)
    load.prepare_or_read(folder, tell).close()
    words = pack_words(name or path.name, taken)
    give_either({"pack": taken.to_json()}, words, as_json=as_json)
    return 0


def pack_words(name: str, taken: Unpacked) -> str:
    """What a pack brought, for people to read."""
    lines = [
        f"{name}: evidence pack",
        f"  {taken.n_ledger_files:>7,} ledger files ({taken.n_ledger_known:,} already present)",
        f"  {taken.n_sources:>7,} sources ({taken.n_sources_known:,} already present)",
    ]
    lines += [
        f"  missing: {source.name} ({source.kind}, sha256 {source.sha256}); `fetch` or `import` it for the same tables"
        for source in taken.missing
    ]
    lines += [
        f"  {name} differs from the version that the pack was made with: use that checkout"
        for name in taken.other_embedded
    ]
    return "\n".join(lines)


def _as_json(entry: load.Imported) -> dict[str, object]:
    return {
        "source_id": entry.source_id,
        "kind": entry.kind,
        "name": entry.name,
        "edition": entry.edition,
        "benchmarks": list(entry.benchmarks),
        "replaced": entry.replaced,
        "already_loaded": entry.already_loaded,
        "waits_for_app": entry.waits_for_app,
        "records": {
            added.record: {"read": added.n_read, "new": added.n_new}
            for added in entry.added
        },
        "problems": [problem_json(problem) for problem in entry.problems],
    }


def problem_json(problem: object) -> dict[str, str]:
    """A load problem as plain members."""
    return {
        name: str(getattr(problem, name))
        for name in ("kind", "path", "place", "reason")
    }


def in_words(entry: load.Imported) -> str:
    """The outcome of an import, for people to read."""
    if entry.already_loaded:
        return f"{entry.name}: already loaded as source {entry.source_id}; nothing changed"
    about = f", {noun(len(entry.benchmarks), 'benchmarks')} {', '.join(entry.benchmarks)}"
    lines = [
        f"{entry.name}: {entry.kind}{about if entry.benchmarks else ''}, source {entry.source_id}"
    ]
    if entry.replaced:
        lines.append(
            as_typed(
                f"  replaces source {entry.replaced}; `restore source {entry.replaced}` brings that back"
            )
        )
    if entry.edition:
        lines.append(
            f"  not the default release: kept separate as {editions.in_edition(entry.kind, entry.edition)}"
        )
    lines += [
        f"  {added.n_read:>7,} {noun(added.n_read, added.record)} ({added.n_new:,} new)"
        for added in entry.added
    ]
    lines.append(
        f"  {len(entry.problems):>7,} {noun(len(entry.problems), 'problems')}"
    )
    lines += [
        f"    {p.kind}: {p.path}, {p.place}: {p.reason}"
        for p in entry.problems[:SHOWN_PROBLEMS]
    ]
    if len(entry.problems) > SHOWN_PROBLEMS:
        n_more = len(entry.problems) - SHOWN_PROBLEMS
        lines.append(
            as_typed(
                f"    … and {n_more:,} more: see `doctor --json` or the Data page"
            )
        )
    if entry.kind == mapped_answers.KIND:
        lines.append(
            as_typed(f"  `remove source {entry.source_id}` undoes this import")
        )
    if _is_partial(entry):
        lines.append(
            "  not complete: what is listed as unreadable was left out, the rest is loaded"
        )
    if entry.waits_for_app:
        lines.append(
            "  saved; another process has the database open, so it will be loaded at the app's next "
            "page view or start;\n"
            "  the Data page then says if records wait for an instance that nobody has imported"
        )
    return "\n".join(lines)
