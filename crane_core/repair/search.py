"""Fixes that ran through in a copy of the kernel: each proposal is run, and where another crash follows, fixed on.

Knows the order of the work and its bounds. Loaded in kernels too: who proposes, and what runs a cell, come from
outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from crane_core.repair.fix import Fix, Proposals
from crane_core.runtime.rehearsal import Rehearsal, RehearsalEnd

MOST_TRIED = 12
"""Copies of the kernel for one target; each may take as long as a rehearsal."""
MOST_STEPS = 3
"""Crashes in a row that one fix may remove."""
MOST_SHOWN = 3
NOT_TRIED = "the cells after it were not tried"


class TriedFix(NamedTuple):
    """A fix that ran through in a copy, and that rehearsal."""

    fix: Fix
    rehearsal: Rehearsal

    @property
    def outcome(self) -> str:
        """What was seen, and what was not."""
        seen = [str(self.rehearsal.outcome)]
        if self.rehearsal.result:
            seen.append(self.rehearsal.result)
        return "; ".join([*seen, NOT_TRIED])


@dataclass(frozen=True)
class RepairOutcome:
    """The fixes that ran through, the best first; and how many were proposed besides.

    `n_failed` crashed in the copy, `n_open` came to no end there, or could not run there. `refused` says why others
    were not run at all. `why_none` is set where no fix could be looked for.
    """

    shown: tuple[TriedFix, ...] = ()
    n_failed: int = 0
    n_open: int = 0
    refused: tuple[str, ...] = ()
    why_none: str = ""

    def with_more(self, found: RepairOutcome) -> RepairOutcome:
        """Together with what was found by other means."""
        return RepairOutcome(
            (*self.shown, *found.shown)[:MOST_SHOWN],
            self.n_failed + found.n_failed,
            self.n_open + found.n_open,
            (*self.refused, *found.refused),
            self.why_none or found.why_none,
        )

    @property
    def not_shown(self) -> str:
        """How many fixes are not shown, and why; empty if all are."""
        told = (
            (self.n_failed, "crashed in its copy", "crashed in their copies"),
            (self.n_open, "could not be rehearsed", "could not be rehearsed"),
            (len(self.refused), "was refused", "were refused"),
        )
        parts = []
        for n, one, several in told:
            if n:
                verb = one if n == 1 else several
                parts.append(f"{n} {verb}")
        text = ", ".join(parts)
        if not self.refused:
            return text
        reasons = ", ".join(dict.fromkeys(self.refused))
        return f"{text} ({reasons})"


Propose = Callable[[str, Rehearsal], Proposals]
"""Fixes of a target with this source, which came to this crash."""
Try = Callable[[Fix], Rehearsal]


def repaired(
    source: str, crash: Rehearsal | None, propose: Propose, attempt: Try
) -> RepairOutcome:
    """Try what is proposed, until enough fixes ran through or too many were tried. `source` is the target's."""
    if crash is None or crash.outcome is not RehearsalEnd.CRASH:
        return RepairOutcome(why_none=_why_none(crash))
    shown: list[TriedFix] = []
    refused: list[str] = []
    n_failed = 0
    n_open = 0
    tried = {source}
    waiting = [(Fix(source, ""), crash, 1)]
    while waiting:
        base, last, nth_step = waiting.pop(0)
        proposed = propose(base.source, last)
        refused += proposed.refused
        n_before = len(tried)
        for step in proposed.fixes:
            fix = _joined(base, step)
            if fix.code in tried or len(tried) > MOST_TRIED:
                continue
            tried.add(fix.code)
            told = attempt(fix)
            if told.outcome is RehearsalEnd.RAN_THROUGH:
                shown.append(TriedFix(fix, told))
            elif told.outcome is not RehearsalEnd.CRASH:
                n_open += 1
            elif nth_step < MOST_STEPS and _is_further(last, told):
                next_crash = _without_first(told, fix)
                waiting.append((fix, next_crash, nth_step + 1))
            else:
                n_failed += 1
        # A first step after which nothing was left to try has crashed, and that was all.
        if nth_step > 1 and len(tried) == n_before:
            n_failed += 1
    return RepairOutcome(
        shown=tuple(shown[:MOST_SHOWN]),
        n_failed=n_failed,
        n_open=n_open,
        refused=tuple(refused),
    )


def _why_none(crash: Rehearsal | None) -> str:
    outcome = "was not run" if crash is None else crash.title
    if not outcome.startswith(("was", "ran")):
        outcome = f"is {outcome}"
    return (
        f"A fix is looked for where the target crashed in a copy; it {outcome}."
    )


def _joined(base: Fix, step: Fix) -> Fix:
    """A further step of a fix; its cells run before those that the first step needs."""
    sentence = f"{base.sentence} {step.sentence}".strip()
    return replace(
        step,
        sentence=sentence,
        first=(*step.first, *base.first),
    )


def _without_first(told: Rehearsal, fix: Fix) -> Rehearsal:
    """The crash with its line in the target, where cells ran before it in the same copy."""
    if told.line is None:
        return told
    n_lines = fix.code.count("\n")
    n_before = n_lines - fix.source.count("\n")
    line = told.line - n_before
    return told._replace(line=line if line > 0 else None)


def _is_further(last: Rehearsal, told: Rehearsal) -> bool:
    """Whether the fix got past the crash: another one came, in the same line or below."""
    before = last.exception, last.message
    is_other = (told.exception, told.message) != before
    if told.line is None or last.line is None:
        return is_other
    if told.line == last.line:
        return is_other
    return told.line > last.line
