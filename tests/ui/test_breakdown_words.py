"""The finding of the breakdown: how many groups rise and fall, and which changes are gains and losses."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from crane_core.pipeline.results.measures import WITH_STATE
from crane_core.stats.outcome import outcome
from crane_core.ui.breakdown_words import about, change_words, finding


def changes(
    *differences: tuple[float | None, float | None], n_cases: int = 40
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "stage": f"s{i}",
            "detector_title": "GPT-5",
            "difference": d,
            "p_bh": p,
            "test": None if p is None else "T",
        }
        | {"outcome": str(outcome(d, [p])), "n_cases": n_cases}
        for i, (d, p) in enumerate(differences)
    )


FIRST = "combinations of pipeline stage and detector. After adjustment for all of them,"


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (
            changes(),
            "Nothing to compare: no detector was asked with both −RT and +RT.",
        ),
        (
            changes((0.1, None), (0.0, None)),
            f"**+RT raises F1 in 1, lowers it in 0 and leaves it unchanged in 1 of 2 {FIRST} none is a "
            "gain, none is a loss and 2 are not tested.**",
        ),
        (
            changes((0.1, 0.2), (-0.1, 0.9)),
            f"**+RT raises F1 in 1 and lowers it in 1 of 2 {FIRST} none is a gain, none is a loss and 2 "
            "are without evidence.**",
        ),
        (
            changes((0.1, 0.01), (-0.3, 0.02), (None, None)),
            f"**+RT raises F1 in 1, lowers it in 1 and has no value in 1 of 3 {FIRST} 1 is a gain, 1 is "
            "a loss and 1 has nothing to compare.** Gains: s0 with GPT-5 (+10 pp). Losses: s1 with GPT-5 (−30 pp).",
        ),
        (
            changes((-0.1, 0.01)),
            "**+RT raises F1 in 0 and lowers it in 1 of 1 combination of pipeline stage and detector. After adjustment "
            "for all of them, the one comparison is a loss.** Losses: s0 with GPT-5 (−10 pp).",
        ),
        (
            changes(*[(0.1, 0.01)] * 10, *[(-0.2, 0.01)] * 7),
            f"**+RT raises F1 in 10 and lowers it in 7 of 17 {FIRST} 10 are gains and 7 are losses.** "
            "Gains: s0 with GPT-5 (+10 pp), s1 with GPT-5 (+10 pp), s2 with GPT-5 (+10 pp), s3 with GPT-5 (+10 pp) and "
            "6 "
            "more. Losses: s10 with GPT-5 (−20 pp), s11 with GPT-5 (−20 pp), s12 with GPT-5 (−20 pp), s13 with GPT-5 "
            "(−20 pp) and 3 more.",
        ),
    ],
)
def test_finding(frame: pd.DataFrame, said: str) -> None:
    assert finding(frame, "stage", "F1", WITH_STATE) == said


@pytest.mark.parametrize(
    ("n_cases", "end"),
    [
        (15, "are without evidence.** Each group has few cases (at most 15)."),
        (21, "are without evidence.**"),
        (120, "are without evidence.**"),
    ],
)
def test_groups_are_called_small_only_where_all_are(
    n_cases: int, end: str
) -> None:
    told = finding(
        changes((0.1, 0.2), (-0.1, 0.9), n_cases=n_cases),
        "stage",
        "F1",
        WITH_STATE,
    )
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
    assert "Bold" not in about(
        changes((0.1, None)), WITH_STATE, is_any_few=False
    )
    told = about(changes((0.1, 0.5)), WITH_STATE, is_any_few=True)
    assert (
        "Bold: a gain or a loss (T, Benjamini-Hochberg over all 1 groups and detectors)."
        in told
    )
    assert "Faded: 2 cases or fewer." in told
