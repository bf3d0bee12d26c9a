"""A campaign drawn again from an export, and what stands in the way when the data are not the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from crane_core.annotation.draw import Wish, draw_plan, stratum_name
from crane_core.annotation.guideline import guideline
from crane_core.annotation.plan import Kind, Plan, Verdict, plan_from_json, population_sha256
from crane_core.errors import CampaignError
from crane_core.given_path import read_given
from crane_core.pipeline.blind_plan import COMMITMENT
from crane_core.pipeline.campaigns import population
from crane_core.storage.store import Store

_MOST_BYTES = 64 * 2**20
NAMED = 5
"""Verdicts that an error message names before it counts the rest."""


class Repeated(NamedTuple):
    """A plan like the exported one; `remarks` say what differs and does not matter to the draw."""

    plan: Plan
    remarks: tuple[str, ...]


def exported_plan(file: Path) -> Plan:
    """The plan of an export's plan.json. Raises CampaignError where it is none, or is one from before the lock."""
    text = ""
    try:
        text = read_given(file, _MOST_BYTES).decode("utf-8")
        plan = plan_from_json(text)
    except UnicodeDecodeError as error:
        raise CampaignError(
            f"{file} is not a text file: {error.reason}.", remedy="Name the plan.json of an export."
        ) from error
    except ValueError as error:
        if f'"{COMMITMENT}"' in text:
            raise CampaignError(
                f"{file} was exported before the lock so its seed and population are hidden.",
                remedy="Lock the campaign, export it again, and repeat it from that plan.json.",
            ) from error
        raise CampaignError(f"{file}: {error}.", remedy="Name the plan.json of an export.") from error
    return plan


def repeated_plan(store: Store, old: Plan, *, campaign: str | None = None, title: str = "", by: str = "") -> Repeated:
    """The exported plan drawn again from what is loaded: same population, seed, items, and, under its own name, orders.

    Under another name the same verdicts are drawn, and items and orders are named and shuffled again. Raises
    CampaignError, telling which verdicts are gone or new, where the population is not the one of the export.
    """
    verdicts, left_out = population(store, old.population)
    if population_sha256(verdicts) != old.population_sha256:
        raise _other_population(old, verdicts)
    name = campaign or old.campaign
    wish = Wish(name, old.annotators, old.population, old.design, old.seed, title or old.title, old.blind, by)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        plan = draw_plan(wish, verdicts, guideline=guideline(), created_at=now, left_out=left_out)
    except ValueError as error:
        raise CampaignError(f"The plan cannot be drawn: {error}.", remedy="Use another name.") from error
    same_draw = [item.verdict.key for item in plan.items] == [item.verdict.key for item in old.items]
    if not same_draw or (name == old.campaign and plan.orders != old.orders):
        raise _drawn_otherwise(old)
    return Repeated(plan, _remarks(old, plan))


def _drawn_otherwise(old: Plan) -> CampaignError:
    return CampaignError(
        f"The population of {old.campaign!r} is the same, but this version of the program draws a different sample.",
        remedy=f"Repeat it with the version of the program from {old.created_at}.",
    )


def _remarks(old: Plan, new: Plan) -> tuple[str, ...]:
    said = {name: getattr(old, name) for name in ("created_at", "created_by", "title", "guideline_text")}
    same = replace(new, **said) == old
    if same:
        return ("Items, names and orders are the same as in the export.",)
    remarks = []
    if new.campaign != old.campaign:
        remarks.append(
            f"The verdicts are the same as in {old.campaign}; item names and orders are new, like the campaign's name."
        )
    if new.guideline != old.guideline:
        remarks.append(f"The current guideline is {new.guideline}; the export was labelled under {old.guideline}.")
    return tuple(remarks)


def _other_population(old: Plan, now: list[Verdict]) -> CampaignError:
    drawn, here = {item.verdict.key for item in old.items}, {verdict.key for verdict in now}
    told = [f"It had {old.population_size:,} verdicts; now there are {len(now):,}."]
    told += _listed("of the drawn verdicts are missing", drawn - here)
    told += _listed("new", here - drawn) if old.design.kind is Kind.ALL else _by_stratum(old, now)
    return CampaignError(
        f"The population of {old.campaign!r} has changed. {' '.join(told)}",
        remedy="Load the same data as then, or create a new campaign: `campaign create` with the same --seed.",
    )


def _listed(what: str, keys: set[tuple[str, str, str, str, str]]) -> list[str]:
    if not keys:
        return []
    words = [" ".join((instance, detector, setting)) for _, instance, detector, setting, _ in sorted(keys)]
    more = f" and {len(words) - NAMED:,} more" if len(words) > NAMED else ""
    return [f"{len(words):,} {what}: {', '.join(words[:NAMED])}{more}."]


def _by_stratum(old: Plan, now: list[Verdict]) -> list[str]:
    """An export of a sample lists what was drawn, not the rest; of the rest, the sizes of strata can be compared."""
    sizes = Counter(stratum_name(verdict, old.design.strata) for verdict in now)
    before = {stratum.name: stratum.population for stratum in old.strata}
    changed = [
        f"{name} {before.get(name, 0):,} then, {sizes[name]:,} now"
        for name in sorted(before.keys() | sizes)
        if before.get(name, 0) != sizes[name]
    ]
    return (
        [f"By stratum: {'; '.join(changed)}."] if changed else ["Every stratum has the same size, but other verdicts."]
    )
