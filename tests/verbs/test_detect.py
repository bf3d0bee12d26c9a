"""`detect` and `judge` as their user has them: a plan with its price, a model over HTTP, the row, and going on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.domain import Reply
from crane_core.llm.fake_server import (
    FakeModel,
    FakePlan,
    ServerFault,
    fake_server,
)
from crane_core.pipeline.places import DataFolder
from tests.spoken import Run, speaker

Hold = Callable[[Path], AbstractContextManager[None]]
KEY = "sk-0123456789abcdef0123456789abcdef"
ONE = (
    "--setting",
    "code",
    "--benchmark",
    "minibench",
    "--instances",
    "numpy_1_*",
)


def ledger_text(folder: DataFolder) -> str:
    return "".join(
        path.read_text("utf-8")
        for path in sorted(folder.ledger.rglob("*.jsonl"))
    )


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
        *more,
    )


def test_the_fake_model_needs_nothing_and_gives_a_row(
    run: Run, folder: DataFolder
) -> None:
    spoken = run("detect --detector fake", *ONE, "--runs", "3")
    assert spoken.code == 0
    assert "6 of 6 questions answered" in spoken.out
    assert "Crash detection alone (table 2b)" in spoken.out
    assert "published rows" not in spoken.out
    assert "6 of 6 answered" in spoken.err
    again = run("detect --detector fake", *ONE, "--runs", "3", "--json")
    told = json.loads(again.out)
    assert (told["answered"], told["spent"]["n_requests"]) == (6, 6)
    assert [row["title"] for row in told["rows"]] == ["fake"]
    assert told["rows"][0]["rates"]["Accuracy"]["n"] == 2
    assert len(list((folder.ledger / "runs").glob("*.jsonl"))) == 1


def test_a_dry_run_tells_requests_tokens_and_price_and_sends_nothing(
    run: Run, folder: DataFolder
) -> None:
    model = FakeModel(FakePlan())
    with fake_server(model) as base_url:
        spoken = run(
            *model_at(
                base_url, "--dry-run", "--price-in", "2", "--price-out", "10"
            )
        )
        told = json.loads(
            run(
                *model_at(
                    base_url,
                    "--dry-run",
                    "--json",
                    "--price-in",
                    "2",
                    "--price-out",
                    "10",
                )
            ).out
        )
    assert spoken.code == 0
    assert "10 requests" in spoken.out
    sent = told["to_send"]
    assert (sent["n_requests"], told["questions"], told["answered"]) == (
        10,
        10,
        0,
    )
    assert sent["input_usd"] == pytest.approx(sent["input_tokens"] * 2e-6)
    assert sent["most_usd"] > sent["input_usd"]
    assert model.requests == {}
    assert not (folder.ledger / "runs").exists()


def test_a_model_at_an_address_is_asked_with_the_key_of_the_environment_which_is_written_nowhere(
    run: Run, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRANE_API_KEY", KEY)
    plan = FakePlan(
        key=KEY,
        echoes_key=True,
        faults={ServerFault.ERROR: 3, ServerFault.REFUSAL: 4},
    )
    named = ("--key-env", "CRANE_API_KEY")
    with fake_server(plan) as base_url:
        spoken = run(
            *model_at(
                base_url,
                "--price-in",
                "2",
                "--price-out",
                "10",
                "--concurrency",
                "1",
                *named,
            )
        )
    replies = [
        record
        for path in folder.ledger.rglob("*.jsonl")
        for record in ledger.tail(path).records
    ]
    answered = [
        reply
        for reply in replies
        if isinstance(reply, Reply) and reply.text is not None
    ]
    assert answered and all(
        reply.usd and reply.input_tokens and reply.seconds is not None
        for reply in answered
    )
    assert spoken.code == 1
    assert "the same command resumes there" in spoken.out
    assert KEY not in spoken.out + spoken.err + ledger_text(folder)


def test_a_sample_holds_whole_cases_and_a_larger_one_goes_on(
    run: Run,
) -> None:
    fake = "detect --detector fake --setting code --benchmark minibench --runs 1 --json"
    one = json.loads(run(fake, "--sample", "1", "--by", "library").out)
    two = json.loads(run(fake, "--sample", "2", "--by", "library").out)
    assert (one["questions"], two["questions"]) == (2, 4)
    assert one["job"] == two["job"]
    assert two["spent"]["n_requests"] == 4
    first = json.loads(run(fake, "--limit", "1", "--again").out)
    assert first["questions"] == 2
    lost = run(fake, "--by", "library")
    assert lost.code == 1
    assert "Add the number of cases to draw: --sample 20." in lost.err


def test_a_key_that_is_refused_is_one_error_without_the_key(
    run: Run, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRANE_API_KEY", KEY)
    with fake_server(FakePlan(key="another", echoes_key=True)) as base_url:
        spoken = run(*model_at(base_url, "--key-env", "CRANE_API_KEY"))
    assert spoken.code == 1
    [error] = [
        line for line in spoken.err.splitlines() if line.startswith("error: ")
    ]
    assert "--key-env NAME" in error
    assert KEY not in spoken.out + spoken.err + ledger_text(folder)


def test_a_budget_stops_it_and_a_larger_one_goes_on(run: Run) -> None:
    with fake_server(FakePlan()) as base_url:
        prices = ("--price-in", "1", "--price-out", "1")
        few = run(*model_at(base_url, *prices, "--budget-usd", "0.0175"))
        rest = run(*model_at(base_url, *prices, "--budget-usd", "1"))
    assert few.code == 1
    assert (
        "stopped early: the next question could cost more than the budget leaves"
        in few.out
    )
    assert rest.code == 0
    assert "10 of 10 questions answered" in rest.out


def test_a_budget_for_a_model_without_a_price_is_refused_wherever_it_is_served(
    run: Run,
) -> None:
    model = FakeModel(FakePlan())
    with fake_server(model) as base_url:
        refused = run(*model_at(base_url, "--budget-usd", "5"))
        assert (refused.code, refused.out, model.requests) == (1, "", {})
        [error] = [
            line
            for line in refused.err.splitlines()
            if line.startswith("error: ")
        ]
        assert (
            "The price of heron at 127.0.0.1" in error
            and "--price-in and --price-out (0 and 0" in error
        )
        free = run(
            *model_at(
                base_url,
                "--budget-usd",
                "5",
                "--price-in",
                "0",
                "--price-out",
                "0",
                "--runs",
                "1",
            )
        )
        assert free.code == 0 and "0.00 USD" in free.out
        uncapped = run(*model_at(base_url, "--runs", "1", "--again"))
        assert (
            uncapped.code == 0
            and "cost unknown" in uncapped.out
            and "USD" not in uncapped.out
        )


def test_a_budget_bites_on_a_gateway_of_this_machine(run: Run) -> None:
    """The model has a price by its name; its longest reply would cost 0.16 USD."""
    named = [
        argument if argument != "heron" else "openai/gpt-5"
        for argument in model_at("", "--runs", "2")
    ]
    model = FakeModel(FakePlan())
    with fake_server(model) as base_url:
        named[named.index("")] = base_url
        dear = run(*named, "--budget-usd", "0.1")
        assert (dear.code, model.requests) == (
            1,
            {},
        ) and "the budget leaves" in dear.out
        enough = run(*named, "--budget-usd", "2")
    assert enough.code == 0 and "4 of 4 questions answered" in enough.out


def test_cost_that_a_gateway_reports_is_what_is_kept_and_capped(
    run: Run, folder: DataFolder
) -> None:
    zero = ("--price-in", "0", "--price-out", "0", "--concurrency", "1")
    with fake_server(FakePlan(reports_usd=0.25)) as base_url:
        spoken = run(*model_at(base_url, *zero, "--budget-usd", "1"))
    replies = [
        record
        for path in folder.ledger.rglob("*.jsonl")
        for record in ledger.tail(path).records
    ]
    assert [reply.usd for reply in replies if isinstance(reply, Reply)] == [
        0.25
    ] * 4
    assert spoken.code == 1 and "the budget leaves" in spoken.out
    assert "1.00 USD, as the gateway reports" in spoken.out


def test_cost_of_two_sources_is_told_apart(run: Run) -> None:
    asked = ("--price-in", "0.5", "--price-out", "0.5", "--concurrency", "1")
    with fake_server(FakePlan(reports_usd=0.25)) as gateway:
        model_of_gateway = run(
            *model_at(gateway, *asked, "--runs", "1", "--json")
        )
    spent = json.loads(model_of_gateway.out)["spent"]
    assert (spent["usd"], spent["reported_usd"]) == (0.5, 0.5)
    with fake_server(FakePlan()) as plain:
        spoken = run(*model_at(plain, *asked, "--runs", "1"))
    assert "gateway" not in spoken.out and " USD" in spoken.out


@pytest.mark.parametrize("verb", ["detect", "judge"])
def test_where_no_price_is_known_a_cap_of_tokens_is_asked_for(
    run: Run, folder: DataFolder, verb: str
) -> None:
    """On this machine too: gateways to paid models listen there."""
    run("detect --detector fake", *ONE, "--runs", "1")
    where = model_at("http://127.0.0.1:9/v1", "--dry-run")
    if verb == "judge":
        named = (
            "--model",
            "heron",
            "--base-url",
            "http://127.0.0.1:9/v1",
            "--dry-run",
            "--benchmark",
            "minibench",
        )
        [job] = [path.stem for path in (folder.ledger / "runs").glob("*.jsonl")]
        where = ("judge", *named, "--experiment", job)
    words = "price unknown: cap it with --budget-tokens N, or state --price-in and --price-out (0 and 0 if it is free)"
    assert words in run(*where).out
    capped = run(*where, "--budget-tokens", "5000")
    assert (
        "price unknown; at most 5,000 tokens for the whole job, or state --price-in"
        in capped.out
    )
    dollars = run(*where, "--budget-usd", "1")
    assert dollars.code == 1
    assert (
        "--budget-tokens N" in dollars.err
        and "--price-in and --price-out" in dollars.err
    )


def test_an_endpoint_is_asked_by_its_name_with_its_key_at_its_price(
    run: Run,
    folder: DataFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OF_THE_GATEWAY", KEY)
    monkeypatch.setenv("CRANE_ENDPOINTS", str(tmp_path / "endpoints.toml"))
    with fake_server(FakePlan(key=KEY)) as base_url:
        lines = [
            "[gateway]",
            f'base_url = "{base_url}"',
            'key_env = "OF_THE_GATEWAY"',
            'models = ["heron"]',
        ]
        (tmp_path / "endpoints.toml").write_text(
            "\n".join([*lines, "price_in = 1", "price_out = 2.5"])
        )
        named = (
            "detect",
            "--detector",
            "llm",
            "--endpoint",
            "gateway",
            *ONE,
            "--runs",
            "1",
            "--budget-usd",
            "1",
        )
        spoken = run(*named, "--model", "heron", "--json")
        other = run(*named, "--model", "egret")
    told = json.loads(spoken.out)
    assert told["answered"] == 2
    spent = told["spent"]
    assert spent["usd"] == pytest.approx(
        (spent["input_tokens"] + 2.5 * spent["output_tokens"]) / 1e6
    )
    assert (
        other.code == 1
        and "not configured for the model 'egret'. Choose one: heron."
        in other.err
    )
    assert KEY not in spoken.out + spoken.err + ledger_text(folder)


def test_a_repeat_is_another_experiment(run: Run, folder: DataFolder) -> None:
    run("detect --detector fake", *ONE, "--runs", "1")
    assert (
        run("detect --detector fake", *ONE, "--runs", "1", "--again").code == 0
    )
    first, second = sorted(
        path.stem for path in (folder.ledger / "runs").glob("*.jsonl")
    )
    assert second == f"{first}-2"


@pytest.mark.slow
def test_it_works_while_the_app_holds_the_database(
    run: Run, folder: DataFolder, held: Hold
) -> None:
    with held(folder.database):
        spoken = run("detect --detector fake", *ONE, "--runs", "1")
    assert spoken.code == 0
    assert "2 of 2 questions answered" in spoken.out
    assert "\nfake  code " in spoken.out
    assert spoken.err.count("is open in another process") == 1


def test_published_rows_stand_beside_a_row_on_junobench(
    whole_folder: DataFolder, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A case of the published benchmark with our own cells: the published rows are of these two instances."""
    run = speaker(whole_folder.path, capsys)
    pair = tmp_path / "JunoBench"
    pair.mkdir()
    for version in ("reproduced", "fixed"):
        source = (
            Path(__file__).parents[2]
            / "data/minibench/benchmark/numpy_1"
            / f"numpy_1_{version}.ipynb"
        )
        (pair / source.name).write_bytes(source.read_bytes())
    assert run(f"import {pair}").code == 0
    spoken = run(
        "detect --detector fake --setting code --instances numpy_1_* --runs 1",
    )
    assert spoken.code == 0, spoken.err
    assert "published rows: crane-llm-2025-10, the same instances" in spoken.out
    assert [
        title for title in ("GPT-5", "pylint", "pyright") if title in spoken.out
    ] == [
        "GPT-5",
        "pylint",
        "pyright",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--detector", "llm"), "No model was given"),
        (
            ("--detector", "fake", "--model", "gpt-5"),
            "a fixed name and its own server",
        ),
        (("--detector", "fake", "--price-in", "1"), "--price-out"),
        (
            ("--detector", "llm", "--model", "m", "--endpoint", "nobody's"),
            'with the name "nobody\'s"',
        ),
        (
            ("--detector", "llm", "--model", "m", "--endpoint", ""),
            "with the name ''",
        ),
        (
            (
                "--detector",
                "llm",
                "--model",
                "m",
                "--endpoint",
                "x",
                "--base-url",
                "http://127.0.0.1:1",
            ),
            "--base-url",
        ),
        (
            ("--detector", "fake", "--endpoint", "x"),
            "a fixed name and its own server",
        ),
        (
            ("--detector", "pylint", "--runs", "5"),
            "gives the same answer each time",
        ),
        (
            ("--detector", "fake", "--instances", "polars_*"),
            "No instance of minibench",
        ),
        (
            ("--detector", "fake", "--benchmark", "mine"),
            "benchmark 'mine' is not loaded",
        ),
    ],
)
def test_what_cannot_be_run_is_one_error_with_its_remedy(
    run: Run, arguments: tuple[str, ...], told: str
) -> None:
    spoken = run("detect", *ONE, *arguments)
    assert spoken.code == 1
    [error] = [
        line for line in spoken.err.splitlines() if line.startswith("error: ")
    ]
    assert told in error
    assert spoken.out == ""


@pytest.mark.slow
def test_pylint_answers_in_one_process(run: Run) -> None:
    spoken = run(
        "detect --detector pylint", *ONE, "--json", "--concurrency", "1"
    )
    assert spoken.code == 0
    told = json.loads(spoken.out)
    assert (
        told["answered"],
        told["spent"]["n_requests"],
        told["rows"][0]["title"],
    ) == (
        2,
        0,
        "pylint",
    )


@pytest.mark.slow
def test_ctrl_c_ends_it_well_and_the_same_command_goes_on(
    whole_folder: DataFolder, root: Path
) -> None:
    with fake_server(FakePlan(latency_s=0.2)) as base_url:
        command = [
            sys.executable,
            "-m",
            "crane_core",
            "--data",
            str(whole_folder.path),
            *model_at(base_url),
        ]
        command[command.index("numpy_1_*")] = "*"
        with subprocess.Popen(
            [*command, "--concurrency", "2"],
            cwd=root,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr and process.stdout
            first = next(
                line for line in process.stderr if " answered, " in line
            )
            os.kill(process.pid, signal.SIGINT)
            said = process.stdout.read() + process.stderr.read()
        assert int(first.split()[0]) > 0
        assert process.returncode == 130
        assert "stopped early: it was stopped" in said
        assert "Traceback" not in said
        n_saved = ledger_text(whole_folder).count('"record": "reply"')
        assert f"{n_saved} of 400 questions answered" in said


def test_a_judge_labels_what_a_model_detected(
    run: Run, folder: DataFolder
) -> None:
    assert (
        run(
            "detect --detector fake --setting code --benchmark minibench --runs 1",
        ).code
        == 0
    )
    [job] = [path.stem for path in (folder.ledger / "runs").glob("*.jsonl")]
    where = ("judge", "--fake", "--benchmark", "minibench", "--experiment", job)
    plan = json.loads(run(*where, "--dry-run", "--json").out)
    assert (
        plan["questions"]
        == 2 * plan["verdicts"]
        == plan["to_send"]["n_requests"]
        > 0
    )
    spoken = run(*where, "--json")
    told = json.loads(spoken.out)
    assert spoken.code == 0
    assert told["annotator"] == "judge fake"
    assert sum(told["labels"].values()) == told["answered"] == plan["questions"]
    assert "labels of judge fake: " in run(*where).out
    none = run("judge --fake --benchmark minibench --experiment nobody")
    assert (none.code, none.out) == (1, "")
    assert "No verdict in the experiment 'nobody'" in none.err
