"""Kernels that run already: found, looked at without a trace, left alone while they are busy."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import KernelManager

from crane_core.cli import main
from crane_core.errors import (
    CraneError,
    KernelError,
    KernelStartError,
    LookError,
)
from crane_core.notebooks import CodeCell
from crane_core.pipeline.own_notebooks.attach import attached, next_cell
from crane_core.pipeline.own_notebooks.check import findings, verdict
from crane_core.runtime.attached import Attached
from crane_core.runtime.live_history import Ran
from crane_core.runtime.rehearsal import RehearsalEnd
from crane_core.runtime.running import kernel_named, running_kernels
from tests.kernels import printed, started
from tests.patience import PATIENCE_S

SETUP = "beds = {'north': 3}\n_, In[0]"
TARGET = "beds['south']"
EVERYTHING = """
import sys as _s
_shell = get_ipython()
print(repr([_shell.execution_count, list(_shell.history_manager.input_hist_raw), sorted(_shell.user_ns),
    repr(_), repr(__), len(Out), sorted(_s.modules), _s.path, [type(f).__name__ for f in _s.meta_path], repr(beds),
    [str(function) for functions in _shell.events.callbacks.values() for function in functions]]))
"""


class Live:
    """A kernel as Jupyter Server starts it, and a front end that runs cells in it."""

    def __init__(self, folder: Path, notebook: Path) -> None:
        nbformat.write(
            nbformat.v4.new_notebook(
                cells=[
                    nbformat.v4.new_code_cell(code)
                    for code in (SETUP, TARGET, "beds")
                ]
            ),
            notebook,
        )
        self.notebook = notebook
        self.id = "4a57bd1c-95a0"
        self.file = folder / f"kernel-{self.id}.json"
        environment = os.environ | {
            "JPY_SESSION_NAME": str(notebook),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        make = partial(KernelManager, connection_file=str(self.file))
        self.manager, self.client = started(
            make, cwd=str(folder), env=environment
        )

    def run(self, code: str, **options: Any) -> str:
        return printed(self.client, code, **options)

    def everything(self) -> str:
        return self.run(EVERYTHING, silent=False, store_history=False)


@contextmanager
def running(folder: Path) -> Iterator[Live]:
    kernel = Live(folder, folder / "ward.ipynb")
    try:
        yield kernel
    finally:
        kernel.client.stop_channels()
        kernel.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A kernel for all tests that leave it as it was, or run its cells again."""
    with running(tmp_path_factory.mktemp("live")) as kernel:
        yield kernel


@pytest.fixture
def live(lasting: Live, monkeypatch: pytest.MonkeyPatch) -> Live:
    """The kernel after the first cell of its notebook, the only one that is found."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(lasting.file.parent))
    monkeypatch.setattr(
        "crane_core.runtime.attached.IDLE_ANSWERS_WITHIN_S", PATIENCE_S
    )
    lasting.run(SETUP)
    return lasting


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """One for a test that ends it, or changes how it answers."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    with running(tmp_path) as kernel:
        yield kernel


def test_a_kernel_is_found_by_id_its_beginning_its_file_and_its_notebook(
    live: Live,
) -> None:
    found = running_kernels()
    assert [(kernel.id, kernel.file, kernel.notebook) for kernel in found] == [
        (live.id, live.file, live.notebook)
    ]
    for text in (
        live.id,
        live.id[:6],
        str(live.file),
        live.file.name,
        str(live.notebook),
    ):
        assert kernel_named(text) == found[0]
    with pytest.raises(
        KernelStartError,
        match=r"No kernel that runs is known as 'x'\. List those",
    ):
        kernel_named("x")


def test_nothing_in_the_kernel_changes_and_nothing_is_run_again(
    live: Live,
) -> None:
    live.run("beds")
    before = live.everything()
    assert "'beds'" in before
    for _ in range(2):
        with Attached(kernel_named(live.id)) as kernel:
            ran = kernel.ran()
            seen = kernel.look(ran, TARGET)
    assert live.everything() == before
    assert (
        live.run(
            "import gc\nprint(gc.isenabled())",
            silent=False,
            store_history=False,
        )
        == "True\n"
    )
    first, second = ran[-2:]
    assert (first.source, second.source, second.number) == (
        SETUP,
        "beds",
        first.number + 1,
    )
    assert seen.state["variables"]["beds"]["type"] == "dict"


def test_a_certain_crash_of_the_next_cell_is_told_of_what_the_kernel_holds(
    live: Live,
) -> None:
    checked = attached(kernel_named(live.id))
    assert (checked.path, checked.plan.target.index) == (live.notebook, 1)
    assert findings(verdict(checked))[0]["exception"] == "KeyError"
    live.run("beds['south'] = 1")
    assert findings(verdict(attached(kernel_named(live.id)))) == []


def test_a_rehearsal_of_the_next_cell_leaves_the_kernel_as_it_was(
    live: Live,
) -> None:
    before = live.everything()
    checked = attached(kernel_named(live.id), rehearse_s=PATIENCE_S)
    assert live.everything() == before
    told = checked.rehearsal
    assert told is not None
    assert (told.outcome, told.exception, told.code_line) == (
        RehearsalEnd.CRASH,
        "KeyError",
        "beds['south']",
    )


def test_a_fix_of_a_cell_is_tried_beside_the_kernel(
    live: Live, tmp_path: Path
) -> None:
    target = "beds['North']"
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code) for code in (SETUP, target)]
    )
    nbformat.write(notebook, path := tmp_path / "ward.ipynb")
    before = live.everything()
    checked = attached(
        kernel_named(live.id), path, 1, rehearse_s=PATIENCE_S, is_fixed=True
    )
    assert live.everything() == before
    assert checked.repair is not None
    [tried] = checked.repair.shown
    assert tried.fix.source == "beds['north']"
    assert tried.outcome.startswith("ran through")


def test_a_busy_kernel_is_refused_and_still_listed(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "crane_core.runtime.attached.IDLE_ANSWERS_WITHIN_S", 1.0
    )
    asked = live.client.execute(
        "import time\nprint('begun', flush=True)\ntime.sleep(600)"
    )
    printed = ""
    # A busy machine may send the word and its line break as two messages.
    while "begun" not in printed:
        message = live.client.get_iopub_msg(timeout=PATIENCE_S)
        printed += message["content"].get("text") or ""
    try:
        assert len(running_kernels()) == 1
        with pytest.raises(
            KernelError, match=r"^The kernel ward\.ipynb is busy\. Wait until"
        ):
            attached(kernel_named(live.id))
    finally:
        live.manager.interrupt_kernel()
        while (
            live.client.get_shell_msg(timeout=PATIENCE_S)["parent_header"][
                "msg_id"
            ]
            != asked
        ):
            pass


def test_an_ended_kernel_and_what_is_no_connection_file_are_told(
    own: Live, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own.manager.shutdown_kernel(now=True)
    assert main(["--data", str(tmp_path / "data"), "check", "--attach"]) == 0
    assert capsys.readouterr() == ("No kernel runs.\n", "")
    own.file.write_text(
        json.dumps(
            {
                "hb_port": 1,
                "shell_port": 2,
                "ip": "127.0.0.1",
                "transport": "tcp",
                "key": "",
            }
        )
    )
    assert running_kernels() == []
    with pytest.raises(KernelStartError, match="No kernel answers as"):
        kernel_named(str(own.file))
    own.file.unlink()  # else each list below waits for its answer
    for text in ("{", "[]", "null", '{"hb_port": "x"}', "[" * 100_000):
        (tmp_path / "kernel-odd.json").write_text(text)
        assert running_kernels() == []
        with pytest.raises(
            KernelStartError, match="is not a readable connection file"
        ):
            kernel_named(str(tmp_path / "kernel-odd.json"))


LIES = ("'{'", "'[1]'", "'{\"state\": 1}'", "1 / 0", "x" * 5_000)


@pytest.mark.slow
def test_a_kernel_that_tells_no_state_is_told(own: Live) -> None:
    for lie in LIES:
        own.run(
            "plain = get_ipython().display_formatter.formatters['text/plain']\n"
            f"plain.for_type(str, lambda text, printer, _: printer.text({lie!r}))\nNone"
        )
        with pytest.raises(
            LookError, match=r"^The kernel ward\.ipynb could not be looked at: "
        ) as told:
            attached(kernel_named(own.id))
        assert len(str(told.value)) < 700


@pytest.mark.parametrize(
    ("ran", "expected"),
    [
        ([], 0),
        (["a = 1"], 1),
        (["a = 1", "else"], 1),
        (["b = 2", "a = 1\n"], 1),
        (["b = 2"], 1),
    ],
)
def test_the_next_cell_follows_the_last_that_stands_in_the_file(
    ran: list[str], expected: int
) -> None:
    cells = [
        CodeCell(place, source, None, None)
        for place, source in enumerate(("a = 1", "b = 2"))
    ]
    assert (
        next_cell(
            cells,
            [Ran(number, source) for number, source in enumerate(ran, start=1)],
        )
        == expected
    )


def test_the_next_cell_is_not_one_of_another_language() -> None:
    cells = [
        CodeCell(0, "a = 1", None, None),
        CodeCell(1, "SELECT", None, None, language="SQL"),
        CodeCell(2, "b = 2", None, None),
    ]
    assert next_cell(cells, [Ran(1, "a = 1")]) == 2


def test_the_command_lists_kernels_and_checks_one(
    live: Live, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = live.notebook

    def check(*words: str) -> tuple[int, str, str]:
        code = main(["--data", str(tmp_path / "data"), "check", *words])
        return code, *capsys.readouterr()

    assert check("--attach") == (0, f"{live.id}  {notebook}\n", "")
    listed = json.loads(check("--attach", "--json")[1])
    assert listed == {
        "kernels": [
            {"id": live.id, "notebook": str(notebook), "file": str(live.file)}
        ]
    }
    code, out, _ = check("--attach", str(notebook))
    assert (code, out.splitlines()[0]) == (
        0,
        "code cell 1 of ward.ipynb",
    )
    told = json.loads(
        check(str(notebook), "--attach", live.id, "--target", "2", "--json")[1]
    )
    assert (
        told["target"],
        told["crashes"],
        told["seconds_before"],
        told["attached"],
    ) == (
        2,
        None,
        None,
        True,
    )
    for wrong, said in (
        ((), "No notebook is named."),
        (("--attach", live.id, "--keep-going"), "no cell is run"),
    ):
        code, out, err = check(*wrong)
        assert (code, out, err.count("\n")) == (1, "", 1) and said in err


@pytest.mark.slow
def test_a_kernel_of_no_notebook_needs_the_file(live: Live) -> None:
    kernel = kernel_named(live.id)._replace(notebook=None)
    with pytest.raises(CraneError, match="Name the notebook's file too"):
        attached(kernel)
    assert attached(kernel, live.notebook).plan.target.index == 1
