"""Every sentence that counts gains and losses says what can be counted in the exported statistics, reading by reading.

A reading is a way to count the same answers: benchmark, experiment, kind of detector, vote rule, credit, annotator, the
two inputs, and for the breakdown a rate and a grouping. The counts of a sentence are read out of its text, and those of
the file are made here from value and p_adjusted alone, without the code that decides.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
import pytest

from crane_core.domain import Setting
from crane_core.pipeline.export.statistic_formats import statistics_csv
from crane_core.pipeline.judging import choices
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results import breakdown, setting_drops
from crane_core.pipeline.results.comparisons import comparisons, exported_gains
from crane_core.pipeline.results.exported_statistic import (
    ExportedStatistic,
    Judging,
    inputs_text,
)
from crane_core.pipeline.results.measures import (
    WITH_STATE,
    Credit,
    Inputs,
    VoteRule,
    change_table,
    gain_table,
)
from crane_core.pipeline.results.run_list import run_list
from crane_core.pipeline.results.setting_drops import (
    drop_table,
    drops_by,
    reference_of,
    runs_of,
    sources,
)
from crane_core.pipeline.results.specification_curve import specification_curve
from crane_core.storage.store import Store
from crane_core.ui import breakdown_words, drops_words, specification_words
from crane_core.ui.gains_words import headline

Counts = tuple[int, int]
"""Gains and losses."""
NUMBER = {"none": 0, "one": 1, "both": 2, "all three": 3, "all four": 4}
NUMBERS = r"none|one|both|all three|all four|all \d+|[\d,]+"
COUNTED = rf"({NUMBERS}) of [\d,]+ \w+ gains?, ({NUMBERS}) loses?"
TALLIED = rf"({NUMBERS}) (?:is a gain|are gains),? (?:and )?({NUMBERS}) (?:is a loss|are losses)"
NAMES = [
    "benchmark",
    "experiment",
    "detector",
    "input",
    "by",
    "group",
    "runs",
    "credit",
    "judged_by",
    "statistic",
]
"""Columns that name a comparison; its rows differ by test."""


@pytest.fixture(scope="module")
def material(embedded_store: Store, prepared_folder: DataFolder) -> Material:
    return Material(embedded_store, prepared_folder)


def as_file(rows: Iterable[ExportedStatistic]) -> list[dict[str, str]]:
    """What a reader of statistics.csv sees of differences."""
    listed = csv.DictReader(io.StringIO(statistics_csv({"kind": rows})))
    return [
        row for row in listed if row["statistic"].startswith("difference of")
    ]


def counts_of(rows: Iterable[dict[str, str]]) -> Counts:
    """Gains and losses among the comparisons of these rows of the file."""
    tests = defaultdict(list)
    for row in rows:
        tests[tuple(row[name] for name in NAMES)].append(row)
    found: Counter[bool] = Counter()
    for of in tests.values():
        values, p_values = (
            {row["value"] for row in of},
            [row["p_adjusted"] for row in of],
        )
        assert len(values) == 1
        value = values.pop()
        if value and all(p_values) and max(map(float, p_values)) < 0.05:
            found[float(value) > 0] += 1
        assert len({row["outcome"] for row in of}) == 1
    return found[True], found[False]


def told(sentence: str) -> Counts:
    """Gains and losses that a sentence counts."""
    if match := re.search(
        rf"(adds|lowers accuracy).* for ({NUMBERS}) \w+$", sentence
    ):
        return (
            (number(match[2]), 0)
            if match[1] == "adds"
            else (0, number(match[2]))
        )
    for pattern in (COUNTED, TALLIED):
        if match := re.search(pattern, sentence):
            return number(match[1]), number(match[2])
    if match := re.search(r"the one comparison.* is a (gain|loss)", sentence):
        return (1, 0) if match[1] == "gain" else (0, 1)
    assert re.search(
        r"no evidence|without evidence|(less|smaller) than \d+ points|not tested|nothing to compare",
        sentence,
    ), sentence
    return 0, 0


def number(text: str) -> int:
    return (
        NUMBER[text]
        if text in NUMBER
        else int(text.removeprefix("all ").replace(",", ""))
    )


def readings(
    material: Material,
) -> Iterator[tuple[Judging, VoteRule, Credit, Inputs]]:
    for judging in material.judgings:
        for rule, credit in judging.policies():
            for inputs in comparisons(judging.rows):
                yield judging, rule, credit, inputs


def is_of(
    row: dict[str, str],
    judging: Judging,
    rule: VoteRule,
    credit: Credit,
    inputs: Inputs,
) -> bool:
    expected = {
        "benchmark": judging.benchmark,
        "experiment": judging.experiment,
        "runs": rule,
        "credit": credit,
        "input": inputs_text(inputs),
        "judged_by": "" if credit is Credit.DETECTION else judging.judge,
    }
    is_asked = row["detector"] in set(judging.rows["detector_title"])
    return is_asked and expected.items() <= row.items()


def test_titles_of_results_count_what_the_file_holds(
    material: Material,
) -> None:
    file = as_file(exported_gains(material))
    n_read, n_told = 0, Counter[Counts]()
    for judging, rule, credit, inputs in readings(material):
        table = gain_table(
            judging.rows, rule=rule, credit=credit, inputs=inputs
        )
        mine = [
            row for row in file if is_of(row, judging, rule, credit, inputs)
        ]
        said = told(headline(table, judging.kind, inputs))
        assert said == counts_of(mine), (
            judging.experiment,
            rule,
            credit,
            inputs,
        )
        n_read, n_told[said] = n_read + 1, n_told[said] + 1
    assert n_read == 39
    assert len(n_told) > 3, "gains of all, of some and of none"


@pytest.mark.slow
def test_the_ablations_count_what_the_file_holds(material: Material) -> None:
    """Both rates, the whole and every grouping, of every source of runs and kind of detector."""
    file = as_file(setting_drops.exported_drops(material))
    ran = run_list(material.store, material.verdicts)
    n_read = 0
    for benchmark in material.verdicts["benchmark"].unique():
        for source in sources(material.verdicts, ran, benchmark):
            rows = runs_of(material.verdicts, ran, benchmark, source).rows
            for _, of_kind in rows.groupby("detector_kind"):
                mine = [
                    row
                    for row in file
                    if row["detector"] in set(of_kind["detector_title"])
                ]
                mine = [
                    row
                    for row in mine
                    if (row["benchmark"], row["experiment"])
                    == (benchmark, source)
                ]
                for sentence, expected in _of_ablation(of_kind, mine):
                    assert told(sentence) == counts_of(expected), sentence
                    n_read += 1
    assert n_read == 5 * 2 + 2 * 4 * (3 + 2 * 2)


def _of_ablation(
    rows: pd.DataFrame, file: list[dict[str, str]]
) -> Iterator[tuple[str, list[dict[str, str]]]]:
    reference = reference_of(rows)
    nothing = drops_words.printed_drops([], "Accuracy", rows.head(0))
    for rate, name in (("Accuracy", "accuracy"), ("F1", "F1")):
        of_rate = [
            row for row in file if row["statistic"] == f"difference of {name}"
        ]
        table = drop_table(rows, reference=reference, rate=rate)
        yield (
            drops_words.finding(table, nothing, name, reference),
            [row for row in of_rate if not row["by"]],
        )
        for by in setting_drops.GROUPS:
            for setting in sorted(set(rows["setting"]) - {reference}):
                grid = drops_by(
                    rows,
                    by=by,
                    reference=reference,
                    setting=Setting(setting),
                    rate=rate,
                )
                of = [
                    row
                    for row in of_rate
                    if (row["by"], row["input"])
                    == (by, f"{setting} against {reference}")
                ]
                yield drops_words.finding_by(grid, by, Setting(setting)), of


def test_the_lines_of_the_specification_curve_count_what_the_file_holds(
    material: Material,
) -> None:
    file = as_file(choices.exported_choices(material))
    for judging in material.judgings:
        curve = specification_curve({judging.judge: judging.rows})
        for title in curve["detector_title"].unique():
            line = specification_words.line(
                curve[curve["detector_title"] == title]
            )
            found = re.search(
                rf"({NUMBERS}) finds? a gain,? (?:and )?({NUMBERS}) finds? a loss",
                line,
            )
            assert found is not None
            of = (judging.benchmark, judging.experiment, title)
            mine = [
                row
                for row in file
                if (row["benchmark"], row["experiment"], row["detector"]) == of
            ]
            is_shown = [float(row["p_adjusted"]) < 0.05 for row in mine]
            values = [float(row["value"]) for row in mine]
            n_gains = sum(
                shown and value > 0
                for shown, value in zip(is_shown, values, strict=True)
            )
            assert (number(found[1]), number(found[2])) == (
                n_gains,
                sum(is_shown) - n_gains,
            )


@pytest.mark.corpus
def test_the_breakdown_counts_what_the_file_holds(material: Material) -> None:
    """Every rate, grouping and comparison, under every policy."""
    of_reading: dict[tuple[Any, ...], list[dict[str, str]]] = defaultdict(list)
    read = (
        "benchmark",
        "experiment",
        "runs",
        "credit",
        "input",
        "by",
        "statistic",
    )
    for row in as_file(breakdown.exported_breakdown(material)):
        of_reading[tuple(row[name] for name in read)].append(row)
    n_read = 0
    for judging, rule, credit, inputs in readings(material):
        titles = set(judging.rows["detector_title"])
        for by in breakdown.GROUPINGS if judging.is_main else ():
            for rate in breakdown.RATES:
                name = rate if rate == "F1" else rate.lower()
                key = (
                    judging.benchmark,
                    judging.experiment,
                    rule,
                    credit,
                    inputs_text(inputs),
                    by,
                )
                rows = [
                    row
                    for row in of_reading[*key, f"difference of {name}"]
                    if row["detector"] in titles
                ]
                known = judging.rows[judging.rows[by].notna()]
                table = change_table(
                    known,
                    by=by,
                    rate=rate,
                    rule=rule,
                    credit=credit,
                    inputs=inputs,
                )
                sentence = breakdown_words.finding(table, by, rate, inputs)
                assert told(sentence) == counts_of(rows), sentence
                n_read += 1
    assert n_read > 60


def test_readings_are_read_as_they_are_written() -> None:
    """The reader of this file's sentences, by hand."""
    assert told(
        "Runtime state adds 7 to 10 points of accuracy for all three models"
    ) == (3, 0)
    assert told(
        "Runtime state lowers accuracy by 23.5 points for one model"
    ) == (0, 1)
    assert told(
        "X changes accuracy by −2 to 5 points: 1 of 12 models gains, none loses, 11 without evidence"
    ) == (1, 0)
    assert told(
        "**Of 12 comparisons, 10 are gains, 2 are losses and 1 has nothing to compare.**"
    ) == (10, 2)
    assert told("**the one comparison of F1 is a loss.**") == (0, 1)
    assert told(
        "Runtime state: no evidence of a change of accuracy for any of 3 models (0 points)"
    ) == (0, 0)
    assert WITH_STATE == (Setting.CODE, Setting.RUNTIME)
