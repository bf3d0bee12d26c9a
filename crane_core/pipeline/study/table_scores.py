"""Counts and rates of a part of the verdict frame. Knows its columns; refuses to know which table asks.

The verdict frame has one row per benchmark, instance, detector, setting and experiment (`pipeline.results.evaluate`).
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.domain import Setting
from crane_core.pipeline.loading.editions import without_edition
from crane_core.pipeline.study.table_cells import Measured, percent
from crane_core.stats.rates import RATES, Confusion, confusion, diagnosis_credit
from crane_core.stats.vote import majority

BENCHMARK = "junobench"
STUDY = "crane-llm-2025-10"
LATER_RELEASE = "crane-llm-2026"
STUDY_LLMS = ("gemini-2.5-flash", "qwen-2.5-32b-instruct", "gpt-5")
STUDY_ANALYZERS = ("pylint", "pyright")
SIGNS = {Setting.CODE: "(-RT)", Setting.RUNTIME: "(+RT)"}


def selected(
    verdicts: pd.DataFrame,
    experiment: str,
    detector: str,
    setting: str,
) -> pd.DataFrame:
    """The rows of one condition on the published benchmark."""
    is_chosen = verdicts["benchmark"] == BENCHMARK
    is_chosen &= verdicts["experiment"] == experiment
    is_chosen &= verdicts["detector"] == detector
    is_chosen &= verdicts["setting"] == setting
    return verdicts[is_chosen]


def later_releases(verdicts: pd.DataFrame) -> list[str]:
    """The experiments in the layout of 2026 among these, one per edition, the one without a commit first."""
    return sorted(
        name
        for name in verdicts["experiment"].unique()
        if without_edition(name)[0] == LATER_RELEASE
    )


def conditions(
    verdicts: pd.DataFrame, detectors: tuple[str, ...]
) -> Iterator[tuple[str, Setting, pd.DataFrame]]:
    """Title, setting and rows of each detector of the study with and without runtime information, where loaded."""
    for detector in detectors:
        for setting in SIGNS:
            rows = selected(
                verdicts,
                STUDY,
                detector,
                setting,
            )
            if len(rows):
                yield str(rows["detector_title"].iloc[0]), setting, rows


def truth(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether each row's instance crashes, shape (n,)."""
    return rows["truth"].to_numpy(dtype=bool)


def detected(rows: pd.DataFrame) -> NDArray[np.float64]:
    """The vote as 1 (crash) and 0 (no crash, or a tie); nan if no run answered."""
    vote = majority(rows["n_crash"].to_numpy(), rows["n_safe"].to_numpy())
    return np.where(vote.unanswered, np.nan, vote.crash.astype(float))


def detection_counts(rows: pd.DataFrame) -> Confusion:
    """Counts of the vote alone (paper, section 4.4.1)."""
    return confusion(truth(rows), detected(rows))


def end_to_end_counts(rows: pd.DataFrame) -> Confusion:
    """Counts where only a correct diagnosis makes a detected crash a hit (paper, section 4.4.2)."""
    label, words = pd.factorize(rows["human"])  # each word once
    credit = np.append(diagnosis_credit(words), np.nan)[label]
    return confusion(truth(rows), detected(rows), credit=credit)


def scored(counts: Confusion) -> int:
    """How many instances the counts are of."""
    return int(sum(float(np.sum(part)) for part in counts[:4]))


def rate_columns(
    counts: Confusion,
    sign: str,
    names: tuple[str, ...] = tuple(RATES),
) -> Iterator[tuple[str, Measured]]:
    """Column name and value in percent of each defined rate, e.g. "F1 (+RT)"."""
    for name in names:
        ratio = RATES[name](counts)
        if ratio.whole:
            value = percent(
                float(ratio.part), float(ratio.whole), scored(counts)
            )
            yield f"{name} {sign}", value
