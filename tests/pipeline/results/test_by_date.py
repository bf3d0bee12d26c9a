"""Accuracy and gain before and after a cut-off: on made-up answers whose numbers a hand computes."""

from __future__ import annotations

from math import comb
from pathlib import Path

import pandas as pd
import pytest

from crane_core.llm.model_dates import KnownModels
from crane_core.pipeline.results.by_date import GAIN, ByDate, by_date
from crane_core.pipeline.rows import as_rows
from crane_core.stats.intervals import clustered_rate
from crane_core.stats.outcome import Outcome
from crane_core.ui.by_date_words import (
    lead,
    missing,
    readable_by_date,
    readable_models,
    source_html,
    title,
)

N = 10
"""Cases on each side of the cut-off."""
CREATED = {
    f"c{case}": f"2024-{3 if case < N else 4:02}" for case in range(2 * N)
}


def answers(**others: object) -> pd.DataFrame:
    """Heron is right with runtime state before its cut-off, and about the fixed notebooks alone otherwise."""
    rows = []
    for case in range(2 * N):
        for is_crash in (True, False):
            for setting in ("code", "runtime"):
                knows = setting == "runtime" and case < N
                says = is_crash and knows
                row = {
                    "benchmark": "lab", "case_id": f"c{case}", "instance_id": f"c{case}_{is_crash}", "truth": is_crash,
                    "detector": "heron", "detector_title": "Heron", "detector_kind": "llm", "setting": setting,
                    "experiment": "mine", "n_crash": int(says), "n_safe": int(not says), "human": None,
                    "label_stratum": None,
                }  # fmt: skip
                rows.append(row | others)
    return pd.DataFrame(rows)


@pytest.fixture
def known(tmp_path: Path) -> KnownModels:
    (tmp_path / "models.toml").write_text(
        '[heron]\ncutoff = "2024-03"\nreleased = "2024-06-01"\n', "utf-8"
    )
    return KnownModels(tmp_path)


@pytest.fixture
def found(known: KnownModels) -> ByDate:
    return by_date(answers(), CREATED, known)


def test_accuracy_and_gain_before_and_after_are_those_by_hand(
    found: ByDate,
) -> None:
    rows = {row["measure"]: row for row in as_rows(found.table)}
    assert list(rows) == ["code", "runtime", GAIN]
    sides = [
        (row["before_value"], row["after_value"], row["difference"])
        for row in rows.values()
    ]
    assert sides == [(0.5, 0.5, 0.0), (1.0, 0.5, -0.5), (0.5, 0.0, -0.5)]
    for row in rows.values():
        assert (row["before_n"], row["after_n"], row["n"]) == (20, 20, 40)
        assert (row["before_n_cases"], row["after_n_cases"]) == (N, N)
    state = rows["runtime"]
    expected = clustered_rate([0, 1] * N, [1] * 20, [c // 2 for c in range(20)])
    assert (state["after_low"], state["after_high"]) == pytest.approx(
        (expected.low, expected.high)
    )
    # Two of all choices of ten cases are as extreme; far fewer than the draws can show.
    assert 2 / comb(20, 10) < state["p_value"] < 1e-4
    assert [row["outcome"] for row in rows.values()] == [
        Outcome.NO_EVIDENCE,
        Outcome.LOSS,
        Outcome.LOSS,
    ]
    assert "of 3 comparisons, none is a gain, 2 are losses" in lead(found)
    shown = readable_by_date(found)
    assert shown["Before"].tolist()[1].startswith("100.0% (")
    assert shown["After"].tolist()[2].startswith("0.0 pp (")


def test_what_is_known_of_a_model_is_told(found: ByDate) -> None:
    [row] = readable_models(found).to_dict("records")
    assert row == {
        "Model": "Heron", "Released": "2024-06-01", "Cut-off": "2024-03", "Cases before": "10", "Cases after": "10",
        "Without a date": "0", "Stated at": "set by the user",
    }  # fmt: skip
    assert missing(found, "Lab") == []
    assert lead(found) == f"**{title(found, 'Lab')}.**"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("https://a.example/b?c=1&d", ">a.example</a>"),
        ('https://a.example/"><b>', ">a.example</a>"),
        ("http://a.example", "http://a.example"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("https://[", "https://["),
        ("<b>me", "&lt;b&gt;me"),
    ],
)
def test_only_a_secure_address_is_a_link_and_all_text_is_escaped(
    source: str, shown: str
) -> None:
    html = source_html(source)
    assert html.endswith(shown)
    assert ("<a " in html) == ("https://a" in source)
    assert "<b>" not in html


def test_what_is_missing_is_told_with_what_to_do(
    known: KnownModels, tmp_path: Path
) -> None:
    undated = by_date(answers(), {}, known)
    assert undated.table.empty
    # What all models have alike is left out: the title has told it.
    assert list(readable_models(undated)) == [
        "Model",
        "Released",
        "Cut-off",
        "Stated at",
    ]
    [said] = missing(undated, "Lab")
    assert said.startswith(title(undated, "Lab"))
    assert said.startswith("No case of Lab has a date")
    assert "“created” of cases.csv" in said

    strange = by_date(answers(detector="x", detector_title="X"), CREATED, known)
    assert strange.table.empty
    assert "known of X. If you know one, add it to models.toml" in "".join(
        missing(strange, "Lab")
    )

    (tmp_path / "models.toml").write_text('[heron]\nreleased = "2024-05"')
    early = by_date(
        answers(), dict(list(CREATED.items())[1:]), KnownModels(tmp_path)
    )
    said = " ".join(missing(early, "Lab"))
    assert "Cases without a date are left out: 1." in said
    assert "no cut-off of Heron; the release is taken" in said
    assert "No model has cases on both sides" in said
    [row] = readable_models(early).to_dict("records")
    assert (row["Cases before"], row["Cases after"]) == ("19", "0")


def test_rules_and_analyzers_have_no_cut_off(known: KnownModels) -> None:
    found = by_date(answers(detector_kind="rules"), CREATED, known)
    assert found.models.empty
    assert found.table.empty
