"""The headline: accuracy with each input, the effect of runtime state, both tests, the detectable difference."""

from __future__ import annotations

from collections.abc import Iterator

from crane_core.domain import Setting
from crane_core.pipeline.export.exported_statistic import (
    BOTH_INPUTS,
    DIFFERENCE_INTERVAL,
    RATE_INTERVAL,
    ExportedStatistic,
    Judging,
    Material,
)
from crane_core.pipeline.results.measures import SEED, Credit, PairedTest, VoteRule, gain_table, paired_rows, rate_table
from crane_core.pipeline.rows import as_rows

PAGE, SECTION = "Results", "gain"
HOLM = "Holm"


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Of every experiment, kind of detector, annotator and policy."""
    for judging in material.judgings:
        for rule, credit in judging.policies():
            yield from _of_policy(judging, rule, credit)


def _of_policy(judging: Judging, rule: VoteRule, credit: Credit) -> Iterator[ExportedStatistic]:
    head = judging.head(PAGE, SECTION, rule, credit)
    rows = judging.rows[judging.rows["setting"].isin([Setting.CODE, Setting.RUNTIME])]
    rows = paired_rows(rows, rule=rule, credit=credit)
    gains = gain_table(rows, rule=rule, credit=credit)
    shown = rows[rows["detector"].isin(gains["detector"])] if len(gains) else rows.head(0)
    by = ["detector_title", "setting"]
    for row in as_rows(rate_table(shown, by=by, rate="Accuracy", rule=rule, credit=credit)):
        of = head._replace(statistic="accuracy", detector=row["detector_title"], input=row["setting"])
        yield of.measured(
            row["value"],
            row["low"],
            row["high"],
            unit="share",
            method=RATE_INTERVAL,
            n=row["n"],
            n_cases=row["n_cases"],
        )
    family = f"detectors that were asked with both inputs ({len(gains)})"
    for row in as_rows(gains):
        of = head._replace(detector=row["detector_title"], input=BOTH_INPUTS, n=row["n"], n_cases=row["n_cases"])
        yield from _changes(of, row, family)


def _changes(of: ExportedStatistic, row: dict[str, float | str | None], family: str) -> Iterator[ExportedStatistic]:
    difference = of._replace(statistic="difference of accuracy").measured(
        row["difference"], row["low"], row["high"], unit="difference of shares", method=DIFFERENCE_INTERVAL
    )
    difference = difference._replace(outcome=str(row["outcome"]))
    tests = [(row["test"], "p_value", "p_holm")]
    if row["test"] != PairedTest.SIGN_FLIP:
        tests.append((row["test"] and str(PairedTest.SIGN_FLIP), "p_by_case", "p_by_case_holm"))
    for test, p, adjusted in tests:
        if test is None:
            yield difference._replace(note="no test: the labels of a sample stand for others")
            return
        seed = SEED if test == PairedTest.SIGN_FLIP else None
        tested = {"p": row[p], "p_adjusted": row[adjusted], "adjustment": HOLM, "family": family, "seed": seed}
        yield difference._replace(test=str(test), **tested)  # type: ignore[arg-type]
    for name in ("gained", "lost"):
        if row[name] is not None:
            yield of._replace(statistic=name).measured(row[name], unit="instances")
    if row["detectable"] is not None:
        note = "80% power of the exact McNemar test at Holm's strictest step, if as many instances differ"
        yield of._replace(statistic="minimum detectable difference", family=family, note=note).measured(
            row["detectable"], unit="difference of shares"
        )
