"""One row per detector holds what each method finds, and a dash where a method has no number."""

from __future__ import annotations

from typing import Any

import pandas as pd

from crane_core.pipeline.results.model_across import GAIN_COLUMNS, ModelOfAll
from crane_core.ui.answers_words import (
    MethodAnswers,
    answers_of,
    beside,
    finding,
    title,
    with_meanings,
)
from crane_core.ui.words import NOTHING

COMPARED = {
    "detector_title": "GPT-5",
    "difference": 0.045,
    "low": -0.008,
    "high": 0.097,
    "p_holm": 0.12,
    "p_by_case_holm": 0.2,
    "p_smaller": 0.41,
    "bound": 0.05,
    "outcome": "no evidence",
}
GAIN = {
    "by": "detector_title",
    "name": "GPT-5",
    "value": 0.042,
    "low": -0.026,
    "high": 0.104,
}
CURVE = pd.DataFrame(
    {
        "detector_title": ["GPT-5", "GPT-5", "GPT-5", "other"],
        "conclusion": ["gain", "no evidence", "gain", "loss"],
    }
)


def model(*gains: dict[str, object]) -> ModelOfAll:
    table = pd.DataFrame(gains, columns=GAIN_COLUMNS)
    return ModelOfAll(table, pd.DataFrame(), {}, 111)


def answers_from(*tables: Any) -> pd.DataFrame:
    return answers_of(MethodAnswers(*tables))


def test_every_method_has_its_cell() -> None:
    ratio = {"odds_ratio": 1.31, "low": 0.96, "high": 1.77}
    judged = {"judge": "o3", "difference": 0.03, "low": -0.01, "high": 0.07}
    found = answers_from(
        pd.DataFrame([COMPARED]),
        pd.DataFrame([{"detector_title": "GPT-5"} | ratio]),
        model(GAIN),
        CURVE,
        pd.DataFrame([{"detector_title": "GPT-5"} | judged]),
    )
    said = beside(found, "text").set_index("Method")["GPT-5"].to_dict()
    assert {
        name.partition(":")[0]: cell[:15] for name, cell in said.items()
    } == {
        "Difference": "+4.5 pp (−0.8 t",
        "Tests": "no evidence, p ",
        "Equivalence": "not shown, p 0.",
        "Odds ratio": "1.31 (0.96 to 1",
        "One model": "+4.2 pp (−2.6 t",
        "Corrected labels": "+3.0 pp (−1.0 t",
        "Readings": "2 gain, 0 loss ",
    }
    assert title(found, "model") == "No model has a gain by every method"
    assert "by odds ratio, for GPT" in finding(found, "model")
    faded = beside(found, "look")["GPT-5"].astype(bool).tolist()
    assert faded == [True, True, False, True, True, True, False]
    [row] = with_meanings(["Odds ratio: GEE"])
    assert 'title="Of a right answer' in row and ">Odds ratio: GEE<" in row


def test_fewer_than_half_of_the_readings_are_no_gain() -> None:
    nothing = pd.DataFrame()
    seldom = CURVE.assign(conclusion=["gain", "no evidence", "loss", "loss"])
    gains = COMPARED | {"low": 0.01, "outcome": "gain"}
    found = answers_from(
        pd.DataFrame([gains]), nothing, model(), seldom, nothing
    )
    assert title(found, "model") == "No model has a gain by every method"
    assert "by readings, for GPT" in finding(found, "model")


def test_a_method_without_a_number_has_a_dash() -> None:
    nothing = pd.DataFrame()
    found = answers_from(
        pd.DataFrame([COMPARED]), nothing, model(), nothing, nothing
    )
    said = beside(found, "text").set_index("Method")["GPT-5"]
    without = [name for name, cell in said.items() if cell == NOTHING]
    names = [name.partition(":")[0] for name in without]
    assert names == ["Odds ratio", "One model", "Readings"]


def test_the_title_names_who_gains_by_every_method() -> None:
    gains = COMPARED | {"low": 0.01, "outcome": "gain"}
    nothing = pd.DataFrame()
    other = COMPARED | {"detector_title": "Gemini"}
    found = answers_from(
        pd.DataFrame([gains, other]), nothing, model(), nothing, nothing
    )
    assert title(found, "model") == (
        "GPT-5 gains by every method, the other model not by all"
    )
    alone = found[found["detector"] == "GPT-5"]
    assert title(alone, "model") == "Every method finds a gain for one model"
    assert finding(alone, "model").startswith("**Every method finds a gain")
    assert title(found[:0], "model") is None
