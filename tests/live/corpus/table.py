"""What the corpus came to, as a table by kind and as the reasons for which it fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tests.live.corpus.play import Outcome, Skipped


class Row(NamedTuple):
    """Counts of targets."""

    cells: int
    ran: int
    false_alarms: int
    crashed: int
    found: int
    wrong_class: int
    skipped: int

    @property
    def recall(self) -> float:
        """Crashes predicted with their class, of all crashes; NaN without one."""
        return self.found / self.crashed if self.crashed else float("nan")


def row(played: Iterable[Outcome | Skipped]) -> Row:
    """Counts of any targets."""
    played = list(played)
    outcomes = [
        outcome
        for outcome in played
        if isinstance(outcome, Outcome) and outcome.step.is_target
    ]
    skipped = [skipped for skipped in played if isinstance(skipped, Skipped)]
    return Row(
        cells=len(outcomes),
        ran=sum(outcome.raised is None for outcome in outcomes),
        false_alarms=sum(outcome.is_false_alarm for outcome in outcomes),
        crashed=sum(outcome.raised is not None for outcome in outcomes),
        found=sum(outcome.is_found for outcome in outcomes),
        wrong_class=sum(outcome.is_wrong_class for outcome in outcomes),
        skipped=sum(skipped.case.n_targets for skipped in skipped),
    )


def table(played: Sequence[Outcome | Skipped]) -> str:
    """One line per kind, and one of all."""
    kinds = sorted({outcome.case.kind for outcome in played})
    by_kind = {
        kind: row(outcome for outcome in played if outcome.case.kind == kind)
        for kind in kinds
    }
    head = f"{'kind':<20}{'cells':>7}{'ran':>6}{'false alarms':>14}{'crashed':>9}{'predicted':>11}{'recall':>9}"
    lines = [
        head,
        *(_line(kind, counts) for kind, counts in by_kind.items()),
        _line("all", row(played)),
    ]
    skipped = sorted(
        {outcome.why for outcome in played if isinstance(outcome, Skipped)}
    )
    return "\n".join([*lines, *(f"skipped: {why}" for why in skipped)])


def _line(kind: str, counts: Row) -> str:
    recall = f"{counts.recall:.1%}" if counts.crashed else "-"
    told = f"{kind:<20}{counts.cells:>7}{counts.ran:>6}{counts.false_alarms:>14}{counts.crashed:>9}"
    return f"{told}{counts.found:>11}{recall:>9}"


def failures(played: Sequence[Outcome | Skipped]) -> list[str]:
    """False alarms, wrong classes, and cells that ended otherwise than their file says."""
    outcomes = [outcome for outcome in played if isinstance(outcome, Outcome)]
    return [str(outcome) for outcome in outcomes if _fails(outcome)]


def _fails(outcome: Outcome) -> bool:
    is_without_verdict = outcome.trouble.startswith("no verdict")
    return (
        outcome.is_false_alarm
        or outcome.is_wrong_class
        or outcome.is_mislabelled
        or is_without_verdict
    )
