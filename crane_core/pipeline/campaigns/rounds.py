"""Rounds of a running campaign, kept in the ledger: the main round, people who come and go, items labelled again."""

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from crane_core import ledger
from crane_core.annotation import redeal, second
from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan
from crane_core.annotation.rounds import Round, RoundKind
from crane_core.domain import CampaignRound
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns import campaigns
from crane_core.pipeline.places import DataFolder

MAX_WHY = 500
"""Characters of the reason of a round."""


class Which(NamedTuple):
    """Which items are labelled again: those that meet all given conditions; without one, every labelled item."""

    items: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    not_under: str = ""
    """A version of the guideline: items with a label given under another one."""
    is_flagged: bool = False


def open_main(
    folder: DataFolder, campaign: str, *, by: str, why: str = ""
) -> Round:
    """Open the main round after calibration. Raises CampaignError; then nothing was kept."""
    return _kept(
        folder,
        campaign,
        lambda plan, journals: redeal.main_round(plan, _signed(by, why)),
    )


def draw_second(
    folder: DataFolder,
    campaign: str,
    *,
    by: str,
    why: str = "",
    judge: Mapping[str, str] | None = None,
) -> Round:
    """Draw second labels for the items that wait for it; judge: item to a judge's label. Raises CampaignError."""
    return _kept(
        folder,
        campaign,
        lambda plan, journals: second.second_round(
            plan, journals, _signed(by, why), judge
        ),
    )


def change_people(
    folder: DataFolder,
    campaign: str,
    change: redeal.PeopleChange,
    *,
    by: str,
    why: str = "",
) -> Round:
    """Let people join, leave, take over or hand back. Raises CampaignError; then nothing was kept."""
    return _kept(
        folder,
        campaign,
        lambda plan, journals: redeal.people_round(
            plan, journals, change, _signed(by, why)
        ),
    )


def label_again(
    folder: DataFolder, campaign: str, which: Which, *, by: str, why: str = ""
) -> Round:
    """Send items back to those who labelled them; a locked campaign is open again. Raises CampaignError."""

    def made(plan: Plan, journals: dict[str, Journal]) -> Round:
        if unknown := set(which.items) - {item.item for item in plan.items}:
            raise ValueError(f"{min(unknown)} is not an item of it")
        items = frozenset(
            item.item
            for item in plan.items
            if _is_meant(which, item.item, journals)
        )
        return redeal.again_round(plan, journals, items, _signed(by, why))

    return _kept(folder, campaign, made, reopens=True)


def reopen(folder: DataFolder, campaign: str, *, by: str, why: str) -> Round:
    """Open a locked campaign for labels that arrived after its lock. Raises CampaignError; then nothing was kept."""

    def made(plan: Plan, journals: dict[str, Journal]) -> Round:
        signed = _signed(by, why)
        return Round(
            RoundKind.HANDED_IN, signed.at, signed.by, signed.why, plan.present
        )

    if campaigns.kept_campaign(folder, campaign).lock is None:
        raise CampaignError(
            f"{campaign} is not locked.", remedy="It takes labels as it is."
        )
    return _kept(folder, campaign, made, reopens=True)


def idle(folder: DataFolder, plan: Plan, *, days: float) -> list[str]:
    """Who has items to label and labelled nothing for so many days, counted from the campaign or their last round."""
    since = datetime.now(UTC) - timedelta(days=days)
    found = []
    for name in plan.present:
        # Who joined an hour ago is not idle, however old the campaign is.
        joined = [entry.at for entry in plan.rounds if name in entry.orders]
        last = max(
            [
                plan.created_at,
                *joined,
                *(
                    act.submitted_at
                    for act in campaigns.acts_of(folder, plan, name)
                ),
            ],
            key=_moment,
        )
        if (
            _moment(last) < since
            and not campaigns.journal_of(folder, plan, name).is_finished()
        ):
            found.append(name)
    return found


def round_words(entry: Round) -> str:
    """What a round did, in a line."""
    if entry.kind is RoundKind.AGAIN:
        what = f"{len(entry.items):,} items are labelled again by {', '.join(entry.again)}"
    elif entry.kind is RoundKind.MAIN:
        what = f"the main round is open for {', '.join(entry.annotators)}"
    elif entry.kind is RoundKind.SECOND:
        n_drawn = sum(one.is_drawn for one in entry.second.values())
        what = f"{n_drawn:,} of {len(entry.second):,} items were drawn for a second label"
    elif entry.kind is RoundKind.HANDED_IN:
        what = (
            "the campaign is open again for labels that arrived after its lock"
        )
    else:
        came, went = ", ".join(entry.joined), ", ".join(entry.left)
        words = [f"{came} joined"] * bool(came) + [f"{went} left"] * bool(went)
        what = "; ".join(words or ["open items were handed to others"])
    return f"{what}: {entry.why}" if entry.why else what


def _is_meant(which: Which, item: str, journals: dict[str, Journal]) -> bool:
    both = {Showing(item, 1), Showing(item, 2)}
    first = Showing(item, 1)
    # Labels of hidden repeats measure consistency and decide nothing, but a flag counts from either showing.
    given = [
        one.given[first] for one in journals.values() if first in one.given
    ]
    is_flagged = any(
        both & journal.flags.keys() for journal in journals.values()
    )
    other_versions = {one.guideline for one in given} - {which.not_under}
    return (
        bool(given)
        and _meets(which.items, {item})
        and _meets(which.labels, {one.label for one in given})
        and _meets(which.reasons, {one.reason for one in given})
        and bool(other_versions or not which.not_under)
        and (is_flagged or not which.is_flagged)
    )


def _meets(wanted: tuple[str, ...], found: Collection[str | None]) -> bool:
    """Whether any value is wanted; an empty condition holds for all."""
    return not wanted or any(value in wanted for value in found)


def _kept(
    folder: DataFolder,
    campaign: str,
    made: Callable[[Plan, dict[str, Journal]], Round],
    *,
    reopens: bool = False,
) -> Round:
    plan, lock = campaigns.kept_campaign(folder, campaign)
    if lock is not None and not reopens:
        raise CampaignError(
            f"{campaign} was locked by {lock.locked_by} at {lock.locked_at}.",
            remedy="Have items labelled again (`campaign again`), which opens it.",
        )
    try:
        entry = made(plan, campaigns.journals_of(folder, plan))
    except ValueError as error:
        raise CampaignError(
            f"{campaign} cannot be changed: {error}.",
            remedy="Nothing was changed.",
        ) from error
    ledger.append(
        campaigns.campaign_file(folder, campaign),
        CampaignRound(campaign, entry.at, entry.to_json()),
    )
    return entry


def _signed(by: str, why: str) -> redeal.Signed:
    if not by.strip():
        raise ValueError("it needs the name of who changes it")
    if len(why) > MAX_WHY:
        raise ValueError(f"the reason is longer than {MAX_WHY:,} characters")
    return redeal.Signed(
        datetime.now(UTC).isoformat(timespec="milliseconds"),
        by.strip(),
        why.strip(),
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
