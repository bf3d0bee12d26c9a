"""One label per verdict and annotator: that of the verdict, else that of most of its runs."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

from crane_core.domain import AnnotatorKind, Judgement, Label, Setting
from crane_core.storage.inventory import empty
from crane_core.storage.labels import (
    counts_by_case,
    judge_passes,
    pooled_judge_labels,
    verdict_labels,
)
from crane_core.storage.store import Store
from crane_core.storage.write import add_records

C, P, W = Label.CORRECT, Label.PARTIAL, Label.WRONG
HUMAN, JUDGE = AnnotatorKind.HUMAN, AnnotatorKind.JUDGE


def said(
    label: Label,
    who: str = "ana",
    kind: AnnotatorKind = HUMAN,
    item: str = "numpy_1",
    **more: object,
) -> Judgement:
    where = ("mine", f"{item}_reproduced", "heron", Setting.CODE, "ours")
    return Judgement(*where, who, kind, label, **more)  # type: ignore[arg-type]


_STORES: list[Store] = []
"""The store of this module, while its tests run."""


@pytest.fixture(scope="module", autouse=True)
def one_store(emptied_store: Store) -> Iterator[None]:
    _STORES.append(emptied_store)
    yield
    _STORES.clear()


def frame_of(question: object, *records: Judgement) -> pd.DataFrame:
    [store] = _STORES
    store.write(empty)
    store.write(
        lambda cursor: add_records(cursor, list(records), source_id="test")
    )
    return question(store.cursor())  # type: ignore[operator]


def labels_of(*records: Judgement) -> dict[str, str]:
    """Annotator to label, where all records are of one verdict."""
    frame = frame_of(verdict_labels, *records)
    return dict(zip(frame["annotator"], frame["label"], strict=True))


def test_a_label_of_the_verdict_is_taken_as_it_is() -> None:
    assert labels_of(said(P), said(C, run_index=1), said(C, run_index=2)) == {
        "ana": "partial"
    }


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        ([W], "wrong"),
        ([C, W, W], "wrong"),
        ([C, W, W, C, P], "correct"),  # two each: correct was given first
        ([W, C, C, W, P], "wrong"),
        ([P, C, W], "partial"),
        ([W, C, P, C, C], "correct"),
    ],
)
def test_of_single_runs_the_most_frequent_label_counts_and_among_equals_the_first(
    runs: list[Label], verdict: str
) -> None:
    records = [
        said(label, run_index=i) for i, label in enumerate(runs, start=1)
    ]
    assert (
        labels_of(*records) == labels_of(*reversed(records)) == {"ana": verdict}
    )


def test_people_and_judges_speak_for_themselves() -> None:
    found = labels_of(
        said(C),
        said(W, "ben"),
        said(P, "judge", JUDGE),
        said(W, "analyst", AnnotatorKind.HUMAN),
    )
    assert found == {
        "ana": "correct",
        "ben": "wrong",
        "judge, repetition 1": "partial",
        "analyst": "wrong",
    }


def test_a_judge_is_an_annotator_per_repetition_and_order_of_texts() -> None:
    found = labels_of(
        said(C, "gpt", JUDGE, repetition=1),
        said(P, "gpt", JUDGE, repetition=2),
        said(W, "gpt", JUDGE, repetition=1, presentation="reversed"),
    )
    assert found == {
        "gpt, repetition 1": "correct",
        "gpt, repetition 2": "partial",
        "gpt, repetition 1, reversed": "wrong",
    }


def test_every_verdict_has_its_row() -> None:
    frame = frame_of(
        verdict_labels,
        said(C),
        said(W, item="numpy_2"),
        said(P, "ben", item="numpy_2"),
    )
    assert list(frame["instance_id"]) == [
        "numpy_1_reproduced",
        "numpy_2_reproduced",
        "numpy_2_reproduced",
    ]
    assert list(frame["label"]) == ["correct", "wrong", "partial"]
    assert set(frame["kind"]) == {"human"}


def test_without_labels_the_frame_is_empty_and_has_its_columns() -> None:
    frame = frame_of(verdict_labels)
    assert len(frame) == 0
    assert list(frame) == [
        "benchmark", "instance_id", "detector", "setting", "experiment", "annotator", "kind", "label",
        "campaign",
    ]  # fmt: skip


def test_repetitions_together_are_one_more_annotator_of_a_judge_that_was_asked_again() -> (
    None
):
    records = [
        *(
            said(label, "gpt", JUDGE, repetition=i)
            for i, label in enumerate([C, W, W], start=1)
        ),
        said(P, "gpt", JUDGE, presentation="reversed"),
        said(C, "once", JUDGE),
        said(C),
    ]
    frame = frame_of(pooled_judge_labels, *records)
    assert dict(zip(frame["annotator"], frame["label"], strict=True)) == {
        "gpt, all repetitions": "wrong",
        "gpt, all repetitions, reversed": "partial",
    }
    passes = frame_of(judge_passes, *records)
    told = set(frame_of(verdict_labels, *records)["annotator"]) | set(
        frame["annotator"]
    )
    assert set(passes["annotator"]) == told - {"ana"}
    assert len(passes) == 7


def test_labels_are_counted_by_case_and_alike_cases_together() -> None:
    """Two cases of ana are alike; a judge, an unverifiable label and a verdict that is not asked about do not count."""
    given = [
        *(
            said(label, item=item)
            for item, label in (("a_1", C), ("a_2", C), ("a_3", W))
        ),
        said(C, "ben", item="a_1"),
        said(C, "judge", JUDGE, item="a_1"),
        said(Label.UNVERIFIABLE, item="a_4"),
        said(C, item="elsewhere"),
    ]
    verdicts = pd.DataFrame({"case_id": ["a_1", "a_2", "a_3", "a_4"]}).assign(
        detector="heron", setting="code"
    )
    verdicts = verdicts.assign(instance_id=verdicts["case_id"] + "_reproduced")
    found = frame_of(
        lambda cursor: counts_by_case(
            cursor,
            "mine",
            "ours",
            verdicts,
            label="correct",
            among=["correct", "wrong"],
        ),
        *given,
    )
    assert found.to_numpy().tolist() == [
        ["ana", 0, 1, 1],
        ["ana", 1, 1, 2],
        ["ben", 1, 1, 1],
    ]
