"""JunoBench_construct comes in whole; its README's table is that of the first run."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from crane_core.domain import (
    Case,
    Detector,
    Instance,
    LoadProblem,
    Record,
    Run,
    Setting,
)
from crane_core.importers.registry import importer_for

from .conftest import TreeOf, of

MISTRAL = "mistral-small-3.1"
FOLDER = "llms/detect_if_cell_crash"


def runs_of(records: list[Record]) -> list[Run]:
    return of(records, Run)


def test_the_archive_gives_the_published_counts_and_no_problem(
    construct: list[Record],
) -> None:
    assert of(construct, LoadProblem) == []
    assert len(of(construct, Case)) == 111
    assert len(of(construct, Instance)) == 222
    assert [record.detector for record in of(construct, Detector)] == [MISTRAL]
    answers = [run for run in runs_of(construct) if run.run_index > 0]
    assert len(answers) == 216 * 5
    assert {(run.setting, run.experiment) for run in answers} == {
        (Setting.CODE, "junobench-construct")
    }


def test_skipped_cases_are_runs_that_were_never_asked(
    construct: list[Record],
) -> None:
    skipped = [run for run in runs_of(construct) if run.run_index == 0]
    assert {run.instance_id for run in skipped} == {
        f"{case}_{version}"
        for case in ("numpy_7", "numpy_8", "torch_6")
        for version in ("reproduced", "fixed")
    }
    assert {(run.crashes, run.unanswered) for run in skipped} == {
        (None, "input exceeds the context of the model")
    }


def test_an_error_marker_is_a_run_without_an_answer(
    construct: list[Record],
) -> None:
    unanswered = [
        run
        for run in runs_of(construct)
        if run.run_index > 0 and run.crashes is None
    ]
    assert {(run.instance_id, run.unanswered) for run in unanswered} == {
        ("torch_4_reproduced", "[Error-skipping]"),
        ("sklearn_3_fixed", "[Error-skipping]"),
    }


def votes(runs: list[Run], *, first_run_only: bool) -> dict[str, bool]:
    answers: dict[str, list[bool]] = defaultdict(list)
    for run in runs:
        if run.crashes is not None and (
            run.run_index == 1 or not first_run_only
        ):
            answers[run.instance_id].append(run.crashes)
    return {
        instance_id: 2 * sum(given) > len(given)
        for instance_id, given in answers.items()
    }


def table(verdicts: dict[str, bool]) -> dict[tuple[str, str], tuple[int, int]]:
    """Correct and all, by library and version."""
    correct, n = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for instance_id, crashes in verdicts.items():
        case_id, _, version = instance_id.rpartition("_")
        for row in (case_id.rpartition("_")[0], "total"):
            n[row, version] += 1
            correct[row, version] += crashes == (version == "reproduced")
    return {key: (correct[key], n[key]) for key in n}


def readme_table(root: Path) -> dict[tuple[str, str], tuple[int, int]]:
    printed: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    with (root / "data" / "published" / "readme_numbers.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        for row in csv.DictReader(file):
            detector, _, library = row["row"].partition(", ")
            what, _, version = row["column"].partition(" ")
            if detector == "Mistral Small 3.1":
                side = "reproduced" if version == "(buggy)" else "fixed"
                printed[library, side][what] = int(row["printed"])
    return {
        key: (cells["Correct"], cells["n"]) for key, cells in printed.items()
    }


def test_the_first_run_gives_every_number_of_the_readme(
    construct: list[Record], root: Path
) -> None:
    assert table(
        votes(runs_of(construct), first_run_only=True)
    ) == readme_table(root)


def test_the_majority_that_the_readme_names_gives_other_numbers_in_six_cells(
    construct: list[Record], root: Path
) -> None:
    printed, voted = (
        readme_table(root),
        table(votes(runs_of(construct), first_run_only=False)),
    )
    assert {
        key: (printed[key], voted[key])
        for key in printed
        if printed[key] != voted[key]
    } == {
        ("pandas", "reproduced"): ((6, 15), (7, 15)),
        ("sklearn", "reproduced"): ((7, 15), (9, 15)),
        ("tensorflow", "reproduced"): ((12, 15), (11, 15)),
        ("torch", "fixed"): ((5, 14), (6, 14)),
        ("total", "reproduced"): ((63, 108), (65, 108)),
        ("total", "fixed"): ((65, 108), (66, 108)),
    }


def test_cases_keep_their_message_with_its_apostrophes(
    construct: list[Record],
) -> None:
    messages = {
        record.case_id: record.message
        for record in construct
        if isinstance(record, Case)
    }
    assert (
        messages["numpy_2"] == "'numpy.ndarray' object has no attribute 'join'"
    )


def test_a_detector_is_whatever_has_results(tree_of: TreeOf) -> None:
    files = {
        f"{FOLDER}/llama3_70b/results_buggy/crash_detection_results_torch_1.json": json.dumps(
            ["TRUE", " false "]
        ),
        f"{FOLDER}/llama3_70b/cases_exceeds_maxtoken.txt": "torch_4\r\nnumpy 5\r\n\r\nseaborn_1",
        f"{FOLDER}/other one/results_fixed/crash_detection_results_torch_1.json": '["FALSE", "[Error]", null]',
        f"{FOLDER}/other one/results_fixed/crash_detection_results_.json": "[]",
        f"{FOLDER}/other one/results_fixed/crash_detection_results_torch_2.json": "oops",
        "LICENSE": "",
    }
    tree = tree_of(dict(files))
    records = list(importer_for(tree).read(tree))
    assert [
        (r.instance_id, r.detector, r.run_index, r.crashes, r.unanswered)
        for r in runs_of(records)
    ] == [
        (
            "torch_4_reproduced",
            "llama-3.3-70b",
            0,
            None,
            "input exceeds the context of the model",
        ),
        (
            "torch_4_fixed",
            "llama-3.3-70b",
            0,
            None,
            "input exceeds the context of the model",
        ),
        (
            "seaborn_1_reproduced",
            "llama-3.3-70b",
            0,
            None,
            "input exceeds the context of the model",
        ),
        (
            "seaborn_1_fixed",
            "llama-3.3-70b",
            0,
            None,
            "input exceeds the context of the model",
        ),
        ("torch_1_reproduced", "llama-3.3-70b", 1, True, None),
        ("torch_1_reproduced", "llama-3.3-70b", 2, False, None),
        ("torch_1_fixed", "other-one", 1, False, None),
        ("torch_1_fixed", "other-one", 2, None, "[Error]"),
    ]
    problems = [
        (r.path.rpartition("/")[2], r.place) for r in of(records, LoadProblem)
    ]
    assert sorted(problems) == [
        ("cases_exceeds_maxtoken.txt", "line 2"),
        ("crash_detection_results_.json", "file name"),
        ("crash_detection_results_torch_1.json", "answer 3"),
        ("crash_detection_results_torch_2.json", "file"),
    ]


@pytest.mark.parametrize("name", ["results_buggy", "results_fixed"])
def test_one_folder_of_results_is_enough_to_be_recognised(
    tree_of: TreeOf, name: str
) -> None:
    tree = tree_of(
        {
            f"{FOLDER}/m/{name}/crash_detection_results_torch_1.json": "[]",
            "x/y": "",
        }
    )
    assert importer_for(tree).KIND == "junobench-construct"
