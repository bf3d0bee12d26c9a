"""What a kernel gets to see of the machine: everything that its owner sees, or a room with little in it.

Knows bubblewrap and the environment. Refuses to know kernels and notebooks.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from crane_core.errors import KernelStartError

PASSED_ON = frozenset(
    {"PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHASHSEED", "VIRTUAL_ENV"}
    | {"CONDA_PREFIX", "CONDA_DEFAULT_ENV", "MPLBACKEND", "KERAS_BACKEND", "CUDA_VISIBLE_DEVICES", "JUPYTER_PATH"}
    | {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "TF_CPP_MIN_LOG_LEVEL"}
    | {"TF_USE_LEGACY_KERAS", "TF_ENABLE_ONEDNN_OPTS", "TOKENIZERS_PARALLELISM"}
)
"""Variables that a kernel may read where it is isolated, beside those that begin with LC_. Keys are not among them."""
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt")
SETTINGS = ("alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf")
"""Of /etc: what programs need to start, and no passwords or keys."""
HOME, TMP, WORK = "home", "tmp", "work"
COPIED_BYTES, COPIED_FILES = 256 * 2**20, 10_000
"""A notebook's folder up to this size is copied, and the copy may be written to; a larger one can only be read."""
_ASK_S = 60
_PREFIXES = "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path]))"


class Isolation(StrEnum):
    """How much a kernel is kept apart."""

    OPEN = "open"
    """Environment, files and network of the user who starts it: for your own notebooks."""
    SCREENED = "screened"
    """Listed variables, and its own home and temporary folder."""
    SEALED = "sealed"
    """Also users, processes, network and its own files (bubblewrap): libraries are read-only, the notebook's folder
    is a copy that is dropped."""


class Room(NamedTuple):
    """How a program is started in its isolation: command line, environment, and folders whose growth is watched."""

    argv: list[str]
    env: dict[str, str]
    watched: list[str]


def best() -> Isolation:
    """The strictest isolation that this machine has."""
    return Isolation.SEALED if can_seal() else Isolation.SCREENED


@cache
def can_seal() -> bool:
    """Whether bubblewrap is installed and may make namespaces here."""
    if shutil.which("bwrap") is None:
        return False
    tried = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"]
    return subprocess.run(tried, capture_output=True, check=False, timeout=_ASK_S).returncode == 0


def furnished(
    isolation: Isolation, argv: list[str], env: dict[str, str], folder: Path, room: Path, *, network: bool
) -> Room:
    """How `argv` runs in `folder`; `room` is its own empty folder, which it may always write to.

    Raises KernelStartError if bubblewrap is asked for and does not work here.
    """
    if isolation is Isolation.OPEN:
        return Room(argv, {**os.environ, **env}, [])
    home, tmp = room / HOME, room / TMP
    for made in (home, tmp):
        made.mkdir(mode=0o700)
    passed = {name: value for name, value in os.environ.items() if name in PASSED_ON or name.startswith("LC_")}
    own = {"HOME": str(home), "TMPDIR": str(tmp), "IPYTHONDIR": str(home / ".ipython")}
    own |= {"JUPYTER_RUNTIME_DIR": str(tmp / "jupyter"), "MPLCONFIGDIR": str(home / "matplotlib")}
    inside = {**passed, **own, **env}
    if isolation is Isolation.SCREENED:
        return Room(argv, inside, [str(room), str(folder)])
    if not can_seal():
        raise KernelStartError(
            "bubblewrap cannot seal a kernel off on this machine.",
            remedy="Install the package bubblewrap, or allow user namespaces; or run without --isolate.",
        )
    return Room([*_bubblewrap(argv, folder, room, network=network), *argv], inside, [str(room)])


def _bubblewrap(argv: list[str], folder: Path, room: Path, *, network: bool) -> list[str]:
    words = ["bwrap", "--die-with-parent", "--new-session", "--unshare-all", "--cap-drop", "ALL"]
    words += ["--hostname", "notebook"]
    if network:
        words += ["--share-net", "--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"]
        words += ["--ro-bind-try", "/etc/ssl", "/etc/ssl", "--ro-bind-try", "/etc/hosts", "/etc/hosts"]
    for path in SYSTEM:
        words += _as_it_is(path)
    for name in SETTINGS:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    words += ["--proc", "/proc", "--dev", "/dev", "--size", str(64 * 2**20), "--tmpfs", "/dev/shm"]
    for path in _libraries(argv[0]):
        words += ["--ro-bind", path, path]
    fonts = Path.home() / ".cache" / "matplotlib"
    if fonts.is_dir():  # finding all fonts again takes seconds
        shutil.copytree(fonts, room / HOME / "matplotlib")
    words += ["--ro-bind", str(folder), str(folder)]
    if is_small(folder):
        shutil.copytree(folder, room / WORK, symlinks=True)
        words += ["--bind", str(room / WORK), str(folder)]
    return [*words, "--bind", str(room), str(room), "--remount-ro", "/", "--chdir", str(folder), "--"]


def _as_it_is(path: str) -> list[str]:
    """A folder of the system, which may be a link into another one."""
    if Path(path).is_symlink():
        return ["--symlink", str(Path(path).readlink()), path]
    return ["--ro-bind-try", path, path]


@cache
def _libraries(python: str) -> tuple[str, ...]:
    """Folders that the interpreter needs, none inside another or inside the system's."""
    try:
        said = subprocess.run([python, "-c", _PREFIXES], capture_output=True, check=True, timeout=_ASK_S).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise KernelStartError(
            f"{python} does not say where its libraries are: {error}.", remedy="Check the interpreter."
        ) from error
    named = [Path(path) for path in json.loads(said) if path] + [Path(python).parent, Path(python).resolve().parent]
    found = {*named, *(path.resolve() for path in named)}
    kept: list[Path] = [Path(path) for path in SYSTEM]
    for path in sorted(found, key=lambda one: len(one.parts)):
        if path.is_dir() and not any(path.is_relative_to(above) for above in kept):
            kept.append(path)
    return tuple(map(str, kept[len(SYSTEM) :]))


def is_small(folder: Path) -> bool:
    """Whether a folder is small enough to be copied for one run."""
    n_bytes = n_files = 0
    for where, _, names in os.walk(folder):
        n_files += len(names)
        n_bytes += sum(os.lstat(Path(where, name)).st_size for name in names)
        if n_bytes > COPIED_BYTES or n_files > COPIED_FILES:
            return False
    return True
