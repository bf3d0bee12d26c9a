"""How often a judge labels a detected crash differently from a person, counted both ways.

A judge may say that a diagnosis was not a crash prediction at all, "not detected". Such labels are off the scale of
diagnoses: over the scale they are left out, over everything that the judge labelled they are disagreements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from crane_core.annotation.label_set import study_labels
from crane_core.pipeline.agreement.agreement import ComparedVerdicts, in_scope, scale_of
from crane_core.pipeline.campaigns.label_frame import KEY
from crane_core.stats.intervals import clustered_rate

COLUMNS = ["judge", "counted", "n_differ", "n", "n_cases", "value", "low", "high"]
ON_STUDY_SCALE = scale_of(ComparedVerdicts.DIAGNOSES, study_labels())
ON_SCALE, ALL = "labels on the scale", "every label"


def judge_differs(
    labels: pd.DataFrame, verdicts: pd.DataFrame, person: str, judges: Sequence[str]
) -> pd.DataFrame:
    """Two rows per judge, over the detected crashes that the person gave a label on the scale.

    Columns COLUMNS: counted, ON_SCALE or ALL; the share n_differ / n with its 95% interval by case, in 0..1. A judge
    that labelled none of them has no row.
    """
    facts = in_scope(verdicts, ComparedVerdicts.DIAGNOSES)
    cases = (facts["benchmark"] + "/" + facts["case_id"]).set_axis(
        pd.MultiIndex.from_frame(facts[KEY])
    )
    said = labels[labels["annotator"].isin([person, *judges])].pivot(
        index=KEY, columns="annotator", values="label"
    )
    said = said.reindex(index=cases.index, columns=[person, *judges])
    of_person = said[said[person].isin(ON_STUDY_SCALE)]
    rows = [
        row
        for judge in judges
        for row in _rows(judge, of_person[person], of_person[judge].dropna(), cases)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _rows(
    judge: str, person: pd.Series[str], said: pd.Series[str], cases: pd.Series[str]
) -> Iterator[dict[str, object]]:
    on_scale = said[said.isin(ON_STUDY_SCALE)]
    for counted, labelled in ((ON_SCALE, on_scale), (ALL, said)):
        if labelled.empty:
            continue
        differs = (labelled != person[labelled.index]).to_numpy(dtype=np.float64)
        found = clustered_rate(differs, np.ones(len(differs)), cases[labelled.index])
        yield {
            "judge": judge, "counted": counted, "n_differ": int(differs.sum()), "n": found.n,
            "n_cases": found.n_clusters, "value": found.value, "low": found.low, "high": found.high,
        }  # fmt: skip
