"""Detection scores of the later settings (paper, table 4). Knows which release holds which setting."""

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.study import table_scores
from crane_core.pipeline.study.table_cells import Measured


def ablation_cells(
    verdicts: pd.DataFrame, signs: dict[Setting, str]
) -> dict[tuple[str, str], Measured]:
    """F1 and accuracy per LLM and setting, where a published release holds the setting for every instance."""
    cells: dict[tuple[str, str], Measured] = {}
    for detector in table_scores.STUDY_LLMS:
        for setting, sign in signs.items():
            rows = complete_rows(verdicts, detector, setting)
            if rows is not None:
                title = str(rows["detector_title"].iloc[0])
                columns = table_scores.rate_columns(
                    table_scores.detection_counts(rows),
                    sign,
                    ("F1", "Accuracy"),
                )
                cells |= {(title, column): value for column, value in columns}
    return cells


def complete_rows(
    verdicts: pd.DataFrame,
    detector: str,
    setting: str,
    population: int | None = None,
) -> pd.DataFrame | None:
    """The rows of one condition on the published benchmark, of the first release that holds every instance.

    Editions of the later release come last. None if there is no such release: one with a part of the instances (an
    incomplete download) has no value, because its rate would be of another population. population: the number of
    instances, where it was counted before.
    """
    if population is None:
        is_here = verdicts["benchmark"] == table_scores.BENCHMARK
        population = verdicts.loc[is_here, "instance_id"].nunique()
    for release in (table_scores.STUDY, *table_scores.later_releases(verdicts)):
        rows = table_scores.selected(
            verdicts,
            release,
            detector,
            setting,
        )
        if len(rows) == population > 0:
            return rows
    return None
