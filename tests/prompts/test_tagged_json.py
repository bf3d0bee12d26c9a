"""Tagged JSON is JSON and gives back exactly what went in."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.prompts.tagged_json import (
    Opaque,
    PrintedCall,
    PrintedDefaultDict,
    PrintedSet,
    decode,
    encode,
)

TAGS = ["$tuple", "$set", "$pairs", "$float", "$repr", "$call", "$defaultdict"]
KEYS = st.one_of(
    st.text(max_size=5),
    st.sampled_from(TAGS),
    st.integers(),
    st.booleans(),
    st.none(),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=10),
    st.builds(Opaque, st.text(max_size=10)),
)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    many = st.lists(inner, max_size=4)
    entries = st.dictionaries(KEYS, inner, max_size=4)
    return st.one_of(
        many,
        many.map(tuple),
        many.map(lambda items: PrintedSet(tuple(items))),
        entries,
        st.builds(
            lambda name, items: PrintedCall(name, tuple(items)),
            st.text(max_size=5),
            many,
        ),
        st.builds(PrintedDefaultDict, st.text(max_size=5), entries),
    )


VALUES = st.recursive(SCALARS, containers, max_leaves=12)


def same(left: Any, right: Any) -> bool:
    """Equality that also tells 1 from True and 1.0, -0.0 from 0.0 and the order of keys, and knows nan."""
    if isinstance(left, float) and isinstance(right, float):
        equal = (math.isnan(left) and math.isnan(right)) or left == right
        return (
            equal
            and math.copysign(1, left) == math.copysign(1, right)
            or (math.isnan(left) and math.isnan(right))
        )
    if type(left) is not type(right):
        return False
    match left:
        case dict():
            pairs = zip(left.items(), right.items(), strict=False)
            return len(left) == len(right) and all(
                same(a, c) and same(b, d) for (a, b), (c, d) in pairs
            )
        case list() | tuple():
            return len(left) == len(right) and all(map(same, left, right))
        case PrintedSet():
            return same(left.items, right.items)
        case PrintedCall():
            return left.name == right.name and same(
                left.arguments, right.arguments
            )
        case PrintedDefaultDict():
            return left.factory == right.factory and same(
                left.entries, right.entries
            )
    return bool(left == right)


@given(VALUES)
def test_what_goes_in_comes_out_through_json_text(value: Any) -> None:
    text = json.dumps(encode(value), allow_nan=False)
    assert same(decode(json.loads(text)), value)


@pytest.mark.parametrize(
    ("value", "document"),
    [
        ((3, 2), {"$tuple": [3, 2]}),
        (PrintedSet(("int",)), {"$set": ["int"]}),
        ({1: "a"}, {"$pairs": [[1, "a"]]}),
        ({"$tuple": 1}, {"$pairs": [["$tuple", 1]]}),
        ({"$tuple": 1, "b": 2}, {"$tuple": 1, "b": 2}),
        (float("-inf"), {"$float": "-inf"}),
        (Opaque("<function f>"), {"$repr": "<function f>"}),
        (PrintedCall("torch.Size", ([10],)), {"$call": ["torch.Size", [10]]}),
        (
            PrintedDefaultDict("<class 'set'>", {}),
            {"$defaultdict": ["<class 'set'>", {}]},
        ),
        ([None, True, "x", 0.5], [None, True, "x", 0.5]),
    ],
)
def test_each_kind_has_its_tag(value: Any, document: Any) -> None:
    assert encode(value) == document
    assert decode(document) == value


def test_an_object_of_another_class_is_refused_not_turned_into_text() -> None:
    with pytest.raises(TypeError, match="object has no tagged JSON form"):
        encode({"x": [object()]})
