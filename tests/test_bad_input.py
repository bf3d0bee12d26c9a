"""What no command may stumble over: paths that are none, numbers beyond reason, files that are something else.

Each is refused on one line with a remedy, in seconds, with exit 1 or 2, and what it quotes cannot steer the terminal.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.cli import main, verb_modules
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import ERROR_LETTERS, one_line, plain, tell
from tests.patience import PATIENCE_S
from tests.spoken import parsers_kept

LONGEST_LINE = 2 * ERROR_LETTERS + 100
STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
ESCAPES = "\x1b[31mred\x1b[0m\x1b]0;title\x07\x9b2J\u202egnp.exe"


class Ended(NamedTuple):
    code: int | str | None
    out: str
    err: str


Command = Callable[..., Ended]


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What takes longer raises TimeoutError, an open pipe too."""

    def over(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no answer after {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def shared_folder(
    prepared_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> DataFolder:
    """A prepared data folder for all of these tests: what is refused leaves it as it was."""
    return DataFolder(
        Path(
            shutil.copytree(
                prepared_folder.path, tmp_path_factory.mktemp("shared") / "data"
            )
        )
    )


@pytest.fixture
def command(
    shared_folder: DataFolder, capsys: pytest.CaptureFixture[str]
) -> Command:
    def run(*arguments: str) -> Ended:
        code: int | str | None
        try:
            with within(PATIENCE_S), parsers_kept():
                code = main(["--data", str(shared_folder.path), *arguments])
        except SystemExit as left:
            code = left.code
        return Ended(code, *capsys.readouterr())

    return run


def assert_refused(ended: Ended) -> None:
    last = ended.err.splitlines()[-1]
    assert ended.code in (1, 2), ended
    assert "error: " in last
    assert ended.err.count("\nerror: ") <= 1
    assert len(last) <= LONGEST_LINE
    assert not STEERING.search(ended.err + ended.out)
    assert "Traceback" not in ended.err


ADD_CASE = (
    "add-case",
    "--name",
    "trip",
    "--to",
    "made",
    "--fixed",
    "there.ipynb",
    "--no-run",
)
PATH_VERBS: dict[str, tuple[str, ...]] = {
    "add-case": (*ADD_CASE, "--crashing", "{}"),
    "add-case --edit": (
        *ADD_CASE[:5],
        "--crashing",
        "there.ipynb",
        "--edit",
        "0={}",
        "--no-run",
    ),
    "add-case --to": (
        "add-case",
        "--name",
        "trip",
        "--to",
        "{}",
        *ADD_CASE[5:],
        "--crashing",
        "there.ipynb",
    ),
    "backup": ("backup", "{}"),
    "campaign create": ("campaign", "create", "--from", "{}"),
    "campaign labels": (
        "campaign",
        "labels",
        "pilot",
        "--annotator",
        "ana",
        "--file",
        "{}",
    ),
    "campaign export": ("campaign", "export", "pilot", "--out", "{}"),
    "capture": ("capture", "{}", "--out", "state.json"),
    "capture --out": ("capture", "there.ipynb", "--out", "{}"),
    "check": ("check", "{}"),
    "check --attach": ("check", "--attach", "{}"),
    "check --token-file": (
        *("check", "--attach", "http://127.0.0.1:1/", "--token-file", "{}"),
    ),
    "detect --template": (
        *(
            "detect",
            "--detector",
            "fake",
            "--setting",
            "code",
            "--benchmark",
            "minibench",
        ),
        *("--dry-run", "--template", "{}"),
    ),
    "export --hf": ("export", "--hf", "{}"),
    "export --out": ("export", "--out", "{}"),
    "export --site": ("export", "--site", "{}"),
    "figures": ("figures", "--out", "{}"),
    "import": ("import", "{}"),
    "import --map": ("import", "there.ipynb", "--map", "{}"),
    "invite --roles": (
        "invite",
        "ana@lab.example",
        "--role",
        "lead",
        "--roles",
        "{}",
    ),
    "judge --template": ("judge", "--fake", "--dry-run", "--template", "{}"),
    "plan new": ("plan", "new", "{}"),
    "plan register": ("plan", "register", "{}"),
    "prompt": ("prompt", "{}", "--setting", "code"),
    "prompt --template": (
        "prompt",
        "there.ipynb",
        "--setting",
        "code",
        "--template",
        "{}",
    ),
    "restore": ("restore", "{}"),
    "vary": ("vary", "{}", "--out", "new"),
    "verify": ("verify", "{}"),
}
READS_A_FILE = (
    "campaign create",
    "capture",
    "check",
    "detect --template",
    "judge --template",
    "plan register",
    "prompt --template",
)
NO_PATHS = {
    "empty": "",
    "blank": "  ",
    "NUL": "a\0b",
    "/proc": "/proc",
    "the kernel's memory": "/proc/self/mem",
    "/sys": "/sys",
    "a device without an end": "/dev/zero",
    "a device": "/dev/null",
    "the standard input": "/dev/stdin",
    "a pipe": "pipe",
    "a link to itself": "circle",
    "a name too long": "n" * 5_000,
    "a link to a device": "to-zero",
    "escapes": f"{ESCAPES}/{ESCAPES}",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with what ordinary file systems hold beside files."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    os.mkfifo("pipe")
    Path("circle").symlink_to("circle")
    Path("to-zero").symlink_to("/dev/zero")
    write_notebook("there.ipynb", "x = 1")
    return place


def write_notebook(name: str, *sources: str, **metadata: object) -> Path:
    cells = [
        {
            "cell_type": "code",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for source in sources
    ]
    path = Path(name)
    path.write_text(
        json.dumps(
            {
                "nbformat": 4,
                "nbformat_minor": 5,
                "metadata": metadata,
                "cells": cells,
            }
        )
    )
    return path


def filled(verb: str, text: str) -> list[str]:
    return [part.replace("{}", text) for part in PATH_VERBS[verb]]


@pytest.mark.parametrize("path", NO_PATHS.values(), ids=NO_PATHS)
@pytest.mark.parametrize("verb", PATH_VERBS)
def test_what_is_no_path_is_refused(
    command: Command, here: Path, verb: str, path: str
) -> None:
    if path == f"{ESCAPES}/{ESCAPES}" and verb in WRITES:
        pytest.skip("a folder may be called that")
    assert_refused(command(*filled(verb, path)))
    assert Path("/dev/null").is_char_device()


WRITES = (
    "backup",
    "campaign export",
    "capture --out",
    "export --hf",
    "export --out",
    "export --site",
    "figures",
    "invite --roles",
    "plan new",
)


@pytest.mark.parametrize("verb", READS_A_FILE)
@pytest.mark.parametrize(
    "kind", ["folder", "empty", "broken", "a list", "binary", "missing"]
)
def test_a_file_that_is_something_else_is_refused(
    command: Command, here: Path, verb: str, kind: str
) -> None:
    path = Path("some.ipynb")
    if kind == "folder":
        path.mkdir()
    elif kind != "missing":
        path.write_bytes(
            {
                "empty": b"",
                "broken": b'{"cells": [',
                "a list": b"[1, 2]",
                "binary": bytes(range(256)),
            }[kind]
        )
    assert_refused(command(*filled(verb, str(path))))


@pytest.mark.parametrize("path", ["", "/proc", "/dev/null", "there.ipynb"])
def test_what_cannot_be_the_data_folder_is_refused(
    here: Path, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: int | str | None = main(["--data", path, "doctor"])
    except SystemExit as left:
        code = left.code
    assert_refused(Ended(code, *capsys.readouterr()))


HUGE, LONG = "1000000000000", "9" * 5_000
NO_COUNTS = ("", "0", "-1", "1.5", "x", "nan", HUGE, LONG)
NO_AMOUNTS = ("", "-1", "x", "nan", "inf", "-inf", "1e300", LONG)
MODEL = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--dry-run")
DETECT = (
    "detect",
    "--detector",
    "llm",
    "--setting",
    "code",
    "--benchmark",
    "minibench",
    *MODEL,
)
JUDGE = ("judge", "--setting", "code", *MODEL)
TUNE = ("judge", "tune", "--benchmark", "minibench")
REPAIR = ("repair", "--detector", "fake", "--benchmark", "minibench")
CREATE = ("campaign", "create", "pilot", "--annotators", "ana", "--dry-run")
CAPTURE = ("capture", "there.ipynb", "--out", "state.json")
POWER = ("power", "--gained", "0.1", "--lost", "0.05")
NUMBERS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("figures", "--out", "drawn", "--width"): ("86", *NO_COUNTS),
    (*TUNE, "--gate"): ("0.5", "1.1", *NO_AMOUNTS),
    (*TUNE, "--split-seed"): ("", "-1", "1.5", "nan", LONG),
    (*DETECT, "--runs"): NO_COUNTS,
    (*DETECT, "--sample"): (*NO_COUNTS, "1000001"),
    (*DETECT, "--examples"): (*NO_COUNTS, "9"),
    (*DETECT, "--limit"): (*NO_COUNTS, "1000001"),
    (*DETECT, "--sample", "1", "--sample-seed"): (
        *("", "-1", "1.5", "nan", LONG),
    ),
    (*DETECT, "--concurrency"): NO_COUNTS,
    (*DETECT, "--budget-tokens"): (*NO_COUNTS[:-2], LONG),
    (*DETECT, "--seed"): ("", "-1", "1.5", "nan", LONG),
    (*DETECT, "--temperature"): NO_AMOUNTS,
    (*DETECT, "--timeout-s"): ("0", *NO_AMOUNTS),
    (*DETECT, "--max-tokens"): (*NO_COUNTS, "1000001"),
    (*DETECT, "--rehearse-s"): ("0", "601", *NO_AMOUNTS),
    (*REPAIR, "--rehearse-s"): ("0", "601", *NO_AMOUNTS),
    (*REPAIR, "--k"): (*NO_COUNTS, "21"),
    (*REPAIR, "--jobs"): NO_COUNTS,
    (*REPAIR, "--budget-tokens"): (*NO_COUNTS[:-2], LONG),
    (*REPAIR, "--budget-usd"): ("0", *NO_AMOUNTS),
    (*REPAIR, "--price-out", "1", "--price-in"): NO_AMOUNTS,
    (*REPAIR, "--price-in", "1", "--price-out"): NO_AMOUNTS,
    (*DETECT, "--retries"): (
        *(value for value in NO_COUNTS if value != "0"),
        "101",
    ),
    (*DETECT, "--budget-usd"): ("0", *NO_AMOUNTS),
    (*DETECT, "--price-out", "1", "--price-in"): NO_AMOUNTS,
    (*DETECT, "--price-in", "1", "--price-out"): NO_AMOUNTS,
    (*JUDGE, "--repetitions"): NO_COUNTS,
    (*JUDGE, "--temperature"): NO_AMOUNTS,
    (*CREATE, "--margin"): ("0", *NO_AMOUNTS),
    (*CREATE, "--per-item"): (*NO_COUNTS, "101"),
    (*CREATE, "--second-share"): ("0", *NO_AMOUNTS),
    (*CREATE, "--calibration"): (
        *(value for value in NO_COUNTS if value != "0"),
        "10001",
    ),
    ("campaign", "people", "pilot", "--by", "lead", "--idle-days"): (
        *NO_AMOUNTS,
        "3651",
    ),
    (*CREATE, "--confidence"): ("0", "1", *NO_AMOUNTS),
    (*CREATE, "--p"): NO_AMOUNTS,
    (*CREATE, "--repeats"): ("0.6", *NO_AMOUNTS),
    (*CREATE, "--judge-gate"): ("0.5", *NO_AMOUNTS),
    (*CREATE, "--seed"): ("", "-1", "1.5", "nan", LONG),
    (*ADD_CASE, "--crashing", "there.ipynb", "--target"): (
        "",
        "-1",
        "1.5",
        HUGE,
        LONG,
    ),
    (*ADD_CASE, "--crashing", "there.ipynb", "--timeout-s"): ("0", *NO_AMOUNTS),
    (*CAPTURE, "--target"): ("", "-1", "1.5", "7", HUGE, LONG),
    (*CAPTURE, "--timeout-s"): ("0", *NO_AMOUNTS),
    (*CAPTURE, "--memory-mib"): ("0", *NO_AMOUNTS),
    (*CAPTURE, "--output-mib"): ("0", *NO_AMOUNTS),
    ("check", "there.ipynb", "--target"): ("", "-1", "1.5", "7", HUGE, LONG),
    ("check", "there.ipynb", "--timeout-s"): ("0", *NO_AMOUNTS),
    ("check", "there.ipynb", "--fix", "--candidates"): (*NO_COUNTS, "21"),
    ("mcp", "--http", "--port"): ("", "-1", "1.5", "65536", HUGE, LONG),
    ("check", "there.ipynb", "--rehearse"): ("", "0", "601", *NO_AMOUNTS),
    ("prompt", "there.ipynb", "--setting", "code", "--target"): (
        "",
        "-1",
        "1.5",
        "7",
        HUGE,
        LONG,
    ),
    ("prompt", "there.ipynb", "--setting", "runtime", "--timeout-s"): (
        "0",
        *NO_AMOUNTS,
    ),
    (
        *("invalidate", "run", "--instance", "a_1_fixed"),
        *("--reason", "cut off", "--index"),
    ): NO_COUNTS,
    ("note", "a_1", "--comment", "said", "--run", "run", "--index"): NO_COUNTS,
    ("invite", "ana@lab.example", "--days"): (*NO_COUNTS, "366"),
    ("app", "--port"): (*NO_COUNTS, "65536"),
    ("app", "--publish"): (*NO_COUNTS, "61"),
    (*CAPTURE, "--jobs"): NO_COUNTS,
    ("vary", "minibench", "--out", "new", "--timeout-s"): (
        "0",
        *NO_AMOUNTS,
    ),
    ("vary", "minibench", "--out", "new", "--memory-mib"): (
        "0",
        *NO_AMOUNTS,
    ),
    ("verify", "minibench", "--jobs"): NO_COUNTS,
    ("verify", "minibench", "--timeout-s"): ("0", *NO_AMOUNTS),
    ("verify", "minibench", "--memory-mib"): ("0", *NO_AMOUNTS),
    (*POWER, "--cases"): (*NO_COUNTS, "1,,2", ","),
    (*POWER, "--instances"): NO_COUNTS,
    (*POWER, "--comparisons"): NO_COUNTS,
    (*POWER, "--correlation"): NO_AMOUNTS,
    ("power", "--gained", "0.1", "--lost"): NO_AMOUNTS,
    ("power", "--lost", "0.1", "--gained"): NO_AMOUNTS,
}


@pytest.mark.parametrize(
    ("option", "value"),
    [(option, value) for option, values in NUMBERS.items() for value in values],
)
def test_a_number_beyond_reason_is_refused(
    command: Command, here: Path, option: tuple[str, ...], value: str
) -> None:
    *before, name = option
    assert_refused(command(*before, f"{name}={value}"))
    assert not Path("state.json").exists()


@pytest.mark.parametrize(
    "address",
    [
        "",
        "crane.lab.example",
        "ftp://crane.lab.example",
        "https://",
        "http://[x",
    ],
)
def test_an_invitation_needs_an_address_that_a_browser_opens(
    command: Command, here: Path, address: str
) -> None:
    assert_refused(
        command(
            "invite",
            "ana@lab.example",
            "--role",
            "lead",
            "--roles",
            "r.toml",
            f"--url={address}",
        )
    )
    assert not Path("r.toml").exists()


def options_with_numbers() -> set[str]:
    """Every option of every verb whose value is a number, asked of the parsers."""
    from crane_core.cli import parser

    found = set()
    todo = [parser()]
    while todo:
        for action in todo.pop()._actions:
            if isinstance(action.choices, dict):
                todo += list(action.choices.values())
            elif action.type is not None and is_number(action.type):
                found.add(action.option_strings[-1])
    return found


def is_number(read: Callable[[str], object]) -> bool:
    for text in ("1", "0.5", "20"):
        try:
            if isinstance(value := read(text), int | float | list) and value:
                return True
        except (ValueError, ArgumentTypeError):
            continue
    return False


def test_every_numeric_option_is_tried() -> None:
    assert options_with_numbers() == {option[-1] for option in NUMBERS}


@pytest.mark.slow
def test_the_largest_power_that_may_be_asked_is_answered(
    command: Command,
) -> None:
    assert command(
        *POWER, "--cases", "1000000", "--instances", "1000000"
    ).code in (
        0,
        1,
    )


NO_TEXTS = {
    "an empty benchmark": (
        "detect",
        "--detector",
        "fake",
        "--setting",
        "code",
        "--benchmark",
        "",
    ),
    "a campaign above": ("campaign", "status", "../../pilot"),
    "a model of escapes": ("campaign", "model", "p", "--model", ESCAPES),
    "an empty campaign": ("campaign", "status", ""),
    "a campaign of escapes": ("campaign", "status", ESCAPES),
    "an empty run": ("reparse", ""),
    "a run above": ("reparse", "../../x"),
    "a run of escapes": ("reparse", ESCAPES),
    "a run to export that is nobody's": ("export", "--run", ESCAPES),
    "an empty instance": ("prompt", "", "--setting", "code"),
    "an instance of escapes": ("prompt", ESCAPES, "--setting", "code"),
    "an empty release": ("fetch", ""),
    "a release of escapes": ("fetch", f"crane-llm@{ESCAPES}"),
    "a release above": ("fetch", "crane-llm@../../x"),
    "a verb of escapes": (ESCAPES,),
    "an address that is a file": (*DETECT, "--base-url", "file:///etc/passwd"),
    "an address of escapes": (*DETECT, "--base-url", ESCAPES),
    "an empty model": (*DETECT, "--model", ""),
    "a kernel that does not run": ("check", "--attach", ESCAPES),
    "a server of escapes": ("check", "--attach", f"http://{ESCAPES}"),
    "a server as a notebook": ("check", "http://127.0.0.1:1/"),
    "a token for no server": ("check", "a.ipynb", "--token-file", "a"),
    "an empty interpreter": ("check", "there.ipynb", "--python", ""),
    "an interpreter that is a folder": (
        "check",
        "there.ipynb",
        "--python",
        "/usr",
    ),
    "an interpreter that is none": (
        "check",
        "there.ipynb",
        "--python",
        "there.ipynb",
    ),
    "a kernel that is none": ("check", "there.ipynb", "--kernel", ESCAPES),
    "a meaning without a label": (
        "campaign",
        "labels",
        "p",
        "--file",
        "a",
        "--annotator",
        "eva",
        "--map",
        ESCAPES,
    ),
    "a meaning of no label": (
        "campaign",
        "labels",
        "p",
        "--file",
        "a",
        "--annotator",
        "eva",
        "--map",
        "good=best",
    ),
    "an annotator of escapes": (
        "campaign",
        "create",
        "pilot",
        "--annotators",
        ESCAPES,
    ),
    "a removal of nothing": ("remove", "run", ESCAPES),
    "a removal of no kind": ("remove", "label", "x"),
    "a new name of escapes for nothing": (
        "rename",
        "benchmark",
        ESCAPES,
        ESCAPES,
    ),
    "a new name that is empty": ("rename", "benchmark", "minibench", " "),
    "a new name too long": ("rename", "benchmark", "minibench", "x" * 5_000),
    "a reason that is empty": (
        *("invalidate", "run", "--instance", "a_1_fixed"),
        *("--reason", " "),
    ),
    "a tag that is too long": ("note", "pandas_1", "--tag", LONG),
    "a note on a case of escapes": ("note", ESCAPES, "--comment", "said"),
    "a note that is not there": ("note", "--remove", ESCAPES),
    "a restoration of nothing": ("restore", "run", ESCAPES),
    "a restoration of no kind": ("restore", "there", "x"),
    "an act of no kind": ("audit", "--action", ESCAPES),
    "acts of a name that is empty": ("audit", "--who", ""),
    "a session of escapes": ("sessions", "--end", ESCAPES),
    "a channel of escapes": ("notify", "add", ESCAPES, "json://127.0.0.1:1"),
    "an address of escapes for a channel": ("notify", "add", "a", ESCAPES),
    "an address without an end": ("notify", "add", "a", LONG),
    "an event of escapes": (
        *("notify", "add", "a", "json://127.0.0.1:1", "--on", ESCAPES),
    ),
    "a person of escapes": (
        *("notify", "add", "a", "json://127.0.0.1:1", "--for", ESCAPES),
    ),
    "a channel that is not there": ("notify", "test", ESCAPES),
    "a session that is empty": ("sessions", "--end", ""),
    "an address that nobody has": (
        "app",
        "--port",
        "8599",
        "--address",
        "256.1.1.1",
    ),
}


@pytest.mark.parametrize("arguments", NO_TEXTS.values(), ids=NO_TEXTS)
def test_a_name_that_is_none_is_refused(
    command: Command, here: Path, arguments: tuple[str, ...]
) -> None:
    assert_refused(command(*arguments))


def test_every_verb_is_tried() -> None:
    tried = {
        arguments[0]
        for arguments in (*PATH_VERBS.values(), *NUMBERS, *NO_TEXTS.values())
    }
    assert set(verb_modules()) - tried == {
        "doctor",
        "list",
        "rebuild",
        "report",
        "sql",
    }, "these take no path or number"


def test_a_notebook_of_fifty_megabytes_is_read_and_a_larger_one_refused(
    command: Command, here: Path
) -> None:
    big = write_notebook("big.ipynb", "x = 1")
    notebook = json.loads(big.read_text())
    notebook["cells"][0]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "x" * 50_000_000}
    ]
    big.write_text(json.dumps(notebook))
    ended = command("prompt", "big.ipynb", "--setting", "code")
    assert (ended.code, len(ended.out) < 10_000) == (0, True)
    os.truncate(big, 300_000_000)
    for arguments in (
        ("check", "big.ipynb"),
        ("prompt", "big.ipynb", "--setting", "code"),
    ):
        assert_refused(refused := command(*arguments))
        assert "larger than" in refused.err


def test_a_notebook_without_a_kernelspec_runs(
    command: Command, here: Path
) -> None:
    write_notebook("bare.ipynb", "x = 1", "x + y")
    ended = command("check", "bare.ipynb")
    assert (ended.code, "NameError" in ended.out) == (0, True)


def test_a_kernelspec_that_is_not_installed_is_told_or_passed_over(
    command: Command, here: Path
) -> None:
    write_notebook(
        "odd.ipynb",
        "x = 1",
        kernelspec={"name": ESCAPES, "display_name": ESCAPES},
    )
    ended = command("check", "odd.ipynb")
    assert ended.code == 0 or assert_refused(ended) is None


@pytest.mark.slow
def test_tracebacks_and_names_of_a_notebook_cannot_steer_the_terminal(
    command: Command, here: Path
) -> None:
    name = "".join(
        f"\\x{ord(letter):02x}" for letter in "\x1b[2J\x1b]0;x\x07\r"
    )
    raising = f"raise ValueError('{name}first\\nerror: forged')"
    write_notebook("loud\x1b[31m.ipynb", raising, "1")
    ended = command("check", "loud\x1b[31m.ipynb")
    assert_refused(ended)
    assert "first error: forged" in ended.err
    going = command(
        "capture", "loud\x1b[31m.ipynb", "--keep-going", "--out", "state.json"
    )
    assert going.code == 0
    assert not STEERING.search(going.out + going.err)
    assert "first error: forged" in going.out


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdata\x1b\\after", "after"),
        ("\x9b2Jclear", "clear"),
        ("\x1bcreset", "reset"),
        ("cut off \x1b]52;c;aGk=\nnext", "cut off \nnext"),
        ("a\rb\r\nc\x0bd\x85e", "a\nb\nc\nd\ne"),
        ("user\u202etxt.exe", "usertxt.exe"),
        ("bell\x07 back\b null\0", "bell back null"),
        ("half \ud800", "half \ufffd"),
    ],
)
def test_control_sequences_are_taken_out(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(
    st.text(
        alphabet=st.one_of(
            st.sampled_from("\x1b[]0;m\x07\\\x9b\x9dP\r\n"), st.characters()
        )
    )
)
def test_nothing_that_steers_is_left(text: str) -> None:
    shown = plain(text)
    assert not STEERING.search(shown)
    shown.encode("utf-8")
    assert "\n" not in one_line(text)
    assert len(one_line(text, 10)) <= 11


def test_ordinary_text_is_told_as_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert plain("tab\tand Zoë 日本 − “x” 🙂") == "tab\tand Zoë 日本 − “x” 🙂"
    tell("2 of 3 files\n  Zoë.ipynb")
    assert capsys.readouterr().err == "2 of 3 files\n  Zoë.ipynb\n"


def test_only_the_terminal_writes_to_the_terminal(root: Path) -> None:
    """Beside it only programs that are started for it, what speaks in a notebook, and what flushes at the end."""
    started = {
        "watchdog.py",
        "fake_server.py",
        "crowd_kit.py",
        "answering.py",
        "tokens_apart.py",
    }
    # A fix for code of Python 2 writes `print(` into a cell.
    in_a_cell = {"guard.py", "magics.py", "older_python.py"}
    allowed = (
        {"terminal.py", "cli.py", "server_process.py"} | in_a_cell | started
    )
    files = [
        path
        for path in (root / "crane_core").rglob("*.py")
        if "kernel_side" not in path.parts
    ]
    writing = {
        path.name
        for path in files
        if re.search(
            r"\bsys\.(stdout|stderr)\b|\bprint\(", path.read_text("utf-8")
        )
    }
    assert writing - allowed - {"sealed.py", "environment.py"} == set()
