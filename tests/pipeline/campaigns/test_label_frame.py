"""All labels in one frame: imported people and judges, campaigns, final outcomes; hidden repeats in another."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core import ledger
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.order import Showing
from crane_core.annotation.outcome import Final, Provenance
from crane_core.annotation.plan import Design, DrawKind, Plan, Population
from crane_core.domain import Annotation, AnnotationAction, Label
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    keep_campaign,
    label_file,
)
from crane_core.pipeline.campaigns.label_frame import (
    COLUMNS,
    KEY,
    final_outcomes,
    label_frame,
    repeat_frame,
)
from crane_core.pipeline.campaigns.labelling import LabelStore, adjudicate
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import Store

C, P, W = Label.CORRECT, Label.PARTIAL, Label.WRONG


@pytest.fixture
def plan(answered: DataFolder, store: Store) -> Plan:
    """Every verdict of "ours", labelled by nobody yet; some come back."""
    design = Design(kind=DrawKind.ALL, repeats=0.2)
    plan = drawn_plan(
        store,
        CampaignRequest(
            "pilot",
            ("ana", "ben"),
            Population("minibench", "ours"),
            design,
            seed=11,
        ),
    )
    keep_campaign(answered, plan)
    return plan


def label(
    folder: DataFolder, annotator: str, labels: dict[Showing, Label]
) -> None:
    acts = [
        {
            "event": f"{s.item}-{s.showing}-{word}",
            "action": "label",
            "item": s.item,
            "showing": s.showing,
            "label": word,
        }
        for s, word in labels.items()
    ]
    assert LabelStore(folder, "pilot").take(annotator, acts).refused == {}


def firsts(plan: Plan, n: int) -> list[Showing]:
    return [Showing(item.item, 1) for item in plan.items[:n]]


def of_campaign(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["campaign"] == "pilot"]


def test_imported_labels_stand_in_it_as_they_are(
    embedded_store: Store, folder: DataFolder
) -> None:
    frame = label_frame(embedded_store, folder)
    assert list(frame) == COLUMNS
    assert set(frame["kind"]) <= {"human", "judge"}
    assert frame[["campaign", "provenance", "why"]].isna().all(axis=None)
    people = frame[
        (frame["annotator"] == "published human")
        & (frame["experiment"] == "crane-llm-2025-10")
    ]
    assert len(people) == 2_220
    assert not frame.duplicated([*KEY, "annotator"]).any()


def test_a_campaign_without_labels_adds_nothing(
    answered: DataFolder, store: Store, plan: Plan
) -> None:
    assert len(of_campaign(label_frame(store, answered))) == 0


def test_annotators_and_final_outcomes_are_rows_like_all_others(
    answered: DataFolder, store: Store, plan: Plan
) -> None:
    """Unanimous, decided, open, single: worked by hand on four items."""
    one, two, three, four = firsts(plan, 4)
    label(answered, "ana", {one: C, two: C, three: P, four: W})
    label(answered, "ben", {one: C, two: W, three: W})
    adjudicate(
        answered, plan, two.item, by="eva", label=P, reason="b", note="line 3"
    )
    frame = of_campaign(label_frame(store, answered))
    verdict_of = {item.verdict.key: item.item for item in plan.items}
    item = [
        verdict_of[key] for key in frame[KEY].itertuples(index=False, name=None)
    ]
    told = set(
        zip(
            item,
            frame["annotator"],
            frame["kind"],
            frame["label"],
            frame["provenance"].fillna(""),
            strict=True,
        )
    )
    assert told == {
        (one.item, "pilot: ana", "annotator", "correct", ""),
        (two.item, "pilot: ana", "annotator", "correct", ""),
        (three.item, "pilot: ana", "annotator", "partial", ""),
        (four.item, "pilot: ana", "annotator", "wrong", ""),
        (one.item, "pilot: ben", "annotator", "correct", ""),
        (two.item, "pilot: ben", "annotator", "wrong", ""),
        (three.item, "pilot: ben", "annotator", "wrong", ""),
        (one.item, "pilot: final", "final", "correct", "unanimous"),
        (two.item, "pilot: final", "final", "partial", "adjudicated"),
        (four.item, "pilot: final", "final", "wrong", "single"),
    }
    assert list(frame["why"].dropna()) == [
        "eva, evidence was overlooked: line 3"
    ]


def test_every_item_has_its_outcome(answered: DataFolder, plan: Plan) -> None:
    one, two, three = firsts(plan, 3)
    label(answered, "ana", {one: C, two: C})
    label(answered, "ben", {one: W})
    adjudicate(answered, plan, three.item, by="eva", label=W, reason="e")
    found = final_outcomes(answered, plan)
    assert list(found) == [item.item for item in plan.items]
    assert found[one.item] == Final(None, Provenance.OPEN)
    assert found[two.item] == Final(C, Provenance.SINGLE)
    assert found[three.item] == Final(
        W, Provenance.ADJUDICATED, "eva, agreed after discussion"
    )
    assert {
        final
        for item, final in found.items()
        if item not in {one.item, two.item, three.item}
    } == {Final(None, Provenance.UNLABELLED)}


def test_an_undone_label_is_none(
    answered: DataFolder, store: Store, plan: Plan
) -> None:
    one, two = firsts(plan, 2)
    label(answered, "ana", {one: C, two: P})
    LabelStore(answered, "pilot").take(
        "ana",
        [
            {
                "event": "undo-0001",
                "action": "undo",
                "item": one.item,
                "showing": 1,
            }
        ],
    )
    assert list(of_campaign(label_frame(store, answered))["label"]) == [
        "partial",
        "partial",
    ]
    assert (
        final_outcomes(answered, plan)[one.item].provenance
        is Provenance.UNLABELLED
    )


def test_hidden_repeats_are_in_their_own_frame_and_count_in_no_other(
    answered: DataFolder, store: Store, plan: Plan
) -> None:
    again = [showing for showing in plan.orders["ana"] if showing.showing == 2]
    assert len(again) == round(0.2 * len(plan.items)) > 3
    first = [Showing(showing.item, 1) for showing in again]
    label(
        answered,
        "ana",
        {first[0]: C, first[1]: P, again[0]: C, again[1]: W, again[2]: C},
    )
    case_of = {item.item: item.verdict.case_id for item in plan.items}
    told = repeat_frame(answered)
    assert list(told) == [
        "campaign",
        "annotator",
        "benchmark",
        "case_id",
        "first",
        "again",
    ]
    assert sorted(told.itertuples(index=False, name=None)) == sorted(
        [
            (
                "pilot",
                "pilot: ana",
                "minibench",
                case_of[first[0].item],
                "correct",
                "correct",
            ),
            (
                "pilot",
                "pilot: ana",
                "minibench",
                case_of[first[1].item],
                "partial",
                "wrong",
            ),
        ]
    )
    frame = of_campaign(label_frame(store, answered))
    assert list(frame[frame["kind"] == "annotator"]["label"]) == [
        "correct",
        "partial",
    ]
    assert (
        final_outcomes(answered, plan)[again[2].item].provenance
        is Provenance.UNLABELLED
    )


def test_without_repeats_their_frame_is_empty_and_has_its_columns(
    folder: DataFolder,
) -> None:
    told = repeat_frame(folder)
    assert len(told) == 0
    assert list(told) == [
        "campaign",
        "annotator",
        "benchmark",
        "case_id",
        "first",
        "again",
    ]


def test_lines_of_another_plan_in_a_file_say_nothing(
    answered: DataFolder, store: Store, plan: Plan
) -> None:
    strange = Annotation(
        "pilot",
        "ana",
        "event-0001",
        1,
        AnnotationAction.LABEL,
        "0123456789ab",
        1,
        "g",
        "2026-01-01T00:00:00Z",
        label=C,
    )
    ledger.append(label_file(answered, "pilot", "ana"), strange)
    assert len(of_campaign(label_frame(store, answered))) == 0
