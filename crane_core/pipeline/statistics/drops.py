"""The ablations: what each input changes against the reference, whole and by group, and what inputs cost."""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.results import input_cost, setting_drops
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.results.run_list import run_list
from crane_core.pipeline.results.setting_runs import runs_of, sources
from crane_core.pipeline.rows import as_rows

PAGE = "Ablations"
RATES = ("Accuracy", "F1")
GROUPS = ("library_group", "root_cause", "crash_type", "stage")


class _Compared(NamedTuple):
    """The detectors of one kind of one source, and what every statistic of them says of itself."""

    rows: pd.DataFrame
    reference: Setting
    head: exported_statistic.ExportedStatistic


def drops(
    material: exported_statistic.Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of every benchmark, source of runs and kind of detector: detection alone, by majority."""
    ran = run_list(material.store, material.verdicts)
    for benchmark in material.verdicts["benchmark"].unique():
        for source in sources(material.verdicts, ran, benchmark):
            rows = runs_of(material.verdicts, ran, benchmark, source).rows
            head = exported_statistic.ExportedStatistic(
                PAGE,
                "drops",
                "",
                benchmark=str(benchmark),
                experiment=source,
                runs=str(VoteRule.MAJORITY),
                credit=str(Credit.DETECTION),
            )
            for _, of_kind in rows.groupby("detector_kind", sort=False):
                compared = _Compared(
                    of_kind, setting_drops.reference_of(of_kind), head
                )
                for rate in RATES:
                    yield from _drops(compared, rate)
                    yield from _groups(compared, rate)
            yield from _costs(material, rows, head._replace(section="cost"))


def _drops(
    compared: _Compared, rate: str
) -> Iterator[exported_statistic.ExportedStatistic]:
    table = setting_drops.drop_table(
        compared.rows, reference=compared.reference, rate=rate
    )
    family = f"inputs and detectors of this kind ({len(table)})"
    for row in as_rows(table):
        yield from _difference(compared, row, rate).tested(
            row, exported_statistic.HOLM, family
        )


def _groups(
    compared: _Compared, rate: str
) -> Iterator[exported_statistic.ExportedStatistic]:
    others = sorted(set(compared.rows["setting"]) - {compared.reference})
    for by, setting in product(GROUPS, others):
        table = setting_drops.drops_by(
            compared.rows,
            by=by,
            reference=compared.reference,
            setting=Setting(setting),
            rate=rate,
        )
        family = f"groups and detectors of this kind ({len(table)})"
        for row in as_rows(table):
            of = _difference(compared, row, rate)
            of = of._replace(section="groups", by=by, group=row[by])
            yield from of.tested(
                row, exported_statistic.BENJAMINI_HOCHBERG, family
            )


def _difference(
    compared: _Compared, row: dict[str, Any], rate: str
) -> exported_statistic.ExportedStatistic:
    of = compared.head._replace(
        statistic=f"difference of {exported_statistic.rate_word(rate)}",
        detector=row["detector_title"],
        input=f"{row['setting']} against {compared.reference}",
    )
    return of.compared(row)


def _costs(
    material: exported_statistic.Material,
    rows: pd.DataFrame,
    head: exported_statistic.ExportedStatistic,
) -> Iterator[exported_statistic.ExportedStatistic]:
    tokens = input_cost.tokens_of_inputs(
        material.store,
        str(head.benchmark),
        sorted(rows["experiment"].unique().tolist()),
    )
    for row in as_rows(input_cost.cost_table(rows, tokens, rate="Accuracy")):
        of = head._replace(
            detector=row["detector_title"],
            input=row["setting"],
            n=row["n"],
            n_cases=row["n_cases"],
        )
        if row["tokens"] is not None:
            note = None
            if not row["is_exact"]:
                note = "estimated: the table of the encoding is not installed"
            tokens_row = of._replace(
                statistic="tokens per question, mean", note=note
            )
            yield tokens_row.measured(row["tokens"], unit="tokens")
        if row["usd"] is not None:
            name = (
                f"list price of the input of {input_cost.QUESTIONS} questions"
            )
            yield of._replace(statistic=name).measured(row["usd"], unit="USD")


KINDS = {"drops": drops}
