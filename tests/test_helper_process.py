"""What lies beside a notebook, or what Python would load by itself, gets into no process of ours but a kernel."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from textwrap import dedent

import nbformat
import pytest

from crane_core import helper_process
from crane_core.detectors import pylint
from crane_core.detectors.analysis import required_version
from crane_core.domain import Cell, CellRole, Setting
from crane_core.errors import DetectorError
from crane_core.live.helper import Helper
from crane_core.pipeline.places import DataFolder
from crane_core.prompts.tokens_apart import count_apart
from crane_core.runtime import interpreters, isolation, sealed
from crane_core.runtime.environment import environment_of
from crane_core.runtime.isolation import can_seal
from crane_core.runtime.library_worker import LibraryWorker
from crane_core.runtime.program import program
from tests.patience import PATIENCE_S

NAMES = """
    json os re types enum typing functools collections contextlib runpy warnings io abc random socket subprocess
    select signal struct tempfile threading logging hashlib platform pathlib queue inspect traceback copy string
    pickle resource ctypes sitecustomize usercustomize startup ipython_config jupyter_config ipykernel IPython
    numpy pandas pylint astroid tiktoken crane_core kernel_side zmq multiprocessing site encodings
"""
SHADOWED = NAMES.split()
PROGRAMS = (
    "bwrap",
    "node",
    "git",
    "python",
    "python3",
    "true",
    "pylint",
    "pyright",
)


class HostileFolder:
    """A notebook's folder that a stranger filled. Whatever of it runs leaves its name in `ran`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._told = folder / "theirs", folder / "told"
        for made in (self.folder, self._told):
            made.mkdir()
        site = (
            self.folder
            / "user"
            / "lib"
            / f"python3.{sys.version_info.minor}"
            / "site-packages"
        )
        site.mkdir(parents=True)
        for name in SHADOWED:
            self._write(f"{name}.py", self._marks(name))
        self._write(
            str(site / "usercustomize.py"),
            self._marks("usercustomize of the user's packages"),
        )
        self._write(
            str(site / "hook.pth"), f"import os; {self._marks('a .pth file')}"
        )
        for name in PROGRAMS:
            self._write(
                name, f"#!/bin/sh\ntouch '{self._told}/{name}'\nexit 1\n"
            )
            (self.folder / name).chmod(0o755)
        hook = f"init-hook={self._marks('init-hook of pylint')!r}\nload-plugins=json"
        for name in ("pylintrc", ".pylintrc"):
            self._write(name, f"[MAIN]\n{hook}\n")
        self._write(
            "pyproject.toml",
            f'[tool.pylint.main]\ninit-hook = """{self._marks("pyproject")}"""\n',
        )
        for place in (
            "kernel.json",
            "kernels/python3/kernel.json",
            ".jupyter/kernels/python3/kernel.json",
        ):
            argv = [str(self.folder / "python"), "{connection_file}"]
            self._write(
                place,
                json.dumps(
                    {
                        "argv": argv,
                        "display_name": "Python 3",
                        "language": "python",
                    }
                ),
            )
        cells = [
            nbformat.v4.new_code_cell(source)
            for source in ("x = {'a': 1}", "x['b']")
        ]
        self.notebook = self.folder / "trip.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=cells), self.notebook)

    def _marks(self, name: str) -> str:
        return f"open({str(self._told / name)!r}, 'w').close()"

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PYTHONPATH": str(self.folder),
            "PYTHONSTARTUP": str(self.folder / "startup.py"),
            "PYTHONUSERBASE": str(self.folder / "user"),
            "PYLINTRC": str(self.folder / "pylintrc"),
            "PATH": os.pathsep.join([".", "", os.environ["PATH"]]),
        }

    @property
    def ran(self) -> list[str]:
        return sorted(path.name for path in self._told.iterdir())


@pytest.fixture
def hostile(tmp_path: Path) -> HostileFolder:
    return HostileFolder(tmp_path)


@pytest.fixture
def inside(
    hostile: HostileFolder, monkeypatch: pytest.MonkeyPatch
) -> HostileFolder:
    """This process works in the folder, with the variables that would load code from it."""
    monkeypatch.chdir(hostile.folder)
    for name, value in hostile.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    for known in (isolation.can_seal, sealed._libraries, interpreters.versions):
        known.cache_clear()
    return hostile


def versions_elsewhere() -> None:
    other = os.path.realpath(sys.executable)
    assert "python" in interpreters.versions(other, ("pip",)), "it answers"


def library() -> None:
    numbers = {
        "facts": {"type": "numpy.ndarray", "shape": (3,), "dtype": "float64"}
    }
    order = {
        "step": "method",
        "of": "numpy.ndarray",
        "name": "sum",
        "operands": [numbers],
        "keywords": {},
    }
    worker = LibraryWorker(sys.executable)
    try:
        said = worker.ask(
            order, ["numpy"], seconds=PATIENCE_S, start_s=PATIENCE_S
        )
        assert said == {"gave": {"type": "numpy.float64"}}
    finally:
        worker.end()


def live() -> None:
    helper = Helper()
    try:
        found = helper.ask(
            {
                "do": "judge",
                "ran": [],
                "target": "",
                "state": {"variables": {}},
            },
            PATIENCE_S,
        )
        assert found["findings"] == []
    finally:
        helper.end()


def analyzer() -> None:
    try:
        required_version("pylint")
    except DetectorError:
        pytest.skip("pylint is not installed")
    cells = [
        Cell(
            "own",
            "case",
            "written",
            0,
            CellRole.TARGET,
            "import json\nnot_there",
        )
    ]
    assert pylint.predict(cells, None, Setting.CODE).crashes


def pool() -> None:
    known = os.environ["PYTHONPATH"]
    with (
        helper_process.isolated_workers(),
        ProcessPoolExecutor(
            1, get_context("spawn"), initializer=helper_process.begin_worker
        ) as processes,
    ):
        assert processes.submit(os.getenv, "PYTHONPATH").result() == known, (
            "kernels still get it"
        )


HELPERS: dict[str, Callable[[], object]] = {
    "packages of a kernel's interpreter": lambda: environment_of(program()),
    "versions of another interpreter": versions_elsewhere,
    "whether bubblewrap works": can_seal,
    "where an interpreter's libraries are": lambda: sealed._libraries(
        sys.executable
    ),
    "a library that is asked": library,
    "the process beside a kernel": live,
    "tokens": lambda: count_apart(["a new text"]),
    "pylint": analyzer,
    "a pool": pool,
}


@pytest.mark.parametrize("name", HELPERS)
def test_no_helper_runs_what_lies_in_the_folder(
    name: str, inside: HostileFolder
) -> None:
    HELPERS[name]()
    assert inside.ran == []


def crane(
    hostile: HostileFolder, root: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """The command `crane`, as its installed script starts it, in the stranger's folder."""
    script = hostile.folder.parent / "crane"
    found = f"import sys\nsys.path.insert(1, {str(root)!r})\nfrom crane_core.__main__ import run\n"
    script.write_text(f"{found}if __name__ == '__main__':\n    run()\n")
    path = os.pathsep.join([".", os.environ["PATH"]])
    places = {
        "PATH": path,
        "PYTHONSTARTUP": str(hostile.folder / "startup.py"),
        "OPENAI_API_KEY": "sk-secret",
    }
    return subprocess.run(
        [
            sys.executable,
            script,
            "--data",
            str(hostile.folder.parent / "data"),
            *arguments,
        ],
        cwd=hostile.folder,
        env=os.environ | places | variables,
        capture_output=True,
        text=True,
        check=False,
    )


RULES = (
    "detect",
    "--detector",
    "rules",
    "--setting",
    "runtime+",
    "--benchmark",
    "minibench",
)
VERBS: dict[str, Sequence[str]] = {
    "check": ("check", "trip.ipynb", "--json"),
    "prompt": ("prompt", "trip.ipynb", "--setting", "code"),
    "doctor": ("doctor",),
    "detect": (*RULES, "--instances", "numpy_1*", "--concurrency", "1"),
    "detect with a pool": (*RULES, "--concurrency", "2"),
}
QUICK = {"check", "doctor"}
"""Verbs that `make test` tries: one that reads notebooks, and one that does not."""


@pytest.mark.parametrize(
    "verb",
    [
        pytest.param(verb, marks=[] if verb in QUICK else [pytest.mark.slow])
        for verb in VERBS
    ],
)
def test_no_command_runs_it_where_execution_is_forbidden(
    verb: str, hostile: HostileFolder, root: Path, prepared_folder: DataFolder
) -> None:
    shutil.copytree(prepared_folder.path, hostile.folder.parent / "data")
    done = crane(hostile, root, *VERBS[verb], CRANE_ALLOW_EXECUTION="0")
    assert done.returncode == 0, done.stderr
    assert hostile.ran == []


@pytest.mark.skipif(
    not can_seal(), reason="bubblewrap cannot seal a kernel off here"
)
def test_a_notebook_that_runs_sealed_off_runs_nothing_outside(
    hostile: HostileFolder, root: Path
) -> None:
    done = crane(hostile, root, "check", "trip.ipynb", "--isolate", "--json")
    assert hostile.ran == []
    assert "Running 1 cell before the target" in done.stderr


def test_the_module_as_a_command_imports_nothing_of_the_folder_that_python_does_not(
    tmp_path: Path, root: Path
) -> None:
    """`python -m` itself needs some modules before any line of ours; for all others the folder is not searched."""
    (tmp_path / "json.py").write_text("open('ran', 'w').close()")
    (tmp_path / "platform.py").write_text("open('ran', 'w').close()")
    done = subprocess.run(
        [sys.executable, "-m", "crane_core", "--version"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("crane-workbench"), done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "argv",
    [
        [sys.executable, "-c", "0"],
        ["python3", "-I", "-c", "0"],
        ["/usr/bin/python3"],
    ],
)
def test_a_helper_that_would_not_be_isolated_is_not_started(
    argv: list[str],
) -> None:
    with pytest.raises(ValueError, match=r"isolated|absolute"):
        helper_process.run(argv)


def test_a_helper_sees_no_key_and_works_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "CRANE_SECRET",
        "LD_PRELOAD",
        "PYTHONPATH",
        "GIT_DIR",
    ):
        monkeypatch.setenv(name, "theirs")
    look = "import json, os, sys; print(json.dumps([os.getcwd(), sorted(os.environ.values()), sys.flags.isolated]))"
    told = helper_process.answer(
        helper_process.python("-c", dedent(look)), seconds=PATIENCE_S
    )
    folder, values, is_isolated = json.loads(told)
    assert (folder, is_isolated) == (helper_process.NOWHERE, 1)
    assert "theirs" not in values
