"""What an annotator sees of an item: target cell, ground truth, and the diagnoses with their authors masked."""

import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, NamedTuple

import pandas as pd

from crane_core.annotation.mask import drawn_text, mask
from crane_core.annotation.plain_text import plain_text
from crane_core.annotation.plan import Gold, LabelledVerdict, Plan, Texts
from crane_core.crash_place import crash_place
from crane_core.domain import CellRole, Label, Version
from crane_core.pipeline.cases.pairs import best_origin
from crane_core.storage import cases, diagnoses
from crane_core.storage.store import Store

Cells = list[dict[str, Any]]
MINIBENCH = "minibench"
NO_CRASH = "The cell runs without a crash."
"""Ground truth of an item whose notebook is the fixed one: a false alarm."""


class Text(NamedTuple):
    """A diagnosis, and how many of the runs that predicted the crash gave it; None if that is not shown."""

    text: str
    n_runs: int | None


class Card(NamedTuple):
    """The first screen of an item. `code` is None if the notebook's cells are not on this machine."""

    item: str
    library: str | None
    code: str | None
    crash_line: int | None
    n_executed: int
    truth: str | None
    exception: str | None
    message: str | None
    texts: tuple[Text, ...]


class Evidence(NamedTuple):
    """All other facts about the item's case, for an unsure annotator; see `storage.cases`."""

    cells: pd.DataFrame
    states: pd.DataFrame
    traceback: str | None
    diagnosis: str | None


class PracticeItem(NamedTuple):
    """A diagnosis of a minibench case: texts with their numbers of runs, the label they deserve, and why."""

    case_id: str
    texts: tuple[tuple[str, int], ...]
    label: Label
    why: str


def card(store: Store, plan: Plan, item: str) -> Card:
    """The card of an item of the plan. Raises KeyError for another name."""
    verdict = plan.item(item).verdict
    cells = _cells_of(store, verdict.benchmark, verdict.instance_id)
    return _card(
        store,
        item,
        verdict.benchmark,
        verdict.case_id,
        cells,
        _texts_of_item(store, plan, item, cells),
        version=verdict.instance_id,
    )


def shown_texts(store: Store, plan: Plan, item: str) -> tuple[Text, ...]:
    """The texts of an item as its card shows them. Raises KeyError for another name."""
    verdict = plan.item(item).verdict
    return _texts_of_item(
        store,
        plan,
        item,
        _cells_of(store, verdict.benchmark, verdict.instance_id),
    )


def _texts_of_item(
    store: Store, plan: Plan, item: str, cells: Cells
) -> tuple[Text, ...]:
    entry = plan.item(item)
    run = entry.run if isinstance(entry, Gold) else None
    return tuple(_texts(store, plan, entry.verdict, cells, run=run))


def practice_items() -> list[PracticeItem]:
    """The ten of practice.toml, in its order."""
    entries = tomllib.loads(
        (files("crane_core.annotation") / "practice.toml").read_text("utf-8")
    )["items"]
    return [
        PracticeItem(
            entry["case"],
            tuple((text, n) for text, n in entry["texts"]),
            Label(entry["label"]),
            entry["why"],
        )
        for entry in entries
    ]


def practice_card(store: Store, item: PracticeItem) -> Card:
    """The card of a practice item, about a pair of minibench."""
    cells = _cells_of(store, MINIBENCH, f"{item.case_id}_{Version.REPRODUCED}")
    texts = tuple(Text(*text) for text in item.texts)
    return _card(
        store,
        item.case_id,
        MINIBENCH,
        item.case_id,
        cells,
        texts,
        version=Version.REPRODUCED,
    )


def _card(
    store: Store,
    name: str,
    benchmark: str,
    case_id: str,
    cells: Cells,
    texts: tuple[Text, ...],
    *,
    version: str,
) -> Card:
    case = cases.case(store.cursor(), benchmark, case_id) or {}
    # The fixed notebook has no exception to show: its item is a false alarm.
    crashes = version.endswith(Version.REPRODUCED)
    target = next(
        (cell for cell in cells if cell["role"] == CellRole.TARGET), None
    )
    return Card(
        item=name,
        library=case.get("library"),
        code=target["code"] if target else None,
        crash_line=_crash_line(target, case) if target and crashes else None,
        n_executed=sum(cell["role"] == CellRole.EXECUTED for cell in cells),
        truth=case.get("diagnosis") if crashes else NO_CRASH,
        exception=case.get("exception") if crashes else None,
        message=case.get("message") if crashes else None,
        texts=texts,
    )


def evidence(store: Store, benchmark: str, case_id: str) -> Evidence:
    """Both notebooks of a case and their states."""
    case = cases.case(store.cursor(), benchmark, case_id) or {}
    cells = cases.cells(store.cursor(), benchmark, case_id)
    states = cases.kernel_states(store.cursor(), benchmark, case_id)
    return Evidence(cells, states, case.get("traceback"), case.get("diagnosis"))


def _cells_of(store: Store, benchmark: str, instance_id: str) -> Cells:
    """The cells of a notebook, of the origin that is preferred."""
    found = cases.cells_of_instance(store.cursor(), benchmark, instance_id)
    if not found:
        return []
    origin = best_origin({cell["origin"] for cell in found})
    return [cell for cell in found if cell["origin"] == origin]


def _crash_line(target: dict[str, Any], case: dict[str, Any]) -> int | None:
    place = crash_place(
        case.get("traceback"), case.get("diagnosis"), target["code"]
    )
    return target["crash_line"] or (place.line if place else None)


def texts_of_runs(
    store: Store, verdict: LabelledVerdict, *, blind: bool
) -> dict[int, str]:
    """The text of each run that predicts a crash, by its index, as a card shows it."""
    cells = _cells_of(store, verdict.benchmark, verdict.instance_id)
    texts = diagnoses.texts_by_run(store.cursor(), *verdict.key)
    return {
        run: _masked(store, [(text, 1)], cells)[0][0] if blind else text
        for run, text in texts
    }


def _texts(
    store: Store,
    plan: Plan,
    verdict: LabelledVerdict,
    cells: Cells,
    *,
    run: int | None = None,
) -> list[Text]:
    """The distinct texts, or one that is drawn or of a certain run, as the plan says; in a blind campaign masked."""
    texts = diagnoses.diagnoses(store.cursor(), *verdict.key)
    if run is not None and plan.design.texts is Texts.ONE:
        texts = [
            (text, 1)
            for index, text in diagnoses.texts_by_run(
                store.cursor(), *verdict.key
            )
            if index == run
        ]
    # Masked before one is drawn: two texts that differ only in a model's name are one.
    if plan.blind:
        texts = _masked(store, texts, cells)
    if plan.design.plain:
        texts = _together((plain_text(text), n) for text, n in texts)
    if plan.design.texts is Texts.ONE and texts:
        return [
            Text(
                drawn_text(
                    texts, seed=f"{plan.seed}/text/{'/'.join(verdict.key)}"
                ),
                None,
            )
        ]
    return [Text(text, n) for text, n in texts]


def _masked(
    store: Store, texts: list[tuple[str, int]], cells: Cells
) -> list[tuple[str, int]]:
    """The texts without what names their author; two that then read the same are one."""
    names = diagnoses.detector_names(store.cursor())
    notebook = "\n".join(cell["code"] for cell in cells)
    return _together(
        (mask(text, names=names, notebook=notebook), n) for text, n in texts
    )


def _together(texts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """The different texts, with how many runs gave each."""
    counts: dict[str, int] = {}
    for text, n in texts:
        counts[text] = counts.get(text, 0) + n
    return list(counts.items())
