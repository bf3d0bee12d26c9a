"""Campaigns as files: drawn from the store, kept in the ledger, read back without a database.

ledger/campaigns/<campaign>.jsonl                     the plan, and the lock when it comes
ledger/labels/<campaign>/<annotator>.jsonl            every act of an annotator
ledger/labels/<campaign>/adjudication/<name>.jsonl    every decision between annotators
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from crane_core import domain, ledger
from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.guideline import first_guideline
from crane_core.annotation.journal import Journal, journal_for
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import (
    NAME,
    LabelledVerdict,
    Plan,
    Population,
    PopulationOutcome,
    check_name,
    plan_from_json,
    with_rounds,
)
from crane_core.annotation.rounds import round_from_json
from crane_core.errors import CampaignError
from crane_core.pipeline.inventory import inventory
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.rows import plain_members
from crane_core.stats import vote
from crane_core.storage import diagnoses
from crane_core.storage.store import Store


class Kept(NamedTuple):
    """A campaign as the ledger has it, its rounds worked into the plan; no lock where a later round reopened it."""

    plan: Plan
    lock: domain.CampaignLock | None


def campaign_file(folder: DataFolder, campaign: str) -> Path:
    """The ledger file of a campaign: its plan, rounds, changes of its guideline, locks."""
    return folder.ledger / "campaigns" / f"{campaign}.jsonl"


def label_file(folder: DataFolder, campaign: str, annotator: str) -> Path:
    """The ledger file with all acts of one annotator of a campaign."""
    return folder.ledger / "labels" / campaign / f"{annotator}.jsonl"


def decision_folder(folder: DataFolder, campaign: str) -> Path:
    """The folder of a campaign's decisions between annotators, a ledger file for each person who decides."""
    return folder.ledger / "labels" / campaign / "adjudication"


def campaign_names(folder: DataFolder) -> list[str]:
    """Names of the campaigns that are not removed, the newest first; damaged plans come last and raise when read."""
    files = [
        file
        for file in (folder.ledger / "campaigns").glob("*.jsonl")
        if NAME.fullmatch(file.stem)
    ]
    kept = inventory(folder)
    created = {
        file.stem: _created(file)
        for file in files
        if kept.has(domain.Listed.CAMPAIGN, file.stem) and _is_kept(file)
    }
    # A plan that cannot be read has no time; it comes last and is still listed, so that its lead sees it.
    return sorted(created, key=lambda name: (-created[name], name))


def _is_kept(file: Path) -> bool:
    """Whether the file has a whole line; without one, the process that wrote the plan died before it was kept."""
    if not file.is_file():
        return False
    with file.open("rb") as lines:
        return lines.readline().endswith(b"\n")


def _created(file: Path) -> float:
    try:
        return datetime.fromisoformat(_read(file).plan.created_at).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0


def kept_campaign(folder: DataFolder, campaign: str) -> Kept:
    """The campaign of this name. Raises CampaignError if there is none or its plan cannot be read."""
    file = campaign_file(folder, campaign) if NAME.fullmatch(campaign) else None
    if file is None or not _is_kept(file):
        raise CampaignError(
            f"There is no campaign {campaign!r} in {folder.ledger}.",
            remedy="List campaigns with `campaign status`, or create one with `campaign create`.",
        )
    about = inventory(folder)
    if act := about.removed.get((domain.Listed.CAMPAIGN, campaign)):
        raise CampaignError(
            f"The campaign {campaign!r} was removed by {act.acted_by} at {act.acted_at[:16]}.",
            remedy=f"Bring it back: `restore campaign {campaign}`.",
        )
    try:
        kept = _read(file)
    except ValueError as error:
        raise CampaignError(
            f"{file}: {error}.",
            remedy="Restore the file from a copy; no label was changed.",
        ) from error
    title = about.title(domain.Listed.CAMPAIGN, campaign) or kept.plan.title
    return kept._replace(plan=replace(kept.plan, title=title))


def _read(file: Path) -> Kept:
    """What the file says, whatever names were given later. Raises ValueError."""
    status = file.stat()
    return _read_once(file, status.st_ino, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _read_once(
    file: Path, _inode: int, _changed_ns: int, _n_bytes: int
) -> Kept:
    """Read again if one of these differs: the plan of 20,000 items takes a second, and every page asks for it."""
    records = ledger.tail(file).records
    plan = _plan_after(records)
    # A campaign may be locked, opened by a round and locked again: the last of these counts.
    ends = [
        record
        for record in records
        if isinstance(record, domain.CampaignLock | domain.CampaignRound)
    ]
    last = ends[-1] if ends else None
    return Kept(plan, last if isinstance(last, domain.CampaignLock) else None)


def _plan_after(records: list[domain.Record]) -> Plan:
    """The plan with the rounds of these lines. Raises ValueError."""
    plans = [
        record for record in records if isinstance(record, domain.Campaign)
    ]
    if not plans:
        raise ValueError("it contains no plan")
    rounds = [
        round_from_json(record.round)
        for record in records
        if isinstance(record, domain.CampaignRound)
    ]
    return with_rounds(plan_from_json(plans[0].plan), rounds)


def open_blind_campaigns(folder: DataFolder) -> Mapping[str, tuple[str, ...]]:
    """Name of each blind campaign that is not locked to its annotators. Raises CampaignError on a damaged file."""
    kept = {
        name: kept_campaign(folder, name) for name in campaign_names(folder)
    }
    return {
        name: one.plan.annotators
        for name, one in kept.items()
        if one.plan.blind and one.lock is None
    }


class MatchingVerdicts(NamedTuple):
    """The verdicts that match a query and have a text to judge, and how many have none."""

    verdicts: list[LabelledVerdict]
    left_out: int


def population(
    store: Store, wanted: Population, verdicts: pd.DataFrame | None = None
) -> MatchingVerdicts:
    """What a query finds. verdicts: the verdict frame, where the caller has it."""
    frame = asked_for(
        verdict_frame(store) if verdicts is None else verdicts, wanted
    )
    columns = [
        "benchmark",
        "instance_id",
        "detector",
        "setting",
        "experiment",
        "case_id",
        "library",
        "root_cause",
    ]
    # By column: of fifty thousand verdicts a dictionary each takes longer than the verdicts.
    members = [plain_members(frame[name]) for name in columns]
    matching = [LabelledVerdict(*row) for row in zip(*members, strict=True)]
    told = diagnoses.answers_with_text(
        store.cursor(), wanted.benchmark, wanted.experiment
    )
    judged = [verdict for verdict in matching if verdict.key in told]
    return MatchingVerdicts(judged, len(matching) - len(judged))


def asked_for(frame: pd.DataFrame, wanted: Population) -> pd.DataFrame:
    """The rows of the verdict frame that match the query, with or without a text."""
    frame = frame[
        (frame["benchmark"] == wanted.benchmark)
        & (frame["experiment"] == wanted.experiment)
        & (frame["detector_kind"] == domain.DetectorKind.LLM)
        & vote.majority(
            frame["n_crash"].to_numpy(), frame["n_safe"].to_numpy()
        ).crash
    ]
    if wanted.outcome is PopulationOutcome.DETECTED:
        frame = frame[frame["truth"]]
    asked = {
        "detector": wanted.detectors,
        "setting": wanted.settings,
        "library": wanted.libraries,
        "root_cause": wanted.root_causes,
    }
    for column, values in asked.items():
        if values:
            frame = frame[frame[column].isin(values)]
    return frame


def drawn_plan(
    store: Store,
    request: CampaignRequest,
    found: MatchingVerdicts | None = None,
) -> Plan:
    """The plan for a request on the loaded data; nothing is stored. Raises CampaignError.

    found: the request's population, where the caller has it.
    """
    verdicts, left_out = found or population(store, request.population)
    if not verdicts:
        raise _nothing_to_label(request.population, left_out)
    try:
        return draw_plan(
            request,
            verdicts,
            guideline=first_guideline(request.labels),
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            left_out=left_out,
        )
    except ValueError as error:
        raise CampaignError(
            f"No plan can be drawn: {error}.", remedy="Change it and try again."
        ) from error


def _nothing_to_label(wanted: Population, left_out: int) -> CampaignError:
    if left_out:
        return CampaignError(
            f"{left_out:,} verdicts of {wanted.benchmark}, {wanted.experiment} match, but their texts are not loaded.",
            remedy="Load the texts first: `fetch crane-llm`, or import the archive.",
        )
    return CampaignError(
        f"No verdict of {wanted.benchmark}, {wanted.experiment} matches.",
        remedy="Choose other detectors, settings, libraries or root causes; Results shows which exist.",
    )


def keep_campaign(folder: DataFolder, plan: Plan) -> None:
    """Write a plan to the ledger. Raises CampaignError if the name is taken."""
    file = campaign_file(folder, check_name(plan.campaign, "a campaign"))
    taken = CampaignError(
        f"The campaign {plan.campaign!r} already exists.",
        remedy="Choose another name.",
    )
    if _is_kept(file):
        raise taken
    ledger.append(file, domain.Campaign(plan.campaign, plan.to_json()))
    # A file has no unique names: the first line decides between two processes.
    if kept_campaign(folder, plan.campaign).plan != plan:
        raise taken  # another process stored one of this name at the same moment, and theirs comes first


def lock_campaign(
    folder: DataFolder, campaign: str, *, by: str
) -> domain.CampaignLock:
    """End a campaign: labels can no longer change. Raises CampaignError if it is locked already."""
    kept = kept_campaign(folder, campaign)
    if kept.lock is not None:
        raise CampaignError(
            f"The campaign {campaign!r} was locked by {kept.lock.locked_by} at {kept.lock.locked_at}.",
            remedy="Nothing is left to do; export everything with `campaign export`.",
        )
    lock = domain.CampaignLock(
        campaign, datetime.now(UTC).isoformat(timespec="seconds"), by
    )
    ledger.append(campaign_file(folder, campaign), lock)
    return lock


def acts_of(
    folder: DataFolder, plan: Plan, annotator: str
) -> list[domain.Annotation]:
    """Every act of an annotator, in order."""
    return annotations_in(label_file(folder, plan.campaign, annotator))


def journal_of(folder: DataFolder, plan: Plan, annotator: str) -> Journal:
    """The state of an annotator, from the ledger."""
    journal = journal_for(plan, annotator)
    journal.take(acts_of(folder, plan, annotator))
    return journal


def journals_of(folder: DataFolder, plan: Plan) -> dict[str, Journal]:
    """The state of everyone who ever labelled in the campaign."""
    return {name: journal_of(folder, plan, name) for name in plan.annotators}


def labels_of(journals: Mapping[str, Journal], item: str) -> dict[str, str]:
    """Annotator to label of an item, first showings only, as a hidden repeat is not a second opinion."""
    first = Showing(item, 1)
    return {
        name: str(journal.given[first].label)
        for name, journal in journals.items()
        if first in journal.given
    }


def decisions_of(
    folder: DataFolder, plan: Plan
) -> dict[str, domain.Annotation]:
    """The last adjudication of every item that has one in force: made after it was last sent back to be labelled."""
    files = sorted(decision_folder(folder, plan.campaign).glob("*.jsonl"))
    acts = [one for file in files for one in _in_time(annotations_in(file))]
    sent_back = {
        item: entry.at for entry in plan.rounds for item in entry.items
    }
    # An item that was sent back is undecided until somebody decides it again.
    in_force = [one for one in acts if one.at > sent_back.get(one.act.item, "")]
    ordered = sorted(in_force, key=lambda one: (one.at, one.act.sequence))
    return {one.act.item: one.act for one in ordered}


class _Dated(NamedTuple):
    """A decision, and a time that is never before that of one above it in the same file."""

    at: str
    act: domain.Annotation


def _in_time(acts: Iterable[domain.Annotation]) -> Iterator[_Dated]:
    """A person's decisions have the order of their lines, also where the clock was set back in between."""
    latest = ""
    for act in acts:
        latest = max(latest, act.submitted_at)
        yield _Dated(latest, act)


def annotations_in(file: Path) -> list[domain.Annotation]:
    """The acts or decisions of a ledger file, in the order of its lines; none if there is no file."""
    if not file.is_file():
        return []
    return [
        record
        for record in ledger.tail(file).records
        if isinstance(record, domain.Annotation)
    ]
