"""The published archive of October 2025 comes in whole, and one bad file in it costs one problem."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

import pytest

from crane_core.domain import (
    AnnotatorKind,
    Benchmark,
    Case,
    Cell,
    CellRole,
    Detector,
    DetectorKind,
    Instance,
    Judgement,
    KernelState,
    Label,
    LoadProblem,
    ProblemKind,
    Prompt,
    Record,
    Run,
    Setting,
    Version,
)
from crane_core.importers.crane_llm_workbooks import SETTLED
from crane_core.importers.registry import importer_for

from .conftest import Sheets, TreeOf, of

T = TypeVar("T")
ORIGIN = "crane-llm-2025-10"


def one(records: list[T], **facts: object) -> T:
    [found] = [
        record
        for record in records
        if all(getattr(record, name) == value for name, value in facts.items())
    ]
    return found


def test_the_archive_gives_the_published_counts_and_no_problem(
    october: list[Record],
) -> None:
    assert of(october, LoadProblem) == []
    assert len(of(october, Case)) == 111
    assert len(of(october, Instance)) == 222
    assert len(of(october, KernelState)) == 222
    assert len(of(october, Prompt)) == 444
    kinds = {
        detector.detector: detector.kind for detector in of(october, Detector)
    }
    runs = of(october, Run)
    assert sum(kinds[run.detector] is DetectorKind.LLM for run in runs) == 6_660
    assert (
        sum(kinds[run.detector] is DetectorKind.ANALYZER for run in runs) == 888
    )
    assert [benchmark.benchmark for benchmark in of(october, Benchmark)] == [
        "junobench"
    ]


def test_every_record_has_its_own_key(october: list[Record]) -> None:
    runs = [
        (r.instance_id, r.detector, r.setting, r.experiment, r.run_index)
        for r in of(october, Run)
    ]
    cells = [(c.instance_id, c.position) for c in of(october, Cell)]
    labels = [
        (
            j.instance_id,
            j.detector,
            j.setting,
            j.annotator,
            j.run_index,
            j.repetition,
            j.presentation,
        )
        for j in of(october, Judgement)
    ]
    for keys in (runs, cells, labels):
        assert len(keys) == len(set(keys))


def test_cells_are_numbered_from_zero_and_the_target_is_last(
    october: list[Record],
) -> None:
    by_instance: dict[str, list[Cell]] = {}
    for cell in of(october, Cell):
        by_instance.setdefault(cell.instance_id, []).append(cell)
    assert len(by_instance) == 222
    for cells in by_instance.values():
        assert [cell.position for cell in cells] == list(range(len(cells)))
        assert [cell.role for cell in cells] == [CellRole.EXECUTED] * (
            len(cells) - 1
        ) + [CellRole.TARGET]
        assert {cell.origin for cell in cells} == {ORIGIN}
    alone = {
        instance_id
        for instance_id, cells in by_instance.items()
        if len(cells) == 1
    }
    assert alone == {
        "NBspecific_4_reproduced",
        "NBspecific_19_reproduced",
        "numpy_9_fixed",
        "numpy_9_reproduced",
        "torch_14_fixed",
        "torch_14_reproduced",
    }
    assert max(
        by_instance, key=lambda instance_id: len(by_instance[instance_id])
    ).startswith("numpy_8_")


def test_prompts_are_addressed_by_the_digest_of_their_text(
    october: list[Record],
) -> None:
    prompts = of(october, Prompt)
    assert Counter(prompt.setting for prompt in prompts) == {
        Setting.CODE: 222,
        Setting.RUNTIME: 222,
    }
    assert all(
        hashlib.sha256(prompt.text.encode()).hexdigest() == prompt.sha256
        for prompt in prompts
    )


def test_a_run_names_the_prompt_that_was_asked(october: list[Record]) -> None:
    digests = {
        (prompt.instance_id, prompt.setting): prompt.sha256
        for prompt in of(october, Prompt)
    }
    for run in of(october, Run):
        same_text = run.diagnostics is None or run.setting is Setting.CODE
        assert run.prompt_sha256 == (
            digests[run.instance_id, run.setting] if same_text else None
        )


def test_detections_per_detector_and_setting(october: list[Record]) -> None:
    crashes = Counter(
        (run.detector, run.setting) for run in of(october, Run) if run.crashes
    )
    assert crashes == {
        ("gemini-2.5-flash", Setting.CODE): 703,
        ("gemini-2.5-flash", Setting.RUNTIME): 731,
        ("qwen-2.5-32b-instruct", Setting.CODE): 489,
        ("qwen-2.5-32b-instruct", Setting.RUNTIME): 429,
        ("gpt-5", Setting.CODE): 496,
        ("gpt-5", Setting.RUNTIME): 527,
        ("pylint", Setting.CODE): 41,
        ("pylint", Setting.RUNTIME): 40,
        ("pyright", Setting.CODE): 125,
        ("pyright", Setting.RUNTIME): 130,
    }
    assert all(
        run.crashes is not None and run.unanswered is None
        for run in of(october, Run)
    )


def test_analyzers_keep_their_diagnostics(october: list[Record]) -> None:
    counts = Counter[tuple[str, Setting]]()
    for run in of(october, Run):
        if run.diagnostics is not None:
            counts[run.detector, run.setting] += len(
                json.loads(run.diagnostics)
            )
    assert counts == {
        ("pylint", Setting.CODE): 120,
        ("pylint", Setting.RUNTIME): 109,
        ("pyright", Setting.CODE): 647,
        ("pyright", Setting.RUNTIME): 577,
    }


def test_empty_reasoning_is_kept_as_it_is(october: list[Record]) -> None:
    empty = [run for run in of(october, Run) if run.reasoning == ""]
    assert {(run.instance_id, run.detector) for run in empty} == {
        ("sklearn_10_reproduced", "qwen-2.5-32b-instruct")
    }
    assert len(empty) == 10


def test_runtime_states_are_literal_but_for_28(october: list[Record]) -> None:
    states = of(october, KernelState)
    assert sum(not state.is_literal for state in states) == 28
    assert (
        sum(len(state.variables) + len(state.accesses) for state in states)
        == 1_260
    )
    assert (
        sum(not state.variables and not state.accesses for state in states)
        == 14
    )
    assert {state.setting for state in states} == {Setting.RUNTIME}


def test_judges_are_two_orders_and_five_repetitions(
    october: list[Record],
) -> None:
    judged = [
        label
        for label in of(october, Judgement)
        if label.annotator_kind is AnnotatorKind.JUDGE
    ]
    of_llms = [label for label in judged if label.run_index > 0]
    of_analyzers = [label for label in judged if label.run_index == 0]
    assert len(of_llms) == 3 * 2 * 222 * 2 * 5 * 5
    assert len(of_analyzers) == 2 * 2 * 222 * 2 * 5
    assert {label.repetition for label in of_llms} == {1, 2, 3, 4, 5}
    assert {label.run_index for label in of_llms} == {1, 2, 3, 4, 5}
    undecided = [label for label in judged if label.label is Label.UNVERIFIABLE]
    assert {(u.instance_id, u.detector, u.presentation) for u in undecided} == {
        ("torch_11_reproduced", "pyright", "reversed")
    }
    assert len(undecided) == 10


def test_human_outcomes_ignore_the_footers_of_the_sheet(
    october: list[Record],
) -> None:
    human = [
        label
        for label in of(october, Judgement)
        if label.annotator == "published human"
    ]
    assert len(human) == 222 * 10
    assert {label.repetition for label in human} == {1}
    assert {label.run_index for label in human} == {0}
    fixed = {
        label.label for label in human if label.instance_id.endswith("fixed")
    }
    assert fixed == {Label.CORRECT, Label.MISDETECTED}


def test_the_earlier_human_pass_differs_in_one_outcome(
    october: list[Record],
) -> None:
    passes: dict[str, dict[tuple[str, str, Setting], Label]] = {}
    for label in of(october, Judgement):
        if label.annotator_kind is AnnotatorKind.HUMAN:
            key = (label.instance_id, label.detector, label.setting)
            passes.setdefault(label.annotator, {})[key] = label.label
    final, earlier = (
        passes["published human"],
        passes["published human, earlier pass"],
    )
    assert final.keys() == earlier.keys()
    differing = {
        key: (earlier[key], final[key])
        for key in final
        if final[key] is not earlier[key]
    }
    assert differing == {
        ("sklearn_15_reproduced", "gpt-5", Setting.CODE): (
            Label.CORRECT,
            Label.WRONG,
        )
    }


def test_the_validated_differences_from_the_judge_come_in(
    october: list[Record],
) -> None:
    """156 verdicts in ten blocks; only one of them needed a settlement, and it is the one outcome that was changed."""
    names = ("published human", "published human, earlier pass", SETTLED)
    labels: dict[str, dict[tuple[str, str, Setting], Judgement]] = {
        name: {} for name in names
    }
    for label in of(october, Judgement):
        if label.annotator in labels:
            labels[label.annotator][
                label.instance_id, label.detector, label.setting
            ] = label
    validated = labels[SETTLED]
    assert len(validated) == 156
    assert Counter(key[1:] for key in validated) == {
        ("gemini-2.5-flash", Setting.CODE): 10,
        ("gemini-2.5-flash", Setting.RUNTIME): 12,
        ("qwen-2.5-32b-instruct", Setting.CODE): 9,
        ("qwen-2.5-32b-instruct", Setting.RUNTIME): 7,
        ("gpt-5", Setting.CODE): 16,
        ("gpt-5", Setting.RUNTIME): 8,
        ("pylint", Setting.CODE): 10,
        ("pylint", Setting.RUNTIME): 10,
        ("pyright", Setting.CODE): 35,
        ("pyright", Setting.RUNTIME): 39,
    }
    assert {label.annotator_kind for label in validated.values()} == {
        AnnotatorKind.HUMAN
    }
    changed = ("sklearn_15_reproduced", "gpt-5", Setting.CODE)
    final, earlier = (
        labels["published human"],
        labels["published human, earlier pass"],
    )
    assert {
        key for key in validated if validated[key].label is not final[key].label
    } == set()
    assert {
        key
        for key in validated
        if validated[key].label is not earlier[key].label
    } == {changed}
    assert {key for key in validated if validated[key].note} == {changed}


def test_a_damaged_sheet_of_validated_differences_tells_each_fault(
    tree_of: TreeOf, workbook: Callable[[Sheets], bytes]
) -> None:
    rows = [
        ["different instance", "prediction source", None, None, "settlement"],
        ["pandas_1_reproduced", "correct", "wrong", "correct", None],
        [
            None,
            "gpt_5_code_human",
            "gpt_5_code_pred",
            "gpt_5_code_validator",
            None,
        ],
        [
            "pandas_1_reproduced",
            "correct",
            "partially correct",
            "correct",
            None,
        ],
        [
            "pandas_1_reproduced",
            "correct",
            "partially correct",
            "reasoning wrong",
            None,
        ],
        ["pandas_2_reproduced", "correct", "partially correct", None, None],
        [
            "pandas_3_reproduced",
            "correct",
            "partially correct",
            "perhaps",
            None,
        ],
        [
            "pandas_4_reproduced",
            "correct",
            "partially correct",
            "correct",
            "reasoning wrong",
        ],
        [
            "pandas_5_reproduced",
            "correct",
            "partially correct",
            "correct",
            "who knows",
        ],
        ["a footer", "correct", "partially correct", "correct", None],
    ]
    path = "results/evaluation_human_LLMjudge_validation.xlsx"
    sheets = {"Human_evaluation": [["instance"]], "Human_Validation": rows}
    records = read(
        tree_of, {f"{RAW}/pandas_1_fixed.json": GOOD, path: workbook(sheets)}
    )
    assert [
        (j.instance_id, j.label, j.annotator) for j in of(records, Judgement)
    ] == [
        ("pandas_1_reproduced", Label.CORRECT, SETTLED),
        ("pandas_4_reproduced", Label.WRONG, SETTLED),
    ]
    assert [
        (problem.place.split(", ")[1], problem.kind)
        for problem in of(records, LoadProblem)
    ] == [
        ("row 2", ProblemKind.UNREADABLE),
        ("row 5", ProblemKind.CONTRADICTION),
        ("row 6", ProblemKind.UNREADABLE),
        ("row 7", ProblemKind.UNREADABLE),
        ("row 9", ProblemKind.UNREADABLE),
    ]


def test_cases_carry_labels_message_traceback_and_diagnosis(
    october: list[Record],
) -> None:
    cases = of(october, Case)
    assert Counter(case.root_cause for case in cases) == {
        "API misuse": 45,
        "data confusion": 25,
        "NB specific": 20,
        "implementation error": 18,
        "ML model confusion": 2,
        "library cause": 1,
    }
    assert Counter(case.library for case in cases) == {
        "NBspecific": 20,
        "pandas": 15,
        "numpy": 15,
        "sklearn": 15,
        "torch": 15,
        "tensorflow": 15,
        "matplotlib": 6,
        "seaborn": 6,
        "statsmodels": 2,
        "lightgbm": 1,
        "torchvision": 1,
    }
    assert all(
        case.diagnosis and case.message and case.stage and case.crash_type
        for case in cases
    )
    first = one(cases, case_id="NBspecific_1")
    assert (first.exception, first.message) == (
        "nameerror",
        "name 'tf_idf' is not defined",
    )
    assert first.traceback is not None
    assert (
        first.traceback.splitlines()[-1]
        == "NameError: name 'tf_idf' is not defined"
    )
    assert not any("\x1b" in (case.traceback or "") for case in cases)


def test_remarks_of_the_ground_truth_are_joined(october: list[Record]) -> None:
    instances = of(october, Instance)
    both = one(
        instances, case_id="NBspecific_3", version=Version.REPRODUCED
    ).remark
    assert (
        both
        == "runinfo should know the shapes of y_test and yFit; miss executing a cell"
    )
    assert (
        sum(instance.remark is not None for instance in instances)
        == 46 + 24 - 7
    )
    assert (
        one(instances, case_id="pandas_1", version=Version.FIXED).remark is None
    )


RAW = "llms/llms_outputs/results_raw/gpt_5/crash_detection_code"
INPUTS = "llms/llms_inputs/executed_code"
TEXT = "# Executed Cells:\n## Cell 1:\nrows = 3\n\n# Target Cell:\nprint(rows)"
GOOD = '[{"reasoning": "rows is known", "detection": false}]'


def read(tree_of: TreeOf, files: dict[str, str | bytes]) -> list[Record]:
    tree = tree_of({"LICENSE": "", **files})
    importer = importer_for(tree)
    assert importer.KIND == ORIGIN
    return list(importer.read(tree))


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        (b"", "file", "not JSON"),
        (b"[", "file", "not JSON"),
        (b"\xff\xfe[]", "file", "not JSON in UTF-8"),
        (b'{"reasoning": ""}', "file", "expected a list, not dict"),
        (b"[null]", "reply 1", "not NoneType"),
        (b"[[]]", "reply 1", "not list"),
        (b'["\\ud800"]', "file", "surrogates not allowed"),
        (b"[" * 100_000, "file", "not JSON"),
    ],
)
def test_a_bad_file_of_replies_is_one_problem_and_its_neighbour_is_read(
    tree_of: TreeOf, content: bytes, place: str, reason: str
) -> None:
    records = read(
        tree_of,
        {
            f"{RAW}/pandas_1_fixed.json": content,
            f"{RAW}/pandas_2_fixed.json": GOOD,
        },
    )
    [problem] = of(records, LoadProblem)
    assert (problem.path, problem.place) == (
        f"{RAW}/pandas_1_fixed.json",
        place,
    )
    assert reason in problem.reason
    assert [(run.instance_id, run.crashes) for run in of(records, Run)] == [
        ("pandas_2_fixed", False)
    ]


def test_replies_that_are_no_answer_stay_as_runs_without_one(
    tree_of: TreeOf,
) -> None:
    replies = [
        "I think so.",
        {"reasoning": 5, "detection": True},
        {"reasoning": "x", "detection": "true"},
        {},
    ]
    records = read(
        tree_of, {f"{RAW}/pandas_1_fixed.json": "\ufeff" + json.dumps(replies)}
    )
    assert [
        (r.run_index, r.crashes, r.reasoning, r.unanswered)
        for r in of(records, Run)
    ] == [
        (1, None, "I think so.", "the reply is not the requested JSON"),
        (2, True, "5", None),
        (3, None, "x", "the reply has no boolean under detection"),
        (4, None, None, "the reply has no boolean under detection"),
    ]
    assert of(records, LoadProblem) == []


def test_an_unknown_detector_is_taken_from_its_folder(tree_of: TreeOf) -> None:
    path = "llms/llms_outputs/results_raw/Some_New Model/crash_detection_code/other/seaborn_1_fixed.json"
    records = read(tree_of, {path: GOOD})
    assert of(records, Detector) == [
        Detector("some-new-model", "Some_New Model", DetectorKind.LLM)
    ]
    assert of(records, Run)[0].detector == "some-new-model"


def test_a_file_named_for_no_instance_is_a_problem_and_other_files_are_not(
    tree_of: TreeOf,
) -> None:
    records = read(
        tree_of,
        {
            f"{RAW}/summary.json": "[]",
            f"{RAW}/notes.md": "",
            "LICENSE": "",
            f"{RAW}/a.log": "",
        },
    )
    assert [(p.path, p.place) for p in of(records, LoadProblem)] == [
        (f"{RAW}/summary.json", "file name")
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "does not begin with the header"),
        ("# Executed Cells:\n## Cell 1:\nx\n\n", "the target cell is missing"),
        (
            "# Executed Cells:\n## Cell 2:\nx\n\n# Target Cell:\ny",
            r"numbered [2]",
        ),
        (
            "# Executed Cells:\n## Cell 1:\nx\n# Target Cell:\ny",
            "no empty line follows cell 1",
        ),
        (
            "# Executed Cells:\nstray\n# Target Cell:\ny",
            "do not begin with the header of a cell",
        ),
    ],
)
def test_an_input_text_that_cannot_be_taken_apart_is_one_problem(
    tree_of: TreeOf, text: str, reason: str
) -> None:
    records = read(
        tree_of,
        {
            f"{INPUTS}/pandas/pandas_1_fixed.txt": text,
            f"{INPUTS}/numpy/numpy_1_fixed.txt": TEXT,
        },
    )
    [problem] = of(records, LoadProblem)
    assert problem.path == f"{INPUTS}/pandas/pandas_1_fixed.txt"
    assert reason in problem.reason
    assert [cell.code for cell in of(records, Cell)] == [
        "rows = 3",
        "print(rows)",
    ]


def test_a_runtime_block_that_is_no_dict_is_a_problem_and_its_prompt_is_kept(
    tree_of: TreeOf,
) -> None:
    text = TEXT.replace(
        "# Target",
        "# Current relevent runtime information:\n{'rows': \n# Target",
    )
    records = read(
        tree_of, {f"{INPUTS}_runinfo/pandas/pandas_1_fixed.txt": text}
    )
    assert [(p.place, p.kind) for p in of(records, LoadProblem)] == [
        ("runtime block", ProblemKind.UNREADABLE)
    ]
    assert [prompt.text for prompt in of(records, Prompt)] == [text]
    assert of(records, KernelState) == []


def test_texts_of_one_instance_with_other_cells_contradict_each_other(
    tree_of: TreeOf,
) -> None:
    runtime = TEXT.replace("rows = 3", "rows = 4").replace(
        "# Target", "# Current relevent runtime information:\n{}\n# Target"
    )
    files = {
        f"{INPUTS}/pandas/pandas_1_fixed.txt": TEXT,
        f"{INPUTS}_runinfo/pandas/pandas_1_fixed.txt": runtime,
    }
    records = read(tree_of, files)
    assert [(p.place, p.kind) for p in of(records, LoadProblem)] == [
        ("cells", ProblemKind.CONTRADICTION)
    ]
    assert [cell.code for cell in of(records, Cell)] == [
        "rows = 3",
        "print(rows)",
    ]


def test_the_runtime_text_alone_gives_the_cells(tree_of: TreeOf) -> None:
    runtime = TEXT.replace(
        "# Target", "# Current relevent runtime information:\n{}\n# Target"
    )
    records = read(
        tree_of, {f"{INPUTS}_runinfo/pandas/pandas_1_fixed.txt": runtime}
    )
    assert [(cell.position, cell.code) for cell in of(records, Cell)] == [
        (0, "rows = 3"),
        (1, "print(rows)"),
    ]


def test_an_unknown_word_of_a_judge_is_a_problem_and_an_explained_refusal_is_a_label(
    tree_of: TreeOf,
) -> None:
    path = "llms/llms_outputs/results_parsed_reversed_4/gpt_5/crash_detection_code_runinfo/pandas_1_fixed.json"
    words = [
        "[Correct]",
        "[Maybe]",
        "Cannot verify: too short",
        " [reasoning wrong] ",
        None,
    ]
    records = read(tree_of, {path: json.dumps(words)})
    labels = of(records, Judgement)
    assert [
        (j.run_index, j.repetition, j.presentation, j.label, j.note)
        for j in labels
    ] == [
        (1, 4, "reversed", Label.CORRECT, None),
        (3, 4, "reversed", Label.UNVERIFIABLE, "Cannot verify: too short"),
        (4, 4, "reversed", Label.WRONG, None),
    ]
    assert [problem.place for problem in of(records, LoadProblem)] == [
        "verdict 2",
        "verdict 5",
    ]


def test_workbooks_are_read_by_header_and_id_not_by_place(
    tree_of: TreeOf, workbook: Callable[[Sheets], bytes]
) -> None:
    sheet = [
        [
            "note",
            "gpt_5_crash_detection_code",
            "instance",
            "",
            "pylint_crash_detection_code_runinfo",
        ],
        ["x", "partially correct", "pandas_1_reproduced", 7, "wrong"],
        ["x", "fine", "pandas_2_reproduced", 7, None],
        ["x", "correct", "pandas_1_reproduced", 7, "correct"],
        [None, None, None, None, None],
        ["x", 129, "FP_total", 7, 3],
    ]
    path = "results/results_summary.xlsx"
    records = read(
        tree_of,
        {
            f"{RAW}/pandas_1_fixed.json": GOOD,
            path: workbook({"Final_evaluation": sheet}),
        },
    )
    assert [
        (j.instance_id, j.detector, j.setting, j.label)
        for j in of(records, Judgement)
    ] == [
        ("pandas_1_reproduced", "gpt-5", Setting.CODE, Label.PARTIAL),
        ("pandas_1_reproduced", "pylint", Setting.RUNTIME, Label.MISDETECTED),
    ]
    assert [problem.place for problem in of(records, LoadProblem)] == [
        "sheet Final_evaluation, row 3, column gpt_5_crash_detection_code",
        "sheet Final_evaluation, row 4",
    ]


def test_a_workbook_that_is_none_lacks_a_sheet_or_a_column_is_one_problem(
    tree_of: TreeOf, workbook: Callable[[Sheets], bytes]
) -> None:
    records = read(
        tree_of,
        {
            f"{RAW}/pandas_1_fixed.json": GOOD,
            "results/results_summary.xlsx": b"PK\x03\x04 broken",
            "results/benchmark_labels.xlsx": workbook(
                {"Other": [["a"]], "Another": []}
            ),
            "llms/llms_outputs/ground_truth_crash_prediction.xlsx": workbook(
                {"Ground_truth": [["instance"]]}
            ),
        },
    )
    problems = {problem.path: problem for problem in of(records, LoadProblem)}
    assert (
        "not a readable workbook"
        in problems["results/results_summary.xlsx"].reason
    )
    assert (
        problems["results/benchmark_labels.xlsx"].reason
        == "the workbook has only Other, Another"
    )
    truth = problems["llms/llms_outputs/ground_truth_crash_prediction.xlsx"]
    assert truth.reason == "the column detection is missing"
    assert len(of(records, Run)) == 1


def test_a_ground_truth_that_denies_the_name_is_a_contradiction(
    tree_of: TreeOf, workbook: Callable[[Sheets], bytes]
) -> None:
    rows = [
        ["library", "instance", "detection", "diagnosis", "runinfo_help", None],
        ["pandas", "pandas_1_fixed", True, None, "None", None],
        [
            "pandas",
            "pandas_2_reproduced",
            True,
            "the column is gone",
            " shapes help",
            "ran twice",
        ],
        ["pandas", "pandas_2_reproduced", True, "again", "None", None],
        [
            "pandas",
            "pandas_2_reproduced",
            True,
            "the column is gone",
            " shapes help",
            "ran twice",
        ],
    ]
    path = "llms/llms_outputs/ground_truth_crash_prediction.xlsx"
    records = read(
        tree_of,
        {
            f"{RAW}/pandas_1_fixed.json": GOOD,
            path: workbook({"Ground_truth": rows}),
        },
    )
    assert [(p.place, p.kind) for p in of(records, LoadProblem)] == [
        ("sheet Ground_truth, row 2", ProblemKind.CONTRADICTION),
        ("sheet Ground_truth, row 4", ProblemKind.CONTRADICTION),
        ("sheet Ground_truth, row 5", ProblemKind.UNREADABLE),
    ]
    assert (
        one(of(records, Case), case_id="pandas_2").diagnosis
        == "the column is gone"
    )
    assert (
        one(of(records, Instance), case_id="pandas_2").remark
        == "shapes help; ran twice"
    )
