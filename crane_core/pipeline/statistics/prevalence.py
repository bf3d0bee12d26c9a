"""What alarms are worth where crashes are rarer than in the benchmark: precision and net benefit, also by library."""

from collections.abc import Iterator

from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.results.worth import BASE_RATES, LIBRARY, Day, worth
from crane_core.pipeline.rows import as_rows

BY_FIELLER = "Fieller's interval of the likelihood ratio, by case"
BY_CASE = "linearised by case, with one imaginary case, Student's quantile"
UNIT = "prevented crashes per cell"


def prevalence(
    material: exported_statistic.Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of every experiment, detection alone, the majority of answers."""
    for judging in material.judgings:
        if not judging.is_main:
            continue
        head = judging.head("Results", "worth", VoteRule.MAJORITY, None)
        yield from _rows(judging, head)
        for group, rows in judging.rows.groupby(LIBRARY, sort=True):
            of = head._replace(by=LIBRARY, group=str(group))
            yield from _rows(judging._replace(rows=rows), of)


def _rows(
    judging: exported_statistic.Judging,
    head: exported_statistic.ExportedStatistic,
) -> Iterator[exported_statistic.ExportedStatistic]:
    for base_rate in BASE_RATES:
        day = Day(base_rate=base_rate)
        for row in as_rows(worth(judging.rows, day, rule=VoteRule.MAJORITY)):
            of = head._replace(
                detector=row["detector_title"],
                input=row["setting"],
                n=row["n"],
                n_cases=row["n_cases"],
                note=f"{base_rate:.0%} of cells crash; a look costs {day.threshold:.0%} of a crash",
            )
            precise = of._replace(statistic="precision at a base rate")
            yield precise.measured_row(
                row, "precision", unit="share", method=BY_FIELLER
            )
            net = of._replace(statistic="net benefit at a base rate")
            yield net.measured(
                row["net_benefit"],
                row["net_low"],
                row["net_high"],
                unit=UNIT,
                method=BY_CASE,
            )


KINDS = {"prevalence": prevalence}
