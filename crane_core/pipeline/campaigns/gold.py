"""Gold items for a plan: from a user's table, or from the final outcomes of a locked campaign.

A label holds for a text. Where the plan shows one text of each item, the label must be about that one: the table names
its run where the runs gave different texts, and a decided item keeps the text that was shown when it was decided.
"""

import csv
import io
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from crane_core.annotation.act import MAX_NOTE
from crane_core.annotation.label_set import LabelSet, same_meaning
from crane_core.annotation.order import shuffled
from crane_core.annotation.outcome import ADJUDICATION_REASONS, Provenance
from crane_core.annotation.plan import (
    Gold,
    LabelledVerdict,
    Plan,
    Population,
    PopulationOutcome,
    ShownAfter,
    Texts,
)
from crane_core.errors import CampaignError
from crane_core.given_path import read_given
from crane_core.pipeline.campaigns import campaigns, label_frame
from crane_core.pipeline.campaigns.cards import card, texts_of_runs
from crane_core.pipeline.places import DataFolder
from crane_core.storage import diagnoses
from crane_core.storage.store import Store

COLUMNS = ("instance", "detector", "setting", "label")
"""Of the table; `why` and `run` may be there, too, others are left alone."""
MOST_ITEMS = 1_000
_DECIDED = (Provenance.UNANIMOUS, Provenance.ADJUDICATED)
MOST_BYTES = 4 * 2**20
"""Of the table."""


class Looks(NamedTuple):
    """What of the new plan a label depends on: the set it is from, and which texts are shown, masked or not."""

    labels: LabelSet
    texts: Texts
    blind: bool


def gold_of_file(
    store: Store, file: Path, wanted: Population, looks: Looks
) -> tuple[Gold, ...]:
    """The gold items of a CSV file with the COLUMNS. Raises CampaignError naming the row that cannot be used."""
    return gold_of_table(store, _content(file), str(file), wanted, looks)


def _content(file: Path) -> bytes:
    try:
        return read_given(file, MOST_BYTES)
    except (ValueError, OSError) as error:
        raise _unreadable(str(file), error) from error


def gold_of_table(
    store: Store, content: bytes, name: str, wanted: Population, looks: Looks
) -> tuple[Gold, ...]:
    """The same from the bytes of a file of this name."""
    try:
        rows = list(
            csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        )
    except (ValueError, csv.Error) as error:
        raise _unreadable(name, error) from error
    if not 0 < len(rows) <= MOST_ITEMS:
        raise CampaignError(
            f"{name} has {len(rows):,} rows; such a file has 1 to {MOST_ITEMS:,}.",
            remedy=f"Columns: {_columns()}.",
        )
    # Every predicted crash, right or wrong, may be gold, whatever the plan's own population is.
    judged, _ = campaigns.population(
        store,
        Population(
            wanted.benchmark,
            wanted.experiment,
            outcome=PopulationOutcome.PREDICTED,
        ),
    )
    known = {
        (one.instance_id, one.detector, str(one.setting)): one for one in judged
    }
    found = []
    for place, row in enumerate(rows, start=2):
        try:
            found.append(
                _gold(store, known, row, looks, origin=Path(name).name[:80])
            )
        except ValueError as error:
            raise CampaignError(
                f"{name}, line {place}: {error}.",
                remedy=f"Columns: {_columns()}.",
            ) from error
    return tuple(found)


def _unreadable(name: str, error: Exception) -> CampaignError:
    # Of the system's errors the words alone, without number and path.
    why = (error.strerror if isinstance(error, OSError) else None) or error
    return CampaignError(
        f"{name} cannot be read: {why}.", remedy="Name a CSV file in UTF-8."
    )


def _columns() -> str:
    return f"{', '.join(COLUMNS)}, and optionally why and run"


def _gold(
    store: Store,
    known: Mapping[tuple[str, str, str], LabelledVerdict],
    row: Mapping[str | None, str | None],
    looks: Looks,
    *,
    origin: str,
) -> Gold:
    """The gold item of a row. Raises ValueError."""
    given = {
        name: (row.get(name) or "").strip() for name in (*COLUMNS, "why", "run")
    }
    verdict = known.get(
        (given["instance"], given["detector"], given["setting"])
    )
    if verdict is None:
        named = (
            " ".join(given[name][:80] for name in COLUMNS[:3]).strip()
            or "the row"
        )
        raise ValueError(f"{named} is not a predicted crash with a text")
    if given["label"] not in looks.labels:
        raise ValueError(
            f"the label {given['label'][:40]!r} is none of {looks.labels.listed()}"
        )
    if len(given["why"]) > MAX_NOTE:
        raise ValueError(f"why is longer than {MAX_NOTE:,} characters")
    run = _meant_run(
        given["run"], texts_of_runs(store, verdict, blind=looks.blind), looks
    )
    return Gold(
        item="",
        verdict=verdict,
        label=given["label"],
        why=given["why"],
        run=run,
        origin=origin,
    )


def _meant_run(named: str, runs: Mapping[int, str], looks: Looks) -> int | None:
    """The run whose text a label is about; None where all texts are shown. Raises ValueError."""
    run = int(named) if named.isdecimal() else None
    if named and run not in runs:
        raise ValueError(
            f"run {named[:20]!r} has no text; runs with one are {', '.join(map(str, runs))}"
        )
    if looks.texts is not Texts.ONE:
        return None
    # The label is about one text, so it must be clear which one annotators will see.
    n_texts = len(set(runs.values()))
    if run is None and n_texts > 1:
        raise ValueError(
            f"its answers have {n_texts} texts; the column run must say which is meant"
        )
    return next(iter(runs)) if run is None else run


def gold_of_campaign(
    store: Store,
    folder: DataFolder,
    campaign: str,
    n: int,
    wanted: Population,
    looks: Looks,
    *,
    seed: int,
    but: Collection[Gold] = (),
) -> tuple[Gold, ...]:
    """`n` items that a locked campaign decided, unanimously or by adjudication, drawn by the seed.

    but: those that are gold already. Raises CampaignError if the campaign is not locked or has too few.
    """
    plan, lock = campaigns.kept_campaign(folder, campaign)
    if lock is None:
        raise CampaignError(
            f"{campaign!r} is not locked, so its labels are not final.",
            remedy="Lock it first.",
        )
    if not same_meaning(plan.labels, looks.labels):
        raise CampaignError(
            f"{campaign!r} has other labels than the new campaign.",
            remedy="Choose another campaign.",
        )
    taken = {entry.verdict.key for entry in but}
    place = (wanted.benchmark, wanted.experiment)
    why, finals = _whys(folder, plan), label_frame.final_outcomes(folder, plan)
    decided = [
        item
        for item in plan.items
        if finals[item.item].provenance in _DECIDED
        and (item.verdict.benchmark, item.verdict.experiment) == place
        and item.verdict.key not in taken
    ]
    found: list[Gold] = []
    for item in shuffled(decided, seed=f"{seed}/gold/{campaign}"):
        if len(found) >= n:
            break
        # A label holds for the text that was judged; another text of the item may deserve another label.
        usable, run = _same_text(store, plan, item.item, looks)
        if usable:
            found.append(
                Gold(
                    item="",
                    verdict=item.verdict,
                    label=str(finals[item.item].label),
                    why=why.get(item.item, f"decided in {campaign}"),
                    run=run,
                    origin=campaign,
                )
            )
    if len(found) < n:
        raise CampaignError(
            f"{campaign!r} has {len(found):,} decided items of {wanted.benchmark}, {wanted.experiment} that can be "
            f"shown as they were; {n:,} are asked for.",
            remedy="Ask for fewer.",
        )
    return tuple(found)


def _whys(folder: DataFolder, plan: Plan) -> dict[str, str]:
    """Why an item was decided so, without the name of who did."""
    return {
        item: act.note or ADJUDICATION_REASONS.get(str(act.reason), "")
        for item, act in campaigns.decisions_of(folder, plan).items()
    }


def _same_text(
    store: Store, plan: Plan, item: str, looks: Looks
) -> tuple[bool, int | None]:
    """Whether the new plan can show what was judged, and of which run; all texts are what they are."""
    runs = texts_of_runs(store, plan.item(item).verdict, blind=looks.blind)
    is_one = len(set(runs.values())) == 1
    if looks.texts is Texts.ALL or not runs:
        return bool(runs) and (is_one or plan.design.texts is Texts.ALL), None
    if plan.design.texts is Texts.ALL:
        return is_one, next(iter(runs))
    shown = card(store, plan, item).texts[0].text
    return shown in runs.values(), next(
        (run for run, text in runs.items() if text == shown), None
    )


def shown_after(store: Store, plan: Plan, whose: str) -> ShownAfter:
    """Labels to show after one's own, of a table as for gold (its name ends in .csv) or of a judge, for a drawn plan.

    Raises CampaignError if it has no label of an item of the plan, and as `gold_of_file` does.
    """
    if whose.casefold().endswith(".csv"):
        return shown_after_of_table(store, plan, _content(Path(whose)), whose)
    return ShownAfter(
        whose[:80], label_frame.labels_of_judge(store, plan, whose)
    )


def shown_after_of_table(
    store: Store, plan: Plan, content: bytes, name: str
) -> ShownAfter:
    """The same from the bytes of a table of this name."""
    # The label is about all texts of an item, so no row has to name a run.
    looks = Looks(plan.labels, Texts.ALL, plan.blind)
    rows = gold_of_table(store, content, name, plan.population, looks)
    said = {entry.verdict.key: entry.label for entry in rows}
    labels = {
        item.item: said[item.verdict.key]
        for item in plan.items
        if item.verdict.key in said
    }
    if not labels:
        raise CampaignError(
            f"{name} has no label of an item of this campaign.",
            remedy="Name verdicts of its population.",
        )
    return ShownAfter(Path(name).name[:80], labels)


def gold_without_text(store: Store, gold: Collection[Gold]) -> list[Gold]:
    """Those whose text is not loaded here."""
    places = {
        (entry.verdict.benchmark, entry.verdict.experiment) for entry in gold
    }
    told = {
        key
        for place in places
        for key in diagnoses.answers_with_text(store.cursor(), *place)
    }
    return [entry for entry in gold if entry.verdict.key not in told]
