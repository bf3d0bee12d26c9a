"""Records and refusals travel whole: a kernel state as its JSON, an error to another process with its remedy."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.detectors.bounded_tool import ToolStoppedError
from crane_core.domain import KernelState, Setting, VariableState
from crane_core.errors import CellRaisedError, CraneError, DetectorError

FACTS = st.dictionaries(
    st.text(max_size=4), st.integers() | st.text(max_size=4), max_size=3
)
PLUS = st.dictionaries(
    st.sampled_from(["structure", "representation", "values"]),
    FACTS.filter(bool),
    max_size=3,
)
VARIABLES = st.builds(
    VariableState,
    st.text(max_size=5),
    FACTS,
    FACTS,
    FACTS,
    st.none() | st.just({"cell": 3, "line": 1}),
    PLUS,
    FACTS,
    st.none() | st.text(min_size=1, max_size=5),
    st.lists(st.text(max_size=3), max_size=2),
)
STATES = st.builds(
    KernelState,
    benchmark=st.just("mine"),
    instance_id=st.just("a_1_fixed"),
    setting=st.just(Setting.RUNTIME_PLUS),
    origin=st.just("notebook"),
    variables=st.dictionaries(st.text(max_size=4), VARIABLES, max_size=3),
    accesses=st.dictionaries(st.text(max_size=4), FACTS, max_size=2),
    is_literal=st.booleans(),
    schema_version=st.sampled_from([1, 2]),
    absent=FACTS,
    unavailable=st.dictionaries(
        st.text(max_size=4), st.text(max_size=4), max_size=2
    ),
    captured=FACTS,
    syntax_error=st.none() | st.text(min_size=1, max_size=9),
)


@given(STATES)
def test_a_state_comes_back_from_its_json(state: KernelState) -> None:
    document = json.loads(json.dumps(state.to_json()))
    where = {
        "benchmark": "mine",
        "instance_id": "a_1_fixed",
        "setting": Setting.RUNTIME_PLUS,
        "origin": "notebook",
    }
    assert KernelState.from_json(document, **where) == state


def test_a_published_state_has_the_members_it_always_had() -> None:
    state = KernelState(
        "b",
        "i",
        Setting.RUNTIME,
        "o",
        {"x": VariableState("int", values={"value": 1})},
    )
    assert state.to_json() == {
        "schema_version": 1,
        "variables": {
            "x": {
                "type": "int",
                "structure": {},
                "representation": {},
                "values": {"value": 1},
            }
        },
        "accesses": {},
        "is_literal": True,
    }


@pytest.mark.parametrize(
    "error",
    [
        DetectorError("The tool is missing.", remedy="Install it."),
        ToolStoppedError("The tool was too slow.", remedy="Try again."),
        CellRaisedError("Code cell 3 raised.", remedy="Fix it.", cell=3),
    ],
)
def test_an_error_comes_back_from_another_process_as_it_was(
    error: CraneError,
) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))
