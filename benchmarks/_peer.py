"""The checker that the authors of the study published, as a peer: installed on demand, and asked in a kernel.

It is not copied, and no environment that something else uses is changed: only a kernel that is asked has its folder on
the path meanwhile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PEER = "crane-llm==1.0.1"
INSTALL_S = 300
# Python 3.9 and the standard library, besides the peer itself.
_CHECKED = """
def checked(folder, target):
    import json, sys
    from IPython import get_ipython
    sys.path.insert(0, folder)
    try:
        from crane_llm.nb_extension.checker import run_checks
    finally:
        sys.path.remove(folder)
    shell = get_ipython()
    found = run_checks(target, shell.user_ns, shell)
    return json.dumps(
        found and f"{found.exception}, line {found.line}: {found.message}"
    )
"""


class PeerMissingError(Exception):
    """The peer cannot be had; the text says why."""


def peer_folder() -> Path:
    """The folder that holds the peer, installed first where it is not there yet. Raises PeerMissingError."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "crane-workbench" / PEER.replace("==", "-")
    if not folder.is_dir():
        partial = folder.with_name(f"{folder.name}.{os.getpid()}")
        try:
            _install(partial)
            partial.rename(folder)
        except OSError as error:
            if not folder.is_dir():
                raise PeerMissingError(
                    f"{PEER} cannot be put into {folder}: {error}"
                ) from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return folder


def _install(folder: Path) -> None:
    """The package alone: extracting needs none of its dependencies, and a kernel keeps the libraries that it has."""
    folder.mkdir(parents=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    try:
        done = subprocess.run(
            [*pip, "--target", str(folder), PEER],
            capture_output=True,
            text=True,
            timeout=INSTALL_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PeerMissingError(
            f"installing {PEER} took more than {INSTALL_S} s"
        ) from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or [
            f"pip ended with {done.returncode}"
        ]
        raise PeerMissingError(f"{PEER} cannot be installed: {said[-1]}")


def peer_expression(folder: Path, target: str) -> str:
    """An expression for a kernel whose value is what the checker finds in a target, as JSON text: null for nothing."""
    return (
        f"(lambda builtins, room: (builtins.exec({_CHECKED!r}, room), "
        f"room['checked']({str(folder)!r}, {target!r}))[1])"
        "(__import__('builtins'), {})"
    )
