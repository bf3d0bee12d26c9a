"""The tables that ship say what the archives say, and a bad row costs one problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from crane_core.domain import (
    Case,
    Instance,
    Judgement,
    LoadProblem,
    ProblemKind,
    PublishedNumber,
    Record,
    Run,
)
from crane_core.importers.filetree import open_tree
from crane_core.importers.registry import importer_for

from .conftest import TreeOf, of

Answers = dict[tuple[str, str, str, int], bool | None]


@pytest.fixture(scope="module")
def shipped(root: Path) -> list[Record]:
    tree = open_tree(root / "data" / "published")
    importer = importer_for(tree)
    assert importer.KIND == "published-facts"
    return list(importer.read(tree))


def answers(records: Iterable[Record], experiment: str) -> Answers:
    return {
        (run.instance_id, run.detector, run.setting, run.run_index): run.crashes
        for run in records
        if isinstance(run, Run) and run.experiment == experiment
    }


def test_the_tables_give_the_published_counts(shipped: list[Record]) -> None:
    counts = Counter(type(record) for record in shipped)
    assert (counts[Case], counts[Instance], counts[Judgement]) == (
        111,
        222,
        2_220,
    )
    assert len(answers(shipped, "crane-llm-2025-10")) == 6_660 + 888
    assert len(answers(shipped, "junobench-construct")) == 216 * 5 + 6
    unreadable = [
        r
        for r in shipped
        if isinstance(r, LoadProblem) and r.kind is ProblemKind.UNREADABLE
    ]
    assert unreadable == []


def test_detections_are_those_of_the_archives(
    shipped: list[Record], october: list[Record], construct: list[Record]
) -> None:
    assert answers(shipped, "crane-llm-2025-10") == answers(
        october, "crane-llm-2025-10"
    )
    assert answers(shipped, "junobench-construct") == answers(
        construct, "junobench-construct"
    )


def test_outcomes_are_those_of_the_archive(
    shipped: list[Record], october: list[Record]
) -> None:
    def outcomes(records: list[Record]) -> set[tuple[str, ...]]:
        return {
            (label.instance_id, label.detector, label.setting, label.label)
            for label in records
            if isinstance(label, Judgement)
            and label.annotator == "published human"
        }

    assert outcomes(shipped) == outcomes(october)


def test_cases_are_labelled_as_in_the_archive(
    shipped: list[Record], october: list[Record]
) -> None:
    def labels(records: list[Record]) -> set[tuple[str | None, ...]]:
        return {
            (
                case.case_id,
                case.library,
                case.root_cause,
                case.exception,
                case.crash_type,
                case.stage,
            )
            for case in records
            if isinstance(case, Case)
        }

    assert labels(shipped) == labels(october)


def test_skipped_runs_are_told_alike_by_table_and_archive(
    shipped: list[Record], construct: list[Record]
) -> None:
    def skipped(records: list[Record]) -> set[Run]:
        return {
            run
            for run in records
            if isinstance(run, Run) and run.run_index == 0
        }

    assert skipped(shipped) == skipped(construct)


def test_every_table_of_the_paper_has_numbers(shipped: list[Record]) -> None:
    numbers = of(shipped, PublishedNumber)
    tables = {
        number.table_id for number in numbers if number.publication == "paper"
    }
    assert tables == {"1", "2a", "2b", "3", "4a", "4b", "5"}
    assert {number.publication for number in numbers} == {
        "paper",
        "junobench-readme",
        "crane-llm-workbook",
    }


def test_a_bad_row_is_one_problem_with_its_line(tree_of: TreeOf) -> None:
    key = "crane-llm-2025-10,gpt-5,code"
    tree = tree_of(
        {
            "cases.csv": "case_id,library,root_cause,exception,crash_type,stage\n!,,,,,\npandas_1,pandas,,,,\n",
            "detections.csv": (
                "experiment,detector,setting,instance,run_1,run_2,run_3,run_4,run_5\n"
                f"{key},pandas_1_fixed,0,1,,0,0\n{key},pandas_1_fixed,0,yes,0,0,0\n{key},pandas_1,0,0,0,0,0\n"
                f"{key},pandas_1_fixed,0\n"
            ),
            "outcomes.csv": f"experiment,detector,setting,instance,annotator,label\n{key},pandas_1_fixed,me,great\n",
            "skipped.csv": b"\xff",
            "paper_numbers.csv": "publication,table_id\npaper,1\n",
        }
    )
    records = list(importer_for(tree).read(tree))
    problems = [
        (record.path, record.place) for record in of(records, LoadProblem)
    ]
    assert problems == [
        ("cases.csv", "line 2"),
        ("detections.csv", "line 3"),
        ("detections.csv", "line 4"),
        ("detections.csv", "line 5"),
        ("skipped.csv", "byte 0"),
        ("outcomes.csv", "line 2"),
        ("paper_numbers.csv", "line 2"),
    ]
    assert [(run.run_index, run.crashes) for run in of(records, Run)] == [
        (1, False),
        (2, True),
        (3, None),
        (4, False),
        (5, False),
    ]


@pytest.mark.parametrize(
    "row",
    [
        "code,pandas_1_fixed,2,,",
        "code,pandas_1_fixed,1,a b,3",
        "code,pandas_1_fixed,1,KeyError,",
        "code,pandas_1,0,,",
    ],
)
def test_a_row_of_our_rules_that_is_not_right_is_one_problem(
    tree_of: TreeOf, row: str
) -> None:
    tables = {"cases.csv": "case_id\n", "detections.csv": "instance\n"}
    tree = tree_of(
        tables
        | {"rules.csv": f"setting,instance,crashes,exception,line\n{row}\n"}
    )
    records = list(importer_for(tree).read(tree))
    assert [
        (record.path, record.place) for record in of(records, LoadProblem)
    ] == [("rules.csv", "line 2")]
    assert not of(records, Run)
