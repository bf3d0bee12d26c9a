"""Processes of ours beside a kernel or a server: each starts isolated, whatever lies in the folder of the caller.

The one door to `subprocess` in this package (`tests/house/test_architecture.py` lists the exceptions with their
reasons), so that a new helper is isolated without thinking of it: Python runs with `-I`, in the folder `/`, and sees an
allow-listed environment without keys. Refuses to know what the process does.
"""

import json
import os
import re
import site
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

NOWHERE = os.path.abspath(os.sep)  # noqa: PTH100 - the root folder, of the drive where there are several
"""The working folder of a helper that needs none: nothing in it is read or imported by accident."""

HOME = str(Path(__file__).resolve().parents[1])
"""Where this package lies: `-I` leaves PYTHONPATH out, so helpers that need the package get its path."""

PASSED_ON = frozenset(
    {
        "LANG",
        "LANGUAGE",
        "TZ",
        "HOME",
        "TMPDIR",
        "TEMP",
        "TMP",
        "SYSTEMROOT",
        "USERPROFILE",
        "DYLD_LIBRARY_PATH",
    }
    | {
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "CUDA_VISIBLE_DEVICES",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
    }
)
"""Variables that a helper may read, beside PATH, LD_LIBRARY_PATH and those that begin with LC_: no keys, no hooks."""
_PATHS = ("PATH", "LD_LIBRARY_PATH")
_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?(?:\.exe)?")
_MODULE = """
import runpy, sys
home, extra, name = sys.argv[1:4]
sys.argv[:] = [name, *sys.argv[4:]]
def is_installed(path):
    return "site-packages" in path or "dist-packages" in path
places = [place for place, path in enumerate(sys.path) if is_installed(path)]
# Behind the standard library, which nothing may hide, and before what is installed: this copy of the package runs.
if home not in sys.path:
    sys.path.insert(len(sys.path) if is_installed(home) or not places else places[0], home)
if extra and extra not in sys.path:
    sys.path.append(extra)
runpy.run_module(name, run_name="__main__", alter_sys=True)
"""
_SAFE_START = {"PYTHONSAFEPATH": "1", "PYTHONNOUSERSITE": "1"}
_UNSAFE = ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE")
_KEPT_FOR_WORKERS = "CRANE_ENVIRONMENT_BEFORE"


def python(
    *arguments: str, interpreter: str | None = None, has_site: bool = True
) -> list[str]:
    """The command line of an isolated Python, ours or another; without site, the standard library is all it has."""
    return [
        interpreter or sys.executable,
        "-I",
        *([] if has_site else ["-S"]),
        *arguments,
    ]


def own_module(name: str, *arguments: str) -> list[str]:
    """The command line that runs a module of this package, whose dependencies are found where ours were."""
    extra = site.getusersitepackages() if site.ENABLE_USER_SITE else ""
    return python("-c", _MODULE, HOME, extra, name, *arguments)


def environment(
    more: Mapping[str, str] | None = None, *, passed: Sequence[str] = ()
) -> dict[str, str]:
    """What a helper sees: the variables of PASSED_ON, those named in `passed`, and `more`.

    PATH keeps absolute folders alone: `.` or an empty entry means the folder of the caller.
    """
    names = PASSED_ON.union(passed)
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in names or name.startswith("LC_")
    }
    for name in _PATHS:
        if name in os.environ:
            kept[name] = os.pathsep.join(
                filter(os.path.isabs, os.environ[name].split(os.pathsep))
            )
    return {**kept, **(more or {})}


def environment_with_keys() -> dict[str, str]:
    """The whole environment: for the two processes that ask models or run kernels in the name of their user.

    Python's own variables are without effect on them (`-I`), and go on to the kernels.
    """
    return dict(os.environ) | environment()


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    given: bytes = b"",
    seconds: float | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run a helper to its end, with `given` as its standard input; raises OSError and subprocess.TimeoutExpired."""
    _check(argv)
    return subprocess.run(
        argv,
        cwd=NOWHERE,
        env=environment() if env is None else env,
        input=given,
        capture_output=True,
        check=False,
        timeout=seconds,
    )


def answer(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    given: bytes = b"",
    seconds: float,
) -> bytes:
    """What a helper prints. Raises OSError, also where it ends with an error or takes longer than `seconds`."""
    try:
        done = run(argv, env=env, given=given, seconds=seconds)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"no answer within {seconds:g} s") from error
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines() or [
            "it printed nothing"
        ]
        raise ChildProcessError(
            f"it ended with {done.returncode}: {last[-1][:300]}"
        )
    return done.stdout


def start(
    argv: Sequence[str],
    *,
    folder: str | Path = NOWHERE,
    env: Mapping[str, str] | None = None,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.PIPE,
    stderr: int | IO[bytes] | None = None,
    own_session: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a helper that runs beside us; `env` is its whole environment. Raises OSError."""
    _check(argv)
    return subprocess.Popen(
        argv,
        cwd=folder,
        env=environment() if env is None else env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=own_session,
    )


def _check(argv: Sequence[str]) -> None:
    """Raises ValueError for a Python that would read the folder and the environment of its caller."""
    is_python = argv[0] == sys.executable or _PYTHON.fullmatch(
        Path(argv[0]).name
    )
    if is_python and argv[1:2] != ["-I"]:
        raise ValueError(
            f"{argv[0]} would not start isolated: use helper_process.python"
        )
    if not Path(argv[0]).is_absolute():
        raise ValueError(
            f"{argv[0]} is not an absolute path: the folder of the caller could decide what it is"
        )


@contextmanager
def isolated_workers() -> Iterator[None]:
    """For the body, processes of `multiprocessing` start without the caller's folder, PYTHONPATH or user packages.

    multiprocessing offers no `-I`, but its children inherit these variables of Python. `begin_worker` takes them away
    again in a child, so that a kernel that is started there gets what its user has set.
    """
    names = (*_SAFE_START, *_UNSAFE)
    before = {name: os.environ[name] for name in names if name in os.environ}
    _set_again(names, {**_SAFE_START, _KEPT_FOR_WORKERS: json.dumps(before)})
    try:
        yield
    finally:
        _set_again((*names, _KEPT_FOR_WORKERS), before)


def begin_worker() -> None:
    """In a process that started within `isolated_workers`: the environment as it was before."""
    before = json.loads(os.environ.get(_KEPT_FOR_WORKERS, "null"))
    if before is not None:
        _set_again((*_SAFE_START, *_UNSAFE, _KEPT_FOR_WORKERS), before)


def _set_again(removed: Sequence[str], added: Mapping[str, str]) -> None:
    for name in removed:
        os.environ.pop(name, None)
    os.environ.update(added)
