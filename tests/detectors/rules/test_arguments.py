"""Arguments of a call bound to parameters as a `def` writes them, beside what Python itself binds."""

from __future__ import annotations

import inspect

from hypothesis import given
from hypothesis import strategies as st

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.operation import Arguments

DEFINITIONS = [
    "a",
    "a, b=0",
    "a, /, b=0",
    "a=1, *, b",
    "a, b=0, **rest",
    "a, b, c=2, *, d=3",
]


@given(
    st.sampled_from(DEFINITIONS),
    st.integers(0, 4),
    st.sets(st.sampled_from("abcdz")),
)
def test_what_is_bound_is_what_python_binds(
    parameters: str, n_positional: int, names: set[str]
) -> None:
    given_ = [AbstractValue("int", literal=at) for at in range(n_positional)]
    named = {name: AbstractValue("str", literal=name) for name in sorted(names)}
    bound = Arguments(tuple(given_), named).bound(parameters)
    space: dict[str, object] = {}
    exec(f"def f({parameters}): pass", space)
    function = space["f"]
    assert callable(function)
    try:
        expected = inspect.signature(function).bind(*given_, **named).arguments
    except TypeError:
        assert bound is None
        return
    assert bound == {
        **{key: value for key, value in expected.items() if key != "rest"},
        **expected.get("rest", {}),
    }


def test_incomplete_arguments_are_not_bound() -> None:
    assert (
        Arguments((AbstractValue(),), {}, is_complete=False).bound("a, b=0")
        is None
    )
