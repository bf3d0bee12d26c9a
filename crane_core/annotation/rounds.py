"""A change of a running campaign: the main round opens, people come or go, items are labelled again.

Like a plan, a round writes out every random decision: the whole order of each annotator whom it changes. Earlier labels
stay in the ledger; a round only says who labels what from now on.
"""

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from crane_core.annotation.order import Showing


class RoundKind(StrEnum):
    """MAIN follows calibration; PEOPLE changes who labels; AGAIN has items labelled once more by the same people.

    SECOND deals second labels by chance, each from another annotator than the first.
    HANDED_IN opens a locked campaign for labels that were given before its lock and arrived after it.
    """

    MAIN = "main round"
    PEOPLE = "people"
    AGAIN = "labelled again"
    SECOND = "second labels"
    HANDED_IN = "labels handed in"


@dataclass(frozen=True, slots=True)
class Again:
    """Items that one annotator labels again: their labels up to the act `after` are no longer in force."""

    after: int
    items: frozenset[str]


@dataclass(frozen=True, slots=True)
class SecondDraw:
    """Whether an item was drawn for a second label, its chance of that, and who gave its first label by then."""

    first: str
    chance: float
    is_drawn: bool


@dataclass(frozen=True, slots=True)
class Round:
    """`annotators` label from now on. `orders`: the whole order of each person that changed, labelled items included.

    `items` are labelled again: decisions on them made before are no longer in force either. `second` has every item
    that was drawn for, also those that chance left out: estimates need the chances of both.
    """

    kind: RoundKind
    at: str
    by: str
    why: str
    annotators: tuple[str, ...]
    joined: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    orders: dict[str, tuple[Showing, ...]] = field(default_factory=dict)
    again: dict[str, Again] = field(default_factory=dict)
    items: tuple[str, ...] = ()
    second: dict[str, SecondDraw] = field(default_factory=dict)

    def to_json(self) -> str:
        """The document that `round_from_json` reads; sets are sorted, so that equal rounds have equal texts."""
        again = {
            name: asdict(entry) | {"items": sorted(entry.items)}
            for name, entry in self.again.items()
        }
        return json.dumps(
            asdict(self) | {"again": again}, ensure_ascii=False, allow_nan=False
        )


def round_from_json(text: str) -> Round:
    """The round of a document. Raises ValueError naming what is missing or wrong."""
    try:
        body = json.loads(text)
        return Round(
            **body
            | {
                "kind": RoundKind(body["kind"]),
                **{
                    name: tuple(body[name])
                    for name in ("annotators", "joined", "left", "items")
                },
                "orders": {
                    name: tuple(Showing(**s) for s in order)
                    for name, order in body["orders"].items()
                },
                "again": {
                    name: Again(one["after"], frozenset(one["items"]))
                    for name, one in body["again"].items()
                },
                # Rounds from before second labels were drawn have none.
                "second": {
                    item: SecondDraw(**one)
                    for item, one in body.get("second", {}).items()
                },
            }
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a round of a campaign: {error}") from error
