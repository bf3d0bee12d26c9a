"""Rows go in: the first source keeps a fact, later ones fill gaps, a contradiction is told, the ledger has the word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import (
    Annotation,
    AnnotationAction,
    AnnotatorKind,
    Benchmark,
    Campaign,
    CampaignGuideline,
    CampaignLock,
    CampaignMessage,
    CampaignRound,
    Case,
    Cell,
    CellRole,
    Detector,
    DetectorKind,
    Instance,
    InventoryAct,
    InventoryAction,
    Job,
    JudgeJob,
    Judgement,
    JudgeReply,
    KernelState,
    KeyChoice,
    Label,
    Listed,
    LoadProblem,
    MessageAction,
    ProblemKind,
    Prompt,
    PublishedNumber,
    Record,
    Reply,
    Reread,
    Run,
    Setting,
    Side,
    VariableState,
    Verification,
    VerifiedAs,
    Version,
)
from crane_core.errors import StoreError
from crane_core.storage import state
from crane_core.storage.inventory import empty
from crane_core.storage.store import IN_MEMORY, Store, open_store
from crane_core.storage.write import (
    LEDGER_SOURCE,
    Added,
    SourceRow,
    add_problems,
    add_records,
    add_source,
    set_ledger_position,
)
from tests.examples import examples

CASE = Case("mine", "numpy_1", library="numpy", exception="valueerror")
RUN = Run(
    "mine", "numpy_1_fixed", "gpt-5", Setting.CODE, "study", 1, crashes=True
)
LABEL = Judgement(
    "mine",
    "numpy_1_fixed",
    "gpt-5",
    Setting.CODE,
    "study",
    "ann",
    AnnotatorKind.HUMAN,
    Label.PARTIAL,
    note="unsure",
)
STATE = KernelState(
    "mine",
    "numpy_1_fixed",
    Setting.RUNTIME,
    "notebook",
    {"x": VariableState("int", values={"value": 3})},
)
TIME = "2026-11-21T10:00:00+00:00"
ONE_OF_EACH: list[Record] = [
    Benchmark("mine", "Mine"),
    CASE,
    Instance("mine", "numpy_1", Version.FIXED, remark="edited"),
    Cell(
        "mine",
        "numpy_1_fixed",
        "notebook",
        0,
        CellRole.TARGET,
        "x = 1\n",
        execution_count=4,
    ),
    STATE,
    Prompt(
        "mine",
        "numpy_1_fixed",
        Setting.CODE,
        "notebook",
        "0" * 64,
        "Will it crash?",
    ),
    Detector("gpt-5", "GPT-5", DetectorKind.LLM),
    RUN,
    Job("job", "mine", "gpt-5", Setting.CODE, "{}", TIME),
    Reply(
        "job",
        "mine",
        "numpy_1_fixed",
        "gpt-5",
        Setting.CODE,
        1,
        "0" * 64,
        TIME,
        "It will.",
        seconds=0.5,
        usd=0.01,
    ),
    Reread(
        "job",
        "mine",
        "numpy_1_fixed",
        "gpt-5",
        Setting.CODE,
        1,
        TIME,
        crashes_before=True,
        unanswered_after="cut",
    ),
    LABEL,
    JudgeJob("judge", "mine", "study", "judge heron", "{}", TIME),
    JudgeReply(
        "judge",
        "mine",
        "numpy_1_fixed",
        "gpt-5",
        Setting.CODE,
        "study",
        "judge heron",
        1,
        1,
        "normal",
        "Same?",
        TIME,
    ),
    Campaign("pilot", '{"seed":1}'),
    CampaignGuideline("pilot", TIME, "lead", "Judge."),
    CampaignRound("pilot", TIME, "{}"),
    CampaignLock("pilot", TIME, "lead"),
    Annotation(
        "pilot",
        "ana",
        "e-1",
        1,
        AnnotationAction.LABEL,
        "k3",
        1,
        "g",
        TIME,
        received_at=TIME,
        source="labels.csv",
    ),
    CampaignMessage(
        "pilot",
        "m-1",
        "ana",
        "k3",
        1,
        MessageAction.WRITE,
        Side.LEAD,
        "lea",
        TIME,
        "Look again.",
    ),
    KeyChoice("ana", TIME, '{"isOff": false, "keys": {}}'),
    Verification(
        *(
            "mine",
            "numpy_1",
            Version.REPRODUCED,
            "e" * 12,
            "0" * 64,
            "3.11.7",
            VerifiedAs.AS_RECORDED,
            TIME,
            0.5,
        ),
        *("ValueError", "ValueError", "no", 3, "as it should"),
    ),
    InventoryAct(
        Listed.RUN, "job", InventoryAction.RENAME, TIME, "lea", title="First"
    ),
    PublishedNumber("paper", "2a", "GPT-5", "F1 (+RT)", "73%", "percent"),
]


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_store(IN_MEMORY)
    yield opened
    opened.close()


def add(store: Store, source_id: str, *records: Record) -> list[Added]:
    is_ledger = source_id.startswith(LEDGER_SOURCE)
    return store.write(
        lambda cursor: add_records(
            cursor, records, source_id=source_id, latest_wins=is_ledger
        )
    )


def problems(added: list[Added]) -> list[LoadProblem]:
    return [problem for entry in added for problem in entry.problems]


def stored(store: Store, columns: str, table: str) -> list[tuple[object, ...]]:
    question = f"SELECT {columns} FROM {table} ORDER BY ALL"
    return store.cursor().execute(question).fetchall()


def test_every_kind_of_record_has_its_table(store: Store) -> None:
    added = add(store, "a", *ONE_OF_EACH)
    assert {entry.record for entry in added} == set(
        state.table_counts(store.cursor())
    )
    assert all(
        (entry.n_read, entry.n_new, entry.problems) == (1, 1, [])
        for entry in added
    )
    assert set(state.table_counts(store.cursor()).values()) == {1}


def test_same_records_from_a_second_source_change_nothing(store: Store) -> None:
    add(store, "a", *ONE_OF_EACH)
    before = state.content(store.cursor())
    added = add(store, "b", *ONE_OF_EACH)
    assert state.content(store.cursor()) == before
    assert all(
        (entry.n_read, entry.n_new, entry.problems) == (1, 0, [])
        for entry in added
    )


def test_a_state_comes_back_as_the_json_of_the_kernel_state(
    store: Store,
) -> None:
    add(store, "a", STATE)
    [(text, n)] = stored(
        store,
        "json_extract(state, '$.variables.x.values.value'), n_variables",
        "kernel_states",
    )
    assert (text, n) == ("3", 1)


def test_second_source_with_another_fact_is_one_contradiction_and_the_first_stays(
    store: Store,
) -> None:
    add(store, "a", CASE)
    added = add(store, "b", replace(CASE, exception="keyerror"))
    [problem] = problems(added)
    assert problem.kind is ProblemKind.CONTRADICTION
    assert (problem.path, problem.place) == (
        "cases",
        "benchmark mine, case_id numpy_1",
    )
    assert "'keyerror'" in problem.reason
    assert "'valueerror'" in problem.reason
    assert stored(store, "exception, source_id", "cases") == [
        ("valueerror", "a")
    ]


def test_each_differing_fact_is_told_and_long_values_are_cut(
    store: Store,
) -> None:
    add(store, "a", replace(CASE, message="m" * 10_000))
    found = problems(
        add(store, "b", replace(CASE, library="pandas", message="n" * 10_000))
    )
    assert sorted(problem.reason.split()[0] for problem in found) == [
        "library",
        "message",
    ]
    assert max(len(problem.reason) for problem in found) < 300


def test_gaps_are_filled_and_are_no_contradiction(store: Store) -> None:
    add(store, "a", CASE)
    added = add(
        store,
        "b",
        replace(
            CASE,
            exception=None,
            crash_type="value error",
            diagnosis="Lanes below 0.",
        ),
    )
    assert problems(added) == []
    columns = "library, exception, crash_type, diagnosis, source_id"
    assert stored(store, columns, "cases") == [
        ("numpy", "valueerror", "value error", "Lanes below 0.", "a")
    ]


def test_an_answer_that_differs_is_a_contradiction(store: Store) -> None:
    add(store, "a", RUN, replace(RUN, run_index=2, crashes=None))
    added = add(
        store,
        "b",
        replace(RUN, crashes=False),
        replace(RUN, run_index=2, crashes=False),
    )
    [problem] = problems(added)
    assert (
        problem.reason
        == "crashes is False here but True in an earlier source, which is kept"
    )
    assert stored(store, "run_index, crashes", "runs") == [
        (1, True),
        (2, False),
    ]


def test_a_key_given_twice_by_one_source_is_told_and_the_first_counts(
    store: Store,
) -> None:
    [entry] = add(
        store, "a", RUN, replace(RUN, crashes=False), replace(RUN, run_index=2)
    )
    assert (entry.n_read, entry.n_new) == (3, 2)
    [problem] = entry.problems
    assert (
        problem.reason
        == "repeated 2 times in one source with different values of crashes; the first is kept"
    )
    assert problem.kind is ProblemKind.CONTRADICTION
    assert "run_index 1" in problem.place
    assert stored(store, "run_index, crashes", "runs") == [(1, True), (2, True)]


def test_a_key_given_twice_alike_is_a_duplicate(store: Store) -> None:
    [entry] = add(store, "a", RUN, RUN)
    [problem] = entry.problems
    assert (problem.reason, problem.kind) == (
        "repeated 2 times in one source; the first is kept",
        ProblemKind.UNREADABLE,
    )


def test_the_ledger_overrides_and_is_not_contradicted(store: Store) -> None:
    add(store, "a", RUN)
    assert (
        problems(add(store, "ledger:runs/1.jsonl", replace(RUN, crashes=False)))
        == []
    )
    assert (
        problems(
            add(store, "b", replace(RUN, crashes=True, reasoning="It will."))
        )
        == []
    )
    assert stored(store, "crashes, reasoning, source_id", "runs") == [
        (False, None, "ledger:runs/1.jsonl")
    ]


def test_a_ledger_row_is_the_same_before_and_after_the_source(
    store: Store,
) -> None:
    """A rebuild loads sources first; the order of days must not show."""
    mine = replace(RUN, crashes=None, unanswered="timed out")
    theirs = replace(RUN, reasoning="It will.", prompt_sha256="1" * 64)
    add(store, "a", theirs)
    add(store, "ledger:x", mine)
    other = open_store(IN_MEMORY)
    add(other, "ledger:x", mine)
    add(other, "a", theirs)
    assert stored(store, "*", "runs") == stored(other, "*", "runs")
    other.close()


def test_a_relabel_replaces_the_whole_row(store: Store) -> None:
    add(store, "ledger:ann", LABEL)
    add(store, "ledger:ann", replace(LABEL, label=Label.WRONG, note=None))
    assert stored(store, "label, note", "judgements") == [("wrong", None)]


LABELS = st.lists(
    st.tuples(st.sampled_from(Label), st.none() | st.text(max_size=3)),
    min_size=1,
    max_size=6,
)


@examples(20)
@given(labels=LABELS, cut=st.integers(0, 6))
def test_one_batch_or_two_give_the_same_rows(
    emptied_store: Store, labels: list[tuple[Label, str | None]], cut: int
) -> None:
    lines = [replace(LABEL, label=label, note=note) for label, note in labels]
    tables = []
    for batches in ([lines], [lines[:cut], lines[cut:]]):
        emptied_store.write(empty)
        for batch in batches:
            add(emptied_store, "ledger:ann", *batch)
        tables.append(stored(emptied_store, "*", "judgements"))
    assert tables[0] == tables[1]
    assert len(tables[0]) == 1


def test_printed_numbers_keep_the_order_of_their_source(store: Store) -> None:
    names = [f"row {n}" for n in (3, 1, 2, 10)]
    add(
        store,
        "a",
        *(
            PublishedNumber("paper", "9", name, "F1", "1", "count")
            for name in names
        ),
    )
    rows = (
        store.cursor()
        .execute("SELECT row FROM published_numbers ORDER BY ordinal")
        .fetchall()
    )
    assert [row for (row,) in rows] == names


@pytest.mark.parametrize(
    "text",
    [
        "a\0b",
        "😀",
        "\u202egnp.txt",
        "'; DROP TABLE cells; --",
        "",
        "\r\n",
        "x" * 3_000_000,
    ],
)
def test_any_text_comes_back_as_it_was(store: Store, text: str) -> None:
    add(
        store,
        "a",
        Cell("mine", "numpy_1_fixed", "notebook", 0, CellRole.EXECUTED, text),
    )
    assert stored(store, "code", "cells") == [(text,)]


def test_a_refused_record_takes_its_whole_batch_with_it(store: Store) -> None:
    before = state.content(store.cursor())
    with pytest.raises(
        StoreError, match="refused a change: Constraint Error: NOT NULL"
    ):
        add(store, "a", CASE, RUN, replace(RUN, run_index=2, experiment=None))  # type: ignore[arg-type]
    assert state.content(store.cursor()) == before


def test_problems_are_numbered_after_those_there_are(store: Store) -> None:
    source = SourceRow(
        "a",
        "predictions",
        "mine",
        "0" * 64,
        12,
        datetime(2026, 1, 1),  # noqa: DTZ001 - UTC by contract
    )
    added = [Added("runs", 2, 1, [])]
    store.write(
        lambda cursor: add_source(
            cursor, source, added, [LoadProblem("f", "line 1", "empty")]
        )
    )
    store.write(
        lambda cursor: add_problems(
            cursor, "a", [LoadProblem("f", "line 2", "torn")]
        )
    )
    cursor = store.cursor()
    assert state.load_problems(cursor)[
        ["ordinal", "place"]
    ].to_numpy().tolist() == [
        [0, "line 1"],
        [1, "line 2"],
    ]
    assert state.source_counts(cursor).to_numpy().tolist() == [
        ["a", "runs", 2, 1]
    ]
    assert state.sources(cursor)[
        ["source_id", "n_problems"]
    ].to_numpy().tolist() == [["a", 1]]


def test_ledger_position_is_one_per_file(store: Store) -> None:
    for n_bytes in (10, 25):
        store.write(
            lambda cursor, n=n_bytes: set_ledger_position(
                cursor, "labels/ann.jsonl", n, n - 5, "ab"
            )
        )
    assert state.ledger_positions(store.cursor()) == {
        "labels/ann.jsonl": (25, 20, "ab")
    }


def test_the_revision_changes_with_sources_and_ledger_only(
    store: Store,
) -> None:
    blank = state.revision(store.cursor())
    store.write(
        lambda cursor: set_ledger_position(
            cursor, "labels/ann.jsonl", 10, 5, "ab"
        )
    )
    grown = state.revision(store.cursor())
    assert blank != grown
    assert state.revision(store.cursor()) == grown


def test_a_second_look_at_an_instance_says_what_stays_and_what_to_do(
    store: Store,
) -> None:
    add(store, "look-1", STATE)
    other = replace(STATE, variables={}, captured={"seconds": 2.0})
    [problem] = problems(add(store, "look-2", other))
    assert problem.kind is ProblemKind.CONTRADICTION
    assert problem.reason.startswith(
        "this instance was looked at before, and that state, of look-1, stays; variables"
    )
    assert "take look-1 out of the folder of sources" in problem.reason
    assert stored(store, "source_id, n_variables", "kernel_states") == [
        ("look-1", 1)
    ]


def test_a_second_look_that_saw_the_same_is_no_contradiction(
    store: Store,
) -> None:
    add(store, "look-1", replace(STATE, captured={"seconds": 1.0}))
    assert (
        problems(
            add(store, "look-2", replace(STATE, captured={"seconds": 2.0}))
        )
        == []
    )


def test_a_key_is_stored_once_though_no_index_guards_it() -> None:
    store = open_store(IN_MEMORY)
    try:
        for source_id in ("first", "second", LEDGER_SOURCE + "runs.jsonl"):
            latest = source_id.startswith(LEDGER_SOURCE)
            store.write(
                lambda c, s=source_id, w=latest: add_records(
                    c, [RUN, RUN], source_id=s, latest_wins=w
                )
            )  # type: ignore[misc]
        assert store.cursor().execute(
            "SELECT source_id FROM runs"
        ).fetchall() == [(LEDGER_SOURCE + "runs.jsonl",)]
    finally:
        store.close()
