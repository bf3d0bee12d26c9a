"""pylint and pyright over all published instances, beside what the study published of them, diagnostic by diagnostic.

python -m benchmarks.analyzers_reproduced [pylint] [pyright]

A difference is put down to what may explain it, the first that fits: `counting` (we report it too, and diagnostics.toml
says that it does not count), `no Python` (the study's text was none, with lines for IPython or the sentence that
nothing was executed; ours is), `annotations` (other types before the target than published), `not installed` (only
published, and the tool misses an import of the cells here), `versions` (all else: of the tool, of libraries, of stubs).
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks._archive import archive_or_exit
from benchmarks._timing import machine, timed
from crane_core.detectors import pylint, pyright
from crane_core.detectors.analysis import Question, question_text
from crane_core.detectors.analyzer_text import ANNOTATED_HEADER
from crane_core.detectors.prediction import Prediction
from crane_core.domain import Cell, KernelState, Run, Setting
from crane_core.importers import crane_llm_october
from crane_core.importers.filetree import FileTree, open_tree

TOOLS = (pylint, pyright)
SETTINGS = (Setting.CODE, Setting.RUNTIME)
CLASSES = ("counting", "no Python", "annotations", "not installed", "versions")
MISSING_IMPORT = ("import-error", "reportMissingImports")
_ANNOTATED_INPUT = re.compile(r"(?:.*/)?sas_inputs/executed_code_runinfo/[^/]+/(?P<instance>[^/]+)\.txt")

Diagnostic = tuple[str, str]
"""The text of a line, and the rule: what two versions of a tool, and two numberings of lines, have in common."""


class Published(NamedTuple):
    """The archive by instance: cells, states, runs of the analyzers by tool and setting, annotation lines."""

    cells: dict[str, list[Cell]]
    states: dict[str, KernelState]
    runs: dict[tuple[str, Setting, str], Run]
    annotated: dict[str, list[str]]

    def question(self, instance_id: str, setting: Setting) -> Question:
        state = None if setting is Setting.CODE else self.states[instance_id]
        return Question(self.cells[instance_id], state, setting)


class Compared(NamedTuple):
    """One instance. `added` and `removed` are our diagnostics and theirs that the other has not, by class."""

    instance_id: str
    published: bool
    ours: bool | None
    added: Counter[str]
    removed: Counter[str]
    shared: int


def read_published(tree: FileTree) -> Published:
    published = Published({}, {}, {}, {})
    for record in crane_llm_october.read(tree):
        if isinstance(record, Cell):
            published.cells.setdefault(record.instance_id, []).append(record)
        elif isinstance(record, KernelState):
            published.states[record.instance_id] = record
        elif isinstance(record, Run) and record.diagnostics is not None:
            published.runs[record.detector, record.setting, record.instance_id] = record
    for path in tree.paths:
        if found := _ANNOTATED_INPUT.fullmatch(path):
            text = tree.read(path).decode("utf-8")
            target = next(cell.code for cell in published.cells[found["instance"]] if cell.role == "target")
            after = text.partition(ANNOTATED_HEADER)[2]
            published.annotated[found["instance"]] = after.removesuffix(target).strip("\n").split("\n")
    return published


def compare(
    published: Published, tool: str, setting: Setting, answers: Sequence[Prediction | Exception]
) -> list[Compared]:
    pairs = zip(sorted(published.cells), answers, strict=True)
    return [_compared(published, tool, setting, instance_id, answer) for instance_id, answer in pairs]


def _compared(
    published: Published, tool: str, setting: Setting, instance_id: str, answer: Prediction | Exception
) -> Compared:
    run = published.runs[tool, setting, instance_id]
    theirs = Counter(_diagnostics(run.diagnostics))
    if not isinstance(answer, Prediction):
        return Compared(instance_id, bool(theirs), None, Counter(), Counter({"versions": theirs.total()}), 0)
    entries = json.loads(answer.diagnostics or "[]")
    counted = Counter(_diagnostic(entry) for entry in entries if entry["counts"])
    uncounted = Counter(_diagnostic(entry) for entry in entries if not entry["counts"])
    why_added = next(_causes(published, setting, instance_id))
    why_removed = "not installed" if why_added == "versions" and _misses_an_import(entries) else why_added
    added, removed = counted - theirs, theirs - counted
    ruled_out = (removed & uncounted).total()
    return Compared(
        instance_id,
        bool(theirs),
        answer.crashes,
        Counter({why_added: added.total()}),
        Counter({"counting": ruled_out}) + Counter({why_removed: removed.total() - ruled_out}),
        (theirs & counted).total(),
    )


def _causes(published: Published, setting: Setting, instance_id: str) -> Iterator[str]:
    question = published.question(instance_id, setting)
    if len(question.cells) == 1 or not all(_is_python(cell.code) for cell in question.cells):
        yield "no Python"
    if setting is not Setting.CODE:
        text = "\n".join(question_text(question).shown)
        ours = text.partition(ANNOTATED_HEADER)[2].split("\n")
        if [line for line in published.annotated[instance_id] if line and line not in ours]:
            yield "annotations"
    yield "versions"


def _misses_an_import(entries: Sequence[dict[str, Any]]) -> bool:
    return any((entry.get("symbol") or entry.get("rule")) in MISSING_IMPORT for entry in entries)


def _diagnostics(text: str | None) -> list[Diagnostic]:
    return [_diagnostic(entry) for entry in json.loads(text or "[]")]


def _diagnostic(entry: dict[str, Any]) -> Diagnostic:
    return entry["code_line"].partition(": ")[2].strip(), entry.get("symbol") or entry.get("rule") or ""


def _is_python(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def tell(tool: str, setting: Setting, compared: Sequence[Compared], seconds: float) -> None:
    """Detections, agreement, and every instance that differs."""
    n_published = sum(one.published for one in compared)
    n_ours = sum(bool(one.ours) for one in compared)
    n_equal = sum(one.published == one.ours for one in compared)
    shared, added, removed = sum(one.shared for one in compared), Counter[str](), Counter[str]()
    for one in compared:
        added += one.added
        removed += one.removed
    print(f"\n{tool}, {setting}: {n_published} detections published, {n_ours} ours; {n_equal} of {len(compared)} agree")
    print(
        f"  diagnostics: {shared} in both; {added.total()} ours alone, {removed.total()} theirs alone; {seconds:.0f} s"
    )
    for name in CLASSES:
        n_differing = sum(one.published != one.ours and name in {*one.added, *one.removed} for one in compared)
        print(f"  {name:13} {added[name]:4} added, {removed[name]:4} removed, {n_differing:3} detections differ")
    for one in compared:
        if one.published != one.ours:
            now = {True: "crash", False: "none", None: "no answer"}[one.ours]
            causes = ", ".join(name for name in CLASSES if one.added[name] or one.removed[name])
            print(
                f"    {one.instance_id:25} published {'crash' if one.published else 'none':5}  ours {now:9}  {causes}"
            )


def main() -> None:
    published = read_published(open_tree(archive_or_exit()))
    print(f"{len(published.cells)} instances; {machine()}")
    for tool in [tool for tool in TOOLS if tool.NAME in (sys.argv[1:] or [tool.NAME])]:
        print(json.dumps(tool.options()))
        for setting in SETTINGS:
            questions = [published.question(instance_id, setting) for instance_id in sorted(published.cells)]
            seconds, answers = timed(partial(_answers, tool, questions))
            tell(tool.NAME, setting, compare(published, tool.NAME, setting, answers), seconds)


def _answers(tool: ModuleType, questions: Sequence[Question]) -> list[Prediction | Exception]:
    return list(tool.predict_many(questions))


if __name__ == "__main__":
    main()
