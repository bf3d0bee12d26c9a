"""What each input changes against a reference, detector by detector: the ablations as paired differences.

Detection alone, by majority: what tables 4(a) and 4(b) print, and what can be computed for runs without labels.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.results import exported_statistic, input_cost, measures
from crane_core.pipeline.results.beside import OWN, SHIPPED, with_shipped
from crane_core.pipeline.results.comparisons import RICHNESS, comparisons
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.results.outcomes import one_family, one_grid
from crane_core.pipeline.results.run_list import run_list
from crane_core.pipeline.rows import as_rows

REFERENCES = (Setting.RUNTIME, Setting.RUNTIME_PLUS, Setting.CODE)
"""The reference settings in order: the first that can be compared is used, else the
richest. The study's is full runtime state."""
COLUMNS = [
    "detector", "detector_title", "setting", "n", "n_cases", "reference", "value", "difference", "low", "high",
    "gained", "lost", "p_value", "test", "p_by_case",
]  # fmt: skip
_NAMES = {"without": "reference", "with_": "value"}


def reference_of(rows: pd.DataFrame) -> Setting:
    """The setting that the others are compared with: one that shares an answered instance with another, if any does."""
    answered = rows[rows["n_crash"] + rows["n_safe"] > 0]
    comparable = {
        setting for inputs in comparisons(answered) for setting in inputs
    }
    candidates = comparable or set(rows["setting"].unique())
    return next(
        setting
        for setting in (*REFERENCES, *reversed(RICHNESS))
        if setting in candidates
    )


def drop_table(
    rows: pd.DataFrame,
    *,
    reference: Setting,
    rate: str,
) -> pd.DataFrame:
    """One row per detector and setting but the reference, over the instances that were answered with both.

    rows: of `setting_runs.runs_of`. Columns COLUMNS, with p_holm and p_by_case_holm (Holm over the whole table: which
    input matters is one question) and the outcome that both decide. reference and value are the rate with the reference
    and with the setting; difference is value minus reference, below 0 a drop.
    """
    tables = []
    for setting in _others(rows, reference):
        gains = measures.gain_table(
            rows,
            inputs=measures.Inputs(reference, setting),
            rule=measures.VoteRule.MAJORITY,
            credit=measures.Credit.DETECTION,
            rate=rate,
        )
        tables.append(gains.assign(setting=str(setting)))
    return one_family(_joined(tables, COLUMNS))


def drops_by(
    rows: pd.DataFrame,
    *,
    by: str,
    reference: Setting,
    setting: Setting,
    rate: str,
) -> pd.DataFrame:
    """The same for one setting by group of `by`: an exploratory grid.

    With p_bh and p_by_case_bh (Benjamini-Hochberg over the table) and the outcome that both decide.
    """
    known = rows[rows[by].notna()]
    table = measures.change_table(
        known,
        by=by,
        rule=measures.VoteRule.MAJORITY,
        credit=measures.Credit.DETECTION,
        rate=rate,
        inputs=measures.Inputs(reference, setting),
    )
    return one_grid(
        _joined([table.assign(setting=str(setting))], [by, *COLUMNS])
    )


def _others(rows: pd.DataFrame, reference: Setting) -> list[Setting]:
    asked = set(rows["setting"].unique())
    return [
        setting
        for setting in Setting
        if setting in asked and setting != reference
    ]


def _joined(tables: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """The tables one below the other; those without a row have no columns either."""
    filled = [
        table.rename(columns=_NAMES)[columns]
        for table in tables
        if "detector" in table
    ]
    return (
        pd.concat(filled, ignore_index=True)
        if filled
        else pd.DataFrame(columns=columns)
    )


PAGE = "Ablations"
RATES = ("Accuracy", "F1")
GROUPS = ("library_group", "root_cause", "crash_type", "stage")


class _Compared(NamedTuple):
    """The detectors of one kind of one source, and what every statistic of them says of itself."""

    rows: pd.DataFrame
    reference: Setting
    head: exported_statistic.ExportedStatistic


def exported_drops(
    material: exported_statistic.JudgedAnswers,
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
                compared = _Compared(of_kind, reference_of(of_kind), head)
                for rate in RATES:
                    yield from _drops(compared, rate)
                    yield from _groups(compared, rate)
            yield from _costs(material, rows, head._replace(section="cost"))


def _drops(
    compared: _Compared, rate: str
) -> Iterator[exported_statistic.ExportedStatistic]:
    table = drop_table(compared.rows, reference=compared.reference, rate=rate)
    family = f"inputs and detectors of this kind ({len(table)})"
    for row in as_rows(table):
        yield from _difference(compared, row, rate).tested(
            row, exported_statistic.HOLM, family
        )


def _groups(
    compared: _Compared, rate: str
) -> Iterator[exported_statistic.ExportedStatistic]:
    others = sorted(
        set(compared.rows["setting"].unique()) - {compared.reference}
    )
    for by, setting in product(GROUPS, others):
        table = drops_by(
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
    material: exported_statistic.JudgedAnswers,
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


_SERIES = ["benchmark", "detector", "setting"]


class SettingRuns(NamedTuple):
    """The rows of a choice, and how many own runs are left out because a later or larger one has their setting."""

    rows: pd.DataFrame
    n_left_out: int


def sources(
    verdicts: pd.DataFrame,
    ran: pd.DataFrame,
    benchmark: str,
) -> list[str]:
    """Where detectors with several settings come from: experiments by number of settings, then OWN for own jobs.

    Shipped local experiments are part of the one that they ship with.

    verdicts: the verdict frame; ran: `run_list`, which tells the jobs. Empty where no detector answered an instance in
    two settings: without one there is nothing to compare.
    """
    jobs = set(ran.loc[ran["is_job"], "experiment"])
    other = jobs.union(*SHIPPED.values())
    is_here = verdicts["benchmark"] == benchmark
    of = verdicts[is_here & ~verdicts["experiment"].isin(other)]
    of = of[_is_comparable(of, ["experiment", "detector"])]
    n_settings = of.groupby(["experiment", "detector"])["setting"].nunique()
    most = n_settings.groupby("experiment").max()
    in_order = most.sort_values(ascending=False, kind="stable").index
    found = [str(name) for name in in_order]
    own = runs_of(
        verdicts,
        ran,
        benchmark,
        OWN,
    ).rows
    return found if own.empty else [*found, OWN]


def runs_of(
    verdicts: pd.DataFrame,
    ran: pd.DataFrame,
    benchmark: str,
    source: str,
) -> SettingRuns:
    """The rows of the detectors of one source that answered an instance in two settings or more.

    Of own runs that repeat a detector and setting, the one with the most instances answered counts, of these the last
    that was started.
    """
    of = verdicts[verdicts["benchmark"] == benchmark]
    n_left_out = 0
    experiments = with_shipped(source)
    if source == OWN:
        is_here = ran["benchmark"] == benchmark
        jobs = ran[ran["is_job"] & (ran["n_answers"] > 0) & is_here]
        by_size = jobs.sort_values(
            ["n_answers", "started_at"], ascending=False, kind="stable"
        )
        best = by_size.drop_duplicates(_SERIES)
        n_left_out = len(jobs) - len(best)
        experiments = best["experiment"].tolist()
    rows = of[of["experiment"].isin(experiments)]
    return SettingRuns(rows[_is_comparable(rows, ["detector"])], n_left_out)


def _is_comparable(rows: pd.DataFrame, by: list[str]) -> pd.Series:
    """Whether the detector of each row, named by these columns, answered some instance in two settings."""
    is_answered = rows["n_crash"] + rows["n_safe"] > 0
    n_settings = (
        rows[is_answered].groupby([*by, "instance_id"])["setting"].nunique()
    )
    most = n_settings.groupby(by).max()
    names = (
        pd.MultiIndex.from_frame(rows[by])
        if len(by) > 1
        else pd.Index(rows[by[0]])
    )
    return pd.Series(most.reindex(names).to_numpy() > 1, rows.index)
