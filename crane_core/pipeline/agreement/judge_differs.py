"""How often a judge labels a detected crash differently from a person, counted both ways.

A judge may say that a diagnosis was not a crash prediction at all, "not detected". Such labels are off the scale of
diagnoses: over the scale they are left out, over everything that the judge labelled they are disagreements.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from crane_core.annotation.label_set import study_labels
from crane_core.pipeline.agreement import agreement
from crane_core.pipeline.agreement.labelled import NONE, LabelledVerdicts
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
ON_STUDY_SCALE = agreement.scale_of(
    agreement.ComparedVerdicts.DIAGNOSES, study_labels()
)
ON_SCALE, ALL = "labels on the scale", "every label"


def judge_differs(
    labelled: LabelledVerdicts, person: str, judges: Sequence[str]
) -> pd.DataFrame:
    """Two rows per judge, over the detected crashes that the person gave a label on the scale.

    Columns COLUMNS: counted, ON_SCALE or ALL; the share n_differ / n with its 95% interval by case, in 0..1. A judge
    that labelled none of them has no row.
    """
    said = labelled.said([person, *judges])
    is_on_scale = labelled.as_places(ON_STUDY_SCALE) != NONE
    is_of_judge = (said[:, 1:] != NONE).any(axis=1)
    rows_of_both = np.flatnonzero(is_on_scale[said[:, 0]] & is_of_judge)
    facts = agreement.in_scope(
        labelled.verdicts.iloc[rows_of_both],
        agreement.ComparedVerdicts.DIAGNOSES,
    )
    cases = (facts["benchmark"] + "/" + facts["case_id"]).to_numpy(dtype=str)
    of_person, *of_judges = said[facts.index].T
    rows = []
    for judge, given in zip(judges, of_judges, strict=True):
        differs = (given != of_person).astype(np.float64)
        for counted, is_counted in (
            (ON_SCALE, is_on_scale[given]),
            (ALL, given != NONE),
        ):
            if not is_counted.any():
                continue
            found = clustered_rate(
                differs[is_counted], is_counted[is_counted], cases[is_counted]
            )
            named = {
                "judge": judge,
                "counted": counted,
                "n_differ": int(differs[is_counted].sum()),
            }
            rows.append(named | estimate_row(found))
    return pd.DataFrame(rows, columns=COLUMNS)
