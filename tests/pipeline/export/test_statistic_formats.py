"""CSV, JSON and LaTeX of exported statistics say the same, and nothing in a name is a command."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.pipeline.export.statistic_formats import (
    COLUMNS,
    COLUMNS_MM,
    number,
    p_text,
    statistics_csv,
    statistics_json,
    statistics_latex,
)
from crane_core.pipeline.frame_formats import escaped
from crane_core.pipeline.results.exported_statistic import (
    ExportedStatistic,
    known,
)

HEAD = ExportedStatistic(
    "Results",
    "gain",
    "accuracy",
    experiment="my_run & 50%",
    detector="Heron #1 {x}\\y~z^2",
)
FOUND = {
    "gains": [
        HEAD.measured(
            0.1, 0.05, 0.2, unit="share", method="Wilson's", n=7, n_cases=4
        )._replace(p=0.0004, test="t"),
        HEAD.measured(
            float("nan"),
            float("nan"),
            float("nan"),
            unit="share",
            method="Wilson's",
        ),
    ],
    "claims": [
        HEAD._replace(
            statistic='said "so", and\nso', stated="7 to 10", note="holds"
        )
    ],
}


def test_csv_and_json_hold_the_same_rows_unrounded() -> None:
    rows = list(csv.DictReader(io.StringIO(statistics_csv(FOUND))))
    told = json.loads(statistics_json(FOUND))["statistics"]
    assert list(rows[0]) == list(told[0]) == ["kind", *COLUMNS]
    assert [
        {
            name: "" if value is None else str(value)
            for name, value in row.items()
        }
        for row in told
    ] == rows
    assert float(rows[0]["value"]) == 0.1
    assert (rows[0]["level"], rows[0]["interval_method"]) == (
        "0.95",
        "Wilson's",
    )


def test_what_has_no_value_is_empty_and_claims_no_interval() -> None:
    empty = FOUND["gains"][1]
    assert (empty.value, empty.low, empty.level, empty.interval_method) == (
        None,
        None,
        None,
        None,
    )


def test_latex_is_rounded_and_escaped() -> None:
    table = statistics_latex("gains", FOUND["gains"])
    row = next(
        line for line in table.splitlines() if line.startswith("accuracy")
    )
    assert row.startswith(
        r"accuracy & my\_run \& 50\% & Heron \#1 \{x\}\textbackslash{}y\textasciitilde{}z"
    )
    assert row.endswith(r"& 0.100 & 0.050 to 0.200 & 7 & \textless{} 0.001 \\")
    assert (
        table.count(r"\begin{longtable}")
        == table.count(r"\end{longtable}")
        == 1
    )


def test_latex_fits_the_page_of_a_paper() -> None:
    gap_mm = 2 * 2 / 72.27 * 25.4
    assert sum(COLUMNS_MM.values()) + len(COLUMNS_MM) * gap_mm < 178


@given(st.text(max_size=60))
def test_no_name_is_a_command_of_latex(text: str) -> None:
    plain = re.sub(
        r"\\text[a-z]+\{\}|\$(?:-|\\[a-z]+|\^2)\$|\\[&%$#_{}]",
        "",
        escaped(text),
    )
    assert not set(plain) & set("\\~^&%$#_{}")
    assert "\n" not in escaped(text)


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.0725, "share", "0.073"),
        (222.0, "count", "222"),
        (1.325, "odds ratio", "1.33"),
    ],
)
def test_values_are_rounded_half_up(
    value: float, unit: str, shown: str
) -> None:
    assert number(value, unit) == shown


def test_small_p_is_told_as_small() -> None:
    assert (p_text(0.0004), p_text(0.0314), p_text(None)) == (
        "< 0.001",
        "0.031",
        "",
    )


def test_what_is_nan_is_unknown() -> None:
    assert known(float("nan")) is None
    assert known(0.0) == 0.0
