"""How often judges differ from a person: hand-counted, over the labels on the scale and over all."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.pipeline.agreement.judges_beside import (
    ALL,
    DIFFERING_COLUMNS,
    ON_SCALE,
    judge_differs,
)
from crane_core.pipeline.agreement.labelled import labelled_verdicts
from crane_core.pipeline.judging.judges import (
    pooled_judges,
    without_repetitions,
)
from crane_core.stats.intervals import clustered_rate
from crane_core.ui.agreement.judges import differing_rows
from tests.pipeline.agreement.test_judges_beside import labels, verdicts

ANA = ["correct", "partial", "correct", "wrong", "correct", "misdetected"]
JUDGE = [
    "correct",
    "correct",
    "misdetected",
    "wrong",
    "unverifiable",
    "wrong",
    "correct",
]


def test_labels_off_the_scale_count_as_different_or_not_at_all() -> None:
    table = judge_differs(
        labelled_verdicts(labels({"ana": ANA, "judge": JUDGE}), verdicts()),
        "ana",
        ["judge"],
    )
    assert list(table.columns) == DIFFERING_COLUMNS
    counted = table.set_index("counted")[
        ["n_differ", "n", "n_cases"]
    ].T.to_dict("list")
    assert counted == {
        ON_SCALE: [1, 3, 3],
        ALL: [3, 5, 5],
    }  # "partial" as "correct"; then two that are not about a diagnosis
    expected = clustered_rate([0, 1, 1, 0, 1], [1] * 5, range(5))
    assert table.set_index("counted").loc[
        ALL, ["value", "low", "high"]
    ].tolist() == pytest.approx(list(expected[:3]))
    [row] = differing_rows(table)
    assert (row.name, row.shown) == ("judge", "33.3%")
    assert row.counted == "1 of 3 diagnoses"
    assert row.about.startswith("60.0% (")
    assert row.about.endswith(" of all 5, 2 off the scale")


def test_a_judge_on_the_scale_alone_is_counted_once() -> None:
    [row] = differing_rows(
        judge_differs(
            labelled_verdicts(labels({"ana": ANA, "j": ANA[:5]}), verdicts()),
            "ana",
            ["j"],
        ),
    )
    assert (row.shown, row.about) == ("0.0%", "")
    assert row.counted == "0 of 5 diagnoses"


def test_a_judge_without_labels_has_no_row() -> None:
    assert judge_differs(
        labelled_verdicts(labels({"ana": ANA, "judge": JUDGE}), verdicts()),
        "ana",
        ["nobody"],
    ).empty
    only_misses = pd.DataFrame(
        judge_differs(
            labelled_verdicts(
                labels({"ana": ANA, "j": ["misdetected"]}), verdicts()
            ),
            "ana",
            ["j"],
        )
    )
    assert only_misses["counted"].tolist() == [ALL]
    [row] = differing_rows(only_misses)
    assert (row.shown, row.counted) == ("100.0%", "1 of 1 diagnoses")


def test_single_repetitions_give_way_to_all_of_them() -> None:
    passes = pd.DataFrame(
        [
            ("heron", 0, "heron, all repetitions"),
            ("heron", 1, "heron, repetition 1"),
            ("heron", 2, "heron, repetition 2"),
            ("owl", 1, "owl"),
        ],
        columns=["judge", "repetition", "annotator"],
    )
    names = ["ana", *passes["annotator"]]
    assert pooled_judges(passes) == ["heron, all repetitions", "owl"]
    assert without_repetitions(names, passes) == [
        "ana",
        "heron, all repetitions",
        "owl",
    ]
    assert without_repetitions(names, passes[passes["repetition"] > 0]) == names
