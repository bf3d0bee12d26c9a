"""What a setting shows: the three categories make up the whole, and leaving one out leaves the others as they are."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import KernelState, Setting, VariableState
from crane_core.errors import PromptError
from crane_core.prompts.categories import (
    GROUP_LEFT_OUT,
    REPRESENTATION,
    STRUCTURE,
    VALUES,
)
from crane_core.prompts.published import parse_block, split_input
from crane_core.prompts.shown import (
    GROUPS,
    NOTHING,
    can_show,
    kept,
    merged,
    shown,
)
from crane_core.prompts.tagged_json import decode

ABLATIONS = list(GROUP_LEFT_OUT)
RUNTIME_SETTINGS = [
    setting for setting in Setting if setting is not Setting.CODE
]
NAMES = st.text("abcxyz_", min_size=1, max_size=4)
JSON = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3)
    ),
    max_leaves=6,
)
FACTS = st.dictionaries(NAMES, JSON, max_size=3)
ENTRIES = st.builds(
    VariableState,
    type=NAMES,
    structure=FACTS,
    representation=FACTS,
    values=FACTS,
    assigned=st.none() | st.just({"cell": 1, "line": 2}),
    plus=st.dictionaries(st.sampled_from(sorted(GROUPS)), FACTS, max_size=3),
    docs=FACTS,
    unavailable=st.none() | NAMES,
    via=st.lists(NAMES, max_size=1),
)
CAPTURED = st.builds(
    KernelState,
    st.just("mine"),
    st.just("a_1_fixed"),
    st.just(Setting.RUNTIME_PLUS),
    st.just("capture"),
    st.dictionaries(NAMES, ENTRIES, max_size=3),
    accesses=st.dictionaries(
        NAMES, ENTRIES.map(VariableState.to_json), max_size=2
    ),
    schema_version=st.just(2),
    absent=FACTS,
    unavailable=st.dictionaries(NAMES, NAMES, max_size=2),
    syntax_error=st.none() | NAMES,
)


def published(
    variables: dict[str, VariableState], setting: Setting = Setting.RUNTIME
) -> KernelState:
    return KernelState(
        "junobench", "pandas_1_fixed", setting, "crane-llm-2025-10", variables
    )


@given(CAPTURED, st.sampled_from(ABLATIONS))
def test_leaving_a_category_out_leaves_the_others_as_they_are(
    state: KernelState, setting: Setting
) -> None:
    whole, part = shown(state, Setting.RUNTIME), shown(state, setting)
    left_out = GROUP_LEFT_OUT[setting]
    assert list(part.variables) == list(whole.variables)
    for name, entry in whole.variables.items():
        for group in GROUPS:
            assert getattr(part.variables[name], group) == (
                {} if group == left_out else getattr(entry, group)
            )
        assert part.variables[name].type == (
            "" if left_out == REPRESENTATION else entry.type
        )
        assert part.variables[name].assigned == entry.assigned


@given(CAPTURED)
def test_every_category_is_in_two_of_the_three_ablations(
    state: KernelState,
) -> None:
    parts = [shown(state, setting) for setting in ABLATIONS]
    for name, entry in shown(state, Setting.RUNTIME).variables.items():
        for group in GROUPS:
            seen = [getattr(part.variables[name], group) for part in parts]
            assert seen.count(getattr(entry, group)) >= 2


@given(CAPTURED)
def test_runtime_shows_nothing_beyond_the_paper(state: KernelState) -> None:
    view = shown(state, Setting.RUNTIME)
    assert (view.absent, view.unavailable, view.syntax_error) == ({}, {}, None)
    for entry in view.variables.values():
        assert (entry.plus, entry.docs, entry.unavailable) == ({}, {}, None)


def test_runtime_shows_the_names_that_the_target_spells_and_what_it_takes_from_them_directly() -> (
    None
):
    entry = VariableState("int").to_json()
    state = KernelState(
        "mine",
        "a_1_fixed",
        Setting.RUNTIME_PLUS,
        "capture",
        {
            "df": VariableState("DataFrame"),
            "inner": VariableState("int", via=["f"]),
        },
        accesses=dict.fromkeys(
            [
                "df.shape",
                "df.a.b",
                "df[0].c",
                "df.x().y",
                "inner.real",
                "gone.away",
            ],
            entry,
        ),
        schema_version=2,
    )
    for setting in RUNTIME_SETTINGS:
        view = shown(state, setting)
        everything = setting is Setting.RUNTIME_PLUS
        assert list(view.variables) == (
            ["df", "inner"] if everything else ["df"]
        )
        assert list(view.accesses) == (
            list(state.accesses) if everything else ["df.shape"]
        )


@given(CAPTURED)
def test_documentation_is_all_that_docs_adds(state: KernelState) -> None:
    plain, docs = (
        shown(state, Setting.RUNTIME),
        shown(state, Setting.RUNTIME_DOCS),
    )
    assert {name: entry.docs for name, entry in docs.variables.items()} == {
        name: entry.docs
        for name, entry in state.variables.items()
        if not entry.via
    }
    for name, entry in docs.variables.items():
        assert [getattr(entry, group) for group in GROUPS] == [
            getattr(plain.variables[name], g) for g in GROUPS
        ]


@given(CAPTURED)
def test_runtime_plus_shows_everything(state: KernelState) -> None:
    view = shown(state, Setting.RUNTIME_PLUS)
    assert (view.absent, view.unavailable, view.syntax_error) == (
        state.absent,
        state.unavailable,
        state.syntax_error,
    )
    assert view.accesses.keys() == state.accesses.keys()
    for name, entry in state.variables.items():
        seen = view.variables[name]
        assert (seen.type, seen.docs, seen.unavailable) == (
            entry.type,
            entry.docs,
            entry.unavailable,
        )
        assert (seen.via, seen.assigned) == (entry.via, entry.assigned)
        for group in GROUPS:
            assert (
                getattr(seen, group).keys()
                == getattr(entry, group).keys()
                | entry.plus.get(group, {}).keys()
            )


@given(FACTS, FACTS)
def test_merging_keeps_every_key_and_prefers_the_addition(
    base: dict[str, Any], plus: dict[str, Any]
) -> None:
    both = merged(base, plus)
    assert both.keys() == base.keys() | plus.keys()
    assert merged(both, plus) == both
    assert merged(base, {}) == base


def test_merging_goes_into_dictionaries_of_one_name() -> None:
    base = {"columns": {"a": {"dtype": "int64"}}, "n": 1}
    assert merged(
        base, {"columns": {"a": {"nullable": True}, "b": {}}, "n": 2}
    ) == {
        "columns": {"a": {"dtype": "int64", "nullable": True}, "b": {}},
        "n": 2,
    }


NESTED = {
    "per_column": {
        "type": {"dtype": "int64", "type": "binary", "num_unique": 2},
        3: {"num_unique": 9},
    },
    "dataset": {
        "dataset_info": {
            "X": {"type": "list"},
            "shape": {"dataset_shape": (3, 2), "dtype": "float32"},
        },
        "sample_shapes": {"input": (2,)},
        "batch_shapes": {"error": "ragged"},
    },
    "preview": [
        {"key": "a", "key_type": "str", "value_repr": "1", "value_type": "int"}
    ],
    "value_info": {"value_type": "binary", "num_unique": 2},
    "fitted_attributes": {"n_features_in_": 4},
    "shape": (4, 2),
    "dtype": "int64",
    "has_nan": False,
}


@pytest.mark.parametrize(
    ("key", "group", "part"),
    [
        ("per_column", REPRESENTATION, {"type": {"dtype": "int64"}, 3: {}}),
        (
            "per_column",
            VALUES,
            {"type": {"type": "binary", "num_unique": 2}, 3: {"num_unique": 9}},
        ),
        ("per_column", STRUCTURE, NOTHING),
        (
            "dataset",
            STRUCTURE,
            {
                "dataset_info": {"shape": {"dataset_shape": (3, 2)}},
                "sample_shapes": {"input": (2,)},
                "batch_shapes": {"error": "ragged"},
            },
        ),
        (
            "dataset",
            REPRESENTATION,
            {
                "dataset_info": {
                    "X": {"type": "list"},
                    "shape": {"dtype": "float32"},
                }
            },
        ),
        ("dataset", VALUES, NOTHING),
        ("preview", REPRESENTATION, [{"key_type": "str", "value_type": "int"}]),
        ("preview", VALUES, [{"key": "a", "value_repr": "1"}]),
        ("value_info", VALUES, NESTED["value_info"]),
        ("value_info", REPRESENTATION, NOTHING),
        ("shape", STRUCTURE, (4, 2)),
        ("dtype", VALUES, NOTHING),
    ],
)
def test_a_published_fact_of_several_categories_is_divided(
    key: str, group: str, part: Any
) -> None:
    found = kept(key, NESTED[key], {group})
    assert found is NOTHING if part is NOTHING else found == part


def union(left: Any, right: Any) -> Any:
    """What two parts of one fact hold together."""
    if isinstance(left, dict) and isinstance(right, dict):
        keys = [*left, *(key for key in right if key not in left)]
        return {
            key: union(left.get(key, NOTHING), right.get(key, NOTHING))
            for key in keys
        }
    if isinstance(left, list) and isinstance(right, list):
        return [
            union(one, other) for one, other in zip(left, right, strict=True)
        ]
    return right if left is NOTHING else left


def divided(key: str, value: Any) -> list[Any]:
    return [kept(key, value, {group}) for group in sorted(GROUPS)]


@pytest.mark.parametrize("key", NESTED)
def test_the_parts_of_a_fact_make_up_the_fact(key: str) -> None:
    assert reduce(union, divided(key, NESTED[key])) == NESTED[key]
    assert kept(key, NESTED[key], GROUPS) == NESTED[key]


def test_the_parts_of_every_published_fact_make_up_the_fact(
    runtime_texts: dict[str, str],
) -> None:
    n_facts = 0
    for text in runtime_texts.values():
        block = parse_block(str(split_input(text).block))
        for entry in [
            *block.variables.values(),
            *map(VariableState.from_json, block.accesses.values()),
        ]:
            for group in GROUPS:
                for key, value in getattr(entry, group).items():
                    n_facts += 1
                    assert repr(
                        sorted_deep(reduce(union, divided(key, decode(value))))
                    ) == repr(sorted_deep(decode(value))), key
    assert n_facts == 1_301


def sorted_deep(value: Any) -> Any:
    """The value with its dictionaries in one order, to be compared by repr: nan and opaque values know no equality."""
    if isinstance(value, dict):
        return {key: sorted_deep(value[key]) for key in sorted(value, key=repr)}
    return (
        [sorted_deep(item) for item in value]
        if isinstance(value, list)
        else value
    )


def test_a_published_ablation_took_more_than_its_category() -> None:
    """What upstream's files of `runtime-R` and the like lack besides, and ours keep (upstream_formats.md 2.3)."""
    frame = VariableState(
        "pandas.core.frame.DataFrame",
        {"shape": {"$tuple": [5, 2]}},
        {},
        {
            "per_column": {
                "a": {"dtype": "int64", "type": "binary", "num_unique": 2}
            }
        },
        {"cell": 3, "line": 1},
    )
    loader = VariableState(
        "DataLoader",
        {"num_batches": 2, "dataset": {"sample_shapes": {"input": 3}}},
    )
    state = published(
        {"df": frame, "loader": loader, "np": VariableState("<class 'module'>")}
    )
    without_r = shown(state, Setting.RUNTIME_WITHOUT_R).variables
    assert without_r["np"] == VariableState("")
    assert without_r["df"].assigned == {"cell": 3, "line": 1}
    assert without_r["df"].values == {
        "per_column": {"a": {"type": "binary", "num_unique": 2}}
    }
    assert without_r["loader"].structure == loader.structure
    without_v = shown(state, Setting.RUNTIME_WITHOUT_V).variables
    assert without_v["df"].values == {"per_column": {"a": {"dtype": "int64"}}}
    assert without_v["loader"] == loader
    without_s = shown(state, Setting.RUNTIME_WITHOUT_S).variables
    assert without_s["loader"] == VariableState("DataLoader")
    assert without_s["df"] == VariableState(
        frame.type, {}, {}, frame.values, frame.assigned
    )


def test_published_documentation_is_left_out_of_runtime() -> None:
    entry = VariableState(
        "<class 'method'>",
        representation={"signature": {}, "doc_importants": {}, "context": {}},
    )
    state = published({"df.plot": entry}, Setting.RUNTIME_DOCS)
    assert shown(state, Setting.RUNTIME_DOCS).variables["df.plot"] == entry
    assert shown(state, Setting.RUNTIME).variables["df.plot"] == VariableState(
        "<class 'method'>"
    )


@pytest.mark.parametrize("stated", RUNTIME_SETTINGS)
def test_a_published_state_shows_itself_and_what_is_less(
    stated: Setting,
) -> None:
    less = {
        Setting.RUNTIME: {Setting.RUNTIME, *ABLATIONS},
        Setting.RUNTIME_DOCS: {
            Setting.RUNTIME,
            Setting.RUNTIME_DOCS,
            *ABLATIONS,
        },
    }.get(stated, {stated})
    state = published({"x": VariableState("int")}, stated)
    assert {setting for setting in Setting if can_show(state, setting)} == less
    for setting in set(RUNTIME_SETTINGS) - less:
        with pytest.raises(
            PromptError,
            match=f"was published as {stated}, without".replace("+", r"\+"),
        ):
            shown(state, setting)
