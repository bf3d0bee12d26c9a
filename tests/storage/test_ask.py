"""Questions in the user's own SQL: what is answered, what is refused, and what views and comments say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from crane_core.domain import (
    Benchmark,
    Case,
    Detector,
    DetectorKind,
    Instance,
    Run,
    Setting,
    Version,
)
from crane_core.errors import StoreError
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.rows import as_rows
from crane_core.stats.vote import majority
from crane_core.storage.ask import answer, schema
from crane_core.storage.store import IN_MEMORY, Store, open_store
from crane_core.storage.write import add_records


@pytest.fixture(scope="module")
def small() -> Iterator[Store]:
    """One case, whose crashing notebook got a tie, a crash and no answer, and whose fixed one a tie."""
    said = {
        "tie": [True, False],
        "crash": [True, True, False, None],
        "silent": [None],
    }
    runs = [
        Run(
            "mine",
            "a_reproduced",
            name,
            Setting.CODE,
            "study",
            index,
            crashes=crashes,
        )
        for name, answers in said.items()
        for index, crashes in enumerate(answers, start=1)
    ]
    runs += [
        Run("mine", "a_fixed", "tie", Setting.CODE, "study", i, crashes=i == 1)
        for i in (1, 2)
    ]
    records = [
        Benchmark("mine", "Mine"),
        Case("mine", "a", library="numpy"),
        *(Instance("mine", "a", version) for version in Version),
        *(Detector(name, name, DetectorKind.LLM) for name in said),
        *runs,
    ]
    store = open_store(IN_MEMORY)
    store.write(lambda cursor: add_records(cursor, records, source_id="test"))
    yield store
    store.close()


@pytest.mark.parametrize(
    "question",
    [
        "INSERT INTO cases (benchmark, case_id, source_id) VALUES ('a', 'b', 'c')",
        "DELETE FROM runs",
        "DROP TABLE runs",
        "SELECT 1; DELETE FROM runs",
        "COPY runs TO 'runs.csv'",
        "ATTACH 'other.duckdb'",
        "SET enable_external_access = true",
        "PRAGMA database_list",
        "",
        "FROM nowhere",
        "SELEC 1",
    ],
)
def test_nothing_but_one_question_is_taken(small: Store, question: str) -> None:
    with pytest.raises(StoreError) as refused:
        answer(small, question)
    assert refused.value.remedy and "\n" not in str(refused.value)
    assert len(answer(small, "FROM runs")) == 9


def test_no_file_is_read(small: Store, tmp_path: Path) -> None:
    file = tmp_path / "private.csv"
    file.write_text("a,b\n1,2\n", "utf-8")
    for question in (
        f"FROM read_csv('{file}')",
        f"FROM '{file}'",
        f"FROM glob('{tmp_path}/*')",
    ):
        with pytest.raises(StoreError, match="cannot be answered"):
            answer(small, question)


@pytest.mark.parametrize(
    "question",
    ["DESCRIBE verdicts", "SHOW TABLES", "SUMMARIZE runs", "EXPLAIN FROM runs"],
)
def test_questions_about_the_database_are_answered(
    small: Store, question: str
) -> None:
    assert len(answer(small, question))


def test_a_tie_counts_as_no_crash_and_silence_as_nothing(small: Store) -> None:
    rows = answer(
        small,
        "SELECT instance_id, detector, vote, is_right FROM verdicts ORDER BY ALL",
    )
    assert as_rows(rows[["instance_id", "detector", "vote", "is_right"]]) == [
        {
            "instance_id": "a_fixed",
            "detector": "tie",
            "vote": "tie",
            "is_right": True,
        },
        {
            "instance_id": "a_reproduced",
            "detector": "crash",
            "vote": "crash",
            "is_right": True,
        },
        {
            "instance_id": "a_reproduced",
            "detector": "silent",
            "vote": "unanswered",
            "is_right": None,
        },
        {
            "instance_id": "a_reproduced",
            "detector": "tie",
            "vote": "tie",
            "is_right": False,
        },
    ]


def test_the_view_of_verdicts_is_the_frame_of_the_pages(
    embedded_store: Store,
) -> None:
    key = ["benchmark", "experiment", "detector", "setting", "instance_id"]
    ours = answer(
        embedded_store, f"FROM verdicts ORDER BY {', '.join(key)}"
    ).set_index(key)
    frame = verdict_frame(embedded_store).sort_values(key).set_index(key)
    assert len(frame) > 2_000 and ours.index.equals(frame.index)
    for column in ("n_crash", "n_safe", "n_unanswered", "n_skipped"):
        assert (ours[column] == frame[column]).all()
    vote = majority(frame["n_crash"], frame["n_safe"])
    words = np.select(
        [vote.crash, vote.safe, vote.tie],
        ["crash", "safe", "tie"],
        "unanswered",
    )
    assert (ours["vote"] == words).all()
    assert (ours["crashes"] == frame["truth"]).all()
    right = (vote.crash == frame["truth"].to_numpy(bool))[~vote.unanswered]
    assert (ours["is_right"][~vote.unanswered].to_numpy(bool) == right).all()
    assert ours["is_right"][vote.unanswered].isna().all()
    assert (
        ours["human_label"].fillna("none") == frame["human"].fillna("none")
    ).all()


def test_the_view_of_pairs_has_every_case_once(embedded_store: Store) -> None:
    pairs = answer(embedded_store, "FROM pairs")
    assert (
        len(pairs)
        == len(answer(embedded_store, "FROM cases"))
        == len(pairs[["benchmark", "case_id"]].drop_duplicates())
    )
    both = pairs.dropna(subset=["crashing_instance", "fixed_instance"])
    assert len(both) > 100
    assert (both["crashing_instance"] == both["case_id"] + "_reproduced").all()
    assert (both["fixed_instance"] == both["case_id"] + "_fixed").all()


def test_job_totals_add_up(small: Store) -> None:
    small.cursor().execute(
        "INSERT INTO jobs VALUES ('j', 'mine', 'tie', 'code', '{}', '2026-01-01', 's')"
    )
    small.cursor().execute(
        "INSERT INTO jobs VALUES ('empty', 'mine', 'tie', 'code', '{}', '2026-01-01', 's')"
    )
    values = (
        "('j', 'mine', 'a_fixed', 'tie', 'code', {}, 'p', '2026-01-0{}', {}, "
        "'why', 'stop', 1.0, 1, 10, 2, {}, 's', NULL, NULL)"
    )
    for row in (
        values.format(1, 2, "'text'", 0.25),
        values.format(2, 3, "NULL", "NULL"),
    ):
        small.cursor().execute(f"INSERT INTO replies VALUES {row}")
    told = answer(
        small,
        "SELECT job, n_replies, n_without_text, input_tokens, usd FROM job_totals ORDER BY job",
    )
    assert told.fillna(-1).to_numpy().tolist() == [
        ["empty", 0, 0, -1, -1],
        ["j", 2, 1, 20, 0.25],
    ]


def test_everything_has_a_comment() -> None:
    with closing(open_store(IN_MEMORY, with_comments=True)) as store:
        relations = schema(store)
        tables = {
            row[0]
            for row in store.cursor()
            .execute("SELECT table_name FROM duckdb_tables()")
            .fetchall()
        }
    assert {one.name for one in relations if not one.is_view} == tables - {
        "schema_version"
    }
    assert [one.name for one in relations if one.is_view] == [
        "job_totals",
        "pairs",
        "verdicts",
    ]
    assert [one.name for one in relations if not one.words] == []
    assert [
        (one.name, column.name)
        for one in relations
        for column in one.columns
        if not column.words
    ] == []
    assert next(one.key for one in relations if one.name == "cases") == (
        "benchmark",
        "case_id",
    )
