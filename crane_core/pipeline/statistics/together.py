"""Detectors combined: the rules before each model, and the ways of combining those that the page begins with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from crane_core.pipeline.export.exported_statistic import (
    DIFFERENCE_INTERVAL,
    RATE_INTERVAL,
    ExportedStatistic,
    Material,
)
from crane_core.pipeline.results.beside import beside
from crane_core.pipeline.results.combinations import (
    Member,
    combine,
    rules_in,
    usual_members,
    with_rules,
)
from crane_core.pipeline.results.measures import SEED, Credit, PairedTest, VoteRule
from crane_core.pipeline.rows import as_rows

PAGE, SECTION = "Results", "together"
RATES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
}


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Of every experiment, detection alone, by the majority and by all runs."""
    verdicts = material.verdicts
    for (benchmark, experiment), _ in verdicts.groupby(
        ["benchmark", "experiment"], sort=False
    ):
        frame = beside(
            verdicts[verdicts["benchmark"] == benchmark], str(experiment), ()
        )
        titles = dict(zip(frame["detector"], frame["detector_title"], strict=True))
        rules, usual = rules_in(frame), usual_members(frame)
        for rule in (VoteRule.MAJORITY, VoteRule.ALL):
            head = ExportedStatistic(
                PAGE, SECTION, "", benchmark=str(benchmark), experiment=str(experiment), runs=str(rule),
                credit=str(Credit.DETECTION),
            )  # fmt: skip
            if len(usual) > 1:
                yield from _rows(
                    head,
                    combine(frame, usual, rule=rule),
                    titles,
                    "ways of combining these members",
                )
            if rules is not None:
                yield from _rows(
                    head,
                    with_rules(frame, rules, rule=rule),
                    titles,
                    "the rules before each model",
                )


def _rows(
    head: ExportedStatistic, table: pd.DataFrame, titles: dict[str, str], family: str
) -> Iterator[ExportedStatistic]:
    for row in as_rows(table):
        members = " + ".join(_name(member, titles) for member in row["members"])
        note = (
            f"{row['left_out']} instances lack an answer of a member and are left out"
            if row["left_out"]
            else None
        )
        of = head._replace(
            detector=members,
            by="way",
            group=str(row["way"] or "alone"),
            n=row["n"],
            n_cases=row["n_cases"],
            note=note,
        )
        for key, name in RATES.items():
            rate = of._replace(statistic=name)
            yield rate.measured(
                row[key],
                row[f"{key}_low"],
                row[f"{key}_high"],
                unit="share",
                method=RATE_INTERVAL,
            )
        if row["way"]:
            yield from _tests(
                of._replace(family=family), row, _name(row["best"], titles)
            )


def _tests(
    of: ExportedStatistic, row: dict[str, Any], best: str
) -> Iterator[ExportedStatistic]:
    against = of._replace(
        statistic=f"difference of accuracy from the best member, {best}"
    ).measured(
        row["difference"],
        row["low"],
        row["high"],
        unit="difference of shares",
        method=DIFFERENCE_INTERVAL,
    )
    against = against._replace(outcome=row["outcome"])
    for test, p, seed in (
        (PairedTest.MCNEMAR, "p_value", None),
        (PairedTest.SIGN_FLIP, "p_by_case", SEED),
    ):
        adjusted = row["p_holm" if p == "p_value" else f"{p}_holm"]
        yield against._replace(
            test=str(test), p=row[p], p_adjusted=adjusted, adjustment="Holm", seed=seed
        )
    for name in ("gained", "lost", "n_asked"):
        yield of._replace(
            statistic=name.replace("n_asked", "instances asked of the others")
        ).measured(row[name], unit="instances")


def _name(member: Member, titles: dict[str, str]) -> str:
    return f"{titles[member.detector]} ({member.setting})"
