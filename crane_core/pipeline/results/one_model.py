"""The gains of detectors, libraries and root causes under one model of all answers, from a slice of the verdict frame.

The outcome is right or wrong per instance by the vote rule, so repeated answers count once. See `stats.one_model`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.pipeline.results import exported_statistic, measures
from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.results.model_across import right_or_wrong
from crane_core.pipeline.rows import as_rows
from crane_core.stats.gee import Unfit
from crane_core.stats.intervals import clustered_difference
from crane_core.stats.one_model import SEED, GainsOf, one_model

GROUPINGS = ("library_group", "root_cause")
LEAST_CASES = 10
"""Cases that a model of two groupings needs at least; fewer say less than its priors."""
UNKNOWN = "unknown"
COLUMNS = [
    "by", "name", "n", "n_cases", "observed", "observed_low", "observed_high", "value", "low", "high", "least", "most",
    "is_expected",
]  # fmt: skip
_DETECTOR = "detector_title"


class ModelOfAll(NamedTuple):
    """The posterior of the model, beside what was observed.

    gains: a row per detector, library and root cause (`by` names the column), columns COLUMNS: n pairs of outcomes of
    n_cases cases; observed, the difference of accuracy with its 95% interval by case; value, that of the model with the
    95% interval; least and most, the model's value under all PRIOR_SCALES; is_expected, the posterior check. ratios:
    the odds ratio of each detector, with low and high, by its title. sd: of each family of effects. why_not: why there
    is no model, a `gee.Unfit` or `right_or_wrong.SAMPLED`; the frames are empty then.
    """

    gains: pd.DataFrame
    ratios: pd.DataFrame
    sd: dict[str, float]
    n_cases: int
    why_not: str = ""


def model_of_all(
    frame: pd.DataFrame,
    *,
    rule: measures.VoteRule,
    credit: measures.Credit,
    inputs: measures.Inputs = measures.WITH_STATE,
) -> ModelOfAll:
    """Fit the model to the answers of every detector with both inputs.

    No model where the labels of a sample stand for others, without a detector with both inputs, and below LEAST_CASES.
    """
    rows, why_not = right_or_wrong(
        frame, rule=rule, credit=credit, inputs=inputs
    )
    n_cases = int(rows["case_id"].nunique())
    if not why_not and n_cases < LEAST_CASES:
        why_not = str(Unfit.FEW_CLUSTERS)
    if why_not:
        nothing = pd.DataFrame(columns=COLUMNS)
        return ModelOfAll(nothing, pd.DataFrame(), {}, n_cases, why_not)
    rows = rows.assign(
        **{name: rows[name].fillna(UNKNOWN) for name in GROUPINGS}
    )
    fit = one_model(
        rows["right"],
        rows["is_other"],
        rows[_DETECTOR].tolist(),
        rows["case_id"].tolist(),
        rows["instance_id"].tolist(),
        {name: rows[name].tolist() for name in GROUPINGS},
    )
    tables = [_table(rows, _DETECTOR, fit.detectors)]
    tables += [_table(rows, by, fit.groups[by]) for by in GROUPINGS]
    ratios = pd.DataFrame(
        fit.odds_ratio,
        index=list(fit.detectors.names),
        columns=["odds_ratio", "low", "high"],
    )
    gains = pd.concat(tables, ignore_index=True)
    return ModelOfAll(gains, ratios, fit.sd, n_cases)


def _table(rows: pd.DataFrame, by: str, gains: GainsOf) -> pd.DataFrame:
    """The rows of one grouping, beside what each group has by itself."""
    known = gains._asdict()
    names = known.pop("names")
    del known["observed"]
    table = pd.DataFrame({"by": by, "name": names, **known})
    alone = [_alone(rows[rows[by] == name]) for name in names]
    return pd.concat([table, pd.DataFrame(alone)], axis=1)[COLUMNS]


def _alone(rows: pd.DataFrame) -> dict[str, float]:
    """The difference of accuracy of these rows by themselves."""
    wide = rows.pivot_table(
        index=["case_id", "instance_id", "detector"],
        columns="is_other",
        values="right",
    )
    ones = np.ones(len(wide))
    case = pd.factorize(wide.index.get_level_values("case_id"))[0]
    found = clustered_difference(wide[False], ones, wide[True], ones, case)
    return {
        "n": len(wide),
        "n_cases": int(case.max()) + 1,
        "observed": found.value,
        "observed_low": found.low,
        "observed_high": found.high,
    }


METHOD = "posterior of a mixed logistic model, Laplace's approximation"


def exported_model(
    material: exported_statistic.JudgedAnswers,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """A row per gain and odds ratio of the model, and the reason where there is none."""
    for judging in material.judgings:
        if not judging.is_main:
            continue
        credit = judging.usual_credit
        found = model_of_all(
            judging.rows, rule=VoteRule.MAJORITY, credit=credit
        )
        if found.why_not == Unfit.ONE_GROUP:
            continue
        head = judging.head(
            "Results", "one-model", VoteRule.MAJORITY, credit
        )._replace(input=exported_statistic.BOTH_INPUTS, seed=SEED)
        if found.why_not:
            of = head._replace(statistic="gain under one model")
            yield of._replace(note=found.why_not, n_cases=found.n_cases)
        for row in as_rows(found.gains):
            is_detector = row["by"] == "detector_title"
            check = "as" if row["is_expected"] else "not as"
            of = head._replace(
                statistic="gain under one model",
                detector=row["name"] if is_detector else None,
                by=None if is_detector else row["by"],
                group=None if is_detector else row["name"],
                note=f"observed gain {check} expected; {row['least']:.4f} to {row['most']:.4f} by other priors",
            )
            yield of.measured_row(
                row, unit="difference of shares", method=METHOD
            )
        named = found.ratios.rename_axis("detector").reset_index()
        for row in as_rows(named):
            of = head._replace(
                statistic="odds ratio under one model", detector=row["detector"]
            )
            yield of.measured_row(
                row, "odds_ratio", unit="odds ratio", method=METHOD
            )
