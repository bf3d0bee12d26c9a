"""What one input changes against another: the headline, the model over all detectors, and every reading of both."""

from collections import defaultdict
from collections.abc import Iterator

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.judging import judges
from crane_core.pipeline.results import measures, specification_curve
from crane_core.pipeline.results.comparisons import comparisons
from crane_core.pipeline.results.joint_curve import JointCurve, joint_curve
from crane_core.pipeline.results.judge_error import judge_error
from crane_core.pipeline.results.model_across import model_across
from crane_core.pipeline.rows import as_rows
from crane_core.stats.gee import Unfit

PAGE = "Results"
CORRECTED_INTERVAL = (
    "jackknife by case, with one imaginary case, Student's quantile"
)
JOINT_INTERVAL = (
    "simultaneous over all readings, largest t by random signs of cases"
)
ODDS_METHOD = "logistic regression by GEE, clustered by case, Mancl and DeRouen's covariance"


def gains(
    material: exported_statistic.Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of every experiment, kind of detector, annotator and policy; rates of the study's two inputs only."""
    for judging in material.judgings:
        # The study's comparison comes first, and once even where the answers hold it too.
        compared = dict.fromkeys(
            [measures.WITH_STATE, *comparisons(judging.rows)]
        )
        for rule, credit in judging.policies():
            yield from _rates(judging, rule, credit)
            for inputs in compared:
                yield from _differences(judging, rule, credit, inputs)


def _rates(
    judging: exported_statistic.Judging,
    rule: measures.VoteRule,
    credit: measures.Credit,
) -> Iterator[exported_statistic.ExportedStatistic]:
    head = judging.head(PAGE, "gain", rule, credit)._replace(
        statistic="accuracy"
    )
    rows = measures.paired_rows(judging.rows, rule=rule, credit=credit)
    # A detector that answered with one input only has nothing to be compared with.
    n_settings = rows.groupby("detector")["setting"].transform("nunique")
    table = measures.rate_table(
        # A rate of one input alone is not part of a comparison.
        rows[n_settings == len(measures.WITH_STATE)],
        by=["detector_title", "setting"],
        rate="Accuracy",
        rule=rule,
        credit=credit,
    )
    for row in as_rows(table):
        of = head._replace(detector=row["detector_title"], input=row["setting"])
        yield of.rated(row)


def _differences(
    judging: exported_statistic.Judging,
    rule: measures.VoteRule,
    credit: measures.Credit,
    inputs: measures.Inputs,
) -> Iterator[exported_statistic.ExportedStatistic]:
    head = judging.head(PAGE, "gain", rule, credit)._replace(
        input=exported_statistic.inputs_text(inputs)
    )
    table = measures.gain_table(
        judging.rows, rule=rule, credit=credit, inputs=inputs
    )
    family = f"detectors that were asked with both inputs ({len(table)})"
    for row in as_rows(table):
        of = head._replace(
            detector=row["detector_title"], n=row["n"], n_cases=row["n_cases"]
        )
        difference = of._replace(statistic="difference of accuracy").compared(
            row
        )
        if row["test"] is None:
            note = "no test: the labels of a sample stand for others"
            difference = difference._replace(note=note)
        yield from difference.tested(row, exported_statistic.HOLM, family)
        yield from of.discordant(row)
        if row["detectable"] is not None:
            detectable = of._replace(
                statistic="minimum detectable difference",
                family=family,
                note="80% power of the exact McNemar test at Holm's strictest step, if as many instances differ",
            )
            yield detectable.measured(
                row["detectable"], unit="difference of shares"
            )


def across(
    material: exported_statistic.Material,
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
            head = judging.head(PAGE, "across", rule, credit)
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


def choices(
    material: exported_statistic.Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """The specification curve: the gain and its test under every reading and by every judge."""
    judged: dict[tuple[str, str, str], dict[str, pd.DataFrame]] = defaultdict(
        dict
    )
    heads = {}
    for judging in material.judgings:
        key = (judging.benchmark, judging.experiment, judging.kind)
        judged[key][judging.judge] = judging.rows
        heads[key] = judging.head(PAGE, "choices", None, None)
    passes = judges.judge_passes(material.store)
    for key, frames in judged.items():
        # Where all repetitions of a judge count together, each one alone would be the same labels twice.
        names = judges.without_repetitions(frames, passes)
        pairs = specification_curve.pairs_of(
            {name: frames[name] for name in names}
        )
        curve = specification_curve.curve_of(pairs)
        yield from _together(joint_curve(curve, pairs), heads[key])
        if found := judges.person_and_judges(frames, passes):
            yield from _corrected(judge_error(frames, *found), heads[key])
        for row in as_rows(curve):
            of = heads[key]._replace(
                statistic="difference of accuracy",
                detector=row["detector_title"],
                input=exported_statistic.BOTH_INPUTS,
                runs=row["rule"],
                credit=row["credit"],
                judged_by=None
                if row["judged_by"] == specification_curve.NOBODY
                else row["judged_by"],
                test=row["test"],
                # The curve's p-values are after Holm already.
                p_adjusted=row["p_value"],
                adjustment=exported_statistic.HOLM,
                family="detectors of one reading",
                # McNemar's exact test draws nothing; the test by case draws signs.
                seed=measures.SEED
                if row["test"] == specification_curve.Test.BY_CASE
                else None,
            )
            yield of.compared(row)._replace(outcome=row["conclusion"])


def _corrected(
    errors: pd.DataFrame, head: exported_statistic.ExportedStatistic
) -> Iterator[exported_statistic.ExportedStatistic]:
    """The differences by judges' labels with their errors taken out, and how often each judge is right."""
    for row in as_rows(errors):
        of = head._replace(
            statistic="gain corrected for the judge's errors",
            detector=row["detector_title"],
            input=exported_statistic.BOTH_INPUTS,
            runs=str(measures.VoteRule.MAJORITY),
            credit=str(measures.Credit.STRICT),
            judged_by=row["judge"],
            note=f"{row['n_double']} diagnoses with labels of a person and the judge",
        )
        yield of.measured_row(
            row,
            "difference",
            unit="difference of shares",
            method=CORRECTED_INTERVAL,
        )
        for name in ("sensitivity", "specificity"):
            rate = of._replace(statistic=f"{name} of the judge")
            yield rate.measured(row[name], unit="share", n=row["n_double"])


def _together(
    joint: JointCurve | None, head: exported_statistic.ExportedStatistic
) -> Iterator[exported_statistic.ExportedStatistic]:
    """The p-value of the whole curve, and every difference with the interval that holds for all of them."""
    if joint is None:
        return
    of_all = head._replace(
        statistic="median difference over all readings",
        input=exported_statistic.BOTH_INPUTS,
        test="sign-flip permutation test by case, all readings together",
        seed=measures.SEED,
    )
    yield of_all.measured(
        joint.median,
        unit="difference of shares",
        p=joint.p_value,
        n_cases=joint.n_cases,
    )
    for row in as_rows(joint.table):
        of = head._replace(
            statistic="difference, one of all readings",
            detector=row["detector_title"],
            input=exported_statistic.BOTH_INPUTS,
            runs=row["rule"],
            credit=row["credit"],
            judged_by=None
            if row["judged_by"] == specification_curve.NOBODY
            else row["judged_by"],
            seed=measures.SEED,
        )
        yield of.measured(
            row["difference"],
            row["joint_low"],
            row["joint_high"],
            unit="difference of shares",
            method=JOINT_INTERVAL,
            n=row["n"],
            n_cases=row["n_cases"],
        )


KINDS = {"across": across, "choices": choices, "gains": gains}
