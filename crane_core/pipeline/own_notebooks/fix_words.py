"""How fixes are shown: lines for people, members for JSON. Text of the notebook is made plain by who prints it."""

from crane_core.domain import JsonObject
from crane_core.pipeline.own_notebooks.check import CheckedNotebook
from crane_core.repair.fix import RULES, diff
from crane_core.repair.search import RepairOutcome, TriedFix

NO_FIX = "no fix was found that runs through in a copy of the kernel"


def diff_of(checked: CheckedNotebook, tried: TriedFix) -> str:
    """The unified diff of the target; empty where only other cells have to run first."""
    target = checked.plan.target
    name = f"code cell {target.index} of {checked.path.name}"
    return diff(target.source, tried.fix.source, name)


def fixes_json(checked: CheckedNotebook) -> JsonObject:
    """Members of the verdict's object: `fixes`, and how many were not shown; none if no fix was looked for."""
    found = checked.repair
    if found is None:
        return {}
    return {
        "fixes": [_one(checked, tried) for tried in found.shown],
        "fixes_not_shown": {
            "crashed": found.n_failed,
            "not_rehearsable": found.n_open,
            "refused": list(found.refused),
        },
        "no_fix_because": found.why_none or None,
    }


def _one(checked: CheckedNotebook, tried: TriedFix) -> JsonObject:
    return {
        "sentence": tried.fix.sentence,
        "by": tried.fix.by,
        "diff": diff_of(checked, tried),
        "source": tried.fix.source,
        "cells_first": [cell.called for cell in tried.fix.first],
        "rehearsed": tried.outcome,
        "rehearsal": tried.rehearsal.to_json(),
    }


def fix_lines(checked: CheckedNotebook) -> list[str]:
    """Lines for people; each fix with its diff."""
    found = checked.repair
    if found is None:
        return []
    lines = [line for tried in found.shown for line in _told(checked, tried)]
    return [*lines, *_rest(found)]


def _told(checked: CheckedNotebook, tried: TriedFix) -> list[str]:
    by = "" if tried.fix.by == RULES else f" (by {tried.fix.by})"
    return [
        f"fix{by}: {tried.fix.sentence}",
        f"  rehearsed {tried.rehearsal.where}: {tried.outcome}",
        *diff_of(checked, tried).splitlines(),
    ]


def _rest(found: RepairOutcome) -> list[str]:
    if found.why_none:
        return [f"fix: none. {found.why_none}"]
    lines = [] if found.shown else [f"fix: none; {NO_FIX}"]
    if found.not_shown:
        lines.append(f"  not shown  {found.not_shown}")
    return lines
