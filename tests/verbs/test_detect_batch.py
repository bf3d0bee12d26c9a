"""`detect --batch` as its user has it: a batch over HTTP, waited for, interrupted, and read reply by reply."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crane_core import ledger
from crane_core.domain import Reply
from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.pipeline.detection import batch
from crane_core.pipeline.places import DataFolder
from tests.llm.batch_server import (
    BatchServer,
    Told,
    answered,
    batch_server,
    expired,
    failed,
)
from tests.llm.scripted import Sent, error
from tests.patience import PATIENCE_S
from tests.spoken import Run, speaker

KEY = "sk-0123456789abcdef0123456789abcdef"
ONE = (
    "--setting",
    "code",
    "--benchmark",
    "minibench",
    "--instances",
    "numpy_1_*",
)
PRICES = ("--price-in", "2", "--price-out", "10")


def model_at(base_url: str, *more: str) -> tuple[str, ...]:
    return (
        "detect",
        "--detector",
        "llm",
        "--model",
        "heron",
        "--base-url",
        base_url,
        *ONE,
        "--runs",
        "2",
        *more,
    )


def batch_at(base_url: str, *more: str) -> tuple[str, ...]:
    return model_at(base_url, "--batch", *more)


def replies(folder: DataFolder) -> list[Reply]:
    files = sorted((folder.ledger / "runs").glob("*.jsonl"))
    records = [record for path in files for record in ledger.tail(path).records]
    return [record for record in records if isinstance(record, Reply)]


def notes(folder: DataFolder) -> list[Path]:
    return sorted((folder.ledger / "runs").glob("*.batch*"))


def the_error(err: str) -> str:
    [told] = [line for line in err.splitlines() if line.startswith("error: ")]
    return told


def test_a_batch_is_asked_as_a_direct_run_is_and_gives_its_row(
    run: Run, folder: DataFolder
) -> None:
    server = BatchServer(n_looks=1)
    with batch_server(server) as base_url:
        told = json.loads(
            run(*batch_at(base_url, *PRICES, "--seed", "7", "--json")).out
        )
        again = run(*batch_at(base_url, *PRICES, "--seed", "7"))
    assert (told["answered"], told["open"], told["ended_early"]) == (4, 0, None)
    assert told["spent"]["usd"] == pytest.approx(
        4 * (1000 * 2e-6 + 100 * 10e-6)
    )
    assert [row["title"] for row in told["rows"]] == ["heron"]
    assert again.code == 0
    assert len(server.batches) == 1
    asked = server.asked()
    assert len({one["custom_id"] for one in asked}) == 4
    assert {one["url"] for one in asked} == {"/v1/chat/completions"}
    assert sorted(one["body"]["seed"] for one in asked) == [7, 7, 8, 8]
    stored = replies(folder)
    assert {
        (reply.text is not None, reply.seconds, reply.attempts)
        for reply in stored
    } == {(True, None, 1)}
    assert notes(folder) == []


def test_probabilities_of_tokens_come_with_a_batch(
    run: Run, folder: DataFolder
) -> None:
    """One of the four lines has them, as of a server that tells them where it can."""

    def first_with_chances(asked: list[Told]) -> tuple[list[Any], list[Any]]:
        lines = [answered(one) for one in asked]
        choice = lines[0]["response"]["body"]["choices"][0]
        tokens = [('"detection": ', 0.5), ("tr", 0.9), ("ue", 0.5), ("}", 0.1)]
        if "true" not in choice["message"]["content"]:
            tokens[1:3] = [("fal", 0.9), ("se", 0.5)]
        choice["logprobs"] = {
            "content": [
                {"token": token, "logprob": math.log(chance)}
                for token, chance in tokens
            ]
        }
        return lines, []

    server = BatchServer(output=first_with_chances)
    with batch_server(server) as base_url:
        told = json.loads(
            run(*batch_at(base_url, *PRICES, "--logprobs", "--json")).out
        )
    assert told["answered"] == 4
    assert all(one["body"]["logprobs"] is True for one in server.asked())
    chances = [reply.chance for reply in replies(folder)]
    assert sorted(chances, key=str) == [pytest.approx(0.45), None, None, None]


def test_each_reply_belongs_to_its_question_in_any_order(
    run: Run, folder: DataFolder
) -> None:
    server = BatchServer(
        output=lambda asked: (
            [answered(one, one["custom_id"]) for one in reversed(asked)],
            [],
        )
    )
    with batch_server(server) as base_url:
        run(*batch_at(base_url))
    said = {
        reply.text: (reply.instance_id, reply.run_index)
        for reply in replies(folder)
    }
    prompts = {
        one["custom_id"]: one["body"]["messages"][0]["content"]
        for one in server.asked()
    }
    assert len(set(said.values())) == len(prompts) == 4
    for custom_id, (_, run_index) in said.items():
        assert custom_id is not None
        assert custom_id.startswith(f"run{run_index}-")
    by_instance: dict[str, set[str]] = {}
    for custom_id, (instance_id, _) in said.items():
        by_instance.setdefault(instance_id, set()).add(prompts[str(custom_id)])
    assert [len(texts) for texts in by_instance.values()] == [1, 1]


def test_what_failed_is_counted_and_only_that_is_asked_by_the_next_batch(
    run: Run, folder: DataFolder
) -> None:
    def output(
        asked: list[Told],
    ) -> tuple[list[Told | bytes], list[Told | bytes]]:
        if len(asked) < 4:
            return [answered(one) for one in asked], []
        return [answered(one) for one in asked[:2]], [
            failed(asked[2], 500, "overloaded"),
            expired(asked[3]),
        ]

    server = BatchServer(output=output)
    with batch_server(server) as base_url:
        first = run(*batch_at(base_url, "--json"))
        told = json.loads(first.out)
        second = json.loads(run(*batch_at(base_url, "--json")).out)
    assert first.code == 1
    assert (told["answered"], told["open"], sum(told["troubles"].values())) == (
        2,
        2,
        2,
    )
    assert any("overloaded" in why for why in told["troubles"])
    assert any("batch_expired" in why for why in told["troubles"])
    assert (second["answered"], second["open"]) == (4, 0)
    assert [len(server.asked(number)) for number in range(2)] == [4, 2]
    assert {one["custom_id"] for one in server.asked(1)} == {
        one["custom_id"] for one in server.asked(0)[2:]
    }


@pytest.mark.slow
def test_an_interrupted_wait_is_resumed_and_nothing_is_submitted_twice(
    whole_folder: DataFolder, capsys: pytest.CaptureFixture[str], root: Path
) -> None:
    run = speaker(whole_folder.path, capsys)
    server = BatchServer(n_looks=None)
    with batch_server(server) as base_url:
        command = [
            sys.executable,
            "-m",
            "crane_core",
            "--data",
            str(whole_folder.path),
            *batch_at(base_url),
        ]
        with subprocess.Popen(
            command,
            cwd=root,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert server.was_looked_at.wait(PATIENCE_S)
            os.kill(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert "Traceback" not in err
        assert "4 questions are open; the same command resumes there" in out
        direct = run(*model_at(base_url))
        other = run(*batch_at(base_url, "--runs", "1"))
        server.n_looks = 0
        resumed = run(*batch_at(base_url))
    assert "waits for a batch" in the_error(direct.err)
    assert "asks other questions than this command" in the_error(other.err)
    assert resumed.code == 0
    assert "4 of 4 questions answered" in resumed.out
    assert len(server.batches) == 1
    assert len(replies(whole_folder)) == 4


def test_a_start_that_was_killed_after_reading_does_not_keep_or_pay_for_a_reply_twice(
    run: Run, folder: DataFolder
) -> None:
    server = BatchServer(
        refuses=lambda _, path: (
            error(403, "not yet") if "batch_" in path else None
        )
    )
    with batch_server(server) as base_url:
        run(*batch_at(base_url))
        [note] = notes(folder)
        as_before_the_end = note.read_bytes()
        server.refuses = lambda _method, _path: None
        assert run(*batch_at(base_url)).code == 0
        assert notes(folder) == []
        note.write_bytes(as_before_the_end)
        more = run(*batch_at(base_url, "--runs", "3"))
    assert more.code == 0
    assert [
        len(server.asked(number)) for number in range(len(server.batches))
    ] == [
        4,
        2,
    ]
    asked = [(reply.instance_id, reply.run_index) for reply in replies(folder)]
    assert len(asked) == len(set(asked)) == 6
    assert notes(folder) == []


def test_a_batch_whose_name_never_came_back_is_found_again(
    run: Run, folder: DataFolder
) -> None:
    server = BatchServer(after_created=error(500, "lost"))
    with batch_server(server) as base_url:
        first = run(*batch_at(base_url))
        server.batches += [
            {"id": f"batch_{n}", "input_file_id": "of somebody else"}
            for n in range(1, 251)
        ]
        second = run(*batch_at(base_url))
    assert "lost" in the_error(first.err)
    assert second.code == 0
    assert sum(path == "POST /v1/batches" for path in server.requests) == 1
    assert (
        sum(path.startswith("GET /v1/batches?") for path in server.requests)
        == 3
    )
    assert sum(path == "POST /v1/files" for path in server.requests) == 1


def test_a_batch_that_was_never_created_is_created_of_the_same_file(
    run: Run, folder: DataFolder
) -> None:
    fails = iter([True, False])
    server = BatchServer(
        refuses=lambda method, path: (
            error(500, "x")
            if path == "/v1/batches" and next(fails, False)
            else None
        )
    )
    with batch_server(server) as base_url:
        assert run(*batch_at(base_url)).code == 1
        assert run(*batch_at(base_url)).code == 0
    assert len(server.batches) == len(replies(folder)) / 4 == 1
    assert sum(path == "POST /v1/files" for path in server.requests) == 1


def test_a_batch_without_an_end_is_waited_for_a_limited_time(
    run: Run, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "LONGEST_WAIT_S", 0.5)
    with batch_server(BatchServer(n_looks=None)) as base_url:
        spoken = run(*batch_at(base_url))
    assert spoken.code == 1
    assert (
        "stopped early: the batch batch_0 did not end; it is still waited for"
        in spoken.out
    )
    assert len(notes(folder)) == 1


def test_a_look_that_fails_is_repeated_and_a_server_that_stays_away_ends_it(
    run: Run, folder: DataFolder
) -> None:
    fails = iter([True, False])
    server = BatchServer(
        refuses=lambda _, path: (
            error(502, "away")
            if "batch_" in path and next(fails, False)
            else None
        )
    )
    with batch_server(server) as base_url:
        assert run(*batch_at(base_url)).code == 0
    gone = BatchServer(
        refuses=lambda _, path: error(502, "away") if "batch_" in path else None
    )
    with batch_server(gone) as base_url:
        spoken = run(*batch_at(base_url, "--retries", "1"))
    assert "away" in the_error(spoken.err)
    assert sum(path == "GET /v1/batches/batch_0" for path in gone.requests) == 2
    assert len(notes(folder)) == 1


@pytest.mark.parametrize("status", ["expired", "cancelled", "failed"])
def test_a_batch_that_ends_early_says_so_in_a_line_with_what_was_kept(
    run: Run, folder: DataFolder, status: str
) -> None:
    n_kept = 0 if status == "failed" else 1
    server = BatchServer(
        output=lambda asked: ([answered(one) for one in asked[:n_kept]], []),
        status=status,
        why="the file is bad",
    )
    with batch_server(server) as base_url:
        spoken = run(*batch_at(base_url))
        server.status, server.output = (
            "completed",
            lambda asked: ([answered(one) for one in asked], []),
        )
        second = run(*batch_at(base_url))
    assert spoken.code == 1
    line = f"stopped early: the batch batch_0 {status} (the file is bad); {n_kept} of 4 replies were kept"
    assert line in spoken.out
    assert f"{4 - n_kept} questions are open" in spoken.out
    assert second.code == 0
    assert [len(server.asked(number)) for number in range(2)] == [4, 4 - n_kept]


def test_a_server_without_these_endpoints_says_so_and_can_be_asked_directly(
    run: Run, folder: DataFolder
) -> None:
    with fake_server(FakePlan()) as base_url:
        spoken = run(*batch_at(base_url))
        assert "has no batch endpoints (POST /files: " in the_error(spoken.err)
        assert "Ask without --batch." in the_error(spoken.err)
        assert run(*model_at(base_url)).code == 0
    halfway = BatchServer(
        refuses=lambda method, path: (
            error(404, "no") if path == "/v1/batches" else None
        )
    )
    with batch_server(halfway) as base_url:
        spoken = run(*batch_at(base_url))
    assert "has no batch endpoints (POST /batches: " in the_error(spoken.err)
    assert notes(folder) == []


def test_a_batch_that_the_server_forgot_is_one_error_that_names_the_way_out(
    run: Run, folder: DataFolder
) -> None:
    server = BatchServer(
        refuses=lambda _, path: (
            error(404, "no such batch") if "batch_" in path else None
        )
    )
    with batch_server(server) as base_url:
        told = the_error(run(*batch_at(base_url)).err)
    assert "no longer has the batch batch_0" in told
    [note] = notes(folder)
    assert note.name in told


@pytest.mark.slow
def test_lines_that_say_nothing_of_its_questions_are_left_out_and_counted(
    run: Run, folder: DataFolder
) -> None:
    def output(
        asked: list[Told],
    ) -> tuple[list[Told | bytes], list[Told | bytes]]:
        first, second, *_ = asked
        foreign: list[Told | bytes] = [
            b"{",
            b"\xff\xfe",
            b"[]",
            b"[" * 100_000,
            b'{"custom_id": ["a"], "response": null}',
            b'{"custom_id": 7}',
            answered({"custom_id": "run9-somebody-else"}),
            b"a" * 9_000_000,
        ]
        told_twice = answered(first, "another answer")
        return [
            answered(first),
            b"",
            *foreign,
            told_twice,
            answered(second),
        ], []

    with batch_server(BatchServer(output=output)) as base_url:
        spoken = run(*batch_at(base_url, "--json"))
    told = json.loads(spoken.out)
    assert (told["answered"], told["troubles"]) == (
        2,
        {"the batch ended without a reply to this question": 2},
    )
    assert "8 lines answer no question of it" in spoken.err
    assert "another answer" not in {reply.text for reply in replies(folder)}


def test_hostile_replies_are_kept_as_they_are_and_nothing_of_them_reaches_the_terminal_or_breaks_it(
    run: Run, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRANE_API_KEY", KEY)

    def odd(asked: Told, response: Any) -> Told:
        return {
            "custom_id": asked["custom_id"],
            "response": response,
            "error": None,
        }

    def output(
        asked: list[Told],
    ) -> tuple[list[Told | bytes], list[Told | bytes]]:
        hostile = "\x1b]0;owned\x07<script>\ud800 " + KEY
        return [
            answered(asked[0], hostile),
            odd(asked[1], {"status_code": 200, "body": {"choices": "none"}}),
        ], [
            failed(asked[2], 400, hostile),
            odd(asked[3], {"status_code": True, "body": [KEY]}),
        ]

    with batch_server(BatchServer(output=output)) as base_url:
        spoken = run(*batch_at(base_url, "--key-env", "CRANE_API_KEY"))
    stored = replies(folder)
    assert len(stored) == 4
    [kept] = [reply.text for reply in stored if reply.text is not None]
    assert "<script>" in kept
    everything = (
        spoken.out
        + spoken.err
        + "".join(
            path.read_text("utf-8") for path in folder.ledger.rglob("*.jsonl")
        )
    )
    assert KEY not in everything
    assert "\x1b" not in spoken.out + spoken.err
    assert "Traceback" not in spoken.err


def test_a_parameter_that_the_endpoint_refuses_is_left_out_of_a_second_batch_at_once(
    run: Run, folder: DataFolder
) -> None:
    def output(
        asked: list[Told],
    ) -> tuple[list[Told | bytes], list[Told | bytes]]:
        if "temperature" in asked[0]["body"]:
            words = "Unsupported value: 'temperature' does not support 0.01 with this model."
            return [], [
                failed(one, 400, words, param="temperature") for one in asked
            ]
        return [answered(one) for one in asked], []

    server = BatchServer(output=output)
    with batch_server(server) as base_url:
        told = json.loads(run(*batch_at(base_url, "--json")).out)
    assert (told["answered"], told["troubles"], len(server.batches)) == (
        4,
        {},
        2,
    )
    assert "temperature" in server.asked(0)[0]["body"]
    assert all("temperature" not in one["body"] for one in server.asked(1))
    assert told["spent"]["n_requests"] == 4


def test_only_what_surely_fits_the_caps_is_submitted(
    run: Run, folder: DataFolder
) -> None:
    server = BatchServer()
    caps = ("--max-tokens", "1000", "--budget-tokens")
    with batch_server(server) as base_url:
        nothing = run(*batch_at(base_url, *caps, "500"))
        assert server.requests == []
        assert (
            "stopped early: the next question could cost more than the budget leaves"
            in nothing.out
        )
        some = json.loads(run(*batch_at(base_url, *caps, "5000", "--json")).out)
        rest = json.loads(
            run(*batch_at(base_url, *caps, "500000", "--json")).out
        )
    n_first = len(server.asked(0))
    assert 0 < n_first < 4
    assert (some["answered"], some["open"]) == (n_first, 4 - n_first)
    assert "budget" in some["ended_early"]
    assert (rest["answered"], len(server.asked(1))) == (4, 4 - n_first)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--detector", "fake", "--batch"), "fake cannot be asked by batches"),
        (
            ("--detector", "pylint", "--batch"),
            "pylint cannot be asked by batches",
        ),
        (
            ("--detector", "cascade", "--model", "m", "--batch"),
            "cascade cannot be asked by batches",
        ),
        (
            (
                "--detector",
                "llm",
                "--model",
                "m",
                "--batch",
                "--concurrency",
                "4",
            ),
            "Omit --concurrency",
        ),
    ],
)
def test_options_that_make_no_sense_with_a_batch_are_refused(
    run: Run, arguments: tuple[str, ...], told: str
) -> None:
    spoken = run("detect", *ONE, *arguments)
    assert spoken.code == 1
    assert told in the_error(spoken.err)


def test_a_note_that_cannot_be_read_is_one_error_and_nothing_is_sent(
    run: Run, folder: DataFolder
) -> None:
    server = BatchServer(
        n_looks=None,
        refuses=lambda _, path: Sent(403, b"{}") if "batch_" in path else None,
    )
    with batch_server(server) as base_url:
        run(*batch_at(base_url))
        [note] = notes(folder)
        note.write_text("{", "utf-8")
        n_requests = len(server.requests)
        spoken = run(*batch_at(base_url))
    assert note.name in the_error(spoken.err)
    assert len(server.requests) == n_requests
