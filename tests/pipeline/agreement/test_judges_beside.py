"""Share of correct diagnoses with a judge's labels: who counts, and what the statistic is given."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.pipeline.agreement.judges_beside import judge_powered
from crane_core.pipeline.agreement.labelled import labelled_verdicts
from crane_core.pipeline.campaigns.label_frame import KEY
from crane_core.stats.prediction_powered import powered_share

N_CASES = 12


def verdicts() -> pd.DataFrame:
    """A detected crash per case, and a fixed notebook that is not a diagnosis."""
    rows = [
        {
            "benchmark": "mine",
            "instance_id": f"c{case}_{version}",
            "detector": "d",
            "setting": "code",
        }
        | {
            "experiment": "e",
            "case_id": f"c{case}",
            "detector_kind": "llm",
            "truth": version == "reproduced",
        }
        | {"n_crash": 5, "n_safe": 0}
        for case in range(N_CASES)
        for version in ("reproduced", "fixed")
    ]
    return pd.DataFrame(rows)


def labels(said: dict[str, list[str | None]]) -> pd.DataFrame:
    """Labels of annotators for the crashing notebooks in order, None for none; the fixed one of case 0 has one too."""
    rows = [
        {
            "benchmark": "mine",
            "instance_id": f"c{case}_reproduced",
            "detector": "d",
            "setting": "code",
        }
        | {"experiment": "e", "annotator": annotator, "label": label}
        | {"weight": 1.0}
        for annotator, given in said.items()
        for case, label in enumerate(given)
        if label is not None
    ]
    return pd.DataFrame(
        [*rows, rows[0] | {"instance_id": "c0_fixed", "annotator": "judge"}]
    )


HUMAN: list[str | None] = [
    "correct",
    "partial",
    "correct",
    "wrong",
    "correct",
    "correct",
]
JUDGE: list[str | None] = [
    *HUMAN[:4],
    "partial",
    "correct",
    "correct",
    "wrong",
    "correct",
    "misdetected",
    None,
    None,
]


def test_a_judge_that_labelled_more_adds_to_the_persons_labels() -> None:
    frame = labels({"ana": HUMAN, "judge": JUDGE, "follower": [*HUMAN]})
    [row] = judge_powered(
        labelled_verdicts(frame, verdicts()), "ana", ["judge", "follower"]
    ).to_dict("records")
    expected = powered_share(
        [1, 0, 1, 0, 1, 1],
        [1, 0, 1, 0, 0, 1],
        [1, 0, 1, 0],
        range(6),
        range(6, 10),
    )
    assert (row["judge"], row["n"], row["n_more"], row["n_cases"]) == (
        "judge",
        6,
        4,
        10,
    )
    assert (
        row["value"],
        row["low"],
        row["high"],
        row["weight"],
    ) == pytest.approx((*expected[:3], expected.weight))
    assert row["alone"] == pytest.approx(4 / 6)


def test_nobody_to_compare_gives_no_row() -> None:
    frame = labels({"ana": HUMAN, "judge": JUDGE})
    assert judge_powered(
        labelled_verdicts(frame, verdicts()), "nobody", ["judge"]
    ).empty
    assert judge_powered(
        labelled_verdicts(frame[frame["annotator"] == "ana"], verdicts()),
        "ana",
        [],
    ).empty
    assert set(KEY) <= set(frame)
