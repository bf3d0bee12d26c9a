"""Repair as a job: fixes for the targets of a benchmark, each run in a fresh kernel and compared with the published.

Knows what is counted of a fix. How fixes are found, and what a fix must not do, is known in `repair`. The cells before
the target run for it, so it is never done unless the operator allows that.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from crane_core.detectors.registry import Prediction
from crane_core.domain import Detector, DetectorKind, JsonObject, Version
from crane_core.errors import CellRaisedError, DetectorError
from crane_core.importers.published_detectors import slug
from crane_core.llm.budget import Budget
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.question import Answer
from crane_core.notebooks import CodeCell
from crane_core.pipeline.detection.detect import JobPlan
from crane_core.pipeline.detection.rehearsal import (
    Notebook,
    RehearsalOptions,
    executing,
    found_in,
    target_in,
)
from crane_core.pipeline.jobs.work import Worker
from crane_core.pipeline.own_notebooks import ask_for_fixes, check, fix_words
from crane_core.pipeline.own_notebooks.fixing import run_up_and_fix
from crane_core.pipeline.verification.where import own_copy
from crane_core.repair.changed_names import assigned_names
from crane_core.repair.search import RepairOutcome, TriedFix
from crane_core.runtime.capture import capture
from crane_core.runtime.environment import environment_of
from crane_core.runtime.program import program
from crane_core.runtime.rehearsal import RehearsalEnd

RULES = Detector("repair-rules", "Repair by rules", DetectorKind.REPAIR)


class FixSource(NamedTuple):
    """What proposes fixes: the rules, or a model with `n_candidates` replies to each crash, within a budget."""

    endpoint: Endpoint | None = None
    n_candidates: int = 0
    budget: Budget | None = None

    @property
    def detector(self) -> Detector:
        """What the runs are stored under."""
        if self.endpoint is None:
            return RULES
        model = self.endpoint.model
        title = f"Repair by {model}"
        return Detector(f"repair-{slug(model)}", title, DetectorKind.REPAIR)


class Fixing(NamedTuple):
    """How a job is done: with which kernels, within which limits, and what proposes fixes."""

    source: FixSource
    rehearsal: RehearsalOptions
    python: str | None = None

    def options(self) -> JsonObject:
        """What shapes the outcomes."""
        where = environment_of(program(python=self.python))
        asked: JsonObject = {}
        if endpoint := self.source.endpoint:
            asked = {
                "model": endpoint.model,
                "base_url": endpoint.base_url,
                "candidates": self.source.n_candidates,
            }
        return asked | {
            "seconds": self.rehearsal.seconds,
            "python": where.python,
            "environment": where.digest,
        }


class ShownFix(NamedTuple):
    """A fix that ran through in the copy, and what it does in a fresh kernel.

    `has_same_cells`: it changes the cells that the published fixed notebook changes. `has_same_state`: what the target
    assigns is described alike after both; None where one of them crashes, or nothing is assigned.
    """

    sentence: str
    by: str
    diff: str
    runs_through: bool
    has_same_cells: bool
    has_same_state: bool | None


class Usage:
    """Requests and tokens of one instance."""

    def __init__(self) -> None:
        self.n_requests = self.input_tokens = self.output_tokens = 0

    def hear(self, answers: Sequence[Answer]) -> None:
        """Count replies. Raises DetectorError if one is missing: the instance is then tried again."""
        for answer in answers:
            self.n_requests += answer.attempts
            self.input_tokens += answer.input_tokens or 0
            self.output_tokens += answer.output_tokens or 0
        missing = [answer.trouble for answer in answers if answer.text is None]
        if missing:
            raise DetectorError(
                f"The model did not reply: {str(missing[0]).rstrip('.')}.",
                remedy="The same command tries again.",
            )


def repairing(
    plan: JobPlan, notebooks: Mapping[str, Notebook], how: Fixing
) -> Worker:
    """A worker that looks for fixes of each open instance."""

    def predict(instance_id: str, stop: Event) -> Prediction:
        notebook = found_in(notebooks, instance_id)
        with own_copy(notebook.root, notebook.path.parent) as own:
            checked = check.read_notebook(
                own / notebook.path.name, target_in(plan, instance_id)
            )
            usage = Usage()
            found = _looked_for(checked, how, usage, stop)
            shown: list[ShownFix] = []
            if found.repair and found.repair.shown:
                published = _published(plan, notebooks, instance_id, checked)
                shown = fates(found, published, how, stop)
        return verdict(found, shown, usage)

    return executing(plan, how.rehearsal.n_jobs, predict)


def _looked_for(
    checked: check.CheckedNotebook, how: Fixing, usage: Usage, stop: Event
) -> check.CheckedNotebook:
    """The fixes as `check --fix` shows them."""
    source = how.source
    asker = None
    if source.endpoint is not None:
        asker = ask_for_fixes.strict_fix_asker(
            checked.cells,
            source.endpoint,
            source.n_candidates,
            usage.hear,
            source.budget,
        )
    return run_up_and_fix(
        checked,
        asker,
        asks_rules=source.endpoint is None,
        python=how.python,
        limits=how.rehearsal.limits,
        rehearse_s=how.rehearsal.seconds,
        stop=stop,
    )


def _published(
    plan: JobPlan,
    notebooks: Mapping[str, Notebook],
    instance_id: str,
    checked: check.CheckedNotebook,
) -> check.CheckedNotebook | None:
    """The fixed notebook of a crashing one; None of a fixed one."""
    case_id, _, version = instance_id.rpartition("_")
    if version != Version.REPRODUCED:
        return None
    name = f"{case_id}_{Version.FIXED}"
    target = checked.plan.target.index
    if name in plan.inputs:
        target = target_in(plan, name) or target
    return check.read_notebook(found_in(notebooks, name).path, target)


def fates(
    found: check.CheckedNotebook,
    published: check.CheckedNotebook | None,
    how: Fixing,
    stop: Event | None = None,
) -> list[ShownFix]:
    """Run each fix that was found, and the published one, in fresh kernels in the notebook's folder.

    Raises KernelError. A file is written there. A fixed notebook has no published fix: nothing is compared.
    """
    assert found.repair is not None
    target = found.plan.target
    names = assigned_names(target.source)
    before = [cell.source for cell in found.plan.executed]

    def state(cells: Sequence[str]) -> dict[str, Any] | None:
        return state_after(found.path.parent, cells, names, how, stop)

    theirs = None
    if published is not None:
        theirs = state(_sources(published))

    def fate(tried: TriedFix) -> ShownFix:
        first = [cell.source for cell in tried.fix.first]
        ours = state([*before, *first, tried.fix.source])
        edited = {target.index} if tried.fix.source != target.source else set()
        return ShownFix(
            tried.fix.sentence,
            tried.fix.by,
            fix_words.diff_of(found, tried),
            runs_through=ours is not None,
            has_same_cells=published is not None
            and edited == changed_cells(found.plan.cells, published.plan.cells),
            has_same_state=ours == theirs if ours and theirs else None,
        )

    return [fate(tried) for tried in found.repair.shown]


def _sources(notebook: check.CheckedNotebook) -> list[str]:
    plan = notebook.plan
    return [cell.source for cell in (*plan.executed, plan.target)]


def changed_cells(
    ours: Sequence[CodeCell], theirs: Sequence[CodeCell]
) -> set[int]:
    """Places at which two notebooks have other code; where only one has a cell, they differ."""
    length = max(len(ours), len(theirs))
    return {
        place
        for place in range(length)
        if [cell.source for cell in ours[place : place + 1]]
        != [cell.source for cell in theirs[place : place + 1]]
    }


def state_after(
    folder: Path,
    cells: Sequence[str],
    names: Sequence[str],
    how: Fixing,
    stop: Event | None = None,
) -> dict[str, Any] | None:
    """What a fresh kernel in the folder holds under the names after these cells; None where one of them raises."""
    reader = f"({', '.join(names)},)" if names else "()"
    made: list[JsonObject] = [
        {
            "cell_type": "code",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for source in (*cells, reader)
    ]
    document = {
        "nbformat": 4,
        "nbformat_minor": 4,
        "metadata": {},
        "cells": made,
    }
    path = folder / "crane-after-the-fix.ipynb"
    path.write_text(json.dumps(document), "utf-8")
    try:
        captured = capture(
            path,
            target=len(cells),
            python=how.python,
            limits=how.rehearsal.limits,
            stop=stop,
        )
    except CellRaisedError:
        return None
    variables = captured.result.state["variables"]
    # Cells are counted otherwise where one runs first, so where it was assigned is left out.
    return {
        name: {key: fact for key, fact in entry.items() if key != "assigned"}
        for name, entry in variables.items()
    }


def verdict(
    found: check.CheckedNotebook, shown: Sequence[ShownFix], usage: Usage
) -> Prediction:
    """Whether the target still crashes, with what is known of the fixes. Raises DetectorError if that is open."""
    crash, repair = found.rehearsal, found.repair
    assert repair is not None
    known = (RehearsalEnd.CRASH, RehearsalEnd.RAN_THROUGH)
    if crash is None or crash.outcome not in known:
        raise DetectorError(
            f"{repair.why_none}", remedy="The same command tries again."
        )
    ran_through = crash.outcome is RehearsalEnd.RAN_THROUGH
    crashes = not shown[0].runs_through if shown else not ran_through
    diagnostics = {
        "crashed_in_a_copy": not ran_through,
        "fixes": [fix._asdict() for fix in shown],
        "not_shown": repair.not_shown,
        "requests": usage.n_requests,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }
    text = json.dumps([diagnostics], ensure_ascii=False)
    return Prediction(crashes, _reason(shown, repair), text)


def _reason(shown: Sequence[ShownFix], repair: RepairOutcome) -> str:
    if not shown:
        others = f" Not shown: {repair.not_shown}." if repair.not_shown else ""
        return f"No fix is shown. {repair.why_none}{others}".strip()
    return "\n".join(
        f"{fix.sentence} In a fresh kernel the target "
        + ("ran through." if fix.runs_through else "crashes.")
        for fix in shown
    )
