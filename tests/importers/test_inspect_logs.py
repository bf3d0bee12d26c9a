"""Logs of Inspect AI: each answer is read as a model's reply, and what gives none is counted and told."""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from crane_core.domain import (
    Benchmark,
    Detector,
    DetectorKind,
    LoadProblem,
    ProblemKind,
    Record,
    Run,
    Setting,
)
from crane_core.errors import SourceError
from crane_core.importers.filetree import open_tree
from crane_core.importers.registry import importer_for
from crane_core.pipeline.loading.load import import_paths, open_store, rebuild
from crane_core.pipeline.places import DataFolder
from crane_core.verbs.import_ import in_words
from tests.examples import examples

from .conftest import TreeOf, of

LOGS = Path(__file__).with_name("inspect_logs")
DOCUMENT: dict[str, Any] = json.loads(
    (LOGS / "crashes.json").read_text("utf-8")
)
EXPERIMENT = f"crashes-{DOCUMENT['eval']['eval_id'].lower()}"


def read(path: Path) -> list[Record]:
    tree = open_tree(path)
    importer = importer_for(tree)
    assert importer.KIND == "inspect-log"
    return list(importer.read(tree))


def read_changed(tree_of: TreeOf, **changes: Any) -> list[Record]:
    """The records of the log with these members in its first sample, and no other sample."""
    document = deepcopy(DOCUMENT)
    document["samples"] = [document["samples"][0] | changes]
    return list(
        importer_for(tree := tree_of({"a.json": json.dumps(document)})).read(
            tree
        )
    )


def runs(records: list[Record]) -> list[Run]:
    return of(records, Run)


def told(records: list[Record]) -> list[tuple[str, str]]:
    return sorted(
        (record.place, record.reason)
        for record in records
        if isinstance(record, LoadProblem)
    )


@pytest.mark.parametrize("name", ["crashes.eval", "crashes.json"])
def test_each_sample_and_epoch_of_a_real_log_is_a_run(name: str) -> None:
    records = read(LOGS / name)
    assert [
        record
        for record in records
        if isinstance(record, (Benchmark, Detector))
    ] == [
        Detector("mockllm-model", "mockllm/model", DetectorKind.LLM),
        Benchmark("minibench", "minibench"),
    ]
    answered = {
        (run.instance_id, run.run_index): (run.crashes, run.reasoning)
        for run in runs(records)
    }
    assert answered == {
        ("pandas_1_reproduced", 1): (True, "the column is missing"),
        ("pandas_1_reproduced", 2): (True, "the column is missing"),
        ("pandas_1_fixed", 1): (False, "the column exists"),
        ("pandas_1_fixed", 2): (None, None),
        ("numpy_1_fixed", 1): (False, "the column exists"),
    }
    assert {
        (run.benchmark, run.setting, run.experiment) for run in runs(records)
    } == {("minibench", Setting.RUNTIME, EXPERIMENT)}
    asked = DOCUMENT["samples"][0]["input"]
    assert (
        runs(records)[0].prompt_sha256
        == hashlib.sha256(asked.encode()).hexdigest()
    )
    assert told(records) == [
        ("1 sample", "kept without an answer: the reply was cut off at the token limit; the first: "
         "pandas_1_fixed, epoch 2"),
        ("1 sample", "left out: it failed; the first: ValueError('custom_outputs ran out of values')"),
        ("2 samples", "left out: it names no instance, whose name ends in _reproduced or _fixed; the first: 'warm-up'"),
    ]  # fmt: skip


@pytest.mark.slow
def test_both_formats_of_a_log_are_one_experiment(folder: DataFolder) -> None:
    first = import_paths([LOGS / "crashes.eval"], folder)
    second = import_paths([LOGS / "crashes.json"], folder)
    n_new = [
        {added.record: added.n_new for added in entry.added}["runs"]
        for entry in (first, second)
    ]
    assert n_new == [5, 0]
    assert "2 samples: left out: it names no instance" in in_words(first)
    assert "already loaded" in in_words(
        import_paths([LOGS / "crashes.eval"], folder)
    )
    rebuild(folder)
    store = open_store(folder.database)
    query = "SELECT count(*) FROM runs WHERE experiment = ?"
    assert store.cursor().execute(query, [EXPERIMENT]).fetchall() == [(5,)]
    store.close()


@pytest.mark.parametrize(
    ("changes", "whose"),
    [
        (
            {"id": "lab/a_1_fixed/code", "metadata": {}},
            ("lab", "a_1_fixed", Setting.CODE),
        ),
        (
            {"id": "code/a_1_fixed", "metadata": None},
            ("junobench", "a_1_fixed", Setting.CODE),
        ),
        (
            {"id": "a_1_fixed", "metadata": {"setting": "runtime+"}},
            ("junobench", "a_1_fixed", Setting.RUNTIME_PLUS),
        ),
        (
            {"id": "b_1_fixed/code", "metadata": {"instance": "a_1_fixed"}},
            ("junobench", "a_1_fixed", Setting.CODE),
        ),
    ],
)
def test_id_or_metadata_name_whose_answer_it_is(
    tree_of: TreeOf, changes: dict[str, Any], whose: tuple[str, str, Setting]
) -> None:
    [run] = runs(read_changed(tree_of, **changes))
    assert (run.benchmark, run.instance_id, run.setting) == whose


def test_arguments_of_the_task_are_the_usual_setting_and_benchmark(
    tree_of: TreeOf,
) -> None:
    document = deepcopy(DOCUMENT)
    document["eval"]["task_args"] = {"setting": "code", "benchmark": "lab"}
    document["samples"] = [
        document["samples"][0] | {"id": "a_1_fixed", "metadata": {}}
    ]
    tree = tree_of({"a.json": json.dumps(document)})
    [run] = runs(list(importer_for(tree).read(tree)))
    assert (run.benchmark, run.setting) == ("lab", Setting.CODE)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"id": "x", "metadata": {"setting": "code"}}, "it names no instance"),
        (
            {"id": "a_1_fixed", "metadata": {}},
            "its setting is none of code, runtime",
        ),
        (
            {"metadata": {"instance": "a_1_fixed", "setting": {}}},
            "its setting is none of",
        ),
        (
            {"id": "a_1_fixed/code", "metadata": {"benchmark": 3}},
            "its benchmark is not a name",
        ),
        ({"epoch": True}, "its epoch is not an integer"),
        ({"epoch": 0}, "its epoch is not an integer"),
        ({"output": {"choices": []}}, "its output has no completion"),
        ({"output": "yes"}, "its output has no completion"),
        ({"error": {"message": "gone"}}, "it failed; the first: gone"),
        (
            {
                "invalidation": {
                    "author": "ana",
                    "reason": "wrong prompt",
                    "metadata": {},
                }
            },
            "its author invalidated it; the first: pandas_1_reproduced, epoch 1: wrong prompt",
        ),
        (
            {"invalidation": {}},
            "its author invalidated it; the first: pandas_1_reproduced, epoch 1",
        ),
    ],
)
def test_a_sample_that_gives_no_run_is_told(
    tree_of: TreeOf, changes: dict[str, Any], why: str
) -> None:
    [(place, reason)] = told(records := read_changed(tree_of, **changes))
    assert (place, runs(records)) == ("1 sample", [])
    assert reason.startswith(f"left out: {why}")


def test_a_sample_stopped_before_its_answer_counts_as_no_answer(
    tree_of: TreeOf,
) -> None:
    limited = {
        "limit": {"type": "token", "limit": 5},
        "output": {"choices": [], "completion": ""},
    }
    [run] = runs(read_changed(tree_of, **limited))
    assert (run.crashes, run.unanswered) == (
        None,
        "it met the limit of 'token'",
    )


def test_the_second_answer_to_one_question_is_told(tree_of: TreeOf) -> None:
    document = deepcopy(DOCUMENT)
    document["samples"] = [document["samples"][0]] * 3
    tree = tree_of({"a.json": json.dumps(document)})
    records = list(importer_for(tree).read(tree))
    assert len(runs(records)) == 1
    assert (
        "2 samples",
        "left out: a sample before it answers the same; the first: pandas_1_reproduced, epoch 1",
    ) in (told(records))


def test_an_answer_after_an_invalidated_one_is_no_duplicate(
    tree_of: TreeOf,
) -> None:
    document = deepcopy(DOCUMENT)
    sample = document["samples"][0]
    document["samples"] = [sample | {"invalidation": {"author": "ana"}}, sample]
    tree = tree_of({"a.json": json.dumps(document)})
    records = list(importer_for(tree).read(tree))
    assert len(runs(records)) == 1
    assert [place for place, _ in told(records)] == ["1 sample"]


def test_a_second_answer_that_differs_is_a_contradiction(
    tree_of: TreeOf,
) -> None:
    document = deepcopy(DOCUMENT)
    other = deepcopy(document["samples"][0])
    other["output"] = {"choices": [], "completion": ""}
    document["samples"] = [document["samples"][0], other]
    tree = tree_of({"a.json": json.dumps(document)})
    records = list(importer_for(tree).read(tree))
    assert len(runs(records)) == 1
    [problem] = of(records, LoadProblem)
    assert problem.kind is ProblemKind.CONTRADICTION
    assert (
        "a sample before it answers otherwise; the first: pandas_1_reproduced, epoch 1"
        in problem.reason
    )


def test_an_evaluation_that_did_not_end_is_told_and_its_answers_are_read(
    tmp_path: Path,
) -> None:
    unfinished = tmp_path / "unfinished.eval"
    with zipfile.ZipFile(unfinished, "w") as archive:
        archive.writestr(
            "_journal/start.json",
            json.dumps({"version": 2, "eval": DOCUMENT["eval"]}),
        )
        archive.writestr(
            "samples/1_epoch_1.json", json.dumps(DOCUMENT["samples"][0])
        )
    records = read(unfinished)
    assert [run.instance_id for run in runs(records)] == ["pandas_1_reproduced"]
    assert told(records) == [
        ("status", "the evaluation did not end: 'started'")
    ]


def test_a_log_without_samples_or_without_a_model_is_one_problem(
    tree_of: TreeOf,
) -> None:
    bare = {
        name: member for name, member in DOCUMENT.items() if name != "samples"
    }
    nameless = bare | {"eval": DOCUMENT["eval"] | {"model": None}}
    tree = tree_of({"a.json": json.dumps(bare), "b.json": json.dumps(nameless)})
    assert told(list(importer_for(tree).read(tree))) == [
        ("eval.model", "it is missing or not a string"),
        ("samples", "the log was written without its samples"),
    ]


def with_sizes(data: bytes, name: bytes, n_bytes: int) -> bytes:
    """The archive, whose directory declares this unpacked size for a member."""
    entry = data.index(b"PK\x01\x02", data.rindex(name) - 46)
    return data[: entry + 24] + struct.pack("<I", n_bytes) + data[entry + 28 :]


@pytest.mark.parametrize("n_bytes", [10, 10_000_000])
def test_a_lying_size_of_a_zstandard_member_costs_that_member(
    tmp_path: Path, n_bytes: int
) -> None:
    lying = tmp_path / "lying.eval"
    lying.write_bytes(
        with_sizes(
            (LOGS / "crashes.eval").read_bytes(),
            b"samples/1_epoch_1.json",
            n_bytes,
        )
    )
    records = read(lying)
    outcome = [
        (r.path, r.reason)
        for r in records
        if isinstance(r, LoadProblem) and r.place == "file"
    ]
    if n_bytes == 10:
        assert outcome == [
            (
                "samples/1_epoch_1.json",
                "samples/1_epoch_1.json cannot be unpacked: its checksum is wrong.",
            )
        ]
        assert len(runs(records)) == 4
    else:
        assert len(runs(records)) == 5


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    position=st.integers(0, (LOGS / "crashes.eval").stat().st_size - 1),
    byte=st.integers(0, 255),
)
def test_a_damaged_log_is_refused_or_read_in_part(
    tmp_path: Path, position: int, byte: int
) -> None:
    data = (LOGS / "crashes.eval").read_bytes()
    damaged = tmp_path / "damaged.eval"
    damaged.write_bytes(data[:position] + bytes([byte]) + data[position + 1 :])
    whole = {
        (run.instance_id, run.run_index): run.crashes
        for run in runs(read(LOGS / "crashes.eval"))
    }
    try:
        tree = open_tree(damaged)
        records = list(importer_for(tree).read(tree))
    except SourceError:
        return
    assert {
        (run.instance_id, run.run_index): run.crashes for run in runs(records)
    }.items() <= whole.items()
