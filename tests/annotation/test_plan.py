"""A plan is a document: it comes back as it was, and one that is damaged says so in one way only."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.annotation.guideline import guideline
from crane_core.annotation.plan import (
    RESERVED,
    DrawKind,
    LabelledVerdict,
    Overlap,
    Plan,
    Population,
    PopulationOutcome,
    Texts,
    check_name,
    guideline_of,
    plan_from_json,
    population_sha256,
)
from tests.examples import examples

PlanOf = Callable[..., Plan]
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
lists = st.lists(texts, max_size=3).map(tuple)
populations = st.builds(
    Population,
    texts,
    texts,
    lists,
    lists,
    lists,
    lists,
    st.sampled_from(PopulationOutcome),
)
designs = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(DrawKind),
        "overlap": st.sampled_from([Overlap.ALL, Overlap.NONE]),
        "margin": st.sampled_from([0.05, 0.1, 1 / 3]),
        "confidence": st.sampled_from([0.9, 0.95]),
        "repeats": st.floats(0, 0.5),
        "texts": st.sampled_from(Texts),
    }
)


@given(
    n=st.integers(1, 60), seed=st.integers(-(2**63), 2**63), title=texts, created_by=texts, population=populations,
    design=designs, blind=st.booleans(), left_out=st.integers(0, 10**6),
)  # fmt: skip
@examples(50)
def test_a_plan_comes_back_from_its_document_as_it_was(
    plan_of: PlanOf, n: int, **wish: Any
) -> None:
    plan = plan_of(n, **wish)
    assert plan_from_json(plan.to_json()) == plan


def test_a_plan_from_before_texts_were_stored_is_read_and_shows_todays(
    plan_of: PlanOf,
) -> None:
    body = json.loads(plan_of(30).to_json())
    del body["guideline_text"]
    old = plan_from_json(json.dumps(body | {"guideline": "0123456789ab"}))
    assert (old.guideline, old.guideline_text) == ("0123456789ab", None)
    assert guideline_of(old) == guideline()


def test_a_plan_from_before_one_text_was_drawn_goes_on_to_show_all(
    plan_of: PlanOf,
) -> None:
    body = json.loads(plan_of(30).to_json())
    assert body["design"].pop("texts") == Texts.ONE
    assert plan_from_json(json.dumps(body)).design.texts is Texts.ALL


def test_a_text_of_another_version_is_refused(plan_of: PlanOf) -> None:
    body = json.loads(plan_of(30).to_json()) | {
        "guideline_text": "Another text."
    }
    with pytest.raises(
        ValueError, match="the version of its guideline does not match the text"
    ):
        plan_from_json(json.dumps(body))


def test_a_plan_needs_neither_its_seed_nor_its_population_to_be_carried_out(
    plan_of: PlanOf,
) -> None:
    body = json.loads(plan_of(30).to_json())
    assert (
        len(body["items"])
        == 28
        == sum(showing["showing"] == 1 for showing in body["orders"]["ana"])
    )
    assert body["items"][0].keys() == {
        "item",
        "verdict",
        "stratum",
        "inclusion_probability",
    }


def test_an_item_is_found_by_its_name(plan_of: PlanOf) -> None:
    plan = plan_of(30)
    assert plan.item(plan.items[-1].item) is plan.items[-1]
    with pytest.raises(StopIteration):
        plan.item("000000000000")


def changed(
    body: dict[str, Any], path: tuple[Any, ...], value: Any
) -> dict[str, Any]:
    """A copy of the document with one member replaced, or taken out where the value is ..."""
    copy = json.loads(json.dumps(body))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return copy


DAMAGES: list[tuple[tuple[Any, ...], Any]] = [
    (("campaign",), None),
    (("campaign",), "../../etc"),
    (("campaign",), "Pilot"),
    (("annotators",), []),
    (("annotators",), [5, 6]),
    (("annotators",), ["ana"]),
    (("annotators",), ["ana", "../ben"]),
    (("annotators",), 5),
    (("orders",), {}),
    (("orders",), 5),
    (("orders",), {"ana": [], "eva": []}),
    (("orders", "ana"), None),
    (("orders", "ana", 0), {"item": "no-such-item", "showing": 1}),
    (("orders", "ana", 0), {"item": [1], "showing": 1}),
    (("orders", "ana", 0, "colour"), "red"),
    (("items",), 5),
    (("items",), []),
    (("items", 0), "an item"),
    (("items", 0, "item"), ["x"]),
    (("items", 0, "verdict"), ...),
    (("items", 0, "verdict", "detector"), ...),
    (("population",), None),
    (("population", "outcome"), "a guess"),
    (("population", "detectors"), 5),
    (("design",), []),
    (("design", "kind"), "some"),
    (("design", "overlap"), None),
    (("strata",), [{"name": "all"}]),
    (("seed",), ...),
    (("guideline_text",), 5),
    (("surprise",), 1),
]


@pytest.mark.parametrize(("path", "value"), DAMAGES)
def test_a_damaged_document_is_a_value_error(
    plan_of: PlanOf, path: tuple[Any, ...], value: Any
) -> None:
    body = changed(json.loads(plan_of(30).to_json()), path, value)
    with pytest.raises(ValueError):  # noqa: PT011 - what is wrong is told in words of the member
        plan_from_json(json.dumps(body))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "7",
        "[]",
        '"plan"',
        "{}",
        "[" * 100_000,
        '{"a":' * 50_000,
    ],
)
def test_what_is_no_plan_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        plan_from_json(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | texts,
        lambda s: st.lists(s) | st.dictionaries(texts, s),
    )
)
def test_any_json_is_a_plan_or_a_value_error(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        plan_from_json(json.dumps(value))


@pytest.mark.parametrize("name", ["a", "0", "ana", "ana-2", "a_b.c", "x" * 40])
def test_plain_names_are_names(name: str) -> None:
    assert check_name(name, "a campaign") == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-a",
        "_a",
        "A",
        "ä",
        "a b",
        "a/b",
        "a\\b",
        "..",
        "a\n",
        "a\0",
        "x" * 41,
        *sorted(RESERVED),
    ],
)
def test_what_is_no_name_of_a_file_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid name for a campaign"):
        check_name(name, "a campaign")


def test_the_address_of_a_population_is_over_its_keys_alone() -> None:
    one, two = (
        LabelledVerdict(
            "b", f"case_{i}_fixed", "gpt-5", "code", "study", f"case_{i}"
        )
        for i in range(2)
    )
    assert population_sha256([one, two]) == population_sha256([two, one])
    assert population_sha256([one]) != population_sha256([two])
    known = LabelledVerdict(
        "b",
        "case_0_fixed",
        "gpt-5",
        "code",
        "study",
        "case_0",
        library="numpy",
        root_cause="API misuse",
    )
    assert population_sha256([known]) == population_sha256([one])
