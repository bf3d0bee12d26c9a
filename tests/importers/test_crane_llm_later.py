"""The layout of 2026, as it is described: ablations by the groups that are left, answers per model and setting."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crane_core.domain import (
    Case,
    Cell,
    Judgement,
    KernelState,
    Label,
    LoadProblem,
    ProblemKind,
    Prompt,
    Record,
    Run,
    Setting,
)
from crane_core.importers.registry import importer_for

from .conftest import Sheets, TreeOf, of

CODE = "# Executed Cells:\n## Cell 1:\nfrom lib import Net\nnet = Net(2)\n\n# Target Cell:\nnet.fit(table)"
MARK = "# Current relevent runtime information:\n"
INPUTS = "llms/llms_inputs/executed_code"
RAW = "llms/llms_outputs/results_raw/crash_detection"
REPLIES = '[{"reasoning": "a", "detection": true}, {"reasoning": "b", "detection": false}]'
SETTINGS = {
    "code": Setting.CODE,
    "runinfo": Setting.RUNTIME,
    "runinfo_r_v": Setting.RUNTIME_WITHOUT_S,
    "runinfo_s_v": Setting.RUNTIME_WITHOUT_R,
    "runinfo_s_r": Setting.RUNTIME_WITHOUT_V,
    "runinfo_full_doc": Setting.RUNTIME_DOCS,
}
WIDE = """{'table': {'has_nan': True,
           'per_column_max_20': {'height': {'dtype': 'float64',
                                               'num_unique': 7,
                                               'type': 'continuous',
                                               'value_range': (0.5, 2.5)}},
           'shape': (9, 53),
           'type': 'pandas.core.frame.DataFrame'}}"""


def with_block(block: str) -> str:
    return CODE.replace("# Target", f"{MARK}{block}\n# Target")


def read(tree_of: TreeOf, files: dict[str, str | bytes]) -> list[Record]:
    tree = tree_of({"README.md": "", **files})
    importer = importer_for(tree)
    assert importer.KIND == "crane-llm-2026"
    return list(importer.read(tree))


@pytest.mark.parametrize("folder", SETTINGS)
@pytest.mark.parametrize(
    ("model", "detector"),
    [("gpt5", "gpt-5"), ("gemini", "gemini-2.5-flash"), ("my_net", "my-net")],
)
def test_answers_are_filed_by_model_and_setting(
    tree_of: TreeOf, folder: str, model: str, detector: str
) -> None:
    records = read(
        tree_of, {f"{RAW}_{model}_{folder}/seaborn_2_reproduced.json": REPLIES}
    )
    runs = of(records, Run)
    assert [(r.detector, r.setting, r.run_index, r.crashes) for r in runs] == [
        (detector, SETTINGS[folder], 1, True),
        (detector, SETTINGS[folder], 2, False),
    ]
    assert {run.experiment for run in runs} == {"crane-llm-2026"}


def test_input_variants_become_prompts_and_states_by_setting(
    tree_of: TreeOf,
) -> None:
    files: dict[str, str | bytes] = {
        f"{INPUTS}/pandas/pandas_1_fixed.txt": CODE
    }
    blocks = {
        "full": ("runinfo", WIDE),
        "s_v": ("runinfo_s_v", "{'net': {'class_name': 'Net'}}"),
        "r_v": ("runinfo_r_v", "{}"),
        "s_r": ("runinfo_s_r", "{'table': {'shape': (9, 53), 'type': 'T'}}"),
        "full_doc": (
            "runinfo_full_doc",
            "{'net': {'signature': {'parameters': []}, 'type': 'Net'}}",
        ),
    }
    for suffix, (_, block) in blocks.items():
        files[f"{INPUTS}_runinfo_{suffix}/pandas/pandas_1_fixed.txt"] = (
            with_block(block)
        )
    records = read(tree_of, files)
    assert of(records, LoadProblem) == []
    assert {r.setting for r in records if isinstance(r, Prompt)} == set(
        SETTINGS.values()
    )
    states = {
        record.setting: record
        for record in records
        if isinstance(record, KernelState)
    }
    assert set(states) == set(SETTINGS.values()) - {Setting.CODE}
    codes = [cell.code for cell in of(records, Cell)]
    assert codes == ["from lib import Net\nnet = Net(2)", "net.fit(table)"]
    wide = states[Setting.RUNTIME].variables["table"]
    assert wide.structure == {"shape": {"$tuple": [9, 53]}}
    assert wide.values["per_column_max_20"]["height"]["value_range"] == {
        "$tuple": [0.5, 2.5]
    }
    left = states[Setting.RUNTIME_WITHOUT_R].variables["net"]
    assert (left.type, left.structure, left.representation, left.values) == (
        "",
        {},
        {},
        {"class_name": "Net"},
    )


def test_a_run_names_the_prompt_of_its_own_setting(tree_of: TreeOf) -> None:
    files = {
        f"{INPUTS}_runinfo_full/pandas/pandas_1_fixed.txt": with_block("{}"),
        f"{INPUTS}_runinfo_s_v/pandas/pandas_1_fixed.txt": with_block(
            "{'x': {'value': 1}}"
        ),
        f"{RAW}_qwen_runinfo/pandas_1_fixed.json": REPLIES,
        f"{RAW}_qwen_runinfo_s_v/pandas_1_fixed.json": REPLIES,
        f"{RAW}_qwen_code/pandas_1_fixed.json": REPLIES,
    }
    records = read(tree_of, dict(files))
    digests = {
        record.setting: record.sha256
        for record in records
        if isinstance(record, Prompt)
    }
    assert len(digests) == 2
    for run in (record for record in records if isinstance(record, Run)):
        assert run.prompt_sha256 == digests.get(run.setting)


def test_a_folder_of_an_unknown_setting_is_one_problem(tree_of: TreeOf) -> None:
    files = {
        f"{RAW}_gpt5_runinfo_q/pandas_1_fixed.json": REPLIES,
        f"{RAW}_gpt5_runinfo_q/pandas_2_fixed.json": REPLIES,
        f"{RAW}_gpt5_code/pandas_1_fixed.json": REPLIES,
    }
    records = read(tree_of, dict(files))
    problems = of(records, LoadProblem)
    assert [(p.path, p.reason) for p in problems] == [
        (f"{RAW}_gpt5_runinfo_q", "'runinfo_q' is not a known setting")
    ]
    assert len(of(records, Run)) == 2


def test_human_outcomes_and_the_validation_sample(
    tree_of: TreeOf, workbook: Callable[[Sheets], bytes]
) -> None:
    final = [
        [
            "instance",
            "crash_detection_gpt5_code",
            "crash_detection_gemini_runinfo",
        ],
        ["pandas_1_reproduced", "correct", "Reasoning wrong"],
        ["total corrects", 1, 0],
    ]
    sample = {
        "gpt5_code": [
            ["instance", "validator", "remark"],
            ["pandas_1_reproduced", "partially correct", "hm"],
        ],
        "gemini_runinfo": [
            ["instance", "validator"],
            ["pandas_1_reproduced", None],
            ["numpy_1_reproduced", "no"],
        ],
        "Config": [["a"], ["b"]],
    }
    path = "results/results_parsed_human_validation_samples_Jose_validated.xlsx"
    records = read(
        tree_of,
        {
            f"{RAW}_gpt5_code/pandas_1_reproduced.json": REPLIES,
            "results/results_parsed_detection_and_diagnosis.xlsx": workbook(
                {"Final evaluation": final}
            ),
            path: workbook(sample),
        },
    )
    labels = of(records, Judgement)
    assert [(j.annotator, j.detector, j.setting, j.label) for j in labels] == [
        ("published human", "gpt-5", Setting.CODE, Label.CORRECT),
        ("published human", "gemini-2.5-flash", Setting.RUNTIME, Label.WRONG),
        ("published human, validation", "gpt-5", Setting.CODE, Label.PARTIAL),
    ]
    problems = of(records, LoadProblem)
    assert [(p.path, p.place) for p in problems] == [
        (path, "sheet gemini_runinfo, row 3, column validator")
    ]


def test_input_variants_alone_are_recognised(tree_of: TreeOf) -> None:
    records = read(
        tree_of,
        {f"{INPUTS}_runinfo_full/other/seaborn_1_fixed.txt": with_block("{}")},
    )
    assert [case.case_id for case in of(records, Case)] == ["seaborn_1"]


def test_other_cells_in_a_variant_are_a_contradiction(tree_of: TreeOf) -> None:
    files = {
        f"{INPUTS}_runinfo_full/pandas/pandas_1_fixed.txt": with_block("{}"),
        f"{INPUTS}_runinfo_s_v/pandas/pandas_1_fixed.txt": with_block(
            "{}"
        ).replace("Net(2)", "Net(3)"),
    }
    problems = of(read(tree_of, dict(files)), LoadProblem)
    assert [problem.kind for problem in problems] == [ProblemKind.CONTRADICTION]
