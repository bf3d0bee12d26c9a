"""What a kernel gets to see of the machine: everything that its owner sees, or a room with little in it.

Knows the environment and the kinds of isolation; how a kernel is sealed off is in sealed.py. Refuses to know
kernels and notebooks.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from string import Template
from typing import NamedTuple

from crane_core import helper_process
from crane_core.errors import KernelStartError
from crane_core.runtime import hidden_files, sealed

PASSED_ON = frozenset(
    {
        "PATH",
        "LANG",
        "LANGUAGE",
        "TZ",
        "LD_LIBRARY_PATH",
        "PYTHONPATH",
        "PYTHONHASHSEED",
        "VIRTUAL_ENV",
    }
    | {
        "CONDA_PREFIX",
        "CONDA_DEFAULT_ENV",
        "MPLBACKEND",
        "KERAS_BACKEND",
        "CUDA_VISIBLE_DEVICES",
        "JUPYTER_PATH",
    }
    | {
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "TF_CPP_MIN_LOG_LEVEL",
    }
    | {"TF_USE_LEGACY_KERAS", "TF_ENABLE_ONEDNN_OPTS", "TOKENIZERS_PARALLELISM"}
)
"""Variables that a kernel may read where it is isolated, beside those that begin with LC_. Keys are not among them."""
HOME, TMP, WORK = "home", "tmp", "work"
COPIED_BYTES, COPIED_FILES = 256 * 2**20, 10_000
"""A notebook's folder up to this size is copied, and the copy may be written to; a larger one can only be read."""
_ASK_S = 60


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
    # bubblewrap may be installed and useless: systems can forbid user namespaces.
    program = bubblewrap()
    if program is None:
        return False
    # Tried with what a kernel needs (/proc, /dev), as containers may refuse only that.
    tried = [
        program,
        "--unshare-all",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "true",
    ]
    return helper_process.run(tried, seconds=_ASK_S).returncode == 0


def isolation_words(isolation: Isolation, *, network: bool) -> str:
    """What a notebook that runs here can reach, for people."""
    if isolation is Isolation.OPEN:
        return "It runs with your environment, files and network."
    if isolation is Isolation.SCREENED:
        return (
            "It runs without the keys in the environment, but the files and the network of this machine are not"
            " isolated: bubblewrap is not available here."
        )
    connection = "the network" if network else "no network"
    words = (
        f"It runs sealed off (bubblewrap): {connection}, no keys, processes or other files, and of its folder no hidden"
        " files (.env, .git) and no files of keys; what it writes is deleted."
    )
    return f"{words} {AS_ROOT}" if is_root() else words


AS_ROOT = (
    "The program runs as root, so a sealed notebook may read what only root may read among the system's programs and"
    " its own libraries; an ordinary user is safer."
)


def is_root() -> bool:
    """Whether this process runs as root; False where the system has no user numbers."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def bubblewrap() -> str | None:
    """Its absolute path; a folder that PATH names relative to the caller's is not searched."""
    # A `bwrap` in a stranger's folder must not be the one that seals.
    return shutil.which(
        "bwrap", path=helper_process.environment().get("PATH", os.defpath)
    )


def furnished(
    isolation: Isolation,
    argv: list[str],
    env: Mapping[str, str],
    folder: Path,
    room: Path,
    *,
    network: bool,
) -> Room:
    """How `argv` runs in `folder`; `room` is its own empty folder, which it may always write to.

    `env` are the variables of its kernelspec, which may name others: ${PATH}. Raises KernelStartError if bubblewrap is
    asked for and does not work here, or the folder cannot be shown without what is hidden.
    """
    if isolation is Isolation.OPEN:
        # Your own notebooks run as they would in Jupyter.
        return Room(argv, {**os.environ, **_filled(env, os.environ)}, [])
    home, tmp = room / HOME, room / TMP
    for made in (home, tmp):
        made.mkdir(mode=0o700)
    passed = {
        # Listed by name: a list of what is secret would always lack one.
        name: value
        for name, value in os.environ.items()
        if name in PASSED_ON or name.startswith("LC_")
    }
    # Libraries write settings and caches at home: theirs go with the room.
    own = {
        "HOME": str(home),
        "TMPDIR": str(tmp),
        "IPYTHONDIR": str(home / ".ipython"),
    }
    own |= {
        "JUPYTER_RUNTIME_DIR": str(tmp / "jupyter"),
        "MPLCONFIGDIR": str(home / "matplotlib"),
    }
    inside = {**passed, **own}
    # A kernelspec that asks for a key by its name gets what the kernel itself may see.
    set_by_spec = _filled(env, inside)
    if isolation is Isolation.SCREENED:
        # The folder itself is watched too, since a screened kernel writes into it.
        return Room(argv, {**inside, **set_by_spec}, [str(room), str(folder)])
    program = bubblewrap()
    if program is None or not can_seal():
        raise KernelStartError(
            "bubblewrap cannot seal a kernel off on this machine.",
            # No weaker isolation instead: the user has asked for this one.
            remedy="Install the package bubblewrap, or allow user namespaces; or run without --isolate. See "
            "docs/admin/isolation.md.",
        )
    words = _seal(program, argv, folder, room, network=network)
    # Set inside: before it, they would also be those of bubblewrap and of the watchdog (LD_PRELOAD).
    for name, value in set_by_spec.items():
        words += ["--setenv", name, value]
    return Room([*words, "--", *argv], inside, [str(room)])


def _filled(env: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    return {
        name: Template(value).safe_substitute(known)
        for name, value in env.items()
    }


def _seal(
    program: str, argv: list[str], folder: Path, room: Path, *, network: bool
) -> list[str]:
    fonts = Path.home() / ".cache" / "matplotlib"
    # Only of matplotlib: other caches may hold what the user has read.
    if fonts.is_dir():  # finding all fonts again takes seconds
        shutil.copytree(fonts, room / HOME / "matplotlib")
    copy = None
    # A large folder is shown as it is, but cannot be written to.
    if is_small(folder):
        copy = room / WORK
        hidden_files.copy_shown(folder, copy)
    return sealed.command(
        program, argv[0], folder, room, copy=copy, network=network
    )


def is_small(folder: Path) -> bool:
    """Whether a folder is small enough to be copied for one run."""
    return hidden_files.is_small(
        folder, most_bytes=COPIED_BYTES, most_files=COPIED_FILES
    )
