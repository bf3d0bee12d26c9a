"""The rules know only what their setting shows, and from code alone that a name has no value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core.detectors.rules_detector import predict
from crane_core.domain import Cell, CellRole, KernelState, Setting
from crane_core.importers.captured_states import state_of

STATES = Path(__file__).resolve().parents[3] / "data" / "minibench" / "states"


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


def state(instance: str = "pandas_1_reproduced") -> KernelState:
    return state_of(
        json.loads((STATES / f"{instance}.json").read_text("utf-8"))
    )


@pytest.mark.parametrize("setting", [Setting.RUNTIME, Setting.RUNTIME_PLUS])
def test_a_missing_column_is_found_where_the_state_tells_the_others(
    setting: Setting,
) -> None:
    code = cells(
        "import pandas as pd",
        'per_bed = harvest.groupby("bed")["yield_kg"].sum()',
    )
    assert predict(code, state(), setting).crashes
    assert not predict(code, state("pandas_1_fixed"), setting).crashes


@pytest.mark.parametrize(
    ("case", "crashing", "words", "running"),
    [
        (
            "sklearn_2",
            "model.fit(X_fit, y_fit)",
            "Unknown label type",
            "model.fit(X_fit, y_fit)",
        ),
        (
            "sklearn_3",
            "StandardScaler().fit(features)",
            "infinity",
            "StandardScaler().fit(features)",
        ),
        (
            *("sklearn_5", "precision_score(y_check, said)", "multiclass"),
            "precision_score(y_check, said, average='macro')",
        ),
    ],
)
def test_data_are_judged_by_what_the_state_of_the_paper_tells(
    case: str, crashing: str, words: str, running: str
) -> None:
    imports = "from sklearn.preprocessing import StandardScaler\nfrom sklearn.metrics import precision_score"
    said = predict(
        cells(imports, crashing), state(f"{case}_reproduced"), Setting.RUNTIME
    )
    assert words in (said.reasoning or "")
    assert not predict(
        cells(imports, running), state(f"{case}_fixed"), Setting.RUNTIME
    ).crashes


@pytest.mark.parametrize("setting", [Setting.CODE, Setting.RUNTIME])
def test_a_name_that_no_cell_gave_a_value_is_missing(setting: Setting) -> None:
    said = predict(cells("x = 1", "y = x + never_given"), state(), setting)
    assert said.crashes and "NameError" in (said.reasoning or "")


@pytest.mark.parametrize(
    "executed",
    [
        "from helpers import *",
        "%run other.ipynb",
        "exec('never_given = 1')",
        "globals()['never_given'] = 1",
        "import x",
    ],
)
def test_a_name_that_may_have_come_unseen_is_not_told_missing(
    executed: str,
) -> None:
    target = (
        "y = never_given" if executed != "import x" else "y = x.never_given"
    )
    assert not predict(cells(executed, target), None, Setting.CODE).crashes
