"""The exported rows of the specification curve: what runtime state changes under every reading and by every judge."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pandas as pd

from crane_core.pipeline.judging import judges
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.results import (
    exported_statistic,
    measures,
    specification_curve,
)
from crane_core.pipeline.results.judge_error import judge_error
from crane_core.pipeline.results.specification_curve import (
    JointCurve,
    joint_curve,
)
from crane_core.pipeline.rows import as_rows

CORRECTED_INTERVAL = (
    "jackknife by case, with one imaginary case, Student's quantile"
)
JOINT_INTERVAL = (
    "simultaneous over all readings, largest t by random signs of cases"
)


def exported_choices(
    material: Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """The specification curve: the gain and its test under every reading and by every judge."""
    judged: dict[tuple[str, str, str], dict[str, pd.DataFrame]] = defaultdict(
        dict
    )
    heads = {}
    for judging in material.judgings:
        key = (judging.benchmark, judging.experiment, judging.kind)
        judged[key][judging.judge] = judging.rows
        heads[key] = judging.head("Results", "choices", None, None)
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
            of = _of_reading(row, heads[key])._replace(
                statistic="difference of accuracy",
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


def _of_reading(
    row: dict[str, Any], head: exported_statistic.ExportedStatistic
) -> exported_statistic.ExportedStatistic:
    """What a row of the curve is about: a detector under one reading of its answers."""
    judge = row["judged_by"]
    return head._replace(
        detector=row["detector_title"],
        input=exported_statistic.BOTH_INPUTS,
        runs=row["rule"],
        credit=row["credit"],
        judged_by=None if judge == specification_curve.NOBODY else judge,
    )


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
        of = _of_reading(row, head)._replace(
            statistic="difference, one of all readings", seed=measures.SEED
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
