"""What the page of a campaign says first: its state, its answer in a sentence, and what comes next. Knows no widget."""

from collections.abc import Sequence
from enum import StrEnum
from html import escape

from crane_core.annotation.label_set import LabelEntry, LabelSet
from crane_core.annotation.plan import Plan
from crane_core.annotation.redeal import is_main_open
from crane_core.pipeline.campaigns.disputes import Dispute
from crane_core.pipeline.campaigns.plan_outline import size_words, workload
from crane_core.pipeline.campaigns.result import CampaignResult
from crane_core.pipeline.campaigns.status import CampaignStatus, waiting_words
from crane_core.ui.words import count, interval, moment, percent, quantity

LONGEST_TITLE = 90
"""Letters of a title in a heading; titles are anybody's text."""
ENDS = ("?", "!", ".", ":")


class Stage(StrEnum):
    """The state of a campaign."""

    CALIBRATION = "calibration"
    LABELLING = "labelling"
    DECIDING = "deciding"
    COMPLETE = "ready to lock"
    LOCKED = "locked"


class NextStep(StrEnum):
    """What the lead does next; OPEN_MAIN: after calibration, the main round; DRAW_SECOND: where the plan does so."""

    DECIDE = "decide"
    OPEN_MAIN = "open the main round"
    DRAW_SECOND = "draw second labels"
    LABEL = "label"
    LOCK = "lock"
    EXPORT = "export"


def stage(status: CampaignStatus) -> Stage:
    """The state that the page names."""
    if status.lock is not None:
        return Stage.LOCKED
    if not is_main_open(status.plan):
        return Stage.CALIBRATION
    if status.n_unlabelled or (status.n_undrawn and not status.waiting):
        return Stage.LABELLING
    return Stage.DECIDING if status.waiting else Stage.COMPLETE


def chip_html(status: CampaignStatus) -> str:
    """The state as a chip."""
    return f'<span class="cw-chip">{escape(stage(status))}</span>'


def next_step(status: CampaignStatus) -> NextStep:
    """Decisions come first: they need no one else."""
    now = stage(status)
    if now is Stage.LOCKED:
        return NextStep.EXPORT
    if status.waiting:
        return NextStep.DECIDE
    if status.n_unlabelled:
        return NextStep.LABEL
    if now is Stage.CALIBRATION:
        return NextStep.OPEN_MAIN
    return NextStep.DRAW_SECOND if status.n_undrawn else NextStep.LOCK


def is_lock_above(status: CampaignStatus) -> bool:
    """Whether the head of the page has the lock already: it comes next, or the stop rule holds."""
    may_stop = status.stop is not None and status.stop.may_stop
    return may_stop or next_step(status) is NextStep.LOCK


def next_words(status: CampaignStatus) -> str:
    """Why that is next, in a line."""
    step = next_step(status)
    if step is NextStep.DECIDE:
        return f"{waiting_words(status)}."
    if step is NextStep.OPEN_MAIN:
        n = len(status.plan.calibration)
        return f"All have labelled the {count(n)} calibration items."
    if step is NextStep.DRAW_SECOND:
        return f"{count(status.n_undrawn)} items with a first label wait for the draw of second labels."
    if step is NextStep.LABEL:
        return _left_words(status)
    if step is NextStep.LOCK:
        n_missing = status.n_unassigned
        return (
            f"Nobody is there for {count(n_missing)} labels that the design asks for."
            if n_missing
            else "Everything is labelled and decided."
        )
    lock = status.lock
    return (
        f"Locked by {lock.locked_by} at {moment(lock.locked_at)}."
        if lock
        else ""
    )


def work_words(plan: Plan) -> str:
    """What the annotators label: "222 items and 11 hidden repeats each"."""
    load = workload(plan)
    sizes = {size_words(row) for row in load}
    if len(sizes) == 1:
        return f"{sizes.pop()}{' each' if len(load) > 1 else ''}"
    n, n_again = (
        sum(row.items for row in load),
        sum(row.repeats for row in load),
    )
    return f"{count(len(plan.items))} items: {count(n)} labels and {count(n_again)} hidden repeats"


def _left_words(status: CampaignStatus) -> str:
    if not status.n_done:
        return f"{work_words(status.plan)}."
    n_left = status.n_all - status.n_done
    words = f"{count(n_left)} labels to give"
    seconds = [
        entry.pace.seconds_left for entry in status.progress if entry.n_left
    ]
    known = [one for one in seconds if one is not None]
    if len(known) < len(seconds):
        return f"{words}."
    return f"{words}, about {sum(known) / 3600:.1f} hours of work."


def headline(status: CampaignStatus) -> str:
    """The campaign's title and its answer, plain text."""
    title = short_title(status.plan.title)
    between = "" if title.endswith(ENDS) else ":"
    return f"{title}{between} {answer(status)}"


def short_title(title: str) -> str:
    """The title on one line, at most LONGEST_TITLE letters of it."""
    line = " ".join(title.split())
    is_long = len(line) > LONGEST_TITLE
    return f"{line[:LONGEST_TITLE].rstrip()}…" if is_long else line


def disputes_words(found: Sequence[Dispute]) -> str:
    """What there is to decide on, decided or not: a decision leaves these counts as they are."""
    n_differ = sum(one.differs for one in found)
    n_flagged = sum(
        not one.differs and any(said.flagged for said in one.said)
        for one in found
    )
    parts = []
    if n_differ:
        parts.append(f"Labels differ on {quantity(n_differ, 'item')}")
    if n_flagged:
        more = "more " if n_differ else ""
        are = "item is" if n_flagged == 1 else "items are"
        parts.append(f"{count(n_flagged)} {more}{are} flagged")
    return "; ".join(parts) or "No item needs a decision"


def answer(status: CampaignStatus) -> str:
    """How far it is, or, of a locked campaign, the share of its first label with its interval."""
    if status.result is not None:
        return result_words(status.result, status.plan.labels)
    n_done, n_all = status.n_done, status.n_all
    if not n_done:
        return f"0 of {count(n_all)} labels given"
    first = "calibration, " if stage(status) is Stage.CALIBRATION else ""
    told = (
        f"all {count(n_all)} labelled"
        if n_done == n_all
        else f"{count(n_done)} of {count(n_all)} labelled"
    )
    n_waiting = len(status.waiting)
    waits = f", {count(n_waiting)} to decide" if n_waiting else ""
    return f"{first}{told}{waits}"


def result_words(result: CampaignResult, labels: LabelSet) -> str:
    """The result in a few words: "59.4% correct (52.4 to 66.1%), 222 items"."""
    if result.is_empty:
        return "locked without a label"
    first = first_label(labels)
    found = result.whole.shares[first.code]
    share = f"{percent(found.value)} {first.word}"
    return (
        f"{share} ({interval(found.low, found.high)}), {count(found.n)} items"
    )


def first_label(labels: LabelSet) -> LabelEntry:
    """The label whose share is the answer: the one with the most credit, else the first of the set."""
    return max(labels.labels, key=lambda label: label.credit or 0.0)


def list_headline(statuses: list[CampaignStatus]) -> str:
    """The title of the list: how far its one campaign is, or how many are open and what waits in them."""
    if not statuses:
        return "New campaign: plan the first one"
    if len(statuses) == 1:
        return headline(statuses[0])
    n_open = sum(status.lock is None for status in statuses)
    if not n_open:
        return f"All {count(len(statuses))} campaigns are locked"
    n_waiting = sum(
        len(status.waiting) for status in statuses if status.lock is None
    )
    are_open = (
        "1 campaign is open"
        if n_open == 1
        else f"{count(n_open)} campaigns are open"
    )
    waits = (
        f"{quantity(n_waiting, 'item')} to decide"
        if n_waiting
        else "nothing to decide"
    )
    return f"{are_open}, {waits}"
