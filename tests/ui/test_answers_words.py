"""One row per detector holds what each method finds, and a dash where a method has no number."""

from __future__ import annotations

import pandas as pd

from crane_core.pipeline.results.one_model import COLUMNS, ModelOfAll
from crane_core.ui.answers_words import MethodAnswers, readable_answers
from crane_core.ui.words import NOTHING

COMPARED = {
    "detector_title": "GPT-5",
    "difference": 0.045,
    "low": -0.008,
    "high": 0.097,
    "p_holm": 0.12,
    "p_by_case_holm": 0.2,
    "p_smaller": 0.41,
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
    table = pd.DataFrame(gains, columns=COLUMNS)
    return ModelOfAll(table, pd.DataFrame(), {}, 111)


def test_every_method_has_its_cell() -> None:
    ratio = {"odds_ratio": 1.31, "low": 0.96, "high": 1.77}
    judged = {"judge": "o3", "difference": 0.03, "low": -0.01, "high": 0.07}
    found = MethodAnswers(
        pd.DataFrame([COMPARED]),
        pd.DataFrame([{"detector_title": "GPT-5"} | ratio]),
        model(GAIN),
        CURVE,
        pd.DataFrame([{"detector_title": "GPT-5"} | judged]),
    )
    [row] = readable_answers(found).to_dict("records")
    assert row["Tests"] == "no evidence, p 0.200"
    assert row["Smaller"] == "p 0.410"
    assert row["GEE"].startswith("1.31 (0.96")
    assert row["One model"].startswith("+4.2 pp (−2.6")
    assert row["Judge corrected"].startswith("o3: +3.0 pp (−1.0")
    assert row["Readings"] == "2 gain, 0 loss of 3"


def test_a_method_without_a_number_has_a_dash() -> None:
    nothing = pd.DataFrame()
    found = MethodAnswers(
        pd.DataFrame([COMPARED]), nothing, model(), nothing, nothing
    )
    [row] = readable_answers(found).to_dict("records")
    names = ("GEE", "One model", "Judge corrected", "Readings")
    assert {row[name] for name in names} == {NOTHING}
