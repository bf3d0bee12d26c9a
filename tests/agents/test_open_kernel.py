"""An assistant beside an open notebook: a scripted model calls tools, and changes the cell that would crash."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

from crane_core.pipeline.places import CHECKOUT
from tests.agents.conftest import Ask
from tests.kernels import started
from tests.patience import PATIENCE_S

SETUP = (
    "beds = {'north': 3}\npassword = ' '.join(['never', 'to', 'be', 'shown'])"
)
CRASHES, REPAIRED = "beds['south'] + 1", "beds['north'] + 1"


class OpenNotebook:
    """A kernel, and a front end that runs cells in it."""

    def __init__(self, folder: Path) -> None:
        self.id = "0c1d8e60-assist"
        make = partial(
            KernelManager,
            connection_file=str(folder / f"kernel-{self.id}.json"),
        )
        environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
        self.manager, self.client = started(
            make, cwd=str(folder), env=environment
        )

    def run(self, code: str) -> dict[str, Any]:
        shown: dict[str, Any] = self.client.execute_interactive(
            code, timeout=PATIENCE_S, output_hook=lambda message: None
        )["content"]
        return shown

    def end(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OpenNotebook]:
    # Where Jupyter keeps the files of kernels that run.
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(runtime))
    opened = OpenNotebook(runtime)
    yield opened
    opened.end()


class ScriptedModel:
    """A model of an assistant: checks a cell, and changes it when the check says that it crashes."""

    def __init__(self) -> None:
        self.cell = CRASHES

    def next_call(self, seen: dict[str, Any] | None) -> dict[str, Any] | None:
        """The arguments of its next check; None once it would run the cell."""
        if seen is None:
            return {"code": self.cell}
        if not seen["crashes"]:
            return None
        [finding] = seen["findings"]
        # The evidence names the keys that there are.
        assert "north" in finding["fact"]
        self.cell = REPAIRED
        return {"code": self.cell}


@pytest.mark.slow
def test_an_assistant_changes_a_cell_before_it_runs(
    ask: Ask, notebook: OpenNotebook
) -> None:
    notebook.run(SETUP)
    [listed] = ask(("list_kernels", {}))
    assert listed.structured_content
    assert [one["id"] for one in listed.structured_content["kernels"]] == [
        notebook.id
    ]
    model = ScriptedModel()
    seen: dict[str, Any] | None = None
    while (call := model.next_call(seen)) is not None:
        [told] = ask(("check_cell", {"kernel": notebook.id, **call}))
        assert told.structured_content, told
        seen = told.structured_content
    assert seen is not None
    assert seen["knows_values"] is True
    ended = notebook.run(model.cell)
    assert ended["status"] == "ok"
    # Two checks ran no cell: this is the third input after the set-up's.
    assert ended["execution_count"] == 2


@pytest.mark.slow
def test_state_rehearsal_and_a_crash(ask: Ask, notebook: OpenNotebook) -> None:
    notebook.run(SETUP)
    kernel = {"kernel": notebook.id}
    crash = notebook.run(CRASHES)
    traceback = "\n".join(crash["traceback"])
    state, ran, fixed, explained, unknown = ask(
        ("kernel_state", {**kernel, "code": "print(beds, password)"}),
        ("rehearse_cell", {**kernel, "code": "beds.clear()\n1 / 0"}),
        ("suggest_fix", {**kernel, "code": "beds['nroth'] + 1"}),
        (
            "explain_crash",
            {**kernel, "traceback": traceback, "code": CRASHES},
        ),
        ("kernel_state", {"kernel": "of nobody", "code": "1"}),
        may_execute=True,
    )
    assert state.structured_content
    assert set(state.structured_content["variables"]) == {"beds", "password"}
    assert "never to be shown" not in state.model_dump_json()
    assert ran.structured_content
    assert ran.structured_content["outcome"] == "crash"
    assert ran.structured_content["exception"] == "ZeroDivisionError"
    assert fixed.structured_content
    assert [one["source"] for one in fixed.structured_content["fixes"]] == [
        REPAIRED
    ]
    assert explained.structured_content
    told = explained.structured_content
    assert (told["exception"], told["message"], told["line"]) == (
        "KeyError",
        "'south'",
        1,
    )
    assert "beds was assigned in In [1]" in told["origin"]
    assert "beds" in told["state"]["variables"]
    assert told["findings"][0]["exception"] == "KeyError"
    assert unknown.is_error
    # The copy was dropped: what the rehearsal cleared is still there.
    assert notebook.run("assert beds == {'north': 3}")["status"] == "ok"
