"""The magics in a real shell of IPython: verdicts without running, the guard, what is left in the kernel."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from crane_core.live.guard import is_overridden
from crane_core.live.magics import loaded
from crane_core.llm.fake_server import FakePlan, fake_server
from tests.live.shell import Shell

LOAD = "%load_ext crane_core"


@pytest.fixture
def shell(
    lasting: Shell, capsys: pytest.CaptureFixture[str]
) -> Iterator[Shell]:
    lasting.begin(capsys)
    assert lasting.run("pass") == ""
    yield lasting
    lasting.shell.run_line_magic("crane", "guard off")


@pytest.fixture
def own_shell(capsys: pytest.CaptureFixture[str]) -> Iterator[Shell]:
    """One for a test that ends the process beside it, or looks at what loading the extension does."""
    made = Shell()
    made.begin(capsys)
    assert made.run(LOAD) == ""
    yield made
    made.end()


def test_a_cell_is_judged_and_not_run(shell: Shell) -> None:
    shell.run("beds = {'north': 3}\nseen = []")
    told = shell.run("%%crane\nseen.append(1)\nbeds['south']")
    assert told.splitlines() == [
        "Will crash: KeyError",
        "  line      2: beds['south']",
        "  reason    KeyError: 'south'",
        "  evidence  beds is a dict with the keys 'north'; beds was assigned in In [2]",
        "  remedy    Use an existing key, or .get().",
    ]
    assert shell.names["seen"] == []
    assert shell.run("%%crane\nbeds['north']").startswith("No certain crash\n")


def test_a_silent_verdict_says_what_was_looked_at_and_offers_the_rehearsal(
    shell: Shell,
) -> None:
    shell.run("beds = {'north': 3}")
    assert shell.run("%%crane\nbeds['north']").splitlines()[2] == (
        "  looked at this code and what its names hold now. Not looked at: what only a run shows."
        " %%crane rehearse above the cell runs it in a copy of the kernel that is dropped."
    )
    assert "looked at" not in shell.run("%%crane\nbeds['south']")


def test_what_the_kernel_holds_now_counts_not_what_cells_said(
    shell: Shell,
) -> None:
    shell.run("beds = {'north': 3}")
    shell.names["beds"]["south"] = 1
    assert shell.run("%%crane\nbeds['south']").startswith("No certain crash")
    del shell.names["beds"]
    assert shell.run("%%crane\nbeds['south']").startswith(
        "Will crash: NameError"
    )


def test_the_guard_stops_a_certain_crash_and_nothing_else(shell: Shell) -> None:
    shell.run("beds = {'north': 3}\nseen = []")
    shell.run("%crane guard on")
    told = shell.run("seen.append(1)\nbeds['south']")
    assert told.startswith(
        "Stopped by %crane guard: this cell was not run.\nWill crash: KeyError\n"
    )
    assert (shell.names["seen"], type(shell.result.error_in_exec)) == (
        [],
        type(None),
    )
    shell.run("# crane: run\nseen.append(1)\nbeds['south']")
    assert (shell.names["seen"], type(shell.result.error_in_exec)) == (
        [1],
        KeyError,
    )
    shell.run("seen.append(beds['north'])")
    assert shell.names["seen"] == [1, 3]
    shell.run("%crane guard on")
    shell.run("%crane guard off")
    shell.run("beds['south']")
    assert type(shell.result.error_in_exec) is KeyError


def test_the_guard_tells_its_step(shell: Shell) -> None:
    for wanted, told in {
        "on": "on: predict. ",
        "predict": "on: predict. ",
        "rehearse": "on: rehearse. ",
        "off": "off: ",
    }.items():
        # Twice, as a step that is taken already changes nothing.
        for _ in range(2):
            switched = shell.run(f"%crane guard {wanted}")
            assert switched.startswith(f"%crane guard is {told}")
            assert shell.run("%crane guard") == switched


OPEN_CRASH = "seen.append(1)\nbeds[__import__('os').getcwd()]"
"""A cell of which the rules predict nothing, and which raises KeyError."""


def test_a_guard_that_rehearses_stops_what_crashes_in_the_copy(
    shell: Shell,
) -> None:
    shell.run("beds = {'north': 3}\nseen = []")
    shell.run("%crane guard rehearse")
    told = shell.run(OPEN_CRASH)
    assert told.startswith(
        "Stopped by %crane guard: this cell was not run, but rehearsed in a copy of the kernel.\n"
        "Rehearsal, executed in a copy: crashed: KeyError\n  line      2: "
    )
    assert shell.names["seen"] == []
    shell.run(f"# crane: run\n{OPEN_CRASH}")
    assert type(shell.result.error_in_exec) is KeyError
    assert shell.names["seen"] == [1]
    told = shell.run("seen.append(2)\nbeds['south']")
    assert "this cell was not run.\nWill crash: KeyError" in told
    assert shell.run("seen.append(3)\nlen(seen)").endswith("2\n")
    assert shell.names["seen"] == [1, 3]
    shell.run("%crane guard on")
    shell.run(OPEN_CRASH)
    assert type(shell.result.error_in_exec) is KeyError


RUNS_ANYWAY = {
    "another program": "import subprocess\nok = subprocess.run(['true']).returncode == 0",
    "a local connection": "import socket\na = socket.socket()\na.bind(('127.0.0.1', 0))\na.close()\nok = True",
    "a thread": "import threading\nt = threading.Thread(target=list)\nt.start()\nt.join()\nok = True",
    "a signal": "import os\nos.kill(os.getpid(), 0)\nok = True",
    "much memory": "held = bytes(2_200_000_000)\nok = len(held) > 0\ndel held",
    "more time than is given": "import time\ntime.sleep(1.3)\nok = True",
    "a file": "import tempfile\nwith tempfile.TemporaryFile() as f:\n    ok = f.write(b'x') == 1",
    "input that is caught": "try:\n    input()\nexcept Exception:\n    ok = True",
}


@pytest.mark.parametrize("what", RUNS_ANYWAY)
def test_a_guard_that_rehearses_runs_what_a_copy_cannot_tell(
    shell: Shell, what: str
) -> None:
    shell.run("ok = False")
    shell.run("%crane guard rehearse")
    told = shell.run(RUNS_ANYWAY[what])
    assert "Stopped" not in told
    assert shell.names["ok"]


def test_a_cell_that_leaves_on_purpose_and_definitions_are_not_stopped(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.run("import sys")
    shell.run("%crane guard rehearse")
    assert "Stopped" not in shell.run("print(1)\nsys.exit(''.join('a'))")
    assert type(shell.result.error_in_exec) is SystemExit
    magics = loaded(shell.shell)
    assert magics is not None
    monkeypatch.setattr(
        magics.session, "rehearsal", lambda *_, **__: pytest.fail("rehearsed")
    )
    shell.run("import json\ndef f():\n    return 1")
    assert shell.names["f"]() == 1


OVERRIDDEN = {
    "beds['south']  # crane: run": True,
    "total = (beds['south'] +  # Crane: Run anyway\n    1)": True,
    "  # crane:run\nbeds['south']": True,
    "%time beds['south']  # crane: run": True,
    "!echo it's\nbeds['south']  # crane: run": True,
    "'# crane: run'; beds['south']": False,
    'note = """\n# crane: run\n"""\nbeds[\'south\']': False,
    "f'# crane: run'; beds['south']": False,
    "beds['south']  # crane: running": False,
    "beds['south']  # do not crane: run": False,
}


def test_a_comment_runs_a_cell_anyway_wherever_it_stands_and_a_string_does_not(
    shell: Shell,
) -> None:
    assert {cell: is_overridden(cell) for cell in OVERRIDDEN} == OVERRIDDEN
    shell.run("beds = {'north': 3}\nseen = []")
    shell.run("%crane guard on")
    shell.run("seen.append(1); beds['south']  # crane: run")
    shell.run("seen.append('# crane: run'); beds['south']")
    assert shell.names["seen"] == [1]


def test_a_guard_that_cannot_check_says_so_and_lets_the_cell_run(
    own_shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_shell.run("beds = {}")
    own_shell.run("%crane guard on")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    own_shell.helper.end()
    told = own_shell.run("beds['south'] = 1")
    assert told.startswith(
        "%crane guard could not check this cell, which runs: The checking process "
    )
    assert own_shell.names["beds"] == {"south": 1}


def test_only_the_guard_is_in_a_hurry(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []
    ask = shell.helper.ask

    def keep(
        order: dict[str, Any], *options: Any, **named: Any
    ) -> dict[str, Any]:
        sent.append(order)
        return ask(order, *options, **named)

    monkeypatch.setattr(shell.helper, "ask", keep)
    shell.run("%%crane\n1 + 1")
    shell.run("%crane guard on")
    shell.run("2 + 2")
    asked = [order for order in sent if order["do"] == "judge"]
    assert [
        (order["target"].strip(), order["is_hurried"]) for order in asked
    ] == [
        ("1 + 1", False),
        ("2 + 2", True),
    ]


def test_what_the_kernel_imports_is_loaded_to_be_asked(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
    shell.run("%%crane\n1 + 1")
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(shell.helper, "tell", told.append)
    shell.run(
        "import sys, types\nsys.modules['lightgbm'] = types.ModuleType('lightgbm')"
    )
    shell.run("1 + 1")
    del sys.modules["lightgbm"]
    assert [order["do"] for order in told] == ["load"]
    assert "lightgbm" in told[0]["imported"]


def test_an_interrupted_question_leaves_no_answer_for_the_next_one(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.run("beds = {'north': 3}")
    answer = shell.helper._answer
    with monkeypatch.context() as patched:

        def interrupted(*options: Any) -> dict[str, Any]:
            if threading.current_thread() is threading.main_thread():
                raise KeyboardInterrupt
            return answer(*options)

        patched.setattr(shell.helper, "_answer", interrupted)
        shell.run("%%crane\nbeds['south']")
    assert type(shell.result.error_in_exec) is KeyboardInterrupt
    assert shell.run("%%crane\nbeds['north']").startswith("No certain crash")


@pytest.mark.slow
def test_a_killed_process_is_told_and_started_again(own_shell: Shell) -> None:
    own_shell.run("beds = {}")
    own_shell.run("%%crane\nbeds['south']")
    process = own_shell.helper._process
    assert process is not None
    process.kill()
    process.wait()
    assert own_shell.run("%%crane\nbeds['south']").startswith(
        "Will crash: KeyError"
    )


def test_a_cell_of_the_saved_file(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(code)
            for code in ("beds = {}", "beds['south']")
        ]
    )
    notebook = tmp_path / "beds.ipynb"
    nbformat.write(book, notebook)
    shell.run("beds = {}")
    assert "Put %%crane above the cell instead." in shell.run("%crane check 1")
    monkeypatch.setenv("JPY_SESSION_NAME", str(notebook))
    assert shell.run("%crane check 1").startswith("Will crash: KeyError")
    assert "UsageError: " in shell.run("%crane check 7")


def test_the_remedy_names_the_cell_that_would_define_a_missing_name(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = ("beds = {}", "%%crane\nwards + 1", "wards = 3", "del beds")
    cells = [nbformat.v4.new_code_cell(code) for code in sources]
    cells[2].metadata["tags"] = ["skip-execution"]
    notebook = tmp_path / "beds.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
    assert "Define wards before this cell." in shell.run("%%crane\nwards + 1")
    monkeypatch.setenv("JPY_SESSION_NAME", str(notebook))
    assert "Run code cell 2 of the saved notebook first" in shell.run(
        "%%crane\nwards + 1"
    )
    shell.run("beds = {}")
    shell.run("del beds")
    assert "Run In [5] again: it assigns beds." in shell.run(
        "%%crane\nbeds['south']"
    )
    notebook.write_text("no notebook", "utf-8")
    assert "Define wards before this cell." in shell.run("%%crane\nwards + 1")


@pytest.mark.parametrize(
    "words",
    [
        "%crane",
        "%crane guard maybe",
        "%crane check x",
        "%%crane nothing\n1",
        "%%crane ask --n\n1",
    ],
)
def test_wrong_words_are_told_with_the_right_ones(
    shell: Shell, words: str
) -> None:
    told = shell.run(words)
    assert told.startswith("UsageError: ")
    assert "%crane guard on" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "%crane gaurd on",
            "%crane gaurd is unknown; did you mean %crane guard?",
        ),
        ("%crane guard onn", "guard onn is unknown; did you mean on?"),
        ("%crane ask", "%crane ask is unknown; did you mean %%crane ask?"),
        (
            "%crane check one",
            "one is not the number of a code cell, counted from 0",
        ),
        ("%crane check", "%crane check is not complete, or has words too many"),
        (
            "%%crane rehears\n1",
            "%%crane rehears is unknown; did you mean %%crane rehearse?",
        ),
        (
            "%%crane check 1\n1",
            "%%crane check is unknown; did you mean %crane check?",
        ),
    ],
)
def test_a_mistyped_word_is_told_with_the_one_that_was_meant(
    shell: Shell, words: str, told: str
) -> None:
    assert shell.run(words).startswith(f"UsageError: {told}\n")


@pytest.mark.slow
def test_only_this_package_and_python_is_loaded_and_no_name_is_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = Shell()
    made.begin(capsys)
    made.run("beds = {}")
    names, loaded = set(made.names), set(sys.modules)
    made.run(LOAD)
    made.run("%%crane\nbeds['south']")
    new = {name.partition(".")[0] for name in set(sys.modules) - loaded}
    assert new - sys.stdlib_module_names <= {"crane_core"}
    made.run("%unload_ext crane_core")
    assert {
        name for name in set(made.names) - names if not name.startswith("_")
    } == set()
    assert "UsageError: Line magic function `%crane` not found." in made.run(
        "%crane guard on"
    )
    made.shell.history_manager.end_session()


@pytest.mark.slow
def test_the_probe_is_loaded_once_as_far_as_it_is_needed_and_is_not_left_among_the_modules(
    own_shell: Shell,
) -> None:
    own_shell.run("beds = {'north': 3}")
    own_shell.run("%%crane\nbeds['south']")
    magics = loaded(own_shell.shell)
    assert magics is not None
    kept = dict(magics.session._probe)
    assert {
        "crane_probe.look",
        "crane_probe.summarizers.for_builtins",
    } <= kept.keys()
    assert "crane_probe.summarizers.for_torch" not in kept
    own_shell.run("%%crane\nbeds['north']")
    assert all(
        magics.session._probe[name] is module for name, module in kept.items()
    )
    assert not [name for name in sys.modules if name.startswith("crane_probe")]


def test_a_look_keeps_nothing_alive(shell: Shell) -> None:
    shell.run(
        "class Bed:\n    pass\nbed = Bed()\nimport gc, weakref\nseen = weakref.ref(bed)\ngc.disable()"
    )
    shell.run("%%crane\nbed.size")
    shell.run("del bed\nis_gone = seen() is None\ngc.enable()")
    assert shell.names["is_gone"]


def test_a_model_is_asked_once_it_may_be(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.run("beds = {'token': 'sk-abcdefghijklmnopqrstuvwxyz0123456789'}")
    monkeypatch.delenv("CRANE_MODEL", raising=False)
    unset = shell.run("%%crane ask\nbeds['south']")
    assert unset.startswith("Not sent: ")
    assert "beds['south']" in unset
    assert unset.rstrip().endswith("or set CRANE_MODEL and CRANE_BASE_URL")
    assert "UsageError: No model is set." in shell.run(
        "%%crane ask --send\nbeds['south']"
    )
    with fake_server(FakePlan()) as base_url:
        options = f"--model fake-1 --base-url {base_url}"
        shown = shell.run(f"%%crane ask {options}\nbeds['south']")
        assert shown.startswith("Not sent yet: ")
        assert "beds['south']" in shown
        assert "abcdefghijklmnopqrstuvwxyz0123456789" not in shown
        assert shell.run(
            f"%%crane ask --send {options}\nbeds['south']"
        ).startswith("fake-1 predicts ")


def test_a_rehearsal_runs_the_cell_in_a_copy_alone(shell: Shell) -> None:
    shell.run("beds = {'north': 3}\nseen = []")
    told = shell.run("%%crane rehearse\nseen.append(1)\nbeds['south']")
    assert told.splitlines() == [
        "Rehearsal, executed in a copy: crashed: KeyError",
        "  line      2: beds['south']",
        "  reason    KeyError: 'south'",
    ]
    assert shell.names["seen"] == []
    assert (
        shell.run("%%crane rehearse 5\nseen.append(1)")
        == "Rehearsal, executed in a copy: ran through\n"
    )
    assert shell.names["seen"] == []
    for wrong in ("0", "601", "nan", "x", "1 2"):
        assert "rehearse takes a number of seconds up to 600" in shell.run(
            f"%%crane rehearse {wrong}\nseen"
        )
