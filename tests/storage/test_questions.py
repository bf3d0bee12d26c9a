"""What the store answers about cases, verdicts and its own state: counts of the published study, worked by hand."""

from __future__ import annotations

from collections.abc import Iterator

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
    Prompt,
    Record,
    Run,
    Setting,
    Version,
)
from crane_core.storage import cases, state, verdicts
from crane_core.storage.store import IN_MEMORY, Store, open_store
from crane_core.storage.write import add_records

CRASHING, FIXED = "numpy_1_reproduced", "numpy_1_fixed"
DETECTORS = (
    Detector("gpt-5", "GPT-5", DetectorKind.LLM),
    Detector("pylint", "pylint", DetectorKind.ANALYZER),
)


def run(
    instance: str, index: int, detector: str = "gpt-5", *, said: bool | None
) -> Run:
    return Run(
        "mine",
        instance,
        detector,
        Setting.CODE,
        "study",
        index,
        crashes=said,
        reasoning=f"answer {index}",
    )


def judged(instance: str, label: Label, **more: object) -> Judgement:
    where = ("mine", instance, "gpt-5", Setting.CODE, "study")
    return Judgement(
        *where,
        **{
            "annotator": "published human",
            "annotator_kind": AnnotatorKind.HUMAN,
        }
        | more,
        label=label,
    )  # type: ignore[arg-type]


RECORDS: list[Record] = [
    Benchmark("mine", "Mine", "MIT", "https://example.org"),
    Case(
        "mine",
        "numpy_1",
        library="numpy",
        root_cause="data confusion",
        diagnosis="Lanes below 0.",
    ),
    Case("mine", "numpy_2"),
    Instance("mine", "numpy_1", Version.REPRODUCED, remark="needs a file"),
    *(
        Instance("mine", case, version)
        for case in ("numpy_1", "numpy_2")
        for version in Version
    ),
    *(
        Cell("mine", CRASHING, "notebook", i, role, f"x = {i}")
        for i, role in enumerate(CellRole)
    ),
    Cell("mine", FIXED, "notebook", 0, CellRole.TARGET, "x = 2"),
    Cell("mine", "numpy_2_fixed", "notebook", 0, CellRole.TARGET, "x = 2"),
    KernelState("mine", CRASHING, Setting.RUNTIME, "notebook", {}),
    KernelState("mine", CRASHING, Setting.RUNTIME, "another", {}),
    Prompt("mine", CRASHING, Setting.CODE, "notebook", "ab", "Will it crash?"),
    *DETECTORS,
    *(
        run(CRASHING, i, said=said)
        for i, said in enumerate([True, True, False, None], start=1)
    ),
    run(FIXED, 0, said=None),
    run(CRASHING, 1, "pylint", said=True),
    judged(CRASHING, Label.PARTIAL),
    judged(
        CRASHING,
        Label.WRONG,
        annotator="published judge",
        annotator_kind=AnnotatorKind.JUDGE,
    ),
    judged(CRASHING, Label.CORRECT, run_index=1),
    judged(FIXED, Label.CORRECT, annotator="somebody"),
]


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened = open_store(IN_MEMORY)
    opened.write(lambda cursor: add_records(cursor, RECORDS, source_id="made"))
    yield opened
    opened.close()


def test_case_list_tells_what_is_at_hand_for_both_versions(
    store: Store,
) -> None:
    listed = cases.case_list(store.cursor(), "mine").set_index("case_id")
    assert listed["has_code"].to_dict() == {"numpy_1": True, "numpy_2": False}
    assert listed["has_state"].to_dict() == {"numpy_1": False, "numpy_2": False}
    assert cases.case_list(store.cursor(), "nobody's").empty


def test_a_case_with_its_benchmark_and_none_where_there_is_none(
    store: Store,
) -> None:
    case = cases.case(store.cursor(), "mine", "numpy_1")
    assert case and (
        case["library"],
        case["benchmark_title"],
        case["licence"],
    ) == (
        "numpy",
        "Mine",
        "MIT",
    )
    assert cases.case(store.cursor(), "mine", "' OR 1=1 --") is None


def test_cells_of_both_versions_in_order(store: Store) -> None:
    found = cases.cells(store.cursor(), "mine", "numpy_1")
    assert found[["version", "position", "role"]].to_numpy().tolist() == [
        ["fixed", 0, "target"],
        ["reproduced", 0, "executed"],
        ["reproduced", 1, "target"],
        ["reproduced", 2, "not run"],
    ]


def test_runs_in_the_order_of_asking_models_first(store: Store) -> None:
    found = cases.runs(store.cursor(), "mine", "numpy_1")
    assert found["detector"].tolist() == ["gpt-5"] * 5 + ["pylint"]
    asked = found[
        (found["detector"] == "gpt-5") & (found["version"] == "reproduced")
    ]
    assert asked["run_index"].tolist() == [1, 2, 3, 4]
    assert asked["reasoning"].tolist()[0] == "answer 1"


def test_states_prompts_remarks_and_labels_of_a_case(store: Store) -> None:
    cursor = store.cursor()
    assert cases.kernel_states(cursor, "mine", "numpy_1")[
        "origin"
    ].tolist() == [
        "another",
        "notebook",
    ]
    prompts = cases.prompt_list(cursor, "mine", "numpy_1")
    assert prompts[["sha256", "n_chars"]].to_numpy().tolist() == [["ab", 14]]
    assert cases.prompt_text(cursor, "ab") == "Will it crash?"
    assert cases.prompt_text(cursor, "cd") is None
    assert state.has_prompts(cursor, "mine")
    assert not state.has_prompts(cursor, "junobench"), (
        "texts of another benchmark do not count"
    )
    labels = cases.verdict_labels(cursor, "mine", "numpy_1")
    assert labels[["version", "annotator", "label"]].to_numpy().tolist() == [
        ["fixed", "somebody", "correct"],
        ["reproduced", "published human", "partial"],
    ]


def test_answer_counts_by_hand(store: Store) -> None:
    counted = verdicts.answer_counts(store.cursor()).set_index(
        ["instance_id", "detector"]
    )
    row = counted.loc[(CRASHING, "gpt-5")]
    assert row[["n_crash", "n_safe", "n_unanswered", "n_skipped"]].tolist() == [
        2,
        1,
        1,
        0,
    ]
    assert (row["human"], row["truth"], row["version"]) == (
        "partial",
        True,
        "reproduced",
    )
    never = counted.loc[(FIXED, "gpt-5")]
    assert never[
        ["n_crash", "n_safe", "n_unanswered", "n_skipped"]
    ].tolist() == [
        0,
        0,
        0,
        1,
    ]
    theirs = verdicts.answer_counts(store.cursor(), "somebody").set_index(
        ["instance_id", "detector"]
    )
    assert theirs.loc[(FIXED, "gpt-5"), "human"] == "correct"
    assert len(counted) == 3


def test_label_counts_by_annotator(store: Store) -> None:
    found = verdicts.label_counts(store.cursor())
    assert dict(zip(found["annotator"], found["n_labels"], strict=True)) == {
        "published human": 2,
        "published judge": 1,
        "somebody": 1,
    }


def test_the_embedded_study_by_numbers(embedded_store: Store) -> None:
    counts = state.table_counts(embedded_store.cursor())
    assert counts["cases"] >= 111 + 12
    assert counts["judgements"] == 2220
    listed = cases.benchmarks(embedded_store.cursor()).set_index("benchmark")
    assert listed.loc["junobench", ["n_cases", "n_instances"]].tolist() == [
        111,
        222,
    ]
    assert listed.index[0] == "junobench"


def test_the_embedded_answers_by_numbers(embedded_store: Store) -> None:
    """222 instances, three models with five runs in two settings: 6,660; two analyzers with one run each."""
    study = verdicts.answer_counts(embedded_store.cursor()).query(
        "experiment == 'crane-llm-2025-10'"
    )
    models, analyzers = (
        study.query("detector_kind == 'llm'"),
        study.query("detector_kind == 'analyzer'"),
    )
    assert (
        int(
            (
                models["n_crash"] + models["n_safe"] + models["n_unanswered"]
            ).sum()
        )
        == 6660
    )
    assert len(analyzers) == 2 * 2 * 222
    assert (analyzers["n_crash"] + analyzers["n_safe"]).eq(1).all()
    assert study["human"].notna().all()


def test_printed_numbers_stand_in_the_order_of_the_page(
    embedded_store: Store,
) -> None:
    numbers = verdicts.published_numbers(embedded_store.cursor())
    of_2a = numbers[numbers["table_id"] == "2a"]
    assert list(dict.fromkeys(of_2a["row"])) == [
        "Gemini 2.5 Flash",
        "Qwen2.5-32B-Instruct",
        "GPT-5",
    ]
    assert of_2a["column"].tolist()[:2] == [
        "Precision (-RT)",
        "Precision (+RT)",
    ]


def test_content_is_every_table_sorted(embedded_store: Store) -> None:
    content = state.content(embedded_store.cursor())
    assert {
        "schema_version",
        "sources",
        "source_counts",
        "load_problems",
        "ledger_files",
    } <= content.keys()
    assert set(state.table_counts(embedded_store.cursor())) <= content.keys()
    assert content["sources"] == sorted(content["sources"])
