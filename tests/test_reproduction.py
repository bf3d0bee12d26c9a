"""Every number of the published tables that the embedded facts can give comes out as printed."""

import csv
import io
import json
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

from crane_core.domain import library_group
from crane_core.pipeline.results.contradictions import contradictions
from crane_core.pipeline.study import study_tables as tables_of
from crane_core.pipeline.study.study_tables import drift, status_counts
from crane_core.pipeline.study.table_cells import (
    CellStatus,
    StudyTable,
    printed_decimals,
    printed_value,
)
from crane_core.pipeline.study.table_formats import Format, render
from crane_core.rounding import rounded

PUBLISHED = Path(__file__).resolve().parents[1] / "data" / "published"
KEY = ["experiment", "detector", "setting", "instance_id"]
TITLES = {
    "gemini-2.5-flash": ("Gemini 2.5 Flash", "llm"),
    "qwen-2.5-32b-instruct": ("Qwen2.5-32B-Instruct", "llm"),
    "gpt-5": ("GPT-5", "llm"),
    "mistral-small-3.1": ("Mistral Small 3.1", "llm"),
    "pylint": ("pylint", "analyzer"),
    "pyright": ("pyright", "analyzer"),
}


def published(name: str) -> pd.DataFrame:
    return pd.read_csv(
        PUBLISHED / name, dtype=str, keep_default_na=False
    ).rename(columns={"instance": "instance_id"})


def tallied() -> pd.DataFrame:
    """Answers and skipped instances as counts per instance, detector, setting and experiment."""
    answers = published("detections.csv")
    runs = answers[[column for column in answers if column.startswith("run_")]]
    is_llm = ~answers["detector"].isin(["pylint", "pyright"])
    answered = answers[KEY].assign(
        n_crash=(runs == "1").sum(axis=1),
        n_safe=(runs == "0").sum(axis=1),
        first_run=answers["run_1"].map({"1": True, "0": False}),
        n_unanswered=(runs == "").sum(axis=1) * is_llm,
        n_skipped=0,
    )
    never_asked = published("skipped.csv")[KEY].assign(
        n_crash=0, n_safe=0, n_unanswered=0, n_skipped=1
    )
    return pd.concat([answered, never_asked], ignore_index=True)


def described(tally: pd.DataFrame) -> pd.DataFrame:
    ids = tally["instance_id"].str.rsplit("_", n=1, expand=True)
    frame = tally.assign(
        benchmark="junobench",
        case_id=ids[0],
        version=ids[1],
        truth=ids[1] == "reproduced",
    )
    frame = frame.merge(
        published("cases.csv"), on="case_id", validate="many_to_one"
    )
    outcomes = published("outcomes.csv").rename(columns={"label": "human"})[
        [*KEY, "human"]
    ]
    frame = frame.merge(outcomes, on=KEY, how="left", validate="one_to_one")
    titles = frame["detector"].map(TITLES)
    return frame.assign(
        library_group=frame["library"].map(library_group),
        detector_title=titles.str[0],
        detector_kind=titles.str[1],
    )


@pytest.fixture(scope="module")
def verdicts() -> pd.DataFrame:
    return described(tallied())


@pytest.fixture(scope="module")
def numbers() -> pd.DataFrame:
    names = ("paper_numbers.csv", "workbook_numbers.csv", "readme_numbers.csv")
    return pd.concat([published(name) for name in names], ignore_index=True)


def study_tables(
    verdicts: pd.DataFrame, numbers: pd.DataFrame
) -> dict[str, StudyTable]:
    return tables_of.study_tables(verdicts, numbers)


@pytest.fixture(scope="module")
def tables(
    verdicts: pd.DataFrame, numbers: pd.DataFrame
) -> dict[str, StudyTable]:
    return study_tables(verdicts, numbers)


def test_no_printed_cell_differs(tables: dict[str, StudyTable]) -> None:
    assert drift(tables.values()) == []


@pytest.mark.parametrize(
    ("table_id", "equal", "published_only", "ours_only"),
    [
        ("1", 21, 0, 0),
        ("2a", 24, 0, 0),
        ("2b", 24, 0, 0),
        ("3", 18, 0, 0),
        ("4a", 6, 18, 0),
        ("4b", 6, 6, 0),
        ("5", 0, 8, 0),
        ("libraries", 624, 0, 0),
        ("analyzers", 407, 0, 9),
        ("junobench-llms", 48, 48, 24),
    ],
)
def test_cells_by_status(
    tables: dict[str, StudyTable],
    table_id: str,
    equal: int,
    published_only: int,
    ours_only: int,
) -> None:
    counts = status_counts(tables.values())
    assert len(counts) == 10
    assert counts[table_id] == {
        CellStatus.EQUAL: equal,
        CellStatus.DIFFERS: 0,
        CellStatus.PUBLISHED_ONLY: published_only,
        CellStatus.OURS_ONLY: ours_only,
    }


def test_known_cells_by_hand(tables: dict[str, StudyTable]) -> None:
    cells = {
        (table.id, cell.row, cell.column): cell
        for table in tables.values()
        for cell in table.cells
    }
    assert cells["2a", "GPT-5", "Accuracy (+RT)"].ours == 100 * Fraction(
        170, 222
    )
    assert cells[
        "2b", "Gemini 2.5 Flash", "Precision (-RT)"
    ].ours == 100 * Fraction(90, 90 + 51)
    assert cells["2b", "Gemini 2.5 Flash", "Precision (-RT)"].n == 222
    assert cells["1", "Total", "Sampled cases"].ours == 222
    assert (
        cells[
            "junobench-llms", "Mistral Small 3.1, total", "Correct (buggy)"
        ].ours
        == 63
    )
    assert (
        cells[
            "junobench-llms",
            "Mistral Small 3.1, total",
            "Correct by majority (buggy)",
        ].ours
        == 65
    )
    assert (
        cells[
            "junobench-llms", "Llama 3.3 70B, total", "Correct (buggy)"
        ].status
        is CellStatus.PUBLISHED_ONLY
    )


def test_f1_without_a_hit_is_zero_where_the_workbook_is_blank(
    tables: dict[str, StudyTable],
) -> None:
    alone = [
        cell
        for cell in tables["analyzers"].cells
        if cell.status is CellStatus.OURS_ONLY
    ]
    assert {cell.column.partition(" ")[0] for cell in alone} == {"F1"}
    assert {cell.ours for cell in alone} == {0}


def test_one_flipped_detection_is_drift(
    verdicts: pd.DataFrame, numbers: pd.DataFrame
) -> None:
    place = "detector == 'gpt-5' and setting == 'runtime' and instance_id == 'torch_1_fixed'"
    where = verdicts.query(place).index
    flipped = verdicts.copy()
    flipped.loc[where, ["n_crash", "n_safe"]] = verdicts.loc[
        where, ["n_safe", "n_crash"]
    ].to_numpy()
    found = drift(study_tables(flipped, numbers).values())
    assert ("2b", "Accuracy (+RT)") in {
        (table_id, cell.column) for table_id, cell in found
    }
    assert {table_id for table_id, _ in found} == {
        "2a",
        "2b",
        "4a",
        "4b",
        "libraries",
    }


def test_one_changed_outcome_is_drift(
    verdicts: pd.DataFrame, numbers: pd.DataFrame
) -> None:
    changed = verdicts.copy()
    where = verdicts.query(
        "detector == 'gpt-5' and setting == 'code' and human == 'partial'"
    ).index[0]
    changed.loc[where, "human"] = "correct"
    assert {
        table_id
        for table_id, _ in drift(study_tables(changed, numbers).values())
    } == {
        "2a",
        "3",
        "libraries",
    }


def test_table_3_counts_outcomes_not_votes(
    verdicts: pd.DataFrame, numbers: pd.DataFrame
) -> None:
    """The third partially correct outcome of GPT-5 (+RT) stands on a vote of 2 to 3."""
    place = (
        "detector == 'gpt-5' and setting == 'runtime' and human == 'partial'"
    )
    partial = verdicts.query(place).set_index("instance_id")[
        ["n_crash", "n_safe"]
    ]
    assert len(partial) == 3
    assert partial.loc["numpy_10_reproduced"].tolist() == [2, 3]
    assert (partial.drop("numpy_10_reproduced")["n_crash"] > 2).all()


def test_cells_of_table_3_that_count_an_undetected_crash_are_listed_as_contradictions(
    verdicts: pd.DataFrame, tables: dict[str, StudyTable]
) -> None:
    """By the vote, GPT-5 (+RT) has nine flawed diagnoses, two of them partially correct; ten and three are printed."""
    rows = verdicts.query(
        "experiment == 'crane-llm-2025-10' and detector == 'gpt-5' and setting == 'runtime'"
    )
    detected = rows[rows["n_crash"] > rows["n_safe"]]
    by_vote = {
        "Total (+RT)": detected["human"].isin(["partial", "wrong"]).sum(),
        "PC (+RT)": (detected["human"] == "partial").sum(),
    }
    cells = {(cell.row, cell.column): cell for cell in tables["3"].cells}
    listed = published("contradictions.csv").query("table_id == '3'")
    assert set(listed["row"]) == {"GPT-5"}
    assert (
        dict(zip(listed["column"], listed["computed"].astype(int), strict=True))
        == by_vote
    )
    for column, printed in zip(
        listed["column"], listed["printed"], strict=True
    ):
        assert cells["GPT-5", column].printed == str(printed)
    llms = verdicts.query(
        "experiment == 'crane-llm-2025-10' and truth and detector_kind == 'llm'"
    )
    llms = llms[
        llms["human"].isin(["partial", "wrong"])
        & (llms["n_crash"] <= llms["n_safe"])
    ]
    assert llms["instance_id"].tolist() == ["numpy_10_reproduced"]


def test_readme_of_junobench_prints_the_first_run_not_the_vote(
    tables: dict[str, StudyTable],
) -> None:
    runs = published("detections.csv").query(
        "experiment == 'junobench-construct'"
    )
    is_buggy = runs["instance_id"].str.endswith("_reproduced")
    is_right = (runs["run_1"] == "1") == is_buggy
    library = runs["instance_id"].str.partition("_")[0]
    first = is_right.groupby([library, is_buggy]).sum()
    cells = {
        (cell.row, cell.column): cell for cell in tables["junobench-llms"].cells
    }
    for (name, buggy), right in first.items():
        cell = cells[
            f"Mistral Small 3.1, {name}",
            f"Correct ({'buggy' if buggy else 'fixed'})",
        ]
        assert cell.printed == str(right), cell
    majority = {
        (row, column.replace(" by majority", "")): cell.ours
        for (row, column), cell in cells.items()
        if "by majority" in column
    }
    parting = {
        place: ours
        for place, ours in majority.items()
        if ours != cells[place].ours
    }
    listed = published("contradictions.csv").query(
        "table_id == 'junobench-llms'"
    )
    places = list(zip(listed["row"], listed["column"], strict=True))
    assert parting == {
        place: Fraction(text)
        for place, text in zip(places, listed["computed"], strict=True)
    }
    assert listed["printed"].tolist() == [
        cells[place].printed
        for place in zip(listed["row"], listed["column"], strict=True)
    ]


def test_contradictions_of_vote_and_outcome(verdicts: pd.DataFrame) -> None:
    found = contradictions(verdicts)
    places = (
        found[["instance_id", "detector", "setting", "vote", "human"]]
        .to_records(index=False)
        .tolist()
    )
    assert sorted(places) == [
        ("NBspecific_11_reproduced", "pyright", "code", "crash", "misdetected"),
        ("numpy_10_reproduced", "gpt-5", "runtime", "no crash", "partial"),
        ("numpy_15_reproduced", "pyright", "code", "crash", "misdetected"),
    ]
    assert found["why"].str.startswith("the outcome").all()


def test_no_paper_cell_hangs_on_the_way_of_rounding(
    tables: dict[str, StudyTable],
) -> None:
    for table_id in ("1", "2a", "2b", "3", "4a", "4b"):
        for cell in tables[table_id].cells:
            if cell.ours is not None and cell.printed:
                tail = abs(cell.ours) * 10 ** printed_decimals(cell.printed) % 1
                assert tail != Fraction(1, 2), cell


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [
        ("0.25", 1, "0.3"),
        ("-0.25", 1, "-0.3"),
        ("76.57", 1, "76.6"),
        ("72.97", 0, "73"),
        ("0", 3, "0"),
    ],
)
def test_halves_are_rounded_away_from_zero(
    value: str, decimals: int, expected: str
) -> None:
    assert rounded(Fraction(value), decimals) == Fraction(expected)
    assert printed_value(f"{expected}%") == Fraction(expected)


def test_ablation_needs_every_instance_of_a_published_release(
    verdicts: pd.DataFrame, numbers: pd.DataFrame
) -> None:
    runtime = verdicts.query("detector == 'gpt-5' and setting == 'runtime'")
    whole = runtime.assign(experiment="crane-llm-2026", setting="runtime-S")
    column = {"4a": "F1 (+RT-S)"}
    for extra, is_measured in (
        (whole, True),
        (whole.head(190), False),
        (whole.assign(experiment="mine"), False),
    ):
        found = study_tables(
            pd.concat([verdicts, extra], ignore_index=True), numbers
        )["4a"].cells
        cell = next(
            cell
            for cell in found
            if (cell.row, cell.column) == ("GPT-5", column["4a"])
        )
        assert (cell.ours is not None) == is_measured


def test_an_experiment_of_ones_own_leaves_the_published_tables_alone(
    verdicts: pd.DataFrame, numbers: pd.DataFrame, tables: dict[str, StudyTable]
) -> None:
    mine = verdicts.query("detector == 'gpt-5'").assign(
        experiment="mine", n_crash=5, n_safe=0
    )
    assert (
        study_tables(pd.concat([verdicts, mine], ignore_index=True), numbers)
        == tables
    )


def test_without_verdicts_everything_is_published_only(
    verdicts: pd.DataFrame, numbers: pd.DataFrame
) -> None:
    statuses = {
        cell.status
        for table in study_tables(verdicts.head(0), numbers).values()
        for cell in table.cells
    }
    assert statuses == {CellStatus.PUBLISHED_ONLY}


def test_json_is_what_the_contract_says(tables: dict[str, StudyTable]) -> None:
    cells = json.loads(render(tables.values(), Format.JSON))["tables"]["2a"][
        "cells"
    ]
    first = next(
        cell
        for cell in cells
        if (cell["row"], cell["column"]) == ("GPT 5", "Recall (-RT)")
    )
    assert {"row", "column", "printed", "ours", "delta", "n"} <= first.keys()
    assert first["printed"] == 56.8
    assert first["ours"] == pytest.approx(100 * 63 / 111)
    assert first["delta"] == pytest.approx(first["ours"] - first["printed"])
    assert first["n"] == 222


def test_csv_has_a_line_per_cell_and_markdown_and_latex_the_numbers(
    tables: dict[str, StudyTable],
) -> None:
    rows = list(
        csv.DictReader(io.StringIO(render(tables.values(), Format.CSV)))
    )
    assert len(rows) == sum(len(table.cells) for table in tables.values())
    assert (
        "| GPT-5 | Recall (-RT) | 56.8% | 56.76% | -0.04 | 222 | equal |"
        in render([tables["2a"]], Format.MD)
    )
    latex = render([tables["4b"]], Format.LATEX)
    assert r"80.4\% & [79.3\%]" in latex
    assert r"\begin{table}" in latex


def test_a_table_for_latex_is_no_wider_than_the_page(
    tables: dict[str, StudyTable],
) -> None:
    """A line of table 2a is too wide for a column; one of the analyzers, with 24 numbers, for the page."""
    assert r"\begin{table*}" in render([tables["2a"]], Format.LATEX)
    analyzers = render([tables["analyzers"]], Format.LATEX)
    rows = [line for line in analyzers.splitlines() if "pylint, torch" in line]
    assert len(rows) > 1
    assert max(row.count("&") for row in rows) < 15
