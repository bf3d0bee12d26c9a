"""A case added to a folder of pairs: checked as JunoBench's were when they were made, then written whole or not at all.

The crashing notebook must raise the same exception in its target cell twice, the fixed one must run through, and few
cells should differ. Both are executed in a copy of the folder that they join, as `verify` executes them.

A case that a visitor of the app brings is checked alike, then kept as a source in an own benchmark, so that it can be
removed alone; others' benchmarks take no cases.
"""

import csv
import io
import json
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from crane_core.celldiff import align_cells
from crane_core.domain import JsonObject, Listed, VerifiedAs, Version
from crane_core.errors import NotebookError, SourceError
from crane_core.given_path import read_given
from crane_core.importers.published_detectors import slug
from crane_core.not_a_notebook import UnreadableNotebookError, document_in
from crane_core.notebooks import CodeCell, crash_index, read_document
from crane_core.pipeline.inventory import inventory
from crane_core.pipeline.loading.load import import_paths
from crane_core.pipeline.places import DataFolder, embedded
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.sheet_text import csv_as_it_is, is_formula
from crane_core.pipeline.verification import pair_claims, where
from crane_core.runtime.endings import short
from crane_core.runtime.execute import Execution, execute
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import MOST_BYTES, read_plan
from crane_core.runtime.program import Program, program
from crane_core.storage import cases as stored_cases
from crane_core.storage.store import Store

TABLE = "cases.csv"
_COLUMNS = ("case_id", "library", "root_cause", "exception", "diagnosis")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
N_TRIES = 2
"""Executions of the crashing notebook: a crash that comes only sometimes is not a case."""
LIMIT = (
    "Make it shorter, or use the command `add-case` with a longer --timeout-s."
)
ELSEWHERE = "Install what is missing, or use the command `add-case` with the --python that has it."


class NewCase(NamedTuple):
    """The two notebooks as documents, and what people say of the case; None where they say nothing."""

    name: str
    crashing: JsonObject
    fixed: JsonObject
    target: int | None
    library: str | None = None
    root_cause: str | None = None
    diagnosis: str | None = None


class AddedCase(NamedTuple):
    """What was written. `exception` is what the target, a code cell from 0, raises; `n_differ` counts code cells."""

    name: str
    target: int
    exception: str
    n_differ: int
    was_run: bool


def read_notebook(path: Path) -> JsonObject:
    """A notebook as its document. Raises NotebookError."""
    read_plan(path, None)
    try:
        document = document_in(read_given(path, MOST_BYTES))
    # A notebook in a text form can be checked, but a pair is two .ipynb files.
    except UnreadableNotebookError as error:
        raise NotebookError(
            f"{path} is not an .ipynb file.",
            remedy=f"Make one of it: `jupytext --to notebook {path.name}`.",
        ) from error
    if not isinstance(document.get("cells"), list):
        raise NotebookError(
            f"{path} has an old format.",
            remedy="Open it in Jupyter, and save it again.",
        )
    return document


def edited(notebook: JsonObject, edits: Mapping[int, str]) -> JsonObject:
    """A copy without error outputs in which code cells, counted from 0, have other code.

    Raises NotebookError for a cell that is not there.
    """
    # A deep copy that holds only what JSON holds.
    copy = json.loads(json.dumps(notebook))
    cells = _code(copy)
    for index, source in edits.items():
        if not 0 <= index < len(cells):
            raise NotebookError(
                f"There is no code cell {index} to edit; the notebook has {len(cells)}.",
                remedy="Code cells are counted from 0; Markdown cells are not counted.",
            )
        cells[index]["source"] = source
        cells[index]["outputs"] = []
    for cell in cells:
        outputs = cell.get("outputs")
        cell["outputs"] = (
            [one for one in outputs if one.get("output_type") != "error"]
            if outputs
            else []
        )
    return dict(copy)


def add_case(
    case: NewCase,
    folder: Path,
    program: Program | None,
    limits: KernelLimits,
    *,
    stop: threading.Event,
) -> AddedCase:
    """Check a case and write it into `folder`; without a `program` nothing is executed.

    Raises SourceError and NotebookError, one line each, where it is not a case or is there already; then nothing was
    written.
    """
    _refuse_taken(case, folder)
    if program is None:
        target, exception = _recorded(case)
    else:
        target, exception = _executed(case, folder, program, limits, stop)
    codes = [
        [cell.source for cell in _cells(document)]
        for document in (case.crashing, case.fixed)
    ]
    n_differ = sum(
        left is None or right is None or codes[0][left] != codes[1][right]
        for left, right in align_cells(*codes)
    )
    if n_differ == 0:
        raise NotebookError(
            "The two notebooks have the same code.",
            remedy="Change the cell that is to be fixed.",
        )
    _write(case, folder, exception)
    return AddedCase(
        case.name, target, exception, n_differ, program is not None
    )


def _refuse_taken(case: NewCase, folder: Path) -> None:
    if not _NAME.fullmatch(case.name) or case.name.endswith(
        ("_reproduced", "_fixed")
    ):
        raise SourceError(
            f"{short(case.name)!r} cannot be the name of a case.",
            remedy="Use letters, digits, hyphens, points and underscores, without _reproduced or _fixed at the end.",
        )
    if folder.exists() and not folder.is_dir():
        raise SourceError(f"{folder} is not a folder.", remedy="Name a folder.")
    there = (
        {path.name for path in folder.rglob("*.ipynb")}
        if folder.is_dir()
        else set()
    )
    if taken := sorted(there & set(_files(case.name).values())):
        raise SourceError(
            f"{folder} has {taken[0]} already.",
            remedy="Choose another name, or remove that case first.",
        )
    if any(row.get("case_id") == case.name for row in _rows(folder / TABLE)[1]):
        raise SourceError(
            f"{folder / TABLE} names {case.name} already.",
            remedy="Choose another name.",
        )


def _files(name: str) -> dict[Version, str]:
    return {version: f"{name}_{version}.ipynb" for version in Version}


def _recorded(case: NewCase) -> tuple[int, str]:
    """Target and exception as the notebook's error output says."""
    cells = _cells(case.crashing)
    target = crash_index(cells)
    crash = cells[target].crash if target is not None else None
    if target is None or crash is None or not crash.exception:
        raise NotebookError(
            "The crashing notebook has no error output, so its target cell is unknown.",
            remedy="Run it and save it, or let it be executed here.",
        )
    if case.target not in (None, target):
        raise NotebookError(
            f"The first error output is that of code cell {target}, not of {case.target}.",
            remedy="Correct the target.",
        )
    return target, crash.exception


def _executed(
    case: NewCase,
    folder: Path,
    program: Program,
    limits: KernelLimits,
    stop: threading.Event,
) -> tuple[int, str]:
    """Target and exception as they are found by execution; the error output of the crashing notebook is set to it."""
    with _beside(case, folder) as place:
        names = _files(case.name)
        crashing = place / names[Version.REPRODUCED]
        fixed = place / names[Version.FIXED]
        plan = (
            pair_claims.plan_to_crash(crashing)
            if case.target is None
            else read_plan(crashing, case.target)
        )
        cells = [*plan.executed, plan.target]
        to_target = pair_claims.PairClaim(cells, len(plan.executed), None)
        is_known = case.target is not None or plan.target.crash is not None
        tries = [
            _went(crashing, to_target, program, limits, stop)
            for _ in range(N_TRIES)
        ]
        at, exception = _crash(cells, tries, is_known=is_known)
        target = cells[at]
        if is_known and at != len(cells) - 1:
            raise _no_case(
                f"code cell {target.index}, before the target {plan.target.index}, raises {_raised(tries[0])}",
                "Name the cell that crashes as the target, or repair the one before it.",
            )
        if target.crash and target.crash.exception != exception:
            recorded = short(target.crash.exception)
            raise _no_case(
                f"code cell {target.index} raises {exception}, but its error output says {recorded}",
                "Run the notebook and save it again.",
            )
        # A notebook that was never run gets the error output that this run had, so that its target is known
        # from now on.
        if target.crash is None:
            _record_crash(case, cells[: at + 1], tries[0])
        claim = pair_claims.fixed_claim(fixed, target.index)
        borne = pair_claims.borne_out(
            claim, _went(fixed, claim, program, limits, stop)
        )
        if borne.outcome is not VerifiedAs.AS_RECORDED:
            raise _no_case(
                f"the fixed notebook does not run through: {borne.why}",
                "Correct it.",
            )
    return target.index, exception


def _went(
    path: Path,
    claim: pair_claims.PairClaim,
    program: Program,
    limits: KernelLimits,
    stop: threading.Event,
) -> Execution:
    with where.own_copy(path.parent, path.parent) as own:
        return execute(
            path.name,
            claim.cells,
            own,
            program,
            limits,
            tolerated=claim.tolerates,
            stop=stop,
        )


def _crash(
    cells: Sequence[CodeCell], tries: Sequence[Execution], *, is_known: bool
) -> tuple[int, str]:
    """Position and exception, the same in every try; `is_known` if the target is the last of the cells."""
    for went in tries:
        if went.stopped is not None:
            raise _no_case(
                f"the crashing notebook did not come to an end: {short(went.stopped)}",
                LIMIT,
            )
    ends = [(went.at, went.exception) for went in tries]
    if len(set(ends)) > 1:
        raise _no_case(
            f"two executions of the crashing notebook differ: {' and '.join(_end(cells, *end) for end in ends)}",
            "Set the seed, or take out what is random.",
        )
    at, exception = ends[0]
    if at is None or exception is None:
        raise _no_case(
            f"the crashing notebook raises nothing in {len(cells)} code cells",
            "Name the cell that crashes as the target.",
        )
    borne = pair_claims.borne_out(
        pair_claims.PairClaim(list(cells), len(cells), None), tries[0]
    )
    if borne.outcome is VerifiedAs.CANNOT_RUN and not is_known:
        raise _no_case(
            f"the crashing notebook cannot run here: {borne.why}", ELSEWHERE
        )
    return at, exception


def _end(
    cells: Sequence[CodeCell], at: int | None, exception: str | None
) -> str:
    return (
        "no exception"
        if at is None
        else f"{exception} in code cell {cells[at].index}"
    )


def _raised(went: Execution) -> str:
    return short(f"{went.exception}: {went.message}")


def _record_crash(
    case: NewCase, cells: Sequence[CodeCell], went: Execution
) -> None:
    """Counts and error output as if the crashing notebook had been saved after this run; the target is last."""
    code = _code(case.crashing)
    for cell in code:
        cell["execution_count"], cell["outputs"] = None, []
    for count, ran in enumerate(cells, start=1):
        code[ran.index]["execution_count"] = count
    error = {
        "ename": went.exception,
        "evalue": went.message,
        "traceback": [f"{went.exception}: {went.message}"],
    }
    code[cells[-1].index]["outputs"] = [{"output_type": "error", **error}]


@contextmanager
def _beside(case: NewCase, folder: Path) -> Iterator[Path]:
    """The two notebooks in a copy of the folder that they join."""
    with tempfile.TemporaryDirectory(prefix="crane-case-") as empty:
        there = folder if folder.is_dir() else Path(empty)
        with where.own_copy(there, there) as place:
            for version, name in _files(case.name).items():
                (place / name).write_text(_text(case, version), "utf-8")
            yield place


def _write(case: NewCase, folder: Path, exception: str) -> None:
    """Both notebooks and the table, each in one rename; what came before an error is taken back."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        name: _text(case, version)
        for version, name in _files(case.name).items()
    }
    if labelled := any((case.library, case.root_cause, case.diagnosis)):
        texts[TABLE] = _table(case, folder / TABLE, exception)
    # Everything is written beside first; only renames can fail between the two notebooks.
    part = Path(tempfile.mkdtemp(prefix=".case-", dir=folder))
    placed: list[Path] = []
    try:
        for name, text in texts.items():
            (part / name).write_text(text, "utf-8", newline="")
        for name in _files(case.name).values():
            (part / name).rename(folder / name)
            placed.append(folder / name)
        if labelled:
            (part / TABLE).replace(folder / TABLE)
    except BaseException:
        for path in placed:
            path.unlink()
        raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _table(case: NewCase, path: Path, exception: str) -> str:
    """The table with one more row; columns that it lacks are added."""
    columns, rows = _rows(path)
    columns = [*columns, *(name for name in _COLUMNS if name not in columns)]
    facts = {
        "library": case.library,
        "root_cause": case.root_cause,
        "diagnosis": case.diagnosis,
    }
    told = {name: value for name, value in facts.items() if value is not None}
    added = {"case_id": case.name, "exception": exception.lower(), **told}
    _refuse_formulas(added)
    return csv_as_it_is(
        [
            columns,
            *(
                [row.get(name) or "" for name in columns]
                for row in [*rows, added]
            ),
        ]
    )


def _refuse_formulas(row: dict[str, str]) -> None:
    """The table is read by spreadsheets, and the text is others'. Raises SourceError."""
    for name, value in row.items():
        if is_formula(value):
            raise SourceError(
                f"A spreadsheet would take the {name.replace('_', ' ')} for a formula: {value!r}.",
                remedy="Begin it with a letter.",
            )


def _rows(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Header and rows of a table that is there, nothing of one that is not. Raises SourceError."""
    if not path.exists():
        return [], []
    try:
        text = read_given(path, MOST_BYTES).decode("utf-8-sig")
        table = csv.DictReader(
            io.StringIO(text, newline=""), strict=True, restkey="", restval=""
        )
        rows = list(table)
    except (OSError, ValueError, csv.Error) as error:
        raise SourceError(
            f"{path} cannot be read: {error}.", remedy="Correct it first."
        ) from error
    if any("" in row for row in rows):
        raise SourceError(
            f"{path} has a row longer than its header.",
            remedy="Correct it first.",
        )
    return list(table.fieldnames or []), rows


def _text(case: NewCase, version: Version) -> str:
    return json.dumps(
        case.crashing if version is Version.REPRODUCED else case.fixed,
        indent=1,
        ensure_ascii=False,
    )


def _cells(document: JsonObject) -> list[CodeCell]:
    return read_document(json.dumps(document).encode()).cells


def _code(document: JsonObject) -> list[JsonObject]:
    return [
        cell
        for cell in document["cells"]
        if isinstance(cell, dict) and cell.get("cell_type") == "code"
    ]


def _no_case(what: str, remedy: str) -> NotebookError:
    return NotebookError(
        f"Not a case: {what}.", remedy=f"{remedy} Nothing was written."
    )


LONGEST_NAME = 80


class OwnCase(NamedTuple):
    """The case as it was added, and the id of its benchmark."""

    benchmark: str
    added: AddedCase


def own_benchmarks(store: Store) -> list[str]:
    """Ids of the benchmarks that take cases: neither published by others nor shipped."""
    rows = as_rows(stored_cases.benchmarks(store.cursor()))
    return sorted(
        str(row["benchmark"])
        for row in rows
        if row["licence"] is None
        and row["url"] is None
        and row["benchmark"] not in embedded()
    )


def add_own_case(
    case: NewCase,
    benchmark: str,
    folder: DataFolder,
    store: Store,
    limits: KernelLimits,
    *,
    stop: threading.Event,
) -> OwnCase:
    """Execute both notebooks, and load them as a case of the benchmark that is called so, which may be new.

    Raises SourceError, NotebookError or KernelError, one line each; then nothing was kept.
    """
    name = _named(benchmark, folder, store)
    if stored_cases.case(store.cursor(), name, case.name) is not None:
        raise SourceError(
            f"{name} has a case {case.name} already.",
            remedy="Choose another name.",
        )
    with TemporaryDirectory(prefix="crane-own-") as place:
        pairs = Path(place) / name
        added = add_case(case, pairs, program(), limits, stop=stop)
        if stop.is_set():
            raise SourceError("It was stopped.", remedy="Nothing was kept.")
        imported = import_paths([pairs], folder, store)
    if imported.already_loaded:
        raise SourceError(
            f"The same two notebooks are already loaded as source {imported.source_id}.",
            remedy="Open that case, or remove the source first.",
        )
    return OwnCase(name, added)


def _named(typed: str, folder: DataFolder, store: Store) -> str:
    """The id of the benchmark. Raises SourceError if it takes no cases."""
    name = slug(typed)
    if not re.search("[a-z0-9]", typed.lower()) or len(name) > LONGEST_NAME:
        raise SourceError(
            "The benchmark needs a name.",
            remedy=f"Use letters and digits, {LONGEST_NAME} characters at most.",
        )
    if not inventory(folder).has(Listed.BENCHMARK, name):
        raise SourceError(
            f"The benchmark {name} was removed.",
            remedy="Restore it below, or choose another name.",
        )
    known = {
        str(row["benchmark"])
        for row in as_rows(stored_cases.benchmarks(store.cursor()))
    }
    if name in known - set(own_benchmarks(store)):
        raise SourceError(
            f"{name} is not your own benchmark.", remedy="Choose another name."
        )
    return name
