"""The finding of the breakdown: how many groups gain, and which changes are beyond chance."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from crane_core.pipeline.results.measures import WITH_STATE
from crane_core.ui.breakdown_words import about, change_words, finding


def changes(*differences: tuple[float, float | None], n_cases: int = 9) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "stage": f"s{i}",
            "detector_title": "GPT-5",
            "difference": d,
            "p_bh": p,
            "test": None if p is None else "T",
            "n_cases": n_cases,
        }
        for i, (d, p) in enumerate(differences)
    )


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (changes(), "No detector was asked with both −RT and +RT."),
        (changes((0.1, None), (0.0, None)), "**+RT raises F1 in 1 of 2 combinations of pipeline stage and detector.**"),
        (
            changes((0.1, 0.2), (-0.1, 0.9)),
            "in 1 of 2 combinations of pipeline stage and detector; none of the changes",
        ),
        (changes((0.1, 0.01), (-0.3, 0.02)), "; 2 are significant** after adjustment: s1 with GPT-5 (−30 pp), s0 with"),
        (changes((0.1, 0.01), (0.3, 0.2)), "; 1 is significant** after adjustment: s0 with GPT-5 (+10 pp)."),
        (changes(*[(0.1, 0.01)] * 6), "s3 with GPT-5 (+10 pp) and 2 others."),
    ],
)
def test_finding(frame: pd.DataFrame, said: str) -> None:
    assert said in finding(frame, "stage", "F1", WITH_STATE)


@pytest.mark.parametrize(
    ("n_cases", "end"),
    [(15, "all 2 of them: each group has few cases (at most 15)."), (21, "all 2 of them."), (120, "all 2 of them.")],
)
def test_groups_are_called_small_only_where_all_are(n_cases: int, end: str) -> None:
    told = finding(changes((0.1, 0.2), (-0.1, 0.9), n_cases=n_cases), "stage", "F1", WITH_STATE)
    assert told.endswith(end)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"difference": 0.2, "low": -0.012, "high": 0.38}, "+20 (−1 to 38)"),
        ({"difference": -0.001, "low": -0.1, "high": 0.1}, "0 (−10 to 10)"),
        ({"difference": None, "low": None, "high": None}, ""),
    ],
)
def test_change(change: dict[str, Any], said: str) -> None:
    assert change_words(change) == said


def test_the_note_says_what_bold_and_faded_mean_only_where_they_occur() -> None:
    assert "Bold" not in about(changes((0.1, None)), WITH_STATE, is_any_few=False)
    told = about(changes((0.1, 0.5)), WITH_STATE, is_any_few=True)
    assert "Bold: significant (T, Benjamini-Hochberg over all 1 groups and detectors)." in told
    assert "Faded: 2 cases or fewer." in told
