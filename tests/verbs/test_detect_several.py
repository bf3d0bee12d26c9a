"""Several models and settings in one command: a job each, told together, resumed by the same command; their names."""

from __future__ import annotations

import json

import pytest

from crane_core.llm.fake_server import FakeModel, FakePlan, fake_server
from crane_core.pipeline.places import DataFolder
from tests.spoken import Run

ON = ("--benchmark", "minibench", "--instances", "numpy_1_*", "--runs", "1")


def asked(
    base_url: str, *models: str, setting: str = "code,runtime,runtime-S"
) -> tuple[str, ...]:
    named = [argument for model in models for argument in ("--model", model)]
    return (
        "detect",
        "--detector",
        "llm",
        *named,
        "--setting",
        setting,
        "--base-url",
        base_url,
        *ON,
    )


def jobs(folder: DataFolder) -> list[str]:
    return sorted(
        path.stem.rpartition("-")[0]
        for path in (folder.ledger / "runs").glob("*.jsonl")
    )


def test_every_model_meets_every_setting_and_all_stand_in_one_table(
    run: Run, folder: DataFolder
) -> None:
    model = FakeModel(FakePlan())
    with fake_server(model) as base_url:
        spoken = run(*asked(base_url, "heron", "egret"))
        first = sum(model.requests.values())
        again = run(*asked(base_url, "heron", "egret"))
    assert (spoken.code, again.code, first, sum(model.requests.values())) == (
        0,
        0,
        12,
        12,
    )
    settings = ("code", "runtime-s", "runtime")
    assert jobs(folder) == sorted(
        f"{name}-{setting}-minibench"
        for name in ("egret", "heron")
        for setting in settings
    )
    assert spoken.out.count("2 of 2 questions answered") == 6
    table = spoken.out[spoken.out.index("Crash detection alone") :].splitlines()
    assert [line.split()[0] for line in table[2:]] == ["heron"] * 3 + [
        "egret"
    ] * 3
    assert "run 6 of 6: egret, runtime-S" in spoken.err


def test_model_that_is_not_there_does_not_stop_the_next_one(
    run: Run, folder: DataFolder
) -> None:
    with fake_server(FakePlan(models=("egret",))) as base_url:
        spoken = run(
            *asked(base_url, "heron", "egret", setting="code"), "--json"
        )
    told = json.loads(spoken.out)["runs"]
    assert spoken.code == 1
    assert [each["model"] for each in told] == ["heron", "egret"]
    assert told[0]["error"].startswith("The endpoint has no such model")
    assert (told[1]["answered"], told[1]["rows"][0]["title"]) == (2, "egret")
    assert "error: The endpoint has no such model" in spoken.err


def test_several_are_planned_without_sending_anything(
    run: Run, folder: DataFolder
) -> None:
    model = FakeModel(FakePlan())
    with fake_server(model) as base_url:
        spoken = run(
            *asked(base_url, "heron", "heron", setting="code,code,runtime"),
            "--dry-run",
            "--json",
        )
    assert [
        each["to_send"]["n_requests"] for each in json.loads(spoken.out)["runs"]
    ] == [2, 2]
    assert model.requests == {} and not (folder.ledger / "runs").exists()


def test_detectors_of_this_machine_take_several_settings(
    run: Run, folder: DataFolder
) -> None:
    spoken = run(
        "detect --detector rules --setting code,runtime --concurrency 1",
        *ON[:-2],
    )
    assert spoken.code == 0
    assert jobs(folder) == ["rules-code-minibench", "rules-runtime-minibench"]


@pytest.mark.parametrize("setting", ["", ",", "code,runtime-X", "code runtime"])
def test_setting_that_is_none_is_wrong_usage(
    run: Run, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("detect --detector fake --setting", setting, *ON)
    assert "--setting" in capsys.readouterr().err


def labels(
    run: Run, folder: DataFolder, *more: str
) -> tuple[int, dict[str, str]]:
    spoken = run("detect --detector fake --setting code", *ON, *more)
    [path] = (folder.ledger / "runs").glob("*.jsonl")
    kept = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    [*_, job] = [record for record in kept if record["record"] == "job"]
    options = json.loads(job["options"])
    return spoken.code, {
        name: options[name] for name in ("name", "note") if name in options
    }


def test_name_and_note_belong_to_the_job_and_stay_until_others_are_given(
    run: Run, folder: DataFolder
) -> None:
    assert labels(run, folder, "--name", "pilot", "--note", "before the change") == (
        0, {"name": "pilot", "note": "before the change"},
    )  # fmt: skip
    assert labels(run, folder) == (
        0,
        {"name": "pilot", "note": "before the change"},
    )
    assert labels(run, folder, "--name", "main") == (
        0,
        {"name": "main", "note": "before the change"},
    )


@pytest.mark.parametrize(
    "option", [("--name", ""), ("--name", "a" * 81), ("--note", "two\nlines")]
)
def test_name_that_is_none_is_wrong_usage(
    run: Run, option: tuple[str, str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("detect --detector fake --setting code", *ON, *option)


def test_key_in_a_note_is_refused(run: Run, folder: DataFolder) -> None:
    spoken = run(
        "detect --detector fake --setting code",
        *ON,
        "--note",
        f"sk-{'a1' * 20}",
    )
    assert spoken.code == 1 and "holds a key" in spoken.err
    assert not (folder.ledger / "runs").exists()
