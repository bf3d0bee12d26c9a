"""What each input changes against a reference, detector by detector: the ablations as paired differences.

Detection alone, by majority: what tables 4(a) and 4(b) print, and what can be computed for runs without labels.
"""

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.results import measures
from crane_core.pipeline.results.comparisons import RICHNESS, comparisons
from crane_core.pipeline.results.outcomes import one_family, one_grid

REFERENCES = (Setting.RUNTIME, Setting.RUNTIME_PLUS, Setting.CODE)
"""The reference settings in order: the first that can be compared is used, else the
richest. The study's is full runtime state."""
COLUMNS = [
    "detector", "detector_title", "setting", "n", "n_cases", "reference", "value", "difference", "low", "high",
    "gained", "lost", "p_value", "test", "p_by_case",
]  # fmt: skip
_NAMES = {"without": "reference", "with_": "value"}


def reference_of(rows: pd.DataFrame) -> Setting:
    """The setting that the others are compared with: one that shares an answered instance with another, if any does."""
    answered = rows[rows["n_crash"] + rows["n_safe"] > 0]
    comparable = {
        setting for inputs in comparisons(answered) for setting in inputs
    }
    candidates = comparable or set(rows["setting"])
    return next(
        setting
        for setting in (*REFERENCES, *reversed(RICHNESS))
        if setting in candidates
    )


def drop_table(
    rows: pd.DataFrame,
    *,
    reference: Setting,
    rate: str,
) -> pd.DataFrame:
    """One row per detector and setting but the reference, over the instances that were answered with both.

    rows: of `setting_runs.runs_of`. Columns COLUMNS, with p_holm and p_by_case_holm (Holm over the whole table: which
    input matters is one question) and the outcome that both decide. reference and value are the rate with the reference
    and with the setting; difference is value minus reference, below 0 a drop.
    """
    tables = []
    for setting in _others(rows, reference):
        gains = measures.gain_table(
            rows,
            inputs=measures.Inputs(reference, setting),
            rule=measures.VoteRule.MAJORITY,
            credit=measures.Credit.DETECTION,
            rate=rate,
        )
        tables.append(gains.assign(setting=str(setting)))
    return one_family(_joined(tables, COLUMNS))


def drops_by(
    rows: pd.DataFrame,
    *,
    by: str,
    reference: Setting,
    setting: Setting,
    rate: str,
) -> pd.DataFrame:
    """The same for one setting by group of `by`: an exploratory grid.

    With p_bh and p_by_case_bh (Benjamini-Hochberg over the table) and the outcome that both decide.
    """
    known = rows[rows[by].notna()]
    table = measures.change_table(
        known,
        by=by,
        rule=measures.VoteRule.MAJORITY,
        credit=measures.Credit.DETECTION,
        rate=rate,
        inputs=measures.Inputs(reference, setting),
    )
    return one_grid(
        _joined([table.assign(setting=str(setting))], [by, *COLUMNS])
    )


def _others(rows: pd.DataFrame, reference: Setting) -> list[Setting]:
    asked = set(rows["setting"])
    return [
        setting
        for setting in Setting
        if setting in asked and setting != reference
    ]


def _joined(tables: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """The tables one below the other; those without a row have no columns either."""
    filled = [
        table.rename(columns=_NAMES)[columns]
        for table in tables
        if "detector" in table
    ]
    return (
        pd.concat(filled, ignore_index=True)
        if filled
        else pd.DataFrame(columns=columns)
    )
