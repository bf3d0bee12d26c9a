"""The gain by a judge's labels, corrected by how often the judge is wrong: who judged, as a source of error.

By majority, with a correct diagnosis needed: the reading whose labels people and judges both have. Takes the rows of
one benchmark as a person and as the judge judged them; the statistic is `stats.judge_error`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from crane_core.pipeline.results import measures
from crane_core.stats.judge_error import (
    CorrectedDifference,
    DoubleLabels,
    JudgedRate,
    corrected_difference,
)

COLUMNS = [
    "detector", "detector_title", "judge", "n", "n_cases", "difference", "low", "high", "sensitivity", "specificity",
    "n_double",
]  # fmt: skip
_KEY = ["detector", "setting", "instance_id"]


def judge_error(
    judged: Mapping[str, pd.DataFrame],
    person: str,
    judges: Sequence[str],
    inputs: measures.Inputs = measures.WITH_STATE,
) -> pd.DataFrame:
    """A row per judge and detector with both inputs, columns COLUMNS.

    judged: the rows as each of them judged them; `person` and `judges` are among its keys. difference: accuracy with
    the other input minus with the base by the judge's labels, corrected, with its 95% interval. sensitivity and
    specificity: of the judge against the person, over n_double diagnoses of all detectors and both inputs. Instances
    without an answer, and detected crashes that the judge did not label, are left out in pairs.
    """
    rows = [
        {"judge": judge} | row
        for judge in judges
        for row in _of_judge(judged[person], judged[judge], inputs)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _of_judge(
    by_person: pd.DataFrame, by_judge: pd.DataFrame, inputs: measures.Inputs
) -> Iterator[dict[str, Any]]:
    counted = _counted(by_person, by_judge, inputs)
    double = counted[counted["is_double"]]
    of_case = double.groupby("case_id")[
        ["right_by_both", "right_by_person", "wrong_by_both", "wrong_by_person"]
    ].sum()
    for detector, rows in counted.groupby("detector", sort=False):
        is_paired = (
            rows.groupby("instance_id")["setting"].transform("size") == 2
        )
        pairs = rows[is_paired]
        if pairs.empty:
            continue
        # The double labels of all detectors measure the judge; their cases vary together with the differences.
        cases = pairs["case_id"].unique()
        base, other = (
            _rate(pairs[pairs["setting"] == setting], cases)
            for setting in inputs
        )
        labels = of_case.reindex(cases, fill_value=0)
        found = corrected_difference(
            base, other, DoubleLabels(*(labels[name] for name in labels))
        )
        yield {
            "detector": detector,
            "detector_title": pairs["detector_title"].iloc[0],
            "n": len(pairs) // 2,
            "n_cases": len(cases),
            "n_double": int(
                labels[["right_by_person", "wrong_by_person"]].to_numpy().sum()
            ),
        } | _named(found)


def _named(found: CorrectedDifference) -> dict[str, float]:
    return {"difference": found.value} | {
        name: getattr(found, name)
        for name in ("low", "high", "sensitivity", "specificity")
    }


def _counted(
    by_person: pd.DataFrame, by_judge: pd.DataFrame, inputs: measures.Inputs
) -> pd.DataFrame:
    """A row per answered instance of the judge's frame, with what it counts; unlabelled crashes are left out."""
    said_by = by_person[[*_KEY, "human"]].rename(columns={"human": "person"})
    rows = by_judge[by_judge["setting"].isin(inputs)]
    rows = rows.merge(said_by, on=_KEY, how="left", validate="one_to_one")
    found = measures.detected(rows, measures.VoteRule.MAJORITY)
    needs_label = measures.asks_for_label(rows, measures.VoteRule.MAJORITY)
    partial = measures.PARTIAL_CREDIT[measures.Credit.STRICT]
    judge = measures.credit_of(rows["human"], partial)
    person = measures.credit_of(rows["person"], partial)
    is_known = ~np.isnan(found) & ~(needs_label & np.isnan(judge))
    is_double = needs_label & ~np.isnan(judge) & ~np.isnan(person)
    counted = rows.assign(
        settled=~rows["truth"].to_numpy(dtype=bool) & (found == 0),
        right=needs_label & (judge == 1),
        labelled=needs_label,
        is_double=is_double,
        right_by_both=is_double & (person == 1) & (judge == 1),
        right_by_person=is_double & (person == 1),
        wrong_by_both=is_double & (person == 0) & (judge == 0),
        wrong_by_person=is_double & (person == 0),
    )
    kept: pd.DataFrame = counted[is_known]
    return kept


def _rate(rows: pd.DataFrame, cases: np.ndarray[Any, Any]) -> JudgedRate:
    by_case = rows.groupby("case_id")
    sums = by_case[["settled", "right", "labelled"]].sum().reindex(cases)
    n = by_case.size().reindex(cases)
    return JudgedRate(sums["settled"], sums["right"], sums["labelled"], n)
