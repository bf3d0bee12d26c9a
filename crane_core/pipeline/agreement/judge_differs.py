"""How often a judge labels a detected crash differently from a person, counted both ways.

A judge may say that a diagnosis was not a crash prediction at all, "not detected". Such labels are off the scale of
diagnoses: over the scale they are left out, over everything that the judge labelled they are disagreements.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from crane_core.annotation.label_set import study_labels
from crane_core.pipeline.agreement.agreement import (
    ComparedVerdicts,
    in_scope,
    scale_of,
)
from crane_core.pipeline.campaigns.label_frame import KEY
from crane_core.pipeline.results.measures import estimate_row
from crane_core.stats.intervals import clustered_rate

COLUMNS = [
    "judge",
    "counted",
    "n_differ",
    "n",
    "n_cases",
    "value",
    "low",
    "high",
]
ON_STUDY_SCALE = scale_of(ComparedVerdicts.DIAGNOSES, study_labels())
ON_SCALE, ALL = "labels on the scale", "every label"


def judge_differs(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame,
    person: str,
    judges: Sequence[str],
) -> pd.DataFrame:
    """Two rows per judge, over the detected crashes that the person gave a label on the scale.

    Columns COLUMNS: counted, ON_SCALE or ALL; the share n_differ / n with its 95% interval by case, in 0..1. A judge
    that labelled none of them has no row.
    """
    facts = in_scope(verdicts, ComparedVerdicts.DIAGNOSES)
    cases = (facts["benchmark"] + "/" + facts["case_id"]).set_axis(
        pd.MultiIndex.from_frame(facts[KEY])
    )
    who = [person, *judges]
    said = labels[labels["annotator"].isin(who)].pivot(
        index=KEY, columns="annotator", values="label"
    )
    said = said.reindex(index=cases.index, columns=who)
    said = said[said[person].isin(ON_STUDY_SCALE)]
    rows = []
    for judge in judges:
        every = said[judge].dropna()
        on_scale = every[every.isin(ON_STUDY_SCALE)]
        for counted, labelled in ((ON_SCALE, on_scale), (ALL, every)):
            if labelled.empty:
                continue
            is_other = labelled != said.loc[labelled.index, person]
            differs = is_other.to_numpy(dtype=np.float64)
            whole = np.ones(len(differs))
            found = clustered_rate(differs, whole, cases[labelled.index])
            named = {
                "judge": judge,
                "counted": counted,
                "n_differ": int(differs.sum()),
            }
            rows.append(named | estimate_row(found))
    return pd.DataFrame(rows, columns=COLUMNS)
