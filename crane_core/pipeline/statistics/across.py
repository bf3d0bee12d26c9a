"""The model over all detectors: the odds ratio of runtime state of each, and the test that they gain alike."""

from __future__ import annotations

from collections.abc import Iterator

from crane_core.domain import Setting
from crane_core.pipeline.export.exported_statistic import (
    BOTH_INPUTS,
    ExportedStatistic,
    Material,
)
from crane_core.pipeline.results.model_across import model_across
from crane_core.pipeline.rows import as_rows
from crane_core.stats.gee import Unfit

PAGE, SECTION = "Results", "across"
METHOD = "logistic regression by GEE, clustered by case, Mancl and DeRouen's covariance"


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Of every experiment, kind of detector, annotator and policy; with the reason if there is no model."""
    for judging in material.judgings:
        asked = judging.rows[
            judging.rows["setting"].isin([Setting.CODE, Setting.RUNTIME])
        ]
        for rule, credit in judging.policies():
            found = model_across(asked, rule=rule, credit=credit)
            if found.ratios.empty and found.why_not == Unfit.ONE_GROUP:
                continue
            head = judging.head(PAGE, SECTION, rule, credit)._replace(input=BOTH_INPUTS)
            why = "; ".join(filter(None, [found.why_not, ", ".join(found.at)])) or None
            for row in as_rows(found.ratios):
                of = head._replace(
                    statistic="odds ratio of runtime state",
                    detector=row["detector_title"],
                    note=why,
                )
                yield of.measured(
                    row["odds_ratio"],
                    row["low"],
                    row["high"],
                    unit="odds ratio",
                    method=METHOD,
                    n=row["n"],
                    n_cases=row["n_cases"],
                )
            test = (
                f"Wald test of runtime state x detector, {found.df} degrees of freedom"
            )
            of = head._replace(
                statistic="chi-squared of runtime state x detector", test=test, note=why
            )
            yield of.measured(
                found.chi2, unit="chi-squared", p=found.p_value, n_cases=found.n_cases
            )
