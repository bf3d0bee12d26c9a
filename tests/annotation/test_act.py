"""What a browser sends: every member is checked, and whatever is wrong with it is a ValueError that says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.annotation.act import MAX_NOTE, MAX_SECONDS, annotation
from crane_core.annotation.guideline import guideline, version_of
from crane_core.annotation.outcome import REASONS
from crane_core.annotation.plan import Overlap, Plan
from crane_core.domain import Annotation, AnnotationAction, Label
from crane_core.ledger import from_line, to_line
from tests.examples import examples

PlanOf = Callable[..., Plan]
EVENT = "0a1b2c3d-1"


@pytest.fixture(scope="module")
def plan(plan_of: PlanOf) -> Plan:
    return plan_of(60)


@pytest.fixture
def label(plan: Plan) -> dict[str, Any]:
    """A label as the browser sends it."""
    showing = plan.orders["ana"][0]
    return {
        "event": EVENT,
        "action": "label",
        "item": showing.item,
        "showing": showing.showing,
        "label": "partial",
        "reason": "b",
        "seconds": 12.5,
        "shown_at": "2026-03-04T05:06:07.891Z",
        "first_action_at": "2026-03-04T05:06:09+00:00",
        "submitted_at": "2026-03-04T06:06:10.123456+01:00",
    }


def test_a_label_becomes_an_annotation_with_times_in_utc(
    plan: Plan, label: dict[str, Any]
) -> None:
    act = annotation(label, plan, "ana", sequence=3)
    assert replace(act, received_at=None) == Annotation(
        campaign="pilot",
        annotator="ana",
        event=EVENT,
        sequence=3,
        action=AnnotationAction.LABEL,
        item=plan.orders["ana"][0].item,
        showing=1,
        guideline=plan.guideline,
        submitted_at="2026-03-04T05:06:10.123+00:00",
        label=Label.PARTIAL,
        reason="b",
        shown_at="2026-03-04T05:06:07.891+00:00",
        first_action_at="2026-03-04T05:06:09.000+00:00",
        seconds=12.5,
    )


def test_a_label_taken_from_the_item_before_says_so_in_the_ledger(
    plan: Plan, label: dict[str, Any]
) -> None:
    taken = annotation(label | {"as_before": True}, plan, "ana", sequence=3)
    assert taken.is_as_before is True
    assert from_line(to_line(taken)) == taken
    chosen = annotation(label | {"as_before": False}, plan, "ana", sequence=3)
    assert chosen.is_as_before is None
    assert b"as_before" not in to_line(chosen)
    for wrong in ({"as_before": 1}, {"as_before": True, "action": "undo"}):
        with pytest.raises(ValueError, match="as_before"):
            annotation(label | wrong, plan, "ana", sequence=3)


def test_an_act_without_a_time_gets_the_server_s(
    plan: Plan, label: dict[str, Any]
) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    del label["submitted_at"]
    act = annotation(label, plan, "ana", sequence=1)
    assert (
        before <= datetime.fromisoformat(act.submitted_at) <= datetime.now(UTC)
    )
    assert act.received_at == act.submitted_at


def test_the_server_s_time_stands_beside_the_browser_s_and_no_browser_can_state_it(
    plan: Plan, label: dict[str, Any]
) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    act = annotation(
        label | {"received_at": "2026-03-04T05:06:10Z", "source": "mine"},
        plan,
        "ana",
        sequence=1,
    )
    assert (
        before
        <= datetime.fromisoformat(str(act.received_at))
        <= datetime.now(UTC)
    )
    assert act.submitted_at == "2026-03-04T05:06:10.123+00:00"
    assert act.source is None


@pytest.mark.parametrize(
    "action",
    sorted(
        set(AnnotationAction)
        - {AnnotationAction.ADJUDICATE, AnnotationAction.SHOWN}
    ),
)
def test_only_a_label_has_a_label(
    plan: Plan, label: dict[str, Any], action: str
) -> None:
    act = annotation(label | {"action": action}, plan, "ana", sequence=1)
    assert (act.action, act.label) == (
        action,
        Label.PARTIAL if action == "label" else None,
    )


def test_who_and_what_is_said_by_the_plan_and_not_by_the_browser(
    plan: Plan, label: dict[str, Any]
) -> None:
    forged = {"campaign": "other", "annotator": "ben", "sequence": 99}
    act = annotation(label | forged, plan, "ana", sequence=1)
    assert (act.campaign, act.annotator, act.sequence) == ("pilot", "ana", 1)


def test_a_label_has_the_version_that_was_read_and_no_other_is_taken(
    plan: Plan, label: dict[str, Any]
) -> None:
    read = {"guideline": version_of("g1")}
    assert (
        annotation(label | read, plan, "ana", sequence=1).guideline
        == plan.guideline
        == version_of("g1")
    )
    for other in (version_of(guideline()), "g1", "", None, ["g1"]):
        with pytest.raises(
            ValueError, match=f"guideline must be {plan.guideline}$"
        ):
            annotation(label | {"guideline": other}, plan, "ana", sequence=1)


def test_where_no_text_was_stored_the_one_shown_instead_is_known_too(
    plan: Plan, label: dict[str, Any]
) -> None:
    old = replace(plan, guideline="0123456789ab", guideline_text=None)
    for version in (old.guideline, version_of(guideline())):
        assert (
            annotation(
                label | {"guideline": version}, old, "ana", sequence=1
            ).guideline
            == version
        )
    with pytest.raises(
        ValueError,
        match=f"guideline must be 0123456789ab or {version_of(guideline())}",
    ):
        annotation(
            label | {"guideline": version_of("g1")}, old, "ana", sequence=1
        )


NEVER = object()
WRONG: list[tuple[str, Any, str]] = [
    ("event", NEVER, "event is missing"),
    ("event", None, "event is missing"),
    ("event", 12345678, "event is missing"),
    ("event", "short", "8 to 64"),
    ("event", "x" * 65, "8 to 64"),
    ("event", "0a1b2c3d\n", "8 to 64"),
    ("event", "../../etc/x", "8 to 64"),
    ("event", "äöüäöüäöü", "8 to 64"),
    ("action", NEVER, "action is missing"),
    ("action", "adjudicate", "adjudicate is not an act of"),
    ("action", "delete", "delete"),
    ("action", ["label"], "action is missing"),
    ("item", NEVER, "item is missing"),
    ("item", None, "item is missing"),
    ("item", "000000000000", "is not an item of ana"),
    ("item", ["a"], "item is missing"),
    ("showing", NEVER, "showing must be 1 or 2"),
    ("showing", 0, "showing must be 1 or 2"),
    ("showing", 3, "showing must be 1 or 2"),
    ("showing", 10**400, "showing must be 1 or 2"),
    ("showing", True, "showing must be 1 or 2"),
    ("showing", 1.0, "showing must be 1 or 2"),
    ("showing", "1", "showing must be 1 or 2"),
    ("showing", [1], "showing must be 1 or 2"),
    ("label", NEVER, "label is missing"),
    ("label", None, "label is missing"),
    ("label", "excellent", "excellent"),
    ("label", 1, "label is missing"),
    ("reason", "h", "reason must be one of a, b, c, d, e, f, g"),
    ("reason", "", "reason must be one of"),
    ("reason", ["a"], "reason must be one of"),
    ("reason", {}, "reason must be one of"),
    ("reason", 1, "reason must be one of"),
    ("note", 5, "a note has up to 2,000 characters"),
    ("note", ["x"], "a note has up to"),
    ("note", "x" * (MAX_NOTE + 1), "a note has up to"),
    ("shown_at", "yesterday", "shown_at is not a time"),
    ("shown_at", "", "shown_at is not a time"),
    ("shown_at", 1e308, "shown_at is not a time"),
    ("shown_at", ["2026-03-04T05:06:07Z"], "shown_at is not a time"),
    ("shown_at", "2026-03-04T05:06:07", "shown_at has no time zone"),
    (
        "first_action_at",
        "0001-01-01T00:00:00+23:59",
        "first_action_at is not a time",
    ),
    ("submitted_at", "9999-12-31T23:59:59-23:59", "submitted_at is not a time"),
    ("submitted_at", "2026-13-01T00:00:00Z", "submitted_at is not a time"),
    ("seconds", "12", "seconds is not a number"),
    ("seconds", True, "seconds is not a number"),
    ("seconds", [1], "seconds is not a number"),
    ("seconds", float("nan"), "seconds is not finite"),
    ("seconds", float("inf"), "seconds is not finite"),
]


@pytest.mark.parametrize(("name", "value", "told"), WRONG)
def test_a_member_that_does_not_do_is_named(
    plan: Plan, label: dict[str, Any], name: str, value: object, told: str
) -> None:
    raw = {key: member for key, member in label.items() if key != name} | (
        {name: value} if value is not NEVER else {}
    )
    with pytest.raises(ValueError, match=told):
        annotation(raw, plan, "ana", sequence=1)


def test_labels_that_are_computed_are_not_given(
    plan: Plan, label: dict[str, Any]
) -> None:
    for word in set(Label) - {Label.CORRECT, Label.PARTIAL, Label.WRONG}:
        with pytest.raises(
            ValueError,
            match=f"'{word}' is not one of the labels correct, partial, wrong",
        ):
            annotation(label | {"label": str(word)}, plan, "ana", sequence=1)


def test_an_item_of_somebody_else_is_not_one_s_own(
    plan_of: PlanOf, label: dict[str, Any]
) -> None:
    dealt = plan_of(60, design={"overlap": Overlap.NONE})
    theirs = dealt.orders["ben"][0]
    raw = label | {"item": theirs.item, "showing": theirs.showing}
    with pytest.raises(ValueError, match="is not an item of ana"):
        annotation(raw, dealt, "ana", sequence=1)
    assert annotation(raw, dealt, "ben", sequence=1).item == theirs.item


def test_a_repeat_that_the_order_does_not_have_is_refused(
    plan: Plan, label: dict[str, Any]
) -> None:
    repeated = {
        showing.item for showing in plan.orders["ana"] if showing.showing == 2
    }
    once = next(
        showing.item
        for showing in plan.orders["ana"]
        if showing.item not in repeated
    )
    with pytest.raises(ValueError, match="showing 2, is not an item of ana"):
        annotation(
            label | {"item": once, "showing": 2}, plan, "ana", sequence=1
        )


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (-5, 0.0),
        (0, 0.0),
        (3, 3.0),
        (1e300, MAX_SECONDS),
        (10**400, MAX_SECONDS),
        (-(10**400), 0.0),
    ],
)
def test_seconds_are_held_within_a_day(
    plan: Plan, label: dict[str, Any], sent: float, kept: float
) -> None:
    assert (
        annotation(label | {"seconds": sent}, plan, "ana", sequence=1).seconds
        == kept
    )


def test_half_a_character_in_a_note_does_not_stop_the_save(
    plan: Plan, label: dict[str, Any]
) -> None:
    act = annotation(
        label | {"note": "seen \ud83d twice"}, plan, "ana", sequence=1
    )
    assert act.note == "seen ? twice"
    assert from_line(to_line(act)) == act


def test_reasons_are_seven_single_letters() -> None:
    assert list(REASONS) == list("abcdefg")


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.just("2026-03-04T05:06:07Z"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.slow
@given(change=st.dictionaries(st.sampled_from(["event", "action", "item", "showing", "label", "reason", "note",
       "shown_at", "first_action_at", "submitted_at", "seconds", "more"]), anything, max_size=4))  # fmt: skip
@examples(300)
def test_whatever_is_sent_is_a_line_of_the_ledger_or_a_value_error(
    plan: Plan, change: dict[str, Any]
) -> None:
    showing = plan.orders["ana"][0]
    raw = {
        "event": EVENT,
        "action": "label",
        "item": showing.item,
        "showing": 1,
        "label": "wrong",
    } | change
    with suppress(ValueError):
        act = annotation(raw, plan, "ana", sequence=1)
        assert from_line(to_line(act)) == act
        assert json.loads(to_line(act))["annotator"] == "ana"
