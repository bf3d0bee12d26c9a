"""Does a detector know the notebooks? Its accuracy on copies of a benchmark against that on the originals.

A copy (`pipeline.verification.varied_copies`) has the instance ids of its original, other names and numbers, and the
same crash. The comparison is that of two inputs (`measures.Pairs`): the originals take the place of the one input,
the copies that of the other. Refuses to know why an accuracy differs: copies may also be harder.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

from crane_core.domain import EXECUTED_KINDS
from crane_core.pipeline.results import exported_statistic, measures, outcomes
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.results.run_list import run_list
from crane_core.pipeline.rows import as_rows
from crane_core.stats.equivalence import SMALLEST_EFFECT
from crane_core.storage.cases import varied_benchmarks

RATE = "Accuracy"
ASKED = ["detector_kind", "detector", "detector_title", "setting"]
SIDES = ("original", "copy")
"""Columns of the experiments; the rates are under these names with "_value", "_low" and "_high"."""
COLUMNS = [
    *ASKED, *SIDES, *(f"{side}_{end}" for side in SIDES for end in ("value", "low", "high")), "n", "n_cases",
    "difference", "low", "high", "gained", "lost", "p_value", "p_by_case", "p_holm", "p_by_case_holm", "p_smaller",
    "bound", "test", "outcome",
]  # fmt: skip
_NO_PART_OF_THE_QUESTION = ("base_url", "prices")
"""Options by which two runs may differ and still be of the same question to the same model."""


class CopiedBenchmark(NamedTuple):
    """A benchmark and another one, whose cases are copies of its cases; both by id."""

    original: str
    copies: str


class KnownNotebooks(NamedTuple):
    """How every detector does on the copies against the originals.

    table: a row per detector, setting and two experiments that share an answered instance. Columns COLUMNS: original
    and copy (the experiments), their accuracies with 95% intervals by case, difference (copy minus original), gained
    and lost (instances that only the copy, only the original has right), and as in `measures.gain_table`. Holm is over
    the rows of one kind of detector. n_unlike: runs that are not compared because their options differ.
    """

    of: CopiedBenchmark
    credit: measures.Credit
    table: pd.DataFrame
    n_unlike: int


def copied_benchmarks(varied: Mapping[str, str]) -> list[CopiedBenchmark]:
    """The pairs of benchmarks; varied: `storage.cases.varied_benchmarks`."""
    return [
        CopiedBenchmark(original, copies) for copies, original in varied.items()
    ]


def known_notebooks(
    frame: pd.DataFrame,
    runs: pd.DataFrame,
    of: CopiedBenchmark,
    credit: measures.Credit = measures.Credit.DETECTION,
    bound: float = SMALLEST_EFFECT,
) -> KnownNotebooks:
    """The comparison by majority. With a diagnosis to be correct, only of runs with labels on both sides.

    frame: of the verdict frame, with the labels of one annotator. runs: `run_list.run_list`, which holds the options of
    runs. What was executed predicts nothing and is left out. bound: the smallest effect of interest, a share.
    """
    sides: list[pd.DataFrame] = []
    places: list[dict[str, Any]] = []
    n_unlike = 0
    for original, copy in _candidates(frame, of, credit):
        asked = _options(runs, original), _options(runs, copy)
        # Options of an imported run are unknown, and it is compared with any other.
        if all(asked) and asked[0] != asked[1]:
            n_unlike += 1
            continue
        who = {name: original[name].iat[0] for name in ASKED}
        who |= {
            side: str(rows["experiment"].iat[0])
            for side, rows in zip(SIDES, (original, copy), strict=True)
        }
        sides += _as_inputs(original, copy, str(len(places)))
        places.append(who)
    if not places:
        nothing = pd.DataFrame(columns=COLUMNS)
        return KnownNotebooks(of, credit, nothing, n_unlike)
    table = _compared(pd.concat(sides, ignore_index=True), places, credit)
    families = [
        outcomes.one_family(rows, bound)
        for _, rows in table.groupby("detector_kind", sort=False)
    ]
    found = pd.concat(families, ignore_index=True)
    return KnownNotebooks(of, credit, found[COLUMNS], n_unlike)


def _candidates(
    frame: pd.DataFrame, of: CopiedBenchmark, credit: measures.Credit
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Two experiments of one detector and setting that share an answered instance, as rows of those instances."""
    is_meant = frame["n_crash"] + frame["n_safe"] > 0
    is_meant &= ~frame["detector_kind"].isin(EXECUTED_KINDS)
    is_meant &= frame["benchmark"].isin(of)
    for _, rows in frame[is_meant].groupby(ASKED, sort=False, observed=True):
        originals, copies = (
            [
                run
                for _, run in rows[rows["benchmark"] == name].groupby(
                    "experiment", sort=False, observed=True
                )
            ]
            for name in of
        )
        for original, copy in product(originals, copies):
            shared = set(original["instance_id"]) & set(copy["instance_id"])
            both = [
                run[run["instance_id"].isin(shared)] for run in (original, copy)
            ]
            # Without any label only what needs none would be left, the fixed notebooks and the misses.
            is_judged = all(run["human"].notna().any() for run in both)
            if shared and (credit is measures.Credit.DETECTION or is_judged):
                yield both[0], both[1]


def _options(runs: pd.DataFrame, run: pd.DataFrame) -> dict[str, Any]:
    """The options of a run that shape its answers; empty where they are unknown."""
    is_it = pd.Series(data=True, index=runs.index)
    for name in ("benchmark", "experiment", "detector", "setting"):
        is_it &= runs[name] == run[name].iat[0]
    [text, *_] = [*runs.loc[is_it, "options"].dropna(), "{}"]
    known: dict[str, Any] = json.loads(text)
    return {
        name: value
        for name, value in known.items()
        if name not in _NO_PART_OF_THE_QUESTION
    }


def _as_inputs(
    original: pd.DataFrame, copy: pd.DataFrame, place: str
) -> list[pd.DataFrame]:
    """The two runs as one detector with two inputs; its name is the place of the row in the table."""
    named = {"detector": place, "detector_title": place}
    return [
        rows.assign(setting=str(setting), **named)
        for rows, setting in zip(
            (original, copy), measures.WITH_STATE, strict=True
        )
    ]


def _compared(
    sides: pd.DataFrame, places: list[dict[str, Any]], credit: measures.Credit
) -> pd.DataFrame:
    """Differences with their tests, not yet adjusted, and the accuracies over the same instances."""
    rule = measures.VoteRule.MAJORITY
    gains = measures.Pairs.of(sides, ["detector"], measures.WITH_STATE).gains(
        rule, credit, RATE
    )
    rates = measures.rate_table(
        measures.paired_rows(sides, rule=rule, credit=credit),
        by=["detector", "setting"],
        rate=RATE,
        rule=rule,
        credit=credit,
    )
    accuracy = {
        (row["detector"], row["setting"]): row for row in as_rows(rates)
    }
    rows = []
    for row in as_rows(gains):
        place = row["detector"]
        ends = {
            f"{side}_{end}": accuracy[place, setting][end]
            for side, setting in zip(SIDES, measures.WITH_STATE, strict=True)
            for end in ("value", "low", "high")
        }
        rows.append(row | ends | places[int(place)])
    return pd.DataFrame(rows)


def compared_copies(
    material: exported_statistic.JudgedAnswers,
) -> Iterator[tuple[KnownNotebooks, str | None]]:
    """Every benchmark with its copies: by detection, then by each annotator with labels of both."""
    varied = varied_benchmarks(material.store.cursor())
    if not varied:
        return
    runs = run_list(material.store, material.verdicts)
    for of in copied_benchmarks(varied):
        yield known_notebooks(material.verdicts, runs, of), None
        judges = dict.fromkeys(
            one.judge for one in material.judgings if one.benchmark in of
        )
        for judge in judges:
            frame = material.judged_by(judge)
            found = known_notebooks(frame, runs, of, Credit.STRICT)
            if len(found.table):
                yield found, judge


def exported_copies(
    material: exported_statistic.JudgedAnswers,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of each detector and input both accuracies, the difference once per test, and who is right alone."""
    for found, judge in compared_copies(material):
        head = exported_statistic.ExportedStatistic(
            "Results",
            "copies",
            "",
            benchmark=found.of.copies,
            by="original",
            group=found.of.original,
            runs=str(VoteRule.MAJORITY),
            credit=str(found.credit),
            judged_by=judge,
        )
        n_of = found.table["detector_kind"].value_counts()
        for row in as_rows(found.table):
            family = f"detectors of this kind and inputs on the copies ({n_of[row['detector_kind']]})"
            yield from _of_row(head, row, family)


def _of_row(
    head: exported_statistic.ExportedStatistic, row: dict[str, Any], family: str
) -> Iterator[exported_statistic.ExportedStatistic]:
    original, copy = SIDES
    of = head._replace(
        experiment=row[copy],
        detector=row["detector_title"],
        input=row["setting"],
        note=f"against experiment {row[original]}",
    )
    for side, name in zip(SIDES, ("originals", "copies"), strict=True):
        ends = {end: row[f"{side}_{end}"] for end in ("value", "low", "high")}
        counts = {"n": row["n"], "n_cases": row["n_cases"]}
        rate = of._replace(statistic=f"accuracy on the {name}")
        yield rate.rated(ends | counts)
    difference = of._replace(statistic="difference of accuracy")
    yield from difference.compared(row).tested(
        row, exported_statistic.HOLM, family
    )
    yield from of.discordant(row)
