"""A notebook is brought to its target as its user would bring it there, and looking changes nothing.

Tests that only read what a capture tells share two of them: `usual`, and `raised`, in which cells raise.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

import pytest

from crane_core.errors import (
    CellRaisedError,
    CraneError,
    KernelStartError,
    LookError,
    NotebookError,
)
from crane_core.runtime.capture import Captured, capture, capture_many
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import read_plan

from .conftest import WriteNotebook, write_notebook

USUAL = (
    ("log.append('a')", 2),
    ("log = []", 1),
    ("log.append('never ran')", None),
    ("log.append('late')", 90),
    ("# [reexecute]\nlog.append('again')", 91),
    ("north = open('lanes.txt').read()\nfrom lanes import WIDTH", 3),
    ("%matplotlib inline\nwords = !echo swim lane\n%env LANE=4", 4),
    ("import asyncio\nawait asyncio.sleep(0)", 5),
    ("%%bash\nexit 0", 6),
    ("%%time\nlaps = 3", 7),
    ("import time; time.sleep(0.3)", 8),
    ("pass", 9),
    ("s = 'ab'; f = 0.5; big = list(range(10_000)); bad = '\\ud800'", 10),
    (
        "import random, sys, gc\nrandom.seed(1)\nlines = (n for n in range(5))\nnext(lines)\n"
        "file = open('usual.ipynb')",
        11,
    ),
    ("log[5], next(lines), random.random(), file, before.missing, after", 12),
)
"""Cells and their execution counts; the last one crashes."""
RAN = [1, 0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 4]
"""In this order: by their counts, then what is marked to run again."""
VALUES = (
    "s",
    "f",
    "None",
    "True",
    "big",
    "nope",
    "bad",
    "10**30",
    "float('nan')",
)
TRACES = (
    "sorted(name for name in sys.modules if name.partition('.')[0] not in sys.stdlib_module_names)",
    "sorted(globals())",
    "lines.gi_frame.f_locals['n']",
    "random.getstate()",
    "sys.path, len(sys.meta_path)",
    "gc.isenabled()",
    "file.tell()",
    "get_ipython().execution_count",
    "len(In), len(Out)",
    "sys.gettrace(), sys.getprofile()",
)
OTHERS = (
    "log",
    "north",
    "WIDTH",
    "list(words)",
    "laps",
    "get_ipython().execution_count",
)
LIBRARY_NAMES = (
    "difflib",
    "fractions",
    "statistics",
    "textwrap",
    "dataclasses",
    "numbers",
    "bisect",
)


class Usual(NamedTuple):
    """What was captured in a folder, and each probe's value."""

    captured: Captured
    values: dict[str, object]
    folder: Path


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Usual:
    """Beside the notebook lie files that it reads, and some that are called as modules of the standard library."""
    folder = tmp_path_factory.mktemp("usual")
    (folder / "lanes.txt").write_text("7")
    (folder / "lanes.py").write_text("WIDTH = 9")
    for name in LIBRARY_NAMES:
        (folder / f"{name}.py").write_text(f"open('{name}.ran', 'w').close()\n")
    cells, counts = zip(*USUAL, strict=True)
    path = write_notebook(
        folder, "usual", *cells, counts=counts, crash=len(cells) - 1
    )
    asked = (*VALUES, *TRACES, *OTHERS)
    captured = capture(path, probes=asked)
    return Usual(
        captured, dict(zip(asked, probed(captured), strict=True)), folder
    )


@pytest.fixture(scope="module")
def raised(tmp_path_factory: pytest.TempPathFactory) -> Captured:
    """The third and every second cell after it raise."""
    cells = (
        "a = 1",
        "{}['lane']",
        *(f"raise ValueError({n})" if n % 2 else f"n = {n}" for n in range(8)),
        "a, n",
    )
    path = write_notebook(tmp_path_factory.mktemp("raised"), "raised", *cells)
    return capture(path, keep_going=True, probes=["a", "n"])


def probed(captured: Captured) -> list[object]:
    """What the probes gave before the look, which must be what they gave after it."""
    assert [probe["before"] for probe in captured.result.probes] == [
        probe["after"] for probe in captured.result.probes
    ]
    return [probe["before"] for probe in captured.result.probes]


def ran(captured: Captured) -> list[int]:
    return [cell.cell for cell in captured.cells]


def planned(path: Path, target: int | None = None) -> list[int]:
    """Code cells in the order in which a capture runs them."""
    return [cell.index for cell in read_plan(path, target).executed]


@pytest.mark.slow
def test_cells_run_in_the_order_of_their_counts(usual: Usual) -> None:
    assert (usual.captured.target, ran(usual.captured)) == (len(USUAL) - 1, RAN)
    assert [cell.execution_count for cell in usual.captured.cells] == [
        USUAL[index][1] for index in RAN
    ]


def test_a_cell_marked_as_reexecuted_runs_although_its_count_is_above_the_target(
    usual: Usual,
) -> None:
    assert usual.values["log"] == "['a', 'again']"


@pytest.mark.slow
def test_a_target_marked_as_reexecuted_is_captured_after_its_first_run(
    notebook: WriteNotebook,
) -> None:
    path = notebook(
        "twice",
        "n = {'a': 1, 'b': 2}",
        "# [reexecute]\ndel n['a']",
        counts=[1, 3],
        crash=1,
    )
    captured = capture(path, probes=["list(n)"])
    assert (captured.target, ran(captured), probed(captured)) == (
        1,
        [0, 1],
        ["['b']"],
    )


def test_without_counts_a_notebook_runs_from_top_to_bottom(
    notebook: WriteNotebook,
) -> None:
    path = notebook("fresh", "n = 1", "n = n * 3", "n", counts=[None] * 3)
    assert (read_plan(path, None).target.index, planned(path)) == (2, [0, 1])


def test_the_target_is_the_first_crash_else_the_last_cell_unless_it_is_named(
    notebook: WriteNotebook,
) -> None:
    crashing = notebook("crashing", "a = 1", "a[0]", "a", crash=1)
    assert read_plan(crashing, None).target.index == 1
    assert planned(crashing, target=0) == []
    assert (
        read_plan(notebook("running", "a = 1", "a", "a + 1"), None).target.index
        == 2
    )


def test_cells_run_in_the_notebooks_folder(usual: Usual) -> None:
    assert (usual.values["north"], usual.values["WIDTH"]) == ("7", 9)


def test_magics_shell_lines_and_await_are_the_kernels_own(usual: Usual) -> None:
    assert (usual.values["list(words)"], usual.values["laps"]) == (
        "['swim lane']",
        3,
    )
    assert usual.values["get_ipython().execution_count"] == len(RAN) + 1


def test_each_cell_is_timed(usual: Usual) -> None:
    captured = usual.captured
    seconds = {cell.cell: cell.seconds for cell in captured.cells}
    assert seconds[10] >= 0.3
    assert min(seconds.values()) > 0
    assert (
        captured.kernel_seconds
        > sum(seconds.values()) + captured.result.seconds
    )


def test_a_cell_that_raises_stops_the_capture_and_is_named(
    notebook: WriteNotebook,
) -> None:
    path = notebook("broken", "a = 1", "{}['lane']", "a")
    words = r"^Code cell 1 of broken.ipynb, .* the target \(code cell 2\), raised KeyError: 'lane'"
    with pytest.raises(CellRaisedError, match=words) as at:
        capture(path)
    assert at.value.cell == 1


@pytest.mark.slow
def test_tags_let_a_cell_raise_or_leave_it_out(notebook: WriteNotebook) -> None:
    cells = ("1 / 0", "n = 1", "n = 2", "n[0]")
    tags = {0: ["raises-exception"], 2: ["remove-input", "skip-execution"]}
    captured = capture(notebook("lesson", *cells, tags=tags), probes=["n"])
    assert [(cell.cell, cell.exception) for cell in captured.cells] == [
        (0, "ZeroDivisionError"),
        (1, None),
    ]
    assert (captured.target, probed(captured)) == (3, [1])


def test_without_a_target_cells_with_these_tags_are_passed_over(
    notebook: WriteNotebook,
) -> None:
    raised = notebook(
        "raised", "[][0]", "n = 1", "n", crash=0, tags={0: ["raises-exception"]}
    )
    skipped = notebook("skipped", "n = 1", "n", tags={1: ["skip-execution"]})
    assert (
        read_plan(raised, None).target.index,
        read_plan(skipped, None).target.index,
    ) == (2, 0)
    assert read_plan(skipped, 1).target.index == 1


@pytest.mark.slow
def test_told_to_continue_it_runs_the_next_cell_as_usual(
    raised: Captured,
) -> None:
    assert [cell.exception for cell in raised.cells] == [
        None,
        "KeyError",
        *[None, "ValueError"] * 4,
    ]
    assert [cell.message for cell in raised.cells[:4]] == [
        None,
        "'lane'",
        None,
        "1",
    ]
    assert probed(raised) == [1, 6]


def test_probes_are_values_texts_or_what_they_raise(usual: Usual) -> None:
    values = [usual.values[text] for text in VALUES]
    assert values[:4] == ["ab", 0.5, None, True]
    assert (
        str(values[4]).startswith("[0, 1, 2")
        and "sha256" in str(values[4])
        and len(str(values[4])) < 2_200
    )
    assert values[5:] == [
        {"raised": "NameError"},
        "\\ud800",
        str(10**30),
        "nan",
    ]


def test_looking_leaves_no_trace(usual: Usual) -> None:
    """The fixture asserts that each has the same value after the look."""
    assert not [text for text in TRACES if isinstance(usual.values[text], dict)]
    assert usual.captured.result.state["absent"]["names"]


@pytest.mark.slow
def test_the_notebooks_own_names_cannot_mislead_the_look(
    notebook: WriteNotebook,
) -> None:
    path = notebook(
        "shadows",
        "import sys, types\nsys.modules['crane_probe'] = types.ModuleType('crane_probe')\n"
        "json = globals = exec = compile = eval = print = open = len = None\nlane = 3",
        "lane",
    )
    captured = capture(path, probes=["sys.modules['crane_probe'].__name__"])
    assert probed(captured) == ["crane_probe"]
    assert "lane" in captured.result.state["variables"]


def test_a_file_of_the_notebook_that_is_called_as_a_library_module_is_not_run(
    usual: Usual,
) -> None:
    assert {f"{name}.py" for name in LIBRARY_NAMES} < {
        path.name for path in usual.folder.iterdir()
    }
    assert list(usual.folder.glob("*.ran")) == []


def test_the_document_tells_state_and_capture(raised: Captured) -> None:
    document = json.loads(json.dumps(raised.to_json(), allow_nan=False))
    assert document["schema_version"] == 2
    assert document.keys() >= {"variables", "accesses", "absent", "unavailable"}
    assert (document["notebook"], document["target"]) == ("raised.ipynb", 10)
    assert document["capture_seconds"] == raised.result.seconds > 0
    first, second, *_ = document["captured"]["cells"]
    assert first == {
        "cell": 0,
        "execution_count": 1,
        "seconds": raised.cells[0].seconds,
    }
    assert (second["exception"], second["message"]) == ("KeyError", "'lane'")
    assert document["captured"]["left_running"] == {
        "threads": [],
        "processes": [],
    }
    assert document["captured"]["python"] == sys.version.split()[0]
    assert document["probes"][0] == {"expression": "a", "before": 1, "after": 1}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("no JSON", "not a readable notebook"),
        ("[]", "not a readable notebook"),
        ('{"cells": []}', "no code cell"),
    ],
)
def test_what_is_no_notebook_is_refused(
    tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "none.ipynb"
    path.write_text(content)
    with pytest.raises(NotebookError, match=said):
        capture(path)


def test_a_missing_notebook_or_cell_is_refused(
    notebook: WriteNotebook, tmp_path: Path
) -> None:
    with pytest.raises(NotebookError, match="cannot be read: No such file"):
        capture(tmp_path / "missing.ipynb")
    with pytest.raises(
        NotebookError, match="no code cell 2; the notebook has 2"
    ):
        capture(notebook("two", "a = 1", "a"), target=2)


@pytest.mark.slow
def test_any_interpreter_and_kernelspec_can_be_named(
    notebook: WriteNotebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "kernels" / "laps"
    spec.mkdir(parents=True)
    argv = ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(
        json.dumps(
            {
                "argv": argv,
                "display_name": "Laps",
                "language": "python",
                "env": {"LAPS": "${POOL}-7"},
            }
        )
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("POOL", "north")
    path = notebook("named", "import os, sys", "os")
    assert probed(
        capture(path, kernel="laps", probes=["os.environ['LAPS']"])
    ) == ["north-7"]
    assert probed(
        capture(path, python=sys.executable, probes=["sys.executable"])
    ) == [sys.executable]


def test_a_kernel_that_does_not_come_up_says_why(
    notebook: WriteNotebook, tmp_path: Path
) -> None:
    path = notebook("nowhere", "a = 1", "a")
    with pytest.raises(KernelStartError, match=r"The program .*missing"):
        capture(path, python=tmp_path / "missing")
    with pytest.raises(
        KernelStartError,
        match=r"The kernelspec 'missing' is not installed\. Installed: ",
    ):
        capture(path, kernel="missing")
    venv.create(tmp_path / "bare", with_pip=False)
    with pytest.raises(
        KernelStartError,
        match=r"No module named ipykernel_launcher.*Install ipykernel",
    ):
        capture(path, python=tmp_path / "bare" / "bin" / "python")


def test_a_kernel_that_is_silent_is_given_up(
    notebook: WriteNotebook, tmp_path: Path
) -> None:
    sleeper = tmp_path / "sleeper"
    sleeper.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(600)\n")
    sleeper.chmod(0o755)
    with pytest.raises(KernelStartError, match=r"did not start \(time\)"):
        capture(
            notebook("silent", "1"),
            python=sleeper,
            limits=KernelLimits(start_s=1),
        )


@pytest.mark.slow
def test_a_kernel_without_our_bytecode_reads_the_text(
    notebook: WriteNotebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "crane_core.runtime.probe_source.OUR_MAGIC", "another Python's"
    )
    assert (
        "lane"
        in capture(notebook("text", "lane = 3", "lane")).result.state[
            "variables"
        ]
    )


def test_a_look_that_fails_says_what_it_raised(
    notebook: WriteNotebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = {
        name: {"text": text}
        for name, text in (("crane_probe", ""), ("crane_probe.look", "1 / 0"))
    }
    monkeypatch.setattr(
        "crane_core.runtime.probe_source._codes", lambda: broken
    )
    with pytest.raises(
        LookError,
        match="could not be captured: ZeroDivisionError: division by zero",
    ):
        capture(notebook("plain", "a = 1", "a"))


@pytest.mark.slow
def test_many_are_captured_at_once_each_in_a_kernel_of_its_own(
    notebook: WriteNotebook,
) -> None:
    paths = [
        notebook(
            f"n{i}",
            f"import os; own_{i} = {i}; pid = os.getpid()",
            "a = 1",
            "own_0",
        )
        for i in range(2)
    ]
    paths.insert(1, notebook("broken", "1 / 0", "1"))
    names = "sorted(name for name in globals() if name.startswith('own_'))"
    outcomes = list(
        capture_many(
            paths,
            2,
            targets=[1, None, None],
            probes=[names, "pid", "'a' in globals()"],
        )
    )
    assert [type(outcome) for outcome in outcomes] == [
        Captured,
        CellRaisedError,
        Captured,
    ]
    values = [
        probed(outcome) for outcome in outcomes if isinstance(outcome, Captured)
    ]
    assert [(own, is_after_a) for own, _, is_after_a in values] == [
        ("['own_0']", False),
        ("['own_1']", True),
    ]
    assert len({pid for _, pid, _ in values}) == 2


@pytest.mark.slow
def test_who_stops_reading_stops_the_captures(notebook: WriteNotebook) -> None:
    paths = [
        notebook("quick", "a = 1", "a"),
        *(notebook(f"endless{i}", "while True: pass", "1") for i in range(2)),
    ]
    outcomes = capture_many(paths, 2)
    assert isinstance(next(outcomes), Captured)
    outcomes.close()  # type: ignore[attr-defined]


def test_no_kernel_code_is_left_in_the_caller(notebook: WriteNotebook) -> None:
    """The door imports Jupyter's protocol, not IPython, which a process without kernels never needs."""
    program = "import sys, crane_core.runtime.capture; print('IPython' in sys.modules, 'nbclient' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False False\n"


def test_errors_are_one_line_with_a_remedy(notebook: WriteNotebook) -> None:
    path = notebook(
        "lines", "raise ValueError('one\\ntwo\\n' + 'x' * 5000)", "1"
    )
    with pytest.raises(CraneError) as raised:
        capture(path)
    assert "one two xxx" in str(raised.value)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 600


def test_callbacks_of_the_notebook_are_called_for_its_cells_alone(
    notebook: WriteNotebook,
) -> None:
    register = """
log = []
for event in ("pre_execute", "post_execute", "pre_run_cell", "post_run_cell"):
    get_ipython().events.register(event, lambda *_, event=event: log.append(event))
"""
    cell = ["pre_execute", "pre_run_cell", "post_execute", "post_run_cell"]
    path = notebook("events", register, "log.append('cell')", "log")
    [before, callbacks] = probed(
        capture(
            path,
            probes=[
                "log",
                "len(get_ipython().events.callbacks['post_execute'])",
            ],
        )
    )
    assert before == repr([*cell[2:], *cell[:2], "cell", *cell[2:]])
    assert callbacks >= 1


@pytest.mark.slow
def test_a_callback_that_never_ends_does_not_hold_the_look_up(
    notebook: WriteNotebook,
) -> None:
    late = "import time\nn = 1\ndef wait():\n    while n > 1:\n        time.sleep(1)\n"
    path = notebook(
        "late",
        late + "get_ipython().events.register('post_execute', wait)",
        "n = n",
        "n",
    )
    assert probed(
        capture(path, probes=["globals().__setitem__('n', 2)", "n"])
    ) == [
        None,
        2,
    ]
