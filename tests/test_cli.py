"""Every command as its user has it: help with an example that parses, exit codes, JSON apart from progress."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.cli import main, parser, verb_modules, verb_names
from crane_core.domain import Run as Answer
from crane_core.domain import Setting
from crane_core.pipeline.claims.claims import published_claims
from crane_core.pipeline.places import CHECKOUT, DataFolder
from crane_core.pipeline.study.measured_tables import MEASURED_TABLES
from tests.spoken import Run, speaker

Hold = Callable[[Path], AbstractContextManager[None]]


MOST_UNGROUPED = 13
"""Options that a help may list before its first group: as many as one screen shows with their words."""


@pytest.fixture
def run_small(
    small_folder: DataFolder, capsys: pytest.CaptureFixture[str]
) -> Run:
    """The same on a store of three pairs, which is rebuilt sooner."""
    return speaker(small_folder.path, capsys)


def process(*arguments: str, data: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "crane_core", *arguments],
        cwd=CHECKOUT,
        env=os.environ | {"CRANE_DATA": str(data)},
        capture_output=True,
        text=True,
        check=False,
    )


def is_one_error_with_remedy(err: str) -> bool:
    return (
        err.count("\n") == 1
        and err.startswith("error: ")
        and err.count(". ") >= 1
    )


@pytest.mark.parametrize("verb", verb_modules())
def test_help_ends_with_examples_that_parse(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        parser().parse_args([verb, "--help"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    examples = re.findall(
        r"python -m crane_core (.*)$",
        shown[shown.index("example:") :],
        re.MULTILINE,
    )
    assert examples
    for example in examples:
        assert parser().parse_args(shlex.split(example)).verb == verb


def test_a_verb_is_called_as_its_file() -> None:
    assert {
        module.__name__: name for name, module in verb_modules().items()
    } == {file: name for name, file in verb_names().items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "before", [[], ["--data", "detect"], ["--data=detect"]]
)
def test_only_the_verb_that_is_named_is_loaded(before: list[str]) -> None:
    code = "import sys; from crane_core.cli import main\ntry: main(sys.argv[1:])\nfinally: print(*sys.modules)"
    command = [sys.executable, "-c", code, *before, "rebuild", "--help"]
    done = subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("usage: python -m crane_core rebuild")
    loaded = done.stdout.splitlines()[-1].split()
    assert "crane_core.verbs.rebuild" in loaded
    assert {"openai", "scipy", "crane_core.verbs.detect"} & set(loaded) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["dream"],
        ["report", "--table", "9"],
        ["report", "--claims", "--table", "1"],
        ["import"],
        ["app", "--port=70000"],
        ["app", "--port=x"],
    ],
)
def test_wrong_usage_is_exit_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert (
        told.count("\n") == 1
        and told.startswith("error: ")
        and "--help`" in told
    )


@pytest.mark.slow
def test_the_module_runs_and_takes_its_folder_from_the_environment(
    folder: DataFolder,
) -> None:
    done = process("report", "--table", "2a", "--json", data=folder.path)
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["tables"]["2a"]["cells"]) == 24
    refused = process("import", "nowhere.tar.gz", data=folder.path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert is_one_error_with_remedy(refused.stderr)
    assert process("dream", data=folder.path).returncode == 2


def test_the_folder_may_be_named_before_or_after_the_verb() -> None:
    before = parser().parse_args(["--data", "x", "doctor"])
    after = parser().parse_args(["doctor", "--data", "x"])
    assert before.data == after.data == Path("x")


@pytest.mark.slow
def test_a_first_command_tells_progress_on_stderr_and_json_on_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "--data",
                str(tmp_path / "new"),
                "report",
                "--table",
                "3",
                "--json",
            ]
        )
        == 0
    )
    spoken = capsys.readouterr()
    assert json.loads(spoken.out)["tables"].keys() == {"3"}
    assert "Loading the embedded data: published" in spoken.err


def test_report_check_passes_on_the_embedded_data(run: Run) -> None:
    spoken = run("report", "--check")
    assert spoken.code == 0
    assert spoken.err.endswith(
        "check: every recomputable cell matches the printed value\n"
    )
    assert "2a: 24 equal" in spoken.err
    assert all(f"## {table.id}: " in spoken.out for table in MEASURED_TABLES)


def test_report_check_fails_on_drift(run: Run, folder: DataFolder) -> None:
    """Five answers are told the other way by the ledger, as if the study had heard them so."""
    for index in range(1, 6):
        answer = Answer(
            "junobench",
            "torch_1_fixed",
            "gpt-5",
            Setting.RUNTIME,
            "crane-llm-2025-10",
            index,
            crashes=False,
        )
        ledger.append(folder.ledger / "runs" / "1.jsonl", answer)
    spoken = run("report", "--table", "2b", "--check")
    assert spoken.code == 1
    assert "differs: table 2b, GPT-5, Accuracy (+RT)" in spoken.err
    assert "cells differ" in spoken.err.splitlines()[-1]


@pytest.mark.slow
def test_report_holds_the_claims_against_the_data(run: Run) -> None:
    spoken = run("report", "--claims", "--json")
    claims = json.loads(spoken.out)["claims"]
    assert (spoken.code, len(claims)) == (0, len(published_claims()))
    assert (
        next(one for one in claims if one["stated"] == "+8.1")["verdict"]
        == "rounds differently"
    )
    assert spoken.err.startswith(f"{len(claims)} claims: ")


@pytest.mark.parametrize(
    "fmt",
    [
        "md",
        *(
            pytest.param(fmt, marks=pytest.mark.slow)
            for fmt in ("csv", "json", "latex")
        ),
    ],
)
def test_report_speaks_four_formats(run: Run, fmt: str) -> None:
    spoken = run("report", "--table", "2a", "--format", fmt)
    assert (spoken.code, spoken.err) == (0, "")
    assert "76.6" in spoken.out or "76.5" in spoken.out


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    line = {
        "instance": "torch_1_fixed",
        "detector": "Mine",
        "setting": "code",
        "index": 1,
        "crashes": False,
    }
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(line) + "\nnot json\n")
    return path


def test_import_twice_changes_nothing(
    run: Run, folder: DataFolder, predictions: Path
) -> None:
    first = json.loads(run("import", predictions, "--json").out)["imports"][0]
    assert first["records"]["runs"] == {"read": 1, "new": 1}
    assert [problem["place"] for problem in first["problems"]] == ["line 2"]
    sources = sorted(folder.sources.rglob("*"))
    second = run("import", predictions, "--json")
    assert (second.code, second.err) == (0, "")
    entry = json.loads(second.out)["imports"][0]
    assert (entry["already_loaded"], entry["records"], entry["source_id"]) == (
        True,
        {},
        first["source_id"],
    )
    assert sorted(folder.sources.rglob("*")) == sources


def test_import_in_words(run: Run, predictions: Path) -> None:
    out = run("import", predictions).out
    assert re.search(r"^ +1 run \(1 new\)$", out, re.MULTILINE)
    assert re.search(r"^ +1 problem$", out, re.MULTILINE)
    assert "mine.jsonl, line 2" in out
    assert "nothing changed" in run("import", predictions).out


def test_notebooks_named_together_are_one_source(
    run: Run, root: Path, predictions: Path
) -> None:
    case = root / "data" / "minibench" / "benchmark" / "numpy_1"
    spoken = run(
        "import",
        "--json",
        case / "numpy_1_reproduced.ipynb",
        predictions,
        case / "numpy_1_fixed.ipynb",
    )
    assert [entry["kind"] for entry in json.loads(spoken.out)["imports"]] == [
        "predictions",
        "notebook-pairs",
    ]


@pytest.mark.slow
def test_a_lost_ledger_file_is_told_by_doctor_and_refused_by_rebuild(
    run_small: Run, small_folder: DataFolder
) -> None:
    path = small_folder.ledger / "runs" / "own.jsonl"
    ledger.append(
        path,
        *(
            Answer(
                "minibench",
                "numpy_1_fixed",
                "own",
                Setting.CODE,
                "own",
                n,
                crashes=True,
            )
            for n in (1, 2)
        ),
    )
    assert run_small("rebuild").code == 0
    assert run_small("doctor").code == 0
    path.unlink()
    assert (
        "runs/own.jsonl is missing: 2 runs are lost"
        in (found := run_small("doctor")).out
    )
    assert found.code == 1
    [finding] = [
        entry
        for entry in json.loads(run_small("doctor", "--json").out)["findings"]
        if entry["area"] == "evidence"
    ]
    assert (
        finding["what"] == "ledger/runs/own.jsonl is missing: 2 runs are lost"
    )
    refused = run_small("rebuild")
    assert (refused.code, "--accept-loss" in refused.err) == (1, True)
    assert run_small("rebuild", "--accept-loss").code == 0
    assert run_small("doctor").code == 0


@pytest.mark.slow
def test_import_while_the_app_holds_the_database(
    run: Run, folder: DataFolder, predictions: Path, held: Hold
) -> None:
    with held(folder.database):
        spoken = run("import", predictions)
        refused = run("rebuild")
        table = run("report", "--table", "2a", "--check")
    assert (spoken.code, table.code, refused.code) == (1, 0, 1)
    assert "saved; another process has the database open" in spoken.out
    assert "in memory" in table.err
    assert is_one_error_with_remedy(refused.err.splitlines()[-1] + "\n")
    assert "nothing changed" in run("import", predictions).out


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.tar.gz", b"not an archive"),
        ("a.zip", b"PK\x03\x04"),
        ("a.txt", b"text"),
        ("a.jsonl", b"\xff\xfe"),
        ("a.ipynb", b"{"),
    ],
)
def test_what_cannot_be_imported_is_one_line_with_a_remedy(
    run: Run, tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    spoken = run("import", tmp_path / name)
    assert (spoken.code, spoken.out) == (1, "")
    assert is_one_error_with_remedy(spoken.err)
    assert name.partition(".")[0] in spoken.err


def test_doctor_lists_the_contradictions(run: Run) -> None:
    words = run("doctor")
    assert words.code == 0
    for place in (
        "numpy_10_reproduced, gpt-5, runtime: 2 of 5 answers predict a crash, the human outcome is partial",
        "NBspecific_11",
    ):
        assert place in words.out
    told = json.loads(run("doctor", "--json").out)
    assert {row["instance_id"] for row in told["contradictions"]} == {
        "numpy_10_reproduced",
        "NBspecific_11_reproduced",
        "numpy_15_reproduced",
    }
    assert told.keys() >= {
        "versions",
        "counts",
        "sources",
        "problems",
        "findings",
    }


def test_rebuild_counts_what_it_loaded(run: Run) -> None:
    spoken = run("rebuild")
    assert spoken.code == 0
    assert re.search(r"^ +9,798 runs$", spoken.out, re.MULTILINE)
    assert "Loading the embedded data: minibench" in spoken.err


def test_a_broken_database_is_one_line_with_a_remedy(
    run_small: Run, small_folder: DataFolder
) -> None:
    small_folder.database.write_bytes(b"no database")
    spoken = run_small("list")
    assert (spoken.code, spoken.out) == (1, "")
    assert "crane_core rebuild" in spoken.err
    told = run_small("doctor")
    assert told.code == 1
    assert (
        "cannot be opened as a database" in told.out
        and "crane_core rebuild" in told.out
    )
    assert run_small("rebuild").code == 0
    assert (
        small_folder.database.with_suffix(".broken").read_bytes()
        == b"no database"
    )
    assert run_small("doctor").code == 0


def test_what_the_disk_refuses_is_one_line_with_a_remedy(
    run: Run, folder: DataFolder, predictions: Path
) -> None:
    folder.sources.parent.mkdir(parents=True, exist_ok=True)
    folder.sources.write_text("a file where the folder of sources should be")
    done = run("import", str(predictions))
    assert done.code == 1
    assert done.err.startswith("error: ")
    assert "Check the path" in done.err


def test_app_refuses_a_port_that_is_taken(run: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        spoken = run("app", "--port", str(taken.getsockname()[1]))
    assert (spoken.code, spoken.out) == (1, "")
    assert "--port N" in spoken.err


def test_fetch_refuses_a_name_it_does_not_know(run: Run) -> None:
    spoken = run("fetch", "dream")
    assert spoken.code == 1
    assert "crane-llm" in spoken.err


def test_fetch_refuses_a_wrong_name_before_it_downloads_the_others(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRANE_MIRROR", "http://127.0.0.1:9")
    spoken = run("fetch", "crane-llm", "junobench@")
    assert (spoken.code, spoken.out) == (1, "")
    assert spoken.err.startswith(
        "error: junobench@ has no release after the @."
    )
    assert len(spoken.err.splitlines()) == 1


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_stack_trace(
    folder: DataFolder,
) -> None:
    command = (
        f'"{sys.executable}" -m crane_core report --format json | head -c 10'
    )
    done = subprocess.run(
        command,
        shell=True,
        cwd=CHECKOUT,
        env=os.environ | {"CRANE_DATA": str(folder.path)},
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("crane che", {"check"}),
        (
            "crane re",
            {
                "rebuild",
                "remove",
                "rename",
                "repair",
                "reparse",
                "report",
                "restore",
            },
        ),
        ("crane check --js", {"--json"}),
        ("crane campaign st", {"status"}),
        ("crane report --format l", {"latex"}),
        ("crane import my_p", {"my_pairs/"}),
        ("crane dream --js", set()),
    ],
)
def test_a_shell_is_told_how_its_line_may_go_on(
    line: str, offered: set[str], tmp_path: Path
) -> None:
    if importlib.util.find_spec("argcomplete") is None:
        pytest.skip("completes in shells where argcomplete is installed")
    (tmp_path / "my_pairs").mkdir()
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
    }
    place = {
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "said"),
    }
    done = subprocess.run(
        [sys.executable, "-c", "from crane_core.__main__ import run; run()"],
        cwd=tmp_path,
        env=os.environ | asked | place | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
    said = {
        word.strip() for word in (tmp_path / "said").read_text().splitlines()
    }
    assert said == offered


@pytest.mark.parametrize("verb", verb_modules())
def test_help_begins_with_what_must_be_given_and_groups_many_options(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args([verb, "--help"])
    usage, _, rest = capsys.readouterr().out.partition("\n\n")
    required = {
        action.option_strings[0]
        for action in _actions_of(verb)
        if action.required and action.option_strings
    }
    assert required == set(
        re.findall(r"--[a-z-]+", re.sub(r"\(.*?\)", "", usage, flags=re.DOTALL))
    )
    own = rest.partition("\noptions:\n")[2].partition("\n\n")[0]
    assert len(re.findall(r"^  -", own, re.MULTILINE)) <= MOST_UNGROUPED


def _actions_of(verb: str) -> list[argparse.Action]:
    [verbs] = [
        action
        for action in parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    return list(verbs.choices[verb]._actions)
