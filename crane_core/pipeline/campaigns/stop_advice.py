"""Whether a running campaign may stop: its plan's margin against the one reached, and what more labels would change.

Knows final labels and the plan. The margin is about this population, not about further cases, as in the plan. No share
is stated, so the advice can be shown before the lock.
"""

from collections.abc import Collection, Mapping
from math import isfinite
from typing import Any, NamedTuple

from crane_core.annotation.outcome import Final, Provenance
from crane_core.annotation.plan import Item, Overlap, Plan
from crane_core.annotation.rounds import RoundKind
from crane_core.stats import stopping


class StopAdvice(NamedTuple):
    """Margins are half widths of a share, 0..1, of the label with the widest; nan where a stratum has no label.

    n_left: items without a final label. n_needed: how many of them the wanted margin still needs; it can be more than
    there are. n_held: items that were shown and have no final label; without them a share would be biased.
    margin_at_end: expected once all items are labelled.
    """

    wanted: float
    reached: float
    n_labelled: int
    n_cases: int
    n_left: int
    n_needed: int
    n_held: int
    margin_at_end: float

    @property
    def may_stop(self) -> bool:
        """Whether the margin is reached by enough cases, and no item that was shown is open."""
        has_margin = isfinite(self.reached) and self.reached <= self.wanted
        return (
            has_margin
            and self.n_cases >= stopping.MIN_CLUSTERS
            and not self.n_held
        )


def stop_advice(
    plan: Plan, finals: Mapping[str, Final], skipped: Collection[str]
) -> StopAdvice | None:
    """finals: the final outcome of every item; skipped: items that an annotator put off and has not labelled since.

    None where second labels are drawn by chance: a final label means less before its item is drawn for than after.
    """
    if plan.design.overlap is Overlap.ADAPTIVE:
        return None
    labelled = [item for item in plan.items if finals[item.item].label]
    found = _widest(plan, labelled, finals)
    sent_back = {
        item
        for entry in plan.rounds
        if entry.kind is RoundKind.AGAIN
        for item in entry.items
    }
    open_items = {item.item for item in plan.items} - {
        item.item for item in labelled
    }
    disputed = {
        name
        for name in open_items
        if finals[name].provenance is Provenance.OPEN
    }
    n_held = len(open_items & (sent_back | set(skipped) | disputed))
    needed = found.needed(plan.design.margin)
    return StopAdvice(
        wanted=plan.design.margin,
        reached=found.margin,
        n_labelled=found.n,
        n_cases=len({item.verdict.case for item in labelled}),
        n_left=len(open_items),
        n_needed=max(0, needed - found.n),
        n_held=n_held,
        margin_at_end=found.at(len(plan.items)),
    )


def _widest(
    plan: Plan, labelled: list[Item], finals: Mapping[str, Final]
) -> stopping.ReachedMargin:
    """The margin of the label with the widest one."""
    strata = [item.stratum for item in labelled]
    sizes = [stratum.population for stratum in plan.strata]
    # Where items are shuffled, any number of them is a random part of their strata; by case, whole cases are.
    cases = [item.verdict.case for item in labelled]
    margins = [
        stopping.reached_margin(
            [finals[item.item].label == code for item in labelled],
            strata,
            sizes,
            cluster=cases if plan.design.by_case else None,
            confidence=plan.design.confidence,
        )
        for code in plan.labels.codes
    ]
    # An undefined margin is that of all labels alike.
    return max(margins, key=lambda found: found.margin)


def stop_words(advice: StopAdvice) -> str:
    """The advice in one to three sentences; empty where no item is left, or none is labelled."""
    if not advice.n_left or not advice.n_labelled:
        return ""
    if advice.reached != advice.reached:
        return "Stop rule: a stratum has no final label yet."
    reached = (
        f"the margin of a share is {_points(advice.reached)}, and the plan wants "
        f"{_points(advice.wanted)}."
    )
    more = (
        f"Labelling the other {advice.n_left:,} items would lead to about "
        f"{_points(advice.margin_at_end)}."
    )
    if advice.may_stop:
        return f"You may stop: {reached} {more}"
    if advice.reached > advice.wanted:
        is_enough = advice.n_needed <= advice.n_left
        need = f"About {advice.n_needed:,} more labelled items reach it; {advice.n_left:,} are left."  # fmt: skip
        return f"Stop rule: {reached} {need if is_enough else more}"
    if advice.n_held:
        return (
            f"Stop rule: {reached} Before you stop, {advice.n_held:,} skipped, disputed or returned items need a final "
            "label, because a share without them would be biased."
        )
    return (
        f"Stop rule: {reached} The labels are of {advice.n_cases:,} cases; stop from {stopping.MIN_CLUSTERS} cases on, "
        "because with fewer the margin is too uncertain."
    )


def _points(share: float) -> str:
    return f"±{share * 100:.1f} points"


def stop_json(advice: StopAdvice | None) -> dict[str, Any] | None:
    """The advice as plain members; margins in 0..1, None where undefined."""
    if advice is None:
        return None
    numbers = {
        name: None
        if isinstance(value, float) and not isfinite(value)
        else value
        for name, value in advice._asdict().items()
    }
    return {"may_stop": advice.may_stop} | numbers
