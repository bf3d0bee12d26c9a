"""A campaign drawn again from an export, or the differences in the data that prevent it."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from crane_core import domain, ledger
from crane_core.annotation import draw, guideline
from crane_core.annotation.plan import (
    DrawKind,
    LabelledVerdict,
    Plan,
    ShownAfter,
    check_name,
    guideline_of,
    plan_from_json,
    population_sha256,
    with_rounds,
)
from crane_core.annotation.rounds import Round, round_from_json
from crane_core.errors import CampaignError, LedgerError
from crane_core.given_path import read_given
from crane_core.pipeline.campaigns import blind_plan, campaigns, gold, threads
from crane_core.pipeline.campaigns.export.files import (
    GUIDELINES,
    MESSAGES,
    guideline_file,
)
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import Store

_MOST_BYTES = 64 * 2**20
_VERSION = re.compile(r"[0-9a-f]{12}")
_WHOLE = "Name the plan.json in the whole folder that `campaign export` wrote."
NAMED = 5
"""Verdicts that an error message names before it counts the rest."""


class Repeated(NamedTuple):
    """A plan like the exported one; `remarks` list differences that do not affect the draw."""

    plan: Plan
    remarks: tuple[str, ...]


def exported_plan(file: Path) -> Plan:
    """The plan of an export's plan.json. Raises CampaignError if it is none, or is one from before the lock."""
    text = ""
    try:
        text = _read(file)
        return plan_from_json(text)
    except UnicodeDecodeError as error:
        raise CampaignError(
            f"{file} is not a text file: {error.reason}.",
            remedy="Name the plan.json of an export.",
        ) from error
    except ValueError as error:
        # An export from before the lock withholds what a repetition needs, on purpose.
        if f'"{blind_plan.COMMITMENT}"' in text:
            raise CampaignError(
                f"{file} was exported before the lock so its seed and population are hidden.",
                remedy="Lock the campaign, export it again, and repeat it from that plan.json.",
            ) from error
        raise CampaignError(
            f"{file}: {error}.", remedy="Name the plan.json of an export."
        ) from error


def exported_guideline(file: Path, plan: Plan) -> str | None:
    """The last version of the guideline in the export around this plan.json; else the plan's text, if it has one.

    Raises CampaignError if the export lists versions and the file of the last is missing or another.
    """
    listed = file.with_name(GUIDELINES)
    if not listed.is_file():
        return plan.guideline_text
    try:
        *_, last = _listed_versions(listed)
        return _text_of_version(file, last["version"])
    except (ValueError, KeyError, OSError, csv.Error) as error:
        raise CampaignError(
            f"{listed}: the last version of the guideline cannot be read: {error}.",
            remedy=_WHOLE,
        ) from error


def _listed_versions(listed: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_read(listed), newline="")))


def _text_of_version(file: Path, version: str | None) -> str:
    """The text in the export around `file`. Raises ValueError if there is none or it is another one."""
    # The name becomes that of a file, and the table may come from anyone.
    if not _VERSION.fullmatch(str(version)):
        raise ValueError(f"{str(version)[:20]!r} is not a version")
    named = file.with_name(guideline_file(str(version)))
    text = _read(named)
    if guideline.version_of(text) != version:
        raise ValueError(f"{named} is not the text of that version")
    return text


def _read(file: Path) -> str:
    return read_given(file, _MOST_BYTES).decode("utf-8")


class Replay(NamedTuple):
    """The other contents of an export: changes of who labels what, every act, and every message."""

    rounds: tuple[Round, ...]
    acts: tuple[domain.Annotation, ...]
    guidelines: tuple[domain.CampaignGuideline, ...]
    messages: tuple[domain.CampaignMessage, ...]


def exported_work(file: Path, plan: Plan) -> Replay:
    """The rounds and acts beside an exported plan, all of its people. Raises CampaignError if one is not."""
    rounds_file, acts_file = (
        file.with_name("rounds.jsonl"),
        file.with_name("acts.jsonl"),
    )
    try:
        lines = _read(rounds_file).split("\n")
        rounds = tuple(round_from_json(line) for line in lines if line)
        whole = with_rounds(plan, rounds)
        read_given(
            acts_file, _MOST_BYTES
        )  # bounded, and a file; the ledger's reader knows the lines
        tail = ledger.tail(acts_file)
        acts = tuple(
            act for act in tail.records if isinstance(act, domain.Annotation)
        )
        if tail.problems or len(acts) != len(tail.records) or tail.torn_bytes:
            raise ValueError("some of its lines are not acts")
        for act in acts:
            _check_act(whole, act)
        messages = tuple(_messages(file, whole))
    except (ValueError, LedgerError) as error:
        raise CampaignError(
            f"{file.parent} does not hold the whole work of {plan.campaign}: {error}.",
            remedy="Export the campaign again, with this version of the program.",
        ) from error
    return Replay(rounds, acts, tuple(_guidelines(file, plan)), messages)


def keep_replayed(folder: DataFolder, plan: Plan, work: Replay) -> None:
    """Put rounds and acts of an export into the ledger, after its plan was kept."""
    changes: list[domain.CampaignRound | domain.CampaignGuideline] = [
        *work.guidelines
    ]
    changes += [
        domain.CampaignRound(plan.campaign, entry.at, entry.to_json())
        for entry in work.rounds
    ]
    # In the order of their times, as the campaign's own file would hold them.
    changes.sort(key=_when)
    if changes:
        ledger.append(campaigns.campaign_file(folder, plan.campaign), *changes)
    files: dict[Path, list[domain.Annotation]] = {}
    for act in work.acts:
        is_decision = act.action is domain.AnnotationAction.ADJUDICATE
        file = (
            campaigns.decision_folder(folder, plan.campaign)
            / f"{act.annotator}.jsonl"
            if is_decision
            else None
        )
        files.setdefault(
            file or campaigns.label_file(folder, plan.campaign, act.annotator),
            [],
        ).append(act)
    for file, acts in files.items():
        ledger.append(file, *acts)
    if work.messages:
        ledger.append(
            threads.message_file(folder, plan.campaign), *work.messages
        )


def _when(record: domain.CampaignRound | domain.CampaignGuideline) -> datetime:
    return datetime.fromisoformat(
        record.made_at
        if isinstance(record, domain.CampaignRound)
        else record.changed_at
    )


def _guidelines(file: Path, plan: Plan) -> Iterator[domain.CampaignGuideline]:
    """The versions that followed the plan's. Raises ValueError if the text of one is missing or another."""
    for row in _listed_versions(file.with_name(GUIDELINES))[1:]:
        yield domain.CampaignGuideline(
            campaign=plan.campaign,
            changed_at=str(row.get("since")),
            changed_by=str(row.get("by")),
            text=_text_of_version(file, row.get("version")),
        )


def _messages(file: Path, plan: Plan) -> Iterator[domain.CampaignMessage]:
    """The messages of an export; one from before there were any has no such file. Raises ValueError."""
    messages_file = file.with_name(MESSAGES)
    if not messages_file.is_file():
        return
    read_given(messages_file, _MOST_BYTES)
    tail = ledger.tail(messages_file)
    if tail.problems or tail.torn_bytes:
        raise ValueError("some lines of its messages are not messages")
    known = {item.item for item in plan.items} | plan.gold_items
    for record in tail.records:
        if (
            not isinstance(record, domain.CampaignMessage)
            or record.campaign != plan.campaign
        ):
            raise ValueError(
                "some lines of its messages are not messages of it"
            )
        if record.annotator not in plan.annotators or record.item not in known:
            raise ValueError(
                f"a message is about {record.item} of {record.annotator}"
            )
        yield record


def _check_act(plan: Plan, act: domain.Annotation) -> None:
    check_name(act.annotator, "an annotator")
    if act.campaign != plan.campaign:
        raise ValueError(f"an act is of {act.campaign!r}")
    if (
        act.action is not domain.AnnotationAction.ADJUDICATE
        and act.annotator not in plan.annotators
    ):
        raise ValueError(f"{act.annotator} has no part in it")
    if act.label is not None and act.label not in plan.labels:
        raise ValueError(
            f"{act.label!r} is not one of its labels, {plan.labels.listed()}"
        )


def repeated_plan(
    store: Store,
    old: Plan,
    *,
    campaign: str | None = None,
    title: str = "",
    by: str = "",
    guideline_text: str | None = None,
) -> Repeated:
    """The exported plan drawn again from what is loaded: same population, seed, items, and, under its own name, orders.

    Under another name the same verdicts are drawn, and items and orders are named and shuffled again. guideline_text:
    that of the export; by default the plan's own, and where that was not stored, the one for new campaigns. Raises
    CampaignError, telling which verdicts are gone or new, where the population is not the one of the export.
    """
    everything, left_out = campaigns.population(store, old.population)
    verdicts = draw.without_gold(everything, old.gold)
    if population_sha256(
        verdicts
    ) != old.population_sha256 or gold.gold_without_text(store, old.gold):
        raise _other_population(old, verdicts)
    name = campaign or old.campaign
    request = draw.CampaignRequest(
        campaign=name,
        annotators=old.annotators,
        population=old.population,
        design=old.design,
        seed=old.seed,
        title=title or old.title,
        blind=old.blind,
        created_by=by,
        labels=old.labels,
        gold=old.gold,
        gold_feedback=old.gold_feedback,
    )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    text = guideline_of(old) if guideline_text is None else guideline_text
    try:
        plan = draw.draw_plan(
            request, verdicts, guideline=text, created_at=now, left_out=left_out
        )
    except ValueError as error:
        raise CampaignError(
            f"The plan cannot be drawn: {error}.", remedy="Use another name."
        ) from error
    # The seed fixes the draw only as long as this program draws alike; a change of it must be seen.
    same_draw = [item.verdict.key for item in plan.items] == [
        item.verdict.key for item in old.items
    ]
    if not same_draw or (name == old.campaign and plan.orders != old.orders):
        raise _drawn_otherwise(old)
    plan = replace(plan, shown_after=_shown_again(old, plan))
    return Repeated(plan, _remarks(old, plan))


def _shown_again(old: Plan, new: Plan) -> ShownAfter | None:
    """The same labels for the same verdicts, whose items may have other names."""
    if old.shown_after is None:
        return None
    # Both were drawn alike, item by item.
    pairs = zip(old.items, new.items, strict=True)
    name_of = {one.item: other.item for one, other in pairs}
    labels = {
        name_of[name]: label for name, label in old.shown_after.labels.items()
    }
    return ShownAfter(old.shown_after.origin, labels)


def _drawn_otherwise(old: Plan) -> CampaignError:
    return CampaignError(
        f"The population of {old.campaign!r} is the same, but this version of the program draws a different sample.",
        remedy=f"Repeat it with the version of the program from {old.created_at}.",
    )


def _remarks(old: Plan, new: Plan) -> tuple[str, ...]:
    said = {
        name: getattr(old, name)
        for name in (
            "created_at",
            "created_by",
            "title",
            "guideline",
            "guideline_text",
        )
    }
    remarks = []
    if replace(new, **said) == old:
        remarks.append("Items, names and orders are the same as in the export.")
    if new.campaign != old.campaign:
        remarks.append(
            f"The verdicts are the same as in {old.campaign}; item names and orders are new, like the campaign's name."
        )
    if new.guideline != old.guideline:
        remarks.append(
            f"The guideline is {new.guideline}; the exported campaign began with {old.guideline}."
        )
    return tuple(remarks)


def _other_population(old: Plan, now: list[LabelledVerdict]) -> CampaignError:
    drawn, here = (
        {item.verdict.key for item in old.items},
        {verdict.key for verdict in now},
    )
    told = [
        f"It had {old.population_size:,} verdicts; now there are {len(now):,}."
    ]
    told += _listed("of the drawn verdicts are missing", drawn - here)
    told += (
        _listed("new", here - drawn)
        if old.design.kind is DrawKind.ALL
        else _by_stratum(old, now)
    )
    return CampaignError(
        f"The population of {old.campaign!r} has changed. {' '.join(told)}",
        remedy="Load the same data as then, or create a new campaign: `campaign create` with the same --seed.",
    )


def _listed(what: str, keys: set[tuple[str, str, str, str, str]]) -> list[str]:
    if not keys:
        return []
    words = [
        " ".join((instance, detector, setting))
        for _, instance, detector, setting, _ in sorted(keys)
    ]
    more = f" and {len(words) - NAMED:,} more" if len(words) > NAMED else ""
    return [f"{len(words):,} {what}: {', '.join(words[:NAMED])}{more}."]


def _by_stratum(old: Plan, now: list[LabelledVerdict]) -> list[str]:
    """An export of a sample lists what was drawn, not the rest; of the rest, the sizes of strata can be compared."""
    sizes = Counter(
        draw.stratum_name(verdict, old.design.strata) for verdict in now
    )
    before = {stratum.name: stratum.population for stratum in old.strata}
    changed = [
        f"{name} {before.get(name, 0):,} then, {sizes[name]:,} now"
        for name in sorted(before.keys() | sizes)
        if before.get(name, 0) != sizes[name]
    ]
    return (
        [f"By stratum: {'; '.join(changed)}."]
        if changed
        else ["Every stratum has the same size, but other verdicts."]
    )
