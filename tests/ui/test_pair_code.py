"""Beside the code stands the state that tells most: one captured here before the published one."""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd
import pytest

from crane_core.domain import (
    CellRole,
    KernelState,
    Setting,
    VariableState,
    Version,
)
from crane_core.ui.pair_code import code_and_state_html, kernel_fact_html

TextOf = Callable[[str], str]
COLUMNS = [
    "version",
    "origin",
    "position",
    "role",
    "code",
    "execution_count",
    "notebook_index",
    "crash_line",
]
CELLS = pd.DataFrame(
    [
        (version, "notebook", 0, CellRole.TARGET, "df.head()", 1, 0, None)
        for version in Version
    ],
    columns=COLUMNS,
)


def row(
    version: Version, setting: Setting, origin: str, kind: str
) -> dict[str, object]:
    state = KernelState(
        "mine", "a_1", setting, origin, {"df": VariableState(kind)}
    ).to_json()
    return {
        "version": version,
        "setting": setting,
        "origin": origin,
        "state": json.dumps(state),
        "is_literal": True,
    }


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ([], None),
        (
            [
                row(
                    Version.FIXED,
                    Setting.RUNTIME,
                    "crane-llm-2025-10",
                    "Published",
                )
            ],
            "Published",
        ),
        (
            [
                row(
                    Version.FIXED,
                    Setting.RUNTIME,
                    "crane-llm-2025-10",
                    "Published",
                ),
                row(Version.FIXED, Setting.RUNTIME_PLUS, "capture", "Captured"),
                row(
                    Version.REPRODUCED,
                    Setting.RUNTIME_PLUS,
                    "capture",
                    "Captured",
                ),
            ],
            "Captured",
        ),
    ],
)
def test_the_state_that_tells_most_is_shown(
    text_of: TextOf, rows: list[dict[str, object]], shown: str | None
) -> None:
    states = pd.DataFrame(
        rows, columns=["version", "setting", "origin", "state", "is_literal"]
    )
    text = text_of(code_and_state_html(CELLS, states, None))
    assert [kind for kind in ("Published", "Captured") if kind in text] == (
        [shown] if shown else []
    )


def test_what_the_kernel_lacks_is_told_of_the_crashing_notebook(
    text_of: TextOf,
) -> None:
    absent = {"columns": [{"of": "df", "column": "kg", "line": 1}]}
    state = KernelState(
        "mine", "a_1", Setting.RUNTIME_PLUS, "capture", {}, absent=absent
    )
    of = row(Version.REPRODUCED, Setting.RUNTIME_PLUS, "capture", "Captured")
    states = pd.DataFrame([of | {"state": json.dumps(state.to_json())}])
    told = text_of(kernel_fact_html(CELLS, states, None, None))
    assert told == "Runtime state: The kernel has no column kg of df."
    of_fixed = states.assign(version=Version.FIXED)
    assert kernel_fact_html(CELLS, of_fixed, None, None) == ""
