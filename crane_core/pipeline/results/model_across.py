"""One model over all answers: do the detectors gain alike from one input over another? From the verdict frame.

The gains of detectors, libraries and root causes are those of a mixed model; its outcome is right or wrong per instance
by the vote rule, so repeated answers count once. See `stats.one_model`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.results import exported_statistic, measures
from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.rows import as_rows
from crane_core.stats import gee, rates
from crane_core.stats.gee import Unfit
from crane_core.stats.intervals import clustered_difference
from crane_core.stats.one_model import SEED, GainsOf, one_model

COLUMNS = [
    "detector", "detector_title", "n", "n_cases", "without", "with_", "odds_ratio", "low", "high",
]  # fmt: skip


class ModelAcross(NamedTuple):
    """The odds ratio of the other input per detector, and the Wald test of the interaction input x detector.

    ratios: a row per detector with both inputs, columns COLUMNS: n instances (each once with either
    input) of n_cases cases, accuracy without and with it, odds_ratio with its 95% interval (NaN if there is no
    model). chi2, df and p_value of the test; n_cases of all detectors together. why_not: why there is no model, a
    `gee.Unfit` or `right_or_wrong.SAMPLED`, empty if there is one; at: titles of the detectors that it is about.
    """

    ratios: pd.DataFrame
    chi2: float
    df: int
    p_value: float
    n_cases: int
    why_not: str = ""
    at: tuple[str, ...] = ()


def model_across(
    frame: pd.DataFrame,
    *,
    rule: measures.VoteRule,
    credit: measures.Credit,
    inputs: measures.Inputs = measures.WITH_STATE,
) -> ModelAcross:
    """`stats.gee` on right or wrong per instance, clustered by case (see `right_or_wrong`)."""
    rows, why_not = right_or_wrong(
        frame, rule=rule, credit=credit, inputs=inputs
    )
    if why_not:
        return ModelAcross(
            ratios=pd.DataFrame(columns=COLUMNS),
            chi2=np.nan,
            df=0,
            p_value=np.nan,
            n_cases=rows["case_id"].nunique(),
            why_not=why_not,
        )
    right = rows["right"]
    group, names = pd.factorize(rows["detector"], sort=True)
    found = gee.odds_ratios(
        right,
        rows["is_other"],
        group,
        pd.factorize(rows["case_id"])[0],
    )
    ratios = []
    for place, detector in enumerate(names):
        mine = rows[rows["detector"] == detector]
        of_base, of_other = (
            mine.index[~mine["is_other"]],
            mine.index[mine["is_other"]],
        )
        ratios.append(
            {
                "detector": str(detector),
                "detector_title": mine["detector_title"].iloc[0],
                "n": mine["instance_id"].nunique(),
                "n_cases": mine["case_id"].nunique(),
                "without": right[of_base].mean(),
                "with_": right[of_other].mean(),
                "odds_ratio": found.odds_ratio[place],
                "low": found.low[place],
                "high": found.high[place],
            }
        )
    return ModelAcross(
        ratios=pd.DataFrame(ratios, columns=COLUMNS),
        chi2=found.chi2,
        df=found.df,
        p_value=found.p_value,
        n_cases=found.n_clusters,
        why_not=found.unfit or "",
        at=tuple(
            ratios[int(place)]["detector_title"] for place in found.unfit_groups
        ),
    )


ODDS_METHOD = "logistic regression by GEE, clustered by case, Mancl and DeRouen's covariance"


def exported_across(
    material: exported_statistic.JudgedAnswers,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """The odds ratio of each detector, the test that all gain alike, and the reason where there is no model."""
    for judging in material.judgings:
        is_of_study = judging.rows["setting"].isin(
            [Setting.CODE, Setting.RUNTIME]
        )
        asked = judging.rows[is_of_study]
        for rule, credit in judging.policies():
            found = model_across(asked, rule=rule, credit=credit)
            if found.ratios.empty and found.why_not == Unfit.ONE_GROUP:
                continue
            why = (
                "; ".join(filter(None, [found.why_not, ", ".join(found.at)]))
                or None
            )
            head = judging.head("Results", "across", rule, credit)
            head = head._replace(input=exported_statistic.BOTH_INPUTS, note=why)
            for row in as_rows(found.ratios):
                of = head._replace(
                    statistic="odds ratio of runtime state",
                    detector=row["detector_title"],
                )
                yield of.measured_row(
                    row, "odds_ratio", unit="odds ratio", method=ODDS_METHOD
                )
            test = f"Wald test of runtime state x detector, {found.df} degrees of freedom"
            of = head._replace(
                statistic="chi-squared of runtime state x detector", test=test
            )
            yield of.measured(
                found.chi2,
                unit="chi-squared",
                p=found.p_value,
                n_cases=found.n_cases,
            )


SAMPLED = "the labels of a sample stand for others"


class RightOrWrong(NamedTuple):
    """Rows of the verdict frame of detectors with both inputs, with `right` in 0..1 and `is_other` (the other input).

    Right is a share where the rule is the mean of answers or partial diagnoses earn half a credit. why_not: why nothing
    can be fitted to them, a `gee.Unfit` or SAMPLED, and the two columns are missing then; else empty.
    """

    rows: pd.DataFrame
    why_not: str = ""


def right_or_wrong(
    frame: pd.DataFrame,
    *,
    rule: measures.VoteRule,
    credit: measures.Credit,
    inputs: measures.Inputs,
) -> RightOrWrong:
    """Of a slice of the verdict frame, over its `measures.paired_rows`."""
    rows = measures.paired_rows(frame, rule=rule, credit=credit, inputs=inputs)
    rows = rows[rows.groupby("detector")["setting"].transform("nunique") == 2]
    if rows.empty:
        return RightOrWrong(rows, str(Unfit.ONE_GROUP))
    parts = None
    if not measures.is_sampled(rows, rule, credit):
        parts = measures.scored(rows, rule, credit).parts
    if parts is None:
        return RightOrWrong(rows, SAMPLED)
    return RightOrWrong(
        rows.assign(
            right=np.asarray(rates.accuracy(parts).part),
            is_other=rows["setting"] == inputs.other,
        )
    )


GROUPINGS = ("library_group", "root_cause")
LEAST_CASES = 10
"""Cases that a model of two groupings needs at least; fewer say less than its priors."""
UNKNOWN = "unknown"
GAIN_COLUMNS = [
    "by", "name", "n", "n_cases", "observed", "observed_low", "observed_high", "value", "low", "high", "least", "most",
    "is_expected",
]  # fmt: skip
_DETECTOR = "detector_title"


class ModelOfAll(NamedTuple):
    """The posterior of the model, beside what was observed.

    gains: a row per detector, library and root cause (`by` names the column), columns GAIN_COLUMNS: n pairs of outcomes
    of n_cases cases; observed, the difference of accuracy with its 95% interval by case; value, that of the model with
    the 95% interval; least and most, the model's value under all PRIOR_SCALES; is_expected, the posterior check.
    ratios: the odds ratio of each detector, with low and high, by its title. sd: of each family of effects. why_not:
    why there is no model, a `gee.Unfit` or `right_or_wrong.SAMPLED`; the frames are empty then.
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
        nothing = pd.DataFrame(columns=GAIN_COLUMNS)
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
    return pd.concat([table, pd.DataFrame(alone)], axis=1)[GAIN_COLUMNS]


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
