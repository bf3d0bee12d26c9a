"""The fact that decides a crash: a column that the line reads and the given state does not have, and no guess."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from crane_core.ui.deciding_fact import LONGEST_NAME, deciding_fact

CODE = """
clean = df[df["Total Gross"] != "$0.00M"]
other = df["Year"]
"""


def state(*columns: str, n_columns: int | None = None) -> str:
    """A published state of a data frame `df`, as the importer stores it."""
    width = len(columns) if n_columns is None else n_columns
    frame: dict[str, Any] = {
        "type": "pandas.core.frame.DataFrame",
        "structure": {"shape": {"$tuple": [5562, width]}},
        "representation": {},
        "values": {"per_column": {name: {"num_unique": 3} for name in columns}},
    }
    return json.dumps({"schema_version": 1, "variables": {"df": frame}})


def test_the_missing_column_is_named_beside_those_that_are_there(
    text_of: Callable[[str], str],
) -> None:
    said = text_of(deciding_fact(CODE, 2, state("Total_Gross", "Year")))
    assert said == (
        "df has no column “Total Gross”. Its 2 columns: Total_Gross, Year."
    )


@pytest.mark.parametrize(
    ("code", "line", "given"),
    [
        pytest.param(CODE, 3, state("Year"), id="another line"),
        pytest.param(CODE, 2, state("Total Gross"), id="it is there"),
        pytest.param(CODE, 2, state("Year", n_columns=9), id="columns cut"),
        pytest.param(CODE, 2, None, id="no state"),
        pytest.param("%%time\ndf['a']", 2, state("b"), id="a magic"),
        pytest.param("df['a'] = 1", 1, state("b"), id="it is assigned"),
    ],
)
def test_nothing_is_said_of_what_is_not_known_to_be_missing(
    code: str, line: int, given: str | None
) -> None:
    assert deciding_fact(code, line, given) == ""


def test_what_a_capture_found_absent_is_told() -> None:
    given = json.dumps({"variables": {}, "absent": {"names": ["model"]}})
    assert "model" in deciding_fact("model.fit()", 1, given)


def test_a_hostile_name_is_bounded_text(
    hostile: str, text_of: Callable[[str], str]
) -> None:
    said = deciding_fact(CODE, 2, state(*(hostile + str(n) for n in range(99))))
    assert "99 columns" in text_of(said)
    assert len(said) < 20 * 12 * LONGEST_NAME
