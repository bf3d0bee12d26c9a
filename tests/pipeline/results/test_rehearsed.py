"""Rehearsed targets are counted apart from predictions; what gave no verdict is counted, and is in no rate."""

from __future__ import annotations

import pandas as pd

from crane_core.pipeline.results.combinations import usual_members
from crane_core.pipeline.results.repaired import rehearsed
from crane_core.ui.executed_view import readable_rehearsals as readable

OUTCOMES = [
    ("reproduced", 1, 0),
    ("reproduced", 0, 0),
    ("reproduced", 0, 1),
    ("fixed", 0, 1),
    ("fixed", 0, 1),
]


def frame(kind: str = "rehearsal") -> pd.DataFrame:
    rows = [
        {
            "benchmark": "b",
            "case_id": f"numpy_{place}",
            "instance_id": f"numpy_{place}_{version}",
            "version": version,
            "truth": version == "reproduced",
            "detector": kind,
            "detector_title": kind,
            "detector_kind": kind,
            "setting": "runtime",
            "experiment": "e",
            "n_crash": n_crash,
            "n_safe": n_safe,
            "n_unanswered": 1 - n_crash - n_safe,
            "n_skipped": 0,
            "first_run": None,
            "human": None,
            "label_stratum": None,
        }
        for place, (version, n_crash, n_safe) in enumerate(OUTCOMES)
    ]
    return pd.DataFrame(rows)


def test_what_gave_no_verdict_is_counted_and_in_no_rate() -> None:
    found = rehearsed(frame()).set_index("version")
    assert found.loc[
        "reproduced", ["n_crashed", "n_through", "n_open", "n", "value"]
    ].tolist() == [
        1,
        1,
        1,
        2,
        0.5,
    ]
    assert found.loc[
        "fixed", ["n_crashed", "n_through", "n_open", "n", "value"]
    ].tolist() == [
        0,
        2,
        0,
        2,
        1.0,
    ]
    shown = readable(rehearsed(frame()))
    assert shown["Notebooks"].tolist() == ["crashing", "fixed"]
    assert shown["No verdict"].tolist() == ["1", "0"]


def test_a_rehearsal_is_no_member_of_a_usual_combination() -> None:
    both = pd.concat([frame("rules"), frame("llm"), frame()], ignore_index=True)
    assert [member.detector for member in usual_members(both)] == [
        "rules",
        "llm",
    ]
