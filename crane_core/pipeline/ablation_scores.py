"""Detection scores of the later settings (paper, table 4). Knows which release holds which setting."""

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.table_cells import Measured
from crane_core.pipeline.table_scores import (
    BENCHMARK,
    STUDY,
    STUDY_LLMS,
    detection_counts,
    later_releases,
    rate_columns,
    selected,
)


def ablation_cells(verdicts: pd.DataFrame, signs: dict[Setting, str]) -> dict[tuple[str, str], Measured]:
    """F1 and accuracy per LLM and setting, where a published release holds the setting for every instance.

    The first release that does is taken, editions of the later one last; a release that holds a part of the instances
    (an incomplete download) gives no value, because its rate would be of another population.
    """
    population = verdicts.loc[verdicts["benchmark"] == BENCHMARK, "instance_id"].nunique()
    releases = [STUDY, *later_releases(verdicts)]
    cells: dict[tuple[str, str], Measured] = {}
    for detector in STUDY_LLMS:
        for setting, sign in signs.items():
            candidates = [selected(verdicts, release, detector, setting) for release in releases]
            rows = next((rows for rows in candidates if population and len(rows) == population), None)
            if rows is not None:
                title = str(rows["detector_title"].iloc[0])
                columns = rate_columns(detection_counts(rows), sign, ("F1", "Accuracy"))
                cells |= {(title, column): value for column, value in columns}
    return cells
