"""Lines that install packages run only where they are allowed; every other line stays as it is, where it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from crane_core.errors import CellRaisedError
from crane_core.pipeline.own_notebooks.check import (
    findings,
    read_notebook,
    run_up,
    verdict,
)
from crane_core.runtime.capture import capture
from crane_core.runtime.installs import n_installs, without_installs
from crane_core.runtime.limits import KernelLimits

WriteNotebook = Callable[..., Path]


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("a = 1\n%pip install x\nb = 2", "a = 1\npass\nb = 2"),
        ("!pip install -q x \\\n    y\nb = 1", "pass\n\nb = 1"),
        ("if a:\n    !{sys.executable} -m pip install x", "if a:\n    pass"),
        ("pip install x", "pass"),
        ("%conda install -y x", "pass"),
        ("!!/opt/own/bin/pip3 --quiet install x", "pass"),
        ("!uv pip install x", "pass"),
        ("!python3 -m pip uninstall x", "pass"),
        ("%%bash\npip install x\nls", "%%bash\n:\nls"),
    ],
)
def test_a_line_that_installs_is_left_out_and_keeps_its_place(
    source: str, left: str
) -> None:
    assert without_installs(source) == left
    assert n_installs([source, "1"]) == 1
    assert source.count("\n") == left.count("\n")


@pytest.mark.parametrize(
    "source",
    [
        "files = !ls",
        "!pip list",
        "text = '''\n!pip install x\n'''",
        "pip",
        "%%html\npip",
    ],
)
def test_nothing_else_is_left_out(source: str) -> None:
    assert (without_installs(source), n_installs([source])) == (source, 0)


@pytest.mark.slow
def test_they_run_only_where_they_are_allowed(
    notebook: WriteNotebook, tmp_path: Path
) -> None:
    installed = tmp_path / "installed"
    tool = tmp_path / "pip"
    tool.write_text(f"#!/bin/sh\necho $2 > '{installed}'\n")
    tool.chmod(0o755)
    path = notebook(
        "needs", f"!'{tool}' --version\n!{tool} install x\nlane = 3", "lane"
    )
    assert "lane" in capture(path).result.state["variables"]
    assert installed.read_text() == "\n"
    capture(path, limits=KernelLimits(installs=True))
    assert installed.read_text() == "x\n"


@pytest.mark.slow
def test_a_missing_module_points_to_the_interpreter_first(
    notebook: WriteNotebook,
) -> None:
    with pytest.raises(
        CellRaisedError,
        match=r"No module named 'no_such_thing'\. Choose the notebook's interpreter",
    ) as told:
        capture(notebook("plain", "import no_such_thing", "1"))
    assert told.value.remedy.index("--python") < told.value.remedy.index(
        "--target"
    )
    with pytest.raises(
        CellRaisedError,
        match="or run the notebook's own installations with --allow",
    ):
        capture(
            notebook(
                "installs",
                "%pip install no_such_thing",
                "import no_such_thing",
                "1",
            )
        )


def test_what_a_shell_gives_does_not_end_what_is_known_before_it(
    notebook: WriteNotebook,
) -> None:
    path = notebook(
        "files",
        "beds = {'north': 3}\nfiles = !ls",
        "if files:\n    more = !ls {files[0]}",
        "beds['south']",
    )
    for checked in (read_notebook(path), run_up(read_notebook(path))):
        assert [found["exception"] for found in findings(verdict(checked))] == [
            "KeyError"
        ]
