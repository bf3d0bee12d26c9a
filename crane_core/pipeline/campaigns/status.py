"""The status of a campaign, from the ledger alone: progress, open items, decisions.

For the lead. Counts and speeds, never a label of an item, so it can be shown before the lock; after it the result.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from crane_core.annotation.journal import Journal
from crane_core.annotation.outcome import Provenance
from crane_core.annotation.pace import Pace, Part, drift, pace
from crane_core.annotation.plan import Plan
from crane_core.annotation.redeal import is_main_open, unassigned
from crane_core.annotation.second import first_labels, waiting_for_draw
from crane_core.domain import CampaignLock
from crane_core.pipeline.campaigns import campaigns, label_frame, stop_advice
from crane_core.pipeline.campaigns.disputes import (
    Dispute,
    disputes_of,
    flagged_items,
    undecided,
)
from crane_core.pipeline.campaigns.gold_scores import GoldScore, gold_scores
from crane_core.pipeline.campaigns.result import CampaignResult, result_of
from crane_core.pipeline.campaigns.rounds import round_words
from crane_core.pipeline.campaigns.threads import messages_of
from crane_core.pipeline.places import DataFolder


class AnnotatorProgress(NamedTuple):
    """One annotator. `n_left` counts showings to come, hidden repeats included; `parts` is the label mix over time."""

    annotator: str
    n_done: int
    n_left: int
    n_unlabelled: int
    n_flagged: int
    n_skipped: int
    pace: Pace
    parts: tuple[Part, ...]
    n_shown: int = 0
    """Labels after which another one was shown, and how many of them were changed then."""
    n_changed: int = 0

    @property
    def n_all(self) -> int:
        """All showings of the annotator, done and to come."""
        return self.n_done + self.n_left


class CampaignStatus(NamedTuple):
    """A campaign now. `outcomes` counts all items; `flagged`: see `disputes.flagged_items`; `result`: once locked."""

    plan: Plan
    lock: CampaignLock | None
    progress: tuple[AnnotatorProgress, ...]
    outcomes: dict[Provenance, int]
    disputes: tuple[Dispute, ...]
    flagged: dict[str, tuple[str, ...]]
    gold: tuple[GoldScore, ...] = ()
    result: CampaignResult | None = None
    stop: stop_advice.StopAdvice | None = None
    """While it is open, and its plan has a stop rule."""
    n_undrawn: int = 0
    """Items with a first label that wait for the draw of second labels."""

    @property
    def n_done(self) -> int:
        """Labels given, hidden repeats included."""
        return sum(entry.n_done for entry in self.progress)

    @property
    def n_all(self) -> int:
        """Labels given and to come."""
        return sum(entry.n_all for entry in self.progress)

    @property
    def n_unlabelled(self) -> int:
        """Labels still missing, without hidden repeats."""
        return sum(entry.n_unlabelled for entry in self.progress)

    @property
    def n_unassigned(self) -> int:
        """Labels of the design that have no annotator."""
        return unassigned(self.plan)

    @property
    def waiting(self) -> list[Dispute]:
        """Items that wait for a decision: what the deciding screen shows."""
        return undecided(self.disputes)

    @property
    def n_differ(self) -> int:
        """Items that got different labels, decided since or not."""
        return sum(entry.differs for entry in self.disputes)

    @property
    def n_flagged(self) -> int:
        """Items with a flag in force, decided or not."""
        return len(self.flagged)


def campaign_status(folder: DataFolder, campaign: str) -> CampaignStatus:
    """The status of a campaign. Raises CampaignError if there is none of this name."""
    plan, lock = campaigns.kept_campaign(folder, campaign)
    journals = campaigns.journals_of(folder, plan)
    decisions = campaigns.decisions_of(folder, plan)
    finals = label_frame.finals_of(plan, journals, decisions)
    counted = Counter(final.provenance for final in finals.values())
    flagged = flagged_items(journals, messages_of(folder, campaign))
    # Only where second labels are drawn is the result made of first ones, which take a walk over all items.
    firsts = first_labels(plan, journals) if lock and plan.second else {}
    return CampaignStatus(
        plan=plan,
        lock=lock,
        progress=tuple(
            _progress(name, journal, flagged)
            for name, journal in journals.items()
        ),
        outcomes={provenance: counted[provenance] for provenance in Provenance},
        disputes=tuple(disputes_of(plan, journals, decisions, flagged)),
        flagged=flagged,
        gold=tuple(gold_scores(folder, plan)),
        result=result_of(plan, finals, firsts) if lock else None,
        stop=None
        if lock
        else stop_advice.stop_advice(plan, finals, _put_off(journals)),
        n_undrawn=len(waiting_for_draw(plan, journals)),
    )


def _put_off(journals: Mapping[str, Journal]) -> set[str]:
    """Items that an annotator skipped and has not labelled since."""
    return {
        showing.item
        for journal in journals.values()
        for showing in journal.skipped
        if showing not in journal.given
    }


def _progress(
    annotator: str, journal: Journal, flagged: Mapping[str, Sequence[str]]
) -> AnnotatorProgress:
    given = [journal.given[showing] for showing in journal.labelled]
    given = [
        entry for entry in given if entry.source is None
    ]  # imported labels took no time here
    seconds = [entry.seconds for entry in given]
    # What can still be shown: a repeat whose gap cannot be filled any more is not counted.
    n_left = len(journal.upcoming(len(journal.order)))
    return AnnotatorProgress(
        annotator=annotator,
        n_done=journal.n_done,
        n_left=n_left,
        n_unlabelled=sum(
            s.showing == 1 and s not in journal.given for s in journal.order
        ),
        n_flagged=sum(annotator in names for names in flagged.values()),
        n_skipped=len(journal.skipped),
        pace=pace(seconds, n_left),
        parts=tuple(drift([entry.label for entry in given], seconds)),
        n_shown=len(journal.shown),
        n_changed=journal.n_changed_after_shown(),
    )


def open_words(status: CampaignStatus) -> list[str]:
    """What is open before a lock, one sentence each; empty if everything is labelled and decided."""
    owed = [
        f"{p.annotator} {p.n_unlabelled:,}"
        for p in status.progress
        if p.n_unlabelled
    ]
    words = [f"unlabelled items: {', '.join(owed)}"] if owed else []
    if not is_main_open(status.plan):
        words.append("the main round is not open yet")
    if status.n_unassigned:
        words.append(
            f"nobody is there for {status.n_unassigned:,} labels that the design asks for"
        )
    if status.n_undrawn:
        words.append(
            f"{status.n_undrawn:,} items wait for the draw of second labels"
        )
    told = waiting_words(status)
    return words + ([f"to decide: {told}"] if told else [])


def waiting_words(status: CampaignStatus) -> str:
    """What waits for a decision: "7 items with different labels, 2 flagged"; empty if nothing does."""
    n_differ = sum(entry.differs for entry in status.waiting)
    n_flagged = len(status.waiting) - n_differ
    items = "item" if n_differ == 1 else "items"
    parts = [f"{n_differ:,} {items} with different labels"] if n_differ else []
    if n_flagged:
        named = "" if n_differ else " item" if n_flagged == 1 else " items"
        parts.append(f"{n_flagged:,} flagged{named}")
    return ", ".join(parts)


def status_words(status: CampaignStatus) -> str:
    """The status as lines for a terminal."""
    plan, lock = status.plan, status.lock
    state = (
        f"locked by {lock.locked_by} at {lock.locked_at}" if lock else "open"
    )
    title = f"{plan.title}, " if plan.title != plan.campaign else ""
    lines = [f"{plan.campaign}: {title}{len(plan.items):,} items, {state}"]
    lines += [
        f"  {_progress_words(entry, has_left=entry.annotator not in plan.present)}"
        for entry in status.progress
    ]
    lines += [
        f"  {entry.at[:10]}, {entry.by}: {round_words(entry)}"
        for entry in plan.rounds
    ]
    if not is_main_open(plan):
        lines.append(
            f"  calibration of {len(plan.calibration):,} items; the main round is not open yet"
        )
    if status.n_unassigned:
        lines.append(
            f"  {status.n_unassigned:,} labels that the design asks for have nobody to give them"
        )
    if status.n_undrawn:
        lines.append(
            f"  {status.n_undrawn:,} items with a first label wait for the draw of second labels"
        )
    lines += [f"  {gold_words(score)}" for score in status.gold]
    decided = ", ".join(
        f"{n:,} {provenance}" for provenance, n in status.outcomes.items()
    )
    lines.append(
        f"  items: {decided}; {status.n_differ:,} got different labels, {status.n_flagged:,} flagged"
    )
    if status.result is not None:
        lines += _result_lines(status.result, plan)
    elif told := waiting_words(status):
        lines.append(f"  to decide: {told}")
    if status.stop is not None and (
        words := stop_advice.stop_words(status.stop)
    ):
        lines.append(f"  {words}")
    return "\n".join(lines)


def gold_words(score: GoldScore) -> str:
    """One annotator's accuracy on gold items."""
    found = score.accuracy
    told = f"gold, {score.annotator}: {score.n_right:,} of {found.n:,} right"
    interval = (
        f", {found.value:.1%} (95% {found.low:.1%} to {found.high:.1%})"
        if found.n
        else ""
    )
    return f"{told}{interval}; {score.n_all:,} in all"


def _result_lines(result: CampaignResult, plan: Plan) -> list[str]:
    """A line per label: its weighted share with the interval."""
    if result.is_empty:
        return ["  result: no item has a final label"]
    lines = [
        f"  result: {result.whole.n:,} items of {result.whole.n_cases:,} cases"
    ]
    for label in plan.labels.labels:
        found = result.whole.shares[label.code]
        lines.append(
            f"    {label.word}: {found.value:.1%} (95% {found.low:.1%} to {found.high:.1%})"
        )
    return lines


def _progress_words(entry: AnnotatorProgress, *, has_left: bool) -> str:
    speed = (
        f", median {entry.pace.median_s:.0f} s"
        if entry.pace.median_s is not None
        else ""
    )
    share = f"{entry.annotator}{' (left)' if has_left else ''}: {entry.n_done:,} of {entry.n_all:,}"
    shown = (
        f", {entry.n_shown:,} shown another label, {entry.n_changed:,} of them changed since"
        if entry.n_shown
        else ""
    )
    quick = f"{entry.pace.n_quick:,} quick"
    return f"{share}, {entry.n_skipped:,} skipped, {entry.n_flagged:,} flagged{speed}, {quick}{shown}"


def status_json(status: CampaignStatus) -> dict[str, Any]:
    """The status as plain members."""
    return {
        "campaign": status.plan.campaign,
        "title": status.plan.title,
        "items": len(status.plan.items),
        "locked": {"by": status.lock.locked_by, "at": status.lock.locked_at}
        if status.lock
        else None,
        "annotators": [
            _progress_json(entry, status) for entry in status.progress
        ],
        "outcomes": {
            str(provenance): n for provenance, n in status.outcomes.items()
        },
        "different_labels": status.n_differ,
        "flagged": status.n_flagged,
        "gold": [
            {
                "annotator": one.annotator,
                "right": one.n_right,
                "labelled": one.accuracy.n,
                "of": one.n_all,
            }
            | (
                {
                    "accuracy": one.accuracy.value,
                    "low": one.accuracy.low,
                    "high": one.accuracy.high,
                }
                if one.accuracy.n
                else {}
            )
            for one in status.gold
        ],
        "result": _result_json(status.result),
        "stop": stop_advice.stop_json(status.stop),
        "open": {
            "unlabelled": status.n_unlabelled,
            "undecided": len(status.waiting),
            "unassigned": status.n_unassigned,
            "undrawn": status.n_undrawn,
            "main_round_open": is_main_open(status.plan),
        },
        "rounds": [
            {
                "kind": str(entry.kind),
                "at": entry.at,
                "by": entry.by,
                "what": round_words(entry),
            }
            for entry in status.plan.rounds
        ],
    }


def _result_json(result: CampaignResult | None) -> dict[str, Any] | None:
    """Code to share and interval, each in 0..1; None before the lock and without a final label."""
    if result is None or result.is_empty:
        return None
    return {
        code: {
            "share": float(found.value),
            "low": float(found.low),
            "high": float(found.high),
            "items": found.n,
            "cases": found.n_clusters,
        }
        for code, found in result.whole.shares.items()
    }


def _progress_json(
    entry: AnnotatorProgress, status: CampaignStatus
) -> dict[str, Any]:
    return {
        "annotator": entry.annotator,
        "left": entry.annotator not in status.plan.present,
        "done": entry.n_done,
        "of": entry.n_all,
        "unlabelled": entry.n_unlabelled,
        "skipped": entry.n_skipped,
        "flagged": entry.n_flagged,
        "median_s": entry.pace.median_s,
        "quick": entry.pace.n_quick,
        "shown": entry.n_shown,
        "changed_after_shown": entry.n_changed,
    }
