"""Detectors combined: the rules before each model, and the ways of combining those that the page begins with."""

from collections.abc import Iterator

import pandas as pd

from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.results import combinations
from crane_core.pipeline.results.beside import beside
from crane_core.pipeline.results.measures import Credit, PairedTest, VoteRule
from crane_core.pipeline.rows import as_rows

RATES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
}


def together(
    material: exported_statistic.Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of every experiment, detection alone, by the majority and by all answers."""
    verdicts = material.verdicts
    for (benchmark, experiment), _ in verdicts.groupby(
        ["benchmark", "experiment"], sort=False
    ):
        of_benchmark = verdicts[verdicts["benchmark"] == benchmark]
        frame = beside(of_benchmark, str(experiment), ())
        titles = dict(
            zip(frame["detector"], frame["detector_title"], strict=True)
        )
        rules, usual = (
            combinations.rules_in(frame),
            combinations.usual_members(frame),
        )
        for rule in (VoteRule.MAJORITY, VoteRule.ALL):
            head = exported_statistic.ExportedStatistic(
                "Results",
                "together",
                "",
                benchmark=str(benchmark),
                experiment=str(experiment),
                runs=str(rule),
                credit=str(Credit.DETECTION),
                by="way",
            )
            if len(usual) > 1:
                ways = combinations.combine(frame, usual, rule=rule)
                yield from _rows(
                    head, ways, titles, "ways of combining these members"
                )
            if rules is not None:
                first = combinations.with_rules(frame, rules, rule=rule)
                yield from _rows(
                    head, first, titles, "the rules before each model"
                )


def _rows(
    head: exported_statistic.ExportedStatistic,
    table: pd.DataFrame,
    titles: dict[str, str],
    family: str,
) -> Iterator[exported_statistic.ExportedStatistic]:
    for row in as_rows(table):
        note = None
        if row["left_out"]:
            note = f"{row['left_out']} instances lack an answer of a member and are left out"
        of = head._replace(
            detector=" + ".join(
                _name(member, titles) for member in row["members"]
            ),
            group=str(row["way"] or "alone"),
            n=row["n"],
            n_cases=row["n_cases"],
            note=note,
        )
        for key, name in RATES.items():
            ends = {"low": row[f"{key}_low"], "high": row[f"{key}_high"]}
            yield of._replace(statistic=name).rated({key: row[key]} | ends, key)
        if row["way"]:
            of = of._replace(family=family)
            name = f"difference of accuracy from the best member, {_name(row['best'], titles)}"
            difference = of._replace(statistic=name).compared(row)
            tests = row | {"test": str(PairedTest.MCNEMAR)}
            yield from difference.tested(tests, exported_statistic.HOLM, family)
            yield from of.discordant(row)
            of = of._replace(statistic="instances asked of the others")
            yield of.measured(row["n_asked"], unit="instances")


def _name(member: combinations.Member, titles: dict[str, str]) -> str:
    return f"{titles[member.detector]} ({member.setting})"


KINDS = {"together": together}
