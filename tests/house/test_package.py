"""The package as pip installs it: its libraries, size and command, and what it says of a missing extra."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crane_core import __version__

ROOT = Path(__file__).resolve().parents[2]
MOST_ADDED_MB = 30
"""What the package and its libraries may add to an environment with a kernel and numpy."""
CELLS = ["beds = {'north': 3}", "beds['south']"]


class Installed(NamedTuple):
    """A fresh environment with the package, and the megabytes that it added to one that has ipykernel and numpy."""

    folder: Path
    added_mb: float

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def crane(
        self, *words: str, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        command = [str(self.folder / "bin" / "crane"), *words]
        return subprocess.run(
            command,
            cwd=self.folder,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(
        (ROOT / "pyproject.toml").read_text("utf-8")
    )["project"]
    return found


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("package")
    uv("build", "--wheel", "--out-dir", str(folder / "dist"), str(ROOT))
    [wheel] = (folder / "dist").glob("*.whl")
    home = folder / "venv"
    uv("venv", "--python", sys.executable, str(home))
    into = ("pip", "install", "--python", str(home / "bin" / "python"))
    uv(*into, "ipykernel", "numpy")
    before = megabytes(home)
    uv(*into, str(wheel))
    return Installed(home, megabytes(home) - before)


def uv(*words: str) -> None:
    done = subprocess.run(
        ["uv", *words],
        env=os.environ | {"PATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and re.search(
        "dns error|Connection refused|client error|Failed to fetch", done.stderr
    ):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr


PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def megabytes(folder: Path) -> float:
    return (
        sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        / 1e6
    )


def names(lines: list[str]) -> set[str]:
    found = (
        re.match(r"[a-z0-9-]+", line)
        for line in lines
        if not line.startswith(("#", "-"))
    )
    return {match[0] for match in found if match}


def test_base_and_extras_are_what_the_requirements_name(
    project: dict[str, Any],
) -> None:
    extras = project["optional-dependencies"]
    of_app = [
        line
        for name in ("models", "app", "completion", "forms", "agents", "remote")
        for line in extras[name]
    ]
    told = names([*project["dependencies"], *of_app]) - {project["name"]}
    assert told == names(
        (ROOT / "requirements.in").read_text("utf-8").splitlines()
    )
    of_ml = names(
        (ROOT / "requirements-ml.in").read_text("utf-8").splitlines()
    ) - {"tensorflow-cpu"}
    assert names([*extras["ml"], *extras["labels"]]) == of_ml


def test_the_citation_has_the_version() -> None:
    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text(
        "utf-8"
    )


def test_the_texts_of_the_documentation_ship(installed: Installed) -> None:
    """The app shows them where the site was not built."""
    [text] = installed.folder.rglob("crane_core/shipped/docs/engineer/check.md")
    assert (
        text.read_bytes()
        == (ROOT / "docs" / "engineer" / "check.md").read_bytes()
    )


def test_the_base_is_small(installed: Installed) -> None:
    assert installed.added_mb < MOST_ADDED_MB


@pytest.fixture
def beds(tmp_path: Path) -> Path:
    """A notebook whose last cell crashes."""
    notebook = tmp_path / "beds.ipynb"
    cells = [
        {
            "id": f"c{place}",
            "cell_type": "code",
            "metadata": {},
            "source": code,
            "outputs": [],
            "execution_count": None,
        }
        for place, code in enumerate(CELLS)
    ]
    notebook.write_text(
        json.dumps(
            {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
        ),
        "utf-8",
    )
    return notebook


def test_the_command_predicts_a_crash_without_any_extra(
    installed: Installed, beds: Path, tmp_path: Path
) -> None:
    done = installed.crane(
        "check", str(beds), "--json", XDG_DATA_HOME=str(tmp_path / "own")
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["crashes"], said["findings"][0]["exception"]) == (
        True,
        "KeyError",
    )
    assert (tmp_path / "own" / "crane-workbench").is_dir()


@pytest.mark.parametrize(
    ("verb", "library", "extra"),
    [("app", "duckdb", "app"), ("detect", "aiohttp", "models")],
)
def test_a_missing_extra_is_named(
    installed: Installed, tmp_path: Path, verb: str, library: str, extra: str
) -> None:
    done = installed.crane(verb, CRANE_DATA=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == (
        f"error: This needs the library {library}. Install it: `pip install 'crane-workbench[{extra}]'`.\n"
    )


def test_the_api_needs_the_base_for_notebooks_and_names_the_extra_for_data(
    installed: Installed, beds: Path
) -> None:
    program = f"""
from crane_core import api
print(api.check({str(beds)!r}).crashes, sorted(api.capture({str(beds)!r})["variables"]))
try:
    api.open_data({str(beds.parent)!r})
except api.CraneError as error:
    print(error)
"""
    done = subprocess.run(
        # In another folder than the checkout, or Python takes the package from there.
        [installed.python, "-c", program],
        cwd=beds.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "True ['beds']",
        "Data frames need the library duckdb. Install it: `pip install 'crane-workbench[app]'`.",
    ]


def test_the_command_tells_the_version(installed: Installed) -> None:
    assert (
        installed.crane("--version").stdout
        == f"crane-workbench {__version__}\n"
    )


def test_jupyterlab_finds_its_button(installed: Installed) -> None:
    extension = (
        installed.folder
        / "share"
        / "jupyter"
        / "labextensions"
        / "crane-workbench"
    )
    told = json.loads((extension / "package.json").read_text("utf-8"))
    assert told["version"] == __version__
    assert (extension / told["jupyterlab"]["_build"]["load"]).is_file()


IN_A_KERNEL = """
import sys
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel()
try:
    for cell in sys.argv[1:]:
        told = []
        def hook(message):
            content = message["content"]
            told.append(content.get("text") or "\\n".join(content.get("traceback", [])))
            told.append(content.get("data", {}).get("text/plain", ""))
        client.execute_interactive(cell, timeout=300, output_hook=hook)
        print("".join(told), end="\\x00")
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""


def test_an_open_notebook_is_guarded(
    installed: Installed, tmp_path: Path
) -> None:
    cells = [
        "beds = {'north': 3}",
        "%load_ext crane_core",
        "%crane guard on",
        "print('ran'); beds['south']",
        "beds",
    ]
    command = [str(installed.python), "-c", IN_A_KERNEL, *cells]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    told = done.stdout.split("\x00")
    assert told[:2] == ["", ""]
    assert told[2].startswith("%crane guard is on: predict. ")
    assert told[3].startswith(
        "Stopped by %crane guard: this cell was not run.\nWill crash: KeyError"
    )
    assert told[4] == "{'north': 3}"
