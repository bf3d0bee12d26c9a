"""The published tables as computed from verdicts: those of the paper, of its workbook and of JunoBench's README.

Knows what a cell of each table counts. Refuses to know what is printed there (`study_tables`).
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.domain import PAPER_GROUPS, Label, Setting
from crane_core.pipeline.study import table_scores
from crane_core.pipeline.study.table_cells import Measured, count, share
from crane_core.stats.rates import RATES, Confusion
from crane_core.stats.sample_size import allocate, required_sample

Cells = dict[tuple[str, str], Measured]
"""Our values by (row, column)."""
WORKBOOK = "crane_llm, results/results_summary.xlsx, sheets Results_summary and Results_summary_detection"
JUDGED: dict[str, Callable[[pd.DataFrame], Confusion]] = {
    "end-to-end": table_scores.end_to_end_counts,
    "detection": table_scores.detection_counts,
}
FLAWED = {
    "Total": (Label.PARTIAL, Label.WRONG),
    "PC": (Label.PARTIAL,),
    "RW": (Label.WRONG,),
}
CATEGORY_SIGNS = {
    Setting.RUNTIME: "(+RT)",
    Setting.RUNTIME_WITHOUT_S: "(+RT-S)",
    Setting.RUNTIME_WITHOUT_V: "(+RT-V)",
    Setting.RUNTIME_WITHOUT_R: "(+RT-R)",
}
"""Columns of table 4(a)."""
DOCUMENTATION_SIGNS = {
    Setting.RUNTIME: "(+RT)",
    Setting.RUNTIME_DOCS: "(+RT+D)",
}
"""Columns of table 4(b)."""
JUNOBENCH_EXPERIMENT = "junobench-construct"
VERSIONS = {True: "(buggy)", False: "(fixed)"}


def stratified_sample(verdicts: pd.DataFrame) -> Cells:
    """Table 1: how the second annotator's sample was stratified.

    Applicable: crashing instances whose vote predicts the crash. The sample is Equation 1, rounded up per row.
    """
    crashing = {
        f"{title} {table_scores.SIGNS[setting]}": rows[table_scores.truth(rows)]
        for title, setting, rows in table_scores.conditions(
            verdicts, table_scores.STUDY_LLMS
        )
    }
    if not crashing:
        return {}
    applicable = {
        row: int(np.nansum(table_scores.detected(rows)))
        for row, rows in crashing.items()
    }
    sampled = allocate(required_sample(sum(applicable.values())), applicable)
    sizes = {row: len(rows) for row, rows in crashing.items()}
    for column in (applicable, sampled, sizes):
        column["Total"] = sum(column.values())
    everything = applicable["Total"]
    cells: Cells = {}
    for row, found in applicable.items():
        cells[row, "Applicable cases"] = count(found, sizes[row])
        cells[row, "Proportion"] = (
            share(found, everything, everything)
            if everything
            else Measured(Fraction(0), 0, "share")
        )
        cells[row, "Sampled cases"] = count(sampled[row], found)
    return cells


def _rates(
    verdicts: pd.DataFrame, counts: Callable[[pd.DataFrame], Confusion]
) -> Cells:
    """Tables 2(a) and 2(b): the rates of each LLM with and without runtime information."""
    return {
        (title, column): value
        for title, setting, rows in table_scores.conditions(
            verdicts, table_scores.STUDY_LLMS
        )
        for column, value in table_scores.rate_columns(
            counts(rows), table_scores.SIGNS[setting]
        )
    }


def flawed_diagnoses(verdicts: pd.DataFrame) -> Cells:
    """Table 3: detected crashes with a flawed diagnosis, partially correct (PC) or wrong (RW).

    The paper counts human outcomes, whatever the vote says. For GPT-5 with runtime information one of its three
    partially correct outcomes (numpy_10_reproduced) is there where the vote predicts no crash; tables 1 and 2(b) follow
    the vote and do not count that instance as detected, and in table 2(a) it is a miss either way.
    """
    cells: Cells = {}
    for title, setting, rows in table_scores.conditions(
        verdicts, table_scores.STUDY_LLMS
    ):
        outcomes = rows["human"][table_scores.truth(rows)]
        if outcomes.notna().any():
            for column, labels in FLAWED.items():
                cells[title, f"{column} {table_scores.SIGNS[setting]}"] = count(
                    int(outcomes.isin(labels).sum()), len(outcomes)
                )
    return cells


def _ablations(verdicts: pd.DataFrame, signs: dict[Setting, str]) -> Cells:
    """F1 and accuracy per LLM and setting, where a published release holds the setting for every instance."""
    cells: Cells = {}
    for detector in table_scores.STUDY_LLMS:
        for setting, sign in signs.items():
            rows = complete_rows(verdicts, detector, setting)
            if rows is not None:
                title = str(rows["detector_title"].iloc[0])
                columns = table_scores.rate_columns(
                    table_scores.detection_counts(rows),
                    sign,
                    ("F1", "Accuracy"),
                )
                cells |= {(title, column): value for column, value in columns}
    return cells


def complete_rows(
    verdicts: pd.DataFrame,
    detector: str,
    setting: str,
    population: int | None = None,
) -> pd.DataFrame | None:
    """The rows of one condition on the published benchmark, of the first release that holds every instance.

    Editions of the later release come last. None if there is no such release: one with a part of the instances (an
    incomplete download) has no value, because its rate would be of another population. population: the number of
    instances, where it was counted before.
    """
    if population is None:
        is_here = verdicts["benchmark"] == table_scores.BENCHMARK
        population = verdicts.loc[is_here, "instance_id"].nunique()
    for release in (table_scores.STUDY, *table_scores.later_releases(verdicts)):
        rows = table_scores.selected(
            verdicts,
            release,
            detector,
            setting,
        )
        if len(rows) == population > 0:
            return rows
    return None


def _libraries(verdicts: pd.DataFrame, detectors: tuple[str, ...]) -> Cells:
    """Cells by ("GPT-5, torch", "F1 (+RT), detection"); shares of 1, counts as counts; "total" is all groups."""
    cells: Cells = {}
    for title, setting, rows in table_scores.conditions(verdicts, detectors):
        for (group, members), judged in product(_groups(rows), JUDGED):
            counts = JUDGED[judged](members)
            for column, value in _columns(counts, table_scores.SIGNS[setting]):
                cells[f"{title}, {group}", f"{column}, {judged}"] = value
    return cells


def _groups(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for group in PAPER_GROUPS:
        members = rows[rows["library_group"] == group]
        if len(members):
            yield group, members
    yield "total", rows


def _columns(counts: Confusion, sign: str) -> Iterator[tuple[str, Measured]]:
    n = table_scores.scored(counts)
    yield "Count", count(n, n)
    yield f"FP {sign}", count(float(counts.fp), n)
    yield f"FN {sign}", count(float(counts.fn), n)
    for name, rate in RATES.items():
        ratio = rate(counts)
        # The workbook leaves F1 blank if there is no hit (0/0 in its formula); ours is 0 there and is alone.
        if ratio.whole:
            yield (
                f"{name} {sign}",
                share(float(ratio.part), float(ratio.whole), n),
            )


def right_answers(verdicts: pd.DataFrame) -> Cells:
    """The two LLMs of JunoBench's own README, by library: right answers on crashing and on fixed notebooks.

    The README names a majority vote over five runs; its printed numbers are those of the first run alone (all 48 cells
    of Mistral Small 3.1). So the printed columns are recomputed from the first run, and the majority is beside them;
    the six cells where the two part are listed in data/published/contradictions.csv. Each printed "correct / n" is two
    cells. n leaves out the cases that exceed the model's context.
    """
    cells: Cells = {}
    mine = verdicts[
        (verdicts["benchmark"] == table_scores.BENCHMARK)
        & (verdicts["experiment"] == JUNOBENCH_EXPERIMENT)
    ]
    for title, rows in mine.groupby("detector_title", sort=True):
        answered = rows[rows["n_crash"] + rows["n_safe"] > 0]
        for library, members in answered.groupby("library", sort=True):
            cells |= _right(f"{title}, {library}", members)
        cells |= _right(f"{title}, total", answered)
    return cells


def _right(name: str, rows: pd.DataFrame) -> Cells:
    cells: Cells = {}
    truth = table_scores.truth(rows)
    by_vote = (table_scores.detected(rows) == 1) == truth
    first = rows["first_run"].to_numpy(dtype=object)
    by_first_run = [
        answer == crashes for answer, crashes in zip(first, truth, strict=True)
    ]
    for crashes, version in VERSIONS.items():
        chosen = truth == crashes
        n = int(chosen.sum())
        cells[name, f"Correct {version}"] = count(
            int(np.count_nonzero(np.asarray(by_first_run)[chosen])), n
        )
        cells[name, f"n {version}"] = count(n, n)
        cells[name, f"Correct by majority {version}"] = count(
            int(by_vote[chosen].sum()), n
        )
    return cells


def _printed_only(verdicts: pd.DataFrame) -> Cells:
    """Table 5 is about prompts: no verdict says anything of tokens."""
    return {}


class MeasuredTable(NamedTuple):
    """A published table: its id, title and source, and our cells of it from the frame of `study_tables`."""

    id: str
    title: str
    source: str
    measure: Callable[[pd.DataFrame], Cells]


MEASURED_TABLES = (
    MeasuredTable(
        "1",
        "Stratified sample for the second human evaluation",
        "paper, table 1",
        stratified_sample,
    ),
    MeasuredTable(
        "2a",
        "Crash detection and diagnosis, end to end",
        "paper, table 2(a)",
        # A hit needs both: a vote that predicts the crash and the human outcome "correct" (section 4.4.2).
        partial(_rates, counts=table_scores.end_to_end_counts),
    ),
    MeasuredTable(
        "2b",
        "Crash detection alone",
        "paper, table 2(b)",
        # The vote against the truth (section 4.4.1).
        partial(_rates, counts=table_scores.detection_counts),
    ),
    MeasuredTable(
        "3",
        "Flawed diagnoses of detected crashes",
        "paper, table 3",
        flawed_diagnoses,
    ),
    MeasuredTable(
        "4a",
        "Ablation of runtime information, detection alone",
        "paper, table 4(a)",
        partial(_ablations, signs=CATEGORY_SIGNS),
    ),
    MeasuredTable(
        "4b",
        "API documentation added, detection alone",
        "paper, table 4(b)",
        partial(_ablations, signs=DOCUMENTATION_SIGNS),
    ),
    MeasuredTable(
        "5",
        "Additional input tokens with API documentation",
        "paper, table 5",
        _printed_only,
    ),
    MeasuredTable(
        "analyzers",
        "Static analyzers by library group",
        WORKBOOK,
        partial(_libraries, detectors=table_scores.STUDY_ANALYZERS),
    ),
    MeasuredTable(
        "junobench-llms",
        "LLMs of the JunoBench repository by library",
        "JunoBench_construct, README, results",
        right_answers,
    ),
    MeasuredTable(
        "libraries",
        "LLMs by library group",
        WORKBOOK,
        # Figure 5 of the paper.
        partial(_libraries, detectors=table_scores.STUDY_LLMS),
    ),
)
"""Every table of the study, by id."""
