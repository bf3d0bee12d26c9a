"""The gains of detectors, libraries and root causes under one model, as each experiment is counted at first."""

from collections.abc import Iterator

from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.results.one_model import model_of_all
from crane_core.pipeline.rows import as_rows
from crane_core.stats.gee import Unfit
from crane_core.stats.one_model import SEED

METHOD = "posterior of a mixed logistic model, Laplace's approximation"


def one_model(
    material: exported_statistic.Material,
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


KINDS = {"one_model": one_model}
