"""Where labels and reasons do not go together: of one annotator with themselves, and between annotators.

Hidden repeats never count, because a repeat beside its first showing would tell that it is one.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan
from crane_core.pipeline.campaigns.campaigns import labels_of


class DifferingItems(NamedTuple):
    """Of `n` items with labels of two annotators or more, how many have unlike ones; `name`: a reason or a case."""

    name: str
    n: int
    n_differ: int


def unlike_by_reason(journal: Journal) -> frozenset[str]:
    """Items of an annotator whose reason they also gave with another label."""
    labels: dict[str, set[str]] = defaultdict(set)
    items: dict[str, set[str]] = defaultdict(set)
    for showing, given in journal.given.items():
        if showing.showing == 1 and given.reason is not None:
            labels[given.reason].add(str(given.label))
            items[given.reason].add(showing.item)
    return frozenset(
        item
        for reason, named in items.items()
        if len(labels[reason]) > 1
        for item in named
    )


def differing_by_reason(
    plan: Plan, journals: Mapping[str, Journal]
) -> list[DifferingItems]:
    """A row per reason that any annotator gave, the most unlike items first; an item counts under each reason of it."""
    rows = []
    for name, differs in _compared(plan, journals).items():
        of_item = [
            journal.given.get(Showing(name, 1)) for journal in journals.values()
        ]
        reasons = {given.reason for given in of_item if given and given.reason}
        rows += [(reason, differs) for reason in reasons]
    return _counted(rows)


def differing_by_case(
    plan: Plan, journals: Mapping[str, Journal]
) -> list[DifferingItems]:
    """A row per case, the most unlike items first."""
    case_of = {item.item: item.verdict.case_id for item in plan.items}
    compared = _compared(plan, journals)
    return _counted(
        (case_of[name], differs) for name, differs in compared.items()
    )


def _compared(plan: Plan, journals: Mapping[str, Journal]) -> dict[str, bool]:
    """Items with labels of two annotators or more, and whether these differ."""
    said = {
        item.item: list(labels_of(journals, item.item).values())
        for item in plan.items
    }
    return {
        name: len(set(labels)) > 1
        for name, labels in said.items()
        if len(labels) > 1
    }


def _counted(rows: Iterable[tuple[str, bool]]) -> list[DifferingItems]:
    of: dict[str, list[bool]] = defaultdict(list)
    for name, differs in rows:
        of[name].append(differs)
    counted = [
        DifferingItems(name, len(each), sum(each)) for name, each in of.items()
    ]
    return sorted(counted, key=lambda row: (-row.n_differ, row.n, row.name))
