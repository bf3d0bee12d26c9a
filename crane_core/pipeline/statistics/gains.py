"""The headline: accuracy with each input, what one input changes against another, both tests, what is detectable."""

from __future__ import annotations

from collections.abc import Iterator

from crane_core.pipeline.export.exported_statistic import (
    DIFFERENCE_INTERVAL,
    RATE_INTERVAL,
    ExportedStatistic,
    Judging,
    Material,
    inputs_text,
)
from crane_core.pipeline.results.comparisons import comparisons
from crane_core.pipeline.results.measures import (
    SEED,
    WITH_STATE,
    Credit,
    Inputs,
    PairedTest,
    VoteRule,
    gain_table,
    paired_rows,
    rate_table,
)
from crane_core.pipeline.rows import as_rows

PAGE, SECTION = "Results", "gain"
HOLM = "Holm"


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Of every experiment, kind of detector, annotator and policy; rates of the study's two inputs only."""
    for judging in material.judgings:
        compared = dict.fromkeys([WITH_STATE, *comparisons(judging.rows)])
        for rule, credit in judging.policies():
            yield from _rates(judging, rule, credit)
            for inputs in compared:
                yield from _differences(judging, rule, credit, inputs)


def _rates(
    judging: Judging, rule: VoteRule, credit: Credit
) -> Iterator[ExportedStatistic]:
    head = judging.head(PAGE, SECTION, rule, credit)
    rows = paired_rows(judging.rows, rule=rule, credit=credit)
    settings = rows.groupby("detector")["setting"].transform("nunique")
    shown = rows[settings == len(WITH_STATE)]
    by = ["detector_title", "setting"]
    for row in as_rows(
        rate_table(shown, by=by, rate="Accuracy", rule=rule, credit=credit)
    ):
        of = head._replace(
            statistic="accuracy", detector=row["detector_title"], input=row["setting"]
        )
        yield of.measured(
            row["value"],
            row["low"],
            row["high"],
            unit="share",
            method=RATE_INTERVAL,
            n=row["n"],
            n_cases=row["n_cases"],
        )


def _differences(
    judging: Judging, rule: VoteRule, credit: Credit, inputs: Inputs
) -> Iterator[ExportedStatistic]:
    head = judging.head(PAGE, SECTION, rule, credit)._replace(input=inputs_text(inputs))
    gains = gain_table(judging.rows, rule=rule, credit=credit, inputs=inputs)
    family = f"detectors that were asked with both inputs ({len(gains)})"
    for row in as_rows(gains):
        of = head._replace(
            detector=row["detector_title"], n=row["n"], n_cases=row["n_cases"]
        )
        yield from _changes(of, row, family)


def _changes(
    of: ExportedStatistic, row: dict[str, float | str | None], family: str
) -> Iterator[ExportedStatistic]:
    difference = of._replace(statistic="difference of accuracy").measured(
        row["difference"],
        row["low"],
        row["high"],
        unit="difference of shares",
        method=DIFFERENCE_INTERVAL,
    )
    difference = difference._replace(outcome=str(row["outcome"]))
    tests = [(row["test"], "p_value", "p_holm")]
    if row["test"] != PairedTest.SIGN_FLIP:
        tests.append(
            (row["test"] and str(PairedTest.SIGN_FLIP), "p_by_case", "p_by_case_holm")
        )
    for test, p, adjusted in tests:
        if test is None:
            yield difference._replace(
                note="no test: the labels of a sample stand for others"
            )
            return
        seed = SEED if test == PairedTest.SIGN_FLIP else None
        tested = {
            "p": row[p],
            "p_adjusted": row[adjusted],
            "adjustment": HOLM,
            "family": family,
            "seed": seed,
        }
        yield difference._replace(test=str(test), **tested)  # type: ignore[arg-type]
    for name in ("gained", "lost"):
        if row[name] is not None:
            yield of._replace(statistic=name).measured(row[name], unit="instances")
    if row["detectable"] is not None:
        note = "80% power of the exact McNemar test at Holm's strictest step, if as many instances differ"
        yield of._replace(
            statistic="minimum detectable difference", family=family, note=note
        ).measured(row["detectable"], unit="difference of shares")
