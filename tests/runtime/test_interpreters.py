"""Which interpreters may be asked: ours, those of kernelspecs that start Python, and those that somebody named."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from crane_core.errors import KernelStartError
from crane_core.runtime import interpreters as here
from crane_core.runtime.interpreters import interpreters, versions


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which kernelspecs are installed, the only one but that of this environment."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setattr(here, "_named", {})
    here._of_kernelspecs.cache_clear()
    return tmp_path / "kernels"


def install(kernels: Path, name: str, *argv: str) -> None:
    folder = kernels / name
    folder.mkdir(parents=True)
    told = {
        "argv": [*argv, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": name,
    }
    (folder / "kernel.json").write_text(json.dumps(told))


def empty(folder: Path) -> str:
    """Another interpreter, without libraries."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", folder], check=True
    )
    return str(folder / "bin" / "python")


def test_ours_comes_first(kernels: Path) -> None:
    assert interpreters()[0] == sys.executable


def test_kernels_that_start_python_are_asked_and_containers_are_not(
    kernels: Path, tmp_path: Path
) -> None:
    other = empty(tmp_path / "venv")
    install(kernels, "venv", other)
    install(kernels, "container", "docker", "run", "image", "python")
    install(kernels, "gone", str(tmp_path / "none" / "python"))
    assert interpreters() == (sys.executable, other)


def test_named_ones_are_asked(
    kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = empty(tmp_path / "a"), empty(tmp_path / "b")
    here.name(first)
    monkeypatch.setenv(here.VARIABLE, os.pathsep.join([second, "", first]))
    assert interpreters() == (sys.executable, first, second)


def test_a_named_one_that_does_not_exist_is_told(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(here.VARIABLE, "/nowhere/python")
    with pytest.raises(
        KernelStartError, match="/nowhere/python does not exist"
    ):
        interpreters()


def test_versions_are_read_without_an_import(tmp_path: Path) -> None:
    wanted = ("numpy", "no-such-library")
    assert versions(sys.executable, wanted) == {
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    assert versions(empty(tmp_path / "venv"), wanted) == {
        "python": platform.python_version()
    }


def test_a_program_that_is_no_python_has_no_versions() -> None:
    assert versions("/bin/false", ("numpy",)) == {}
    assert versions("/nowhere/python", ("numpy",)) == {}
