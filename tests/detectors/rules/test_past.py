"""What executed cells leave behind: what really crashes is predicted from code alone, near misses that run are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core.detectors.rules.executed_cells import MOST_STEPS
from crane_core.detectors.rules.initial_state import InitialState
from crane_core.detectors.rules.past import Past, past_of
from crane_core.detectors.rules.predict import findings
from crane_core.domain import (
    Cell,
    CellRole,
    KernelState,
    Setting,
    VariableState,
)
from crane_core.importers.captured_states import state_of
from crane_core.prompts.shown import shown


def cells(*codes: str) -> list[Cell]:
    *executed, target = codes
    roles = [
        *((code, CellRole.EXECUTED) for code in executed),
        (target, CellRole.TARGET),
    ]
    return [
        Cell("b", "x", "notebook", place, role, code)
        for place, (code, role) in enumerate(roles)
    ]


def left_by(*codes: str) -> Past:
    return past_of(InitialState(cells(*codes, "pass"), None))


def test_a_crash_in_a_cell_that_ran_gives_up_what_was_known_and_is_counted() -> (
    None
):
    past = left_by("rows = [1]\nother = [2]", "rows[5]", "later = [3]")
    assert [found.cell for found in past.contradictions] == [1]
    assert (
        not past.names["rows"].is_literal and not past.names["other"].is_literal
    )
    assert past.names["later"].literal == [3]


def test_after_several_contradictions_nothing_is_taken_from_the_cells() -> None:
    past = left_by(
        "rows = [1]", "rows[5]", "rows = [1]\nrows[6]", "later = [3]"
    )
    assert len(past.contradictions) == 2 and past.names == {}


def test_after_a_line_that_may_do_anything_no_mutable_thing_is_known() -> None:
    past = left_by(
        "rows = [1]\nimport numpy as np", "%run other.ipynb", "n = 1"
    )
    assert not past.names["rows"].is_literal
    assert past.names["np"].path == "numpy" and past.names["n"].literal == 1


def test_a_cell_that_cannot_be_read_leaves_nothing_known_of_what_came_before() -> (
    None
):
    past = left_by("rows = [1]", "rows = = 2", "n = 1")
    assert not past.names["rows"].is_literal and past.names["n"].literal == 1


def test_a_name_that_is_deleted_later_is_no_longer_there() -> None:
    assert "rows" not in left_by("rows = [1]", "del rows").names


def test_cells_count_in_the_order_in_which_they_ran() -> None:
    made = [
        Cell("b", "x", "notebook", 9 - place, CellRole.EXECUTED, f"n = {place}")
        for place in range(3)
    ]
    target = Cell("b", "x", "notebook", 10, CellRole.TARGET, "pass")
    assert past_of(InitialState([*made, target], None)).names["n"].literal == 0


def test_where_the_steps_end_later_names_are_not_known() -> None:
    turns = "\n".join(
        f"{'    ' * depth}for i{depth} in range(50):" for depth in range(4)
    )
    past = left_by(
        "n = 1\nrows = [1]", f"{turns}\n{'    ' * 4}rows", "later = 3\nn = 5"
    )
    assert past.n_steps > MOST_STEPS
    assert not any(
        past.names[name].is_literal
        for name in ("rows", "later", "n")
        if name in past.names
    )


STATES = Path(__file__).resolve().parents[3] / "data" / "minibench" / "states"


def state(name: str, variable: VariableState) -> KernelState:
    known = shown(
        state_of(
            json.loads((STATES / "pandas_1_reproduced.json").read_text("utf-8"))
        ),
        Setting.RUNTIME,
    )
    return KernelState.from_json(
        {**known.to_json(), "variables": {name: variable.to_json()}},
        benchmark="b", instance_id="x", setting=Setting.RUNTIME, origin="test",
    )  # fmt: skip


@pytest.mark.parametrize("length", [1, 3])
def test_a_state_that_contradicts_the_cells_is_right(length: int) -> None:
    known = state(
        "rows", VariableState("<class 'list'>", structure={"length": length})
    )
    report = findings(
        cells("rows = [1]\nother = [1]", "rows[1], other[1]"),
        known,
        Setting.RUNTIME,
    )
    assert bool(report.findings) is (length == 1)
    assert bool(report.contradictions) is (length == 3)


def test_what_a_state_tells_less_of_is_filled_from_the_cells() -> None:
    known = state(
        "table", VariableState("<class 'dict'>", structure={"length": 2})
    )
    assert findings(
        cells("table = {'a': 1, 'b': 2}", "table['c']"), known, Setting.RUNTIME
    ).findings
    assert not findings(
        cells("table = {'a': 1, 'b': 2}", "table['b']"), known, Setting.RUNTIME
    ).findings
