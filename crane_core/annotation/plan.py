"""A campaign's plan: what is labelled, by whom, in which order, under which guideline. One JSON document.

Everything that chance decided is written out (items with their inclusion probabilities, every annotator's order), so a
plan needs neither its seed nor its population to be carried out; with both it can be drawn again and compared.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from crane_core.annotation.guideline import guideline, version_of
from crane_core.annotation.label_check import checked_labels
from crane_core.annotation.label_set import LabelSet, study_labels
from crane_core.annotation.order import Showing
from crane_core.annotation.rounds import Round, SecondDraw

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
"""Names of campaigns and annotators: they are also names of files."""
RESERVED = {"adjudication", "final"}
BY_DEFAULT = ("detector", "setting")
"""What the study stratified its sample by (paper, table 1)."""
STORED_BEFORE = "crash foretold, right or not"
"""How plans stored before this version spell Outcome.PREDICTED."""


class PopulationOutcome(StrEnum):
    """Which verdicts are labelled. DETECTED: predicted crashes that do crash, the study's population (paper, 4.5)."""

    DETECTED = "detected crash"
    PREDICTED = "predicted crash, right or wrong"

    @classmethod
    def _missing_(cls, value: object) -> PopulationOutcome | None:
        # Plans are never rewritten, so their old spelling is read for ever.
        return cls.PREDICTED if value == STORED_BEFORE else None


class DrawKind(StrEnum):
    """Every item of the population, or a sample of it."""

    ALL = "all"
    SAMPLE = "sample"


class Overlap(StrEnum):
    """Who labels what. In the study, the first annotator labels everything, the second a sample (paper, 4.4.3)."""

    ALL = "every annotator labels every item"
    SAMPLE = "the first annotator labels every item, the others a sample"
    SOME = "each item by some of the annotators"
    NONE = "the items are dealt out, one annotator each"
    ADAPTIVE = "one annotator each, and a second one for some items, uncertain ones more often"


class Texts(StrEnum):
    """What an annotator sees of an item's runs. ALL was the only way in plans stored before there was a choice."""

    ONE = "one text of each item"
    ALL = "all texts of each item"


@dataclass(frozen=True, slots=True)
class Population:
    """A query over verdicts. An empty tuple asks for everything."""

    benchmark: str
    experiment: str
    detectors: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    root_causes: tuple[str, ...] = ()
    outcome: PopulationOutcome = PopulationOutcome.DETECTED


GUESSING = 0.5
"""A judge that guesses reaches this, so that a gate is above it."""


@dataclass(frozen=True, slots=True)
class Design:
    """How items and overlap are drawn. Margin, confidence and p enter Equation 1 (paper, 4.4.3)."""

    kind: DrawKind = DrawKind.SAMPLE
    overlap: Overlap = Overlap.ALL
    margin: float = 0.05
    confidence: float = 0.95
    p: float = 0.5
    strata: tuple[str, ...] = BY_DEFAULT
    repeats: float = 0.05
    """Share of an annotator's items that are repeated, hidden, for self-agreement."""
    texts: Texts = Texts.ONE
    """How many different texts a model gave names it, so by default one is drawn."""
    per_item: int = 2
    """Annotators of each item if the overlap is SOME."""
    second_share: float = 0.25
    """Share of the items that have a second label if the overlap is ADAPTIVE, calibration aside."""
    calibration: int = 0
    """Items of the sample that every annotator labels before the main round is opened; 0: there is one round."""
    by_case: bool = False
    """Items of one case follow each other and have the same annotators, so that its ground truth is read once."""
    plain: bool = False
    """Texts are shown without marks of style (`plain_text`), which name their models more often than their words do."""
    judge_gate: float = 0.8
    """A judge is certified here if its one-sided 95% bounds, of sensitivity and of specificity, both reach this."""


@dataclass(frozen=True, slots=True)
class LabelledVerdict:
    """What is labelled: a detector's verdict on an instance in a setting, and what it may be grouped by."""

    benchmark: str
    instance_id: str
    detector: str
    setting: str
    experiment: str
    case_id: str
    library: str | None = None
    root_cause: str | None = None

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What identifies a verdict in every table: benchmark, instance, detector, setting, experiment."""
        return (
            self.benchmark,
            self.instance_id,
            self.detector,
            self.setting,
            self.experiment,
        )

    @property
    def case(self) -> str:
        """The case among those of all benchmarks."""
        return f"{self.benchmark}/{self.case_id}"


@dataclass(frozen=True, slots=True)
class Item:
    """A drawn verdict under the campaign's name for it, which reveals neither detector nor setting."""

    item: str
    verdict: LabelledVerdict
    stratum: int
    inclusion_probability: float


@dataclass(frozen=True, slots=True)
class Gold:
    """An item with a label that is known, mixed once into the order of each annotator, who cannot tell it from others.

    It is taken from the population before the sample is drawn, so it enters no outcome and no estimate. `run`: whose
    text the label is about, where the plan shows one text. `origin`: the file or the locked campaign of the label.
    """

    item: str
    verdict: LabelledVerdict
    label: str
    why: str
    run: int | None
    origin: str


@dataclass(frozen=True, slots=True)
class ShownAfter:
    """Labels of a judge or a file, by item, which annotators see after their own label. `origin`: its name."""

    origin: str
    labels: dict[str, str]


@dataclass(frozen=True, slots=True)
class Stratum:
    """Sizes of a stratum; `overlap` counts the items that several annotators label."""

    name: str
    population: int
    sampled: int
    overlap: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole campaign. `population_sha256` is over the sorted keys of the population that was drawn from.

    `guideline` is the version of `guideline_text`, which stays what it was when the campaign was created; campaigns
    from before texts were stored have None. A plan that was read back has its `rounds` worked in: `annotators` are all
    who ever took part, `orders` are their current orders. A plan from before labels were stored has the study's.
    """

    campaign: str
    title: str
    created_at: str
    created_by: str
    population: Population
    population_size: int
    population_sha256: str
    left_out: int
    design: Design
    seed: int
    annotators: tuple[str, ...]
    guideline: str
    blind: bool
    required: int
    strata: tuple[Stratum, ...] = ()
    items: tuple[Item, ...] = ()
    orders: dict[str, tuple[Showing, ...]] = field(default_factory=dict)
    guideline_text: str | None = None
    rounds: tuple[Round, ...] = ()
    labels: LabelSet = field(default_factory=study_labels)
    gold: tuple[Gold, ...] = ()
    gold_feedback: bool = False
    shown_after: ShownAfter | None = None

    @property
    def gold_items(self) -> frozenset[str]:
        """The names of the gold items."""
        return frozenset(entry.item for entry in self.gold)

    @property
    def present(self) -> tuple[str, ...]:
        """Who labels now; the others have left."""
        if not self.rounds:
            return self.annotators
        return self.rounds[-1].annotators

    @property
    def second(self) -> dict[str, SecondDraw]:
        """The items that were drawn for a second label, or left out of it by chance; calibration is not among them."""
        found: dict[str, SecondDraw] = {}
        for entry in self.rounds:
            found |= entry.second
        return found

    @property
    def calibration(self) -> frozenset[str]:
        """The items of the calibration round; empty if there is none, and the plan is one round."""
        return frozenset(
            item.item for item in self.items[: self.design.calibration]
        )

    def to_json(self) -> str:
        """The plan as it was drawn; rounds are separate records."""
        body = asdict(self)
        # A round is a separate record, so the plan's line in the ledger never changes.
        del body["rounds"]
        return json.dumps(body, ensure_ascii=False, allow_nan=False)

    def item(self, name: str) -> Item | Gold:
        """The item of this name, a gold one too. Raises StopIteration."""
        entries: Iterable[Item | Gold] = (*self.items, *self.gold)
        return next(entry for entry in entries if entry.item == name)


def cases_of(
    entries: Iterable[Item | Gold], design: Design
) -> dict[str, str] | None:
    """Item to case, where the design orders and assigns by case; else None."""
    if not design.by_case:
        return None
    return {entry.item: entry.verdict.case for entry in entries}


def with_rounds(plan: Plan, rounds: Sequence[Round]) -> Plan:
    """The plan after its rounds. Raises ValueError if a round has other items or no annotators."""
    orders = dict(plan.orders)
    for entry in rounds:
        orders |= entry.orders
    names = (
        *plan.annotators,
        *(name for entry in rounds for name in entry.annotators),
    )
    changed = replace(
        plan,
        annotators=tuple(dict.fromkeys(names)),
        orders=orders,
        rounds=tuple(rounds),
    )
    _check(changed)
    return changed


def guideline_of(plan: Plan) -> str:
    """The text that the campaign's annotators read; if none was stored, the one for new campaigns."""
    return guideline() if plan.guideline_text is None else plan.guideline_text


def check_name(name: str, what: str) -> str:
    """The name, if it is valid. Raises ValueError."""
    if not NAME.fullmatch(name) or name in RESERVED:
        raise ValueError(
            f"{name!r} is not a valid name for {what}: use 1 to 40 of a-z, 0-9, dot, dash and underscore; start with"
            " a letter or digit"
        )
    return name


def population_sha256(verdicts: list[LabelledVerdict]) -> str:
    """Address of a population: sha256 over its sorted keys."""
    as_json = json.JSONEncoder(
        ensure_ascii=False
    ).encode  # made once: a plan has tens of thousands of keys
    lines = sorted(as_json(verdict.key) for verdict in verdicts)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def plan_from_json(text: str) -> Plan:
    """The plan of a document. Raises ValueError naming what is missing or wrong."""
    try:
        body = json.loads(text)
        plan = Plan(
            **body
            | {
                "population": _population(body["population"]),
                "design": _design(body["design"]),
                "annotators": tuple(body["annotators"]),
                "strata": tuple(
                    Stratum(**stratum) for stratum in body["strata"]
                ),
                "items": tuple(_item(item) for item in body["items"]),
                "gold": tuple(
                    Gold(
                        **entry
                        | {"verdict": LabelledVerdict(**entry["verdict"])}
                    )
                    for entry in body.get("gold", ())
                ),
                "shown_after": ShownAfter(**body["shown_after"])
                if body.get("shown_after")
                else None,
                "orders": {
                    name: tuple(Showing(**s) for s in order)
                    for name, order in body["orders"].items()
                },
                "labels": checked_labels(body["labels"])
                if "labels" in body
                # Plans from before own labels could be given have the study's.
                else study_labels(),
            }
        )
        _check(plan)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not the plan of a campaign: {error}") from error
    return plan


def _population(body: dict[str, Any]) -> Population:
    lists = {
        name: tuple(body[name])
        for name in ("detectors", "settings", "libraries", "root_causes")
    }
    return Population(
        **body | lists | {"outcome": PopulationOutcome(body["outcome"])}
    )


def _design(body: dict[str, Any]) -> Design:
    words = {
        "kind": DrawKind(body["kind"]),
        "overlap": Overlap(body["overlap"]),
        "strata": tuple(body["strata"]),
        # Plans from before this choice showed all texts.
        "texts": Texts(body.get("texts", Texts.ALL)),
    }
    return Design(**body | words)


def _item(body: dict[str, Any]) -> Item:
    return Item(**body | {"verdict": LabelledVerdict(**body["verdict"])})


def _check(plan: Plan) -> None:
    """Check that the plan is consistent: valid names, and orders of its annotators and its items only."""
    check_name(plan.campaign, "a campaign")
    for annotator in plan.annotators:
        check_name(annotator, "an annotator")
    if not plan.annotators or set(plan.orders) != set(plan.annotators):
        raise ValueError(
            "not the plan of a campaign: its orders do not match its annotators"
        )
    text = plan.guideline_text
    if text is not None and version_of(text) != plan.guideline:
        raise ValueError(
            "not the plan of a campaign: the version of its guideline does not match the text"
        )
    _check_items(plan)


def _check_items(plan: Plan) -> None:
    known = {item.item for item in plan.items} | plan.gold_items
    if plan.shown_after and not set(plan.shown_after.labels) <= known:
        raise ValueError(
            "not the plan of a campaign: it shows labels of items that it does not have"
        )
    ordered: set[str] = set()
    for order in plan.orders.values():
        ordered |= {showing.item for showing in order}
    unknown = ordered - known
    if unknown:
        raise ValueError(
            f"not the plan of a campaign: the item {min(unknown)!r} is in an order but not in the plan"
        )
