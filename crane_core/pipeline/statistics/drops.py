"""The ablations: what each input changes against the reference, whole and by group, and what inputs cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.export.exported_statistic import (
    DIFFERENCE_INTERVAL,
    ExportedStatistic,
    Material,
)
from crane_core.pipeline.results.input_cost import (
    QUESTIONS,
    cost_table,
    tokens_of_inputs,
)
from crane_core.pipeline.results.measures import SEED, Credit, PairedTest, VoteRule
from crane_core.pipeline.results.outcomes import BY_BH, BY_HOLM
from crane_core.pipeline.results.run_list import run_list
from crane_core.pipeline.results.setting_drops import drop_table, drops_by, reference_of
from crane_core.pipeline.results.setting_runs import runs_of, sources
from crane_core.pipeline.rows import as_rows

PAGE = "Ablations"
RATES = ("Accuracy", "F1")
GROUPS = ("library_group", "root_cause", "crash_type", "stage")


class _Compared(NamedTuple):
    """The detectors of one kind of one source, and what every statistic of them says of itself."""

    rows: pd.DataFrame
    reference: Setting
    head: ExportedStatistic


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Of every benchmark, source of runs and kind of detector: detection alone, by majority."""
    ran = run_list(material.store, material.verdicts)
    for benchmark in material.verdicts["benchmark"].unique():
        for source in sources(material.verdicts, ran, benchmark):
            rows = runs_of(material.verdicts, ran, benchmark, source).rows
            head = ExportedStatistic(
                PAGE,
                "drops",
                "",
                benchmark=str(benchmark),
                experiment=source,
                runs=str(VoteRule.MAJORITY),
                credit=str(Credit.DETECTION),
            )
            for _, of_kind in rows.groupby("detector_kind", sort=False):
                compared = _Compared(of_kind, reference_of(of_kind), head)
                for rate in RATES:
                    yield from _drops(compared, rate)
                    yield from _groups(compared, rate)
            yield from _costs(material, rows, head._replace(section="cost"))


def _drops(compared: _Compared, rate: str) -> Iterator[ExportedStatistic]:
    table = drop_table(compared.rows, reference=compared.reference, rate=rate)
    family = f"inputs and detectors of this kind ({len(table)})"
    for row in as_rows(table):
        difference = _difference(compared, row, rate)
        yield from _tests(
            difference._replace(adjustment="Holm", family=family), row, BY_HOLM
        )


def _groups(compared: _Compared, rate: str) -> Iterator[ExportedStatistic]:
    for by in GROUPS:
        for setting in sorted(set(compared.rows["setting"]) - {compared.reference}):
            table = drops_by(
                compared.rows,
                by=by,
                reference=compared.reference,
                setting=Setting(setting),
                rate=rate,
            )
            family = f"groups and detectors of this kind ({len(table)})"
            for row in as_rows(table):
                of = _difference(compared, row, rate)._replace(
                    section="groups", by=by, group=row[by]
                )
                yield from _tests(
                    of._replace(adjustment="Benjamini-Hochberg", family=family),
                    row,
                    BY_BH,
                )


def _tests(
    of: ExportedStatistic, row: dict[str, Any], adjusted: tuple[str, str]
) -> Iterator[ExportedStatistic]:
    """A row for each test of a difference; adjusted: the columns of both tests."""
    main, by_case = adjusted
    is_mcnemar = row["test"] == PairedTest.MCNEMAR
    seed = None if is_mcnemar else SEED
    yield of._replace(
        test=row["test"], p=row["p_value"], p_adjusted=row[main], seed=seed
    )
    if is_mcnemar:
        yield of._replace(
            test=str(PairedTest.SIGN_FLIP),
            p=row["p_by_case"],
            p_adjusted=row[by_case],
            seed=SEED,
        )


def _difference(
    compared: _Compared, row: dict[str, Any], rate: str
) -> ExportedStatistic:
    named = {
        "statistic": f"difference of {rate if rate == 'F1' else rate.lower()}",
        "detector": row["detector_title"],
    }
    of = compared.head._replace(
        **named, input=f"{row['setting']} against {compared.reference}"
    )
    return of._replace(
        n=row["n"], n_cases=row["n_cases"], outcome=row["outcome"]
    ).measured(
        row["difference"],
        row["low"],
        row["high"],
        unit="difference of shares",
        method=DIFFERENCE_INTERVAL,
    )


def _costs(
    material: Material, rows: pd.DataFrame, head: ExportedStatistic
) -> Iterator[ExportedStatistic]:
    tokens = tokens_of_inputs(
        material.store,
        str(head.benchmark),
        sorted(rows["experiment"].unique().tolist()),
    )
    for row in as_rows(cost_table(rows, tokens, rate="Accuracy")):
        of = head._replace(
            detector=row["detector_title"],
            input=row["setting"],
            n=row["n"],
            n_cases=row["n_cases"],
        )
        if row["tokens"] is not None:
            note = (
                None
                if row["is_exact"]
                else "estimated: the table of the encoding is not installed"
            )
            yield of._replace(
                statistic="tokens per question, mean", note=note
            ).measured(row["tokens"], unit="tokens")
        if row["usd"] is not None:
            yield of._replace(
                statistic=f"list price of the input of {QUESTIONS} questions"
            ).measured(row["usd"], unit="USD")
