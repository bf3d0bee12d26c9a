"""The published extractor of the study as a peer: installed on demand in its own folder, and asked from outside.

Knows how to get it and how to send _peer_look.py into a kernel. It is not copied, and no environment that
something else uses is changed: only a kernel that is asked for the peer's view has the folder on its path meanwhile.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

PEER = "crane-llm==1.0.1"
INSTALL_S = 300
_METHOD = "__method__"


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


def peer_expression(folder: Path, target: str, function: str = "answer") -> str:
    """An expression for a kernel whose value is what a function of _peer_look.py answers, as JSON text."""
    code = Path(__file__).with_name("_peer_look.py").read_text("utf-8")
    return (
        "(lambda builtins, room:"
        f" (builtins.exec({code!r}, room), "
        f"room[{function!r}]({str(folder)!r}, {target!r}))[1])"
        "(__import__('builtins'), {'__name__': 'crane_peer_look'})"
    )


def laid_out(answer: str) -> tuple[float, dict[str, Any]]:
    """Seconds, and what the peer says as {"variables": ..., "accesses": ...}; it states no absences.

    Of `__method__a_b_c` it cannot be told whether it is `b_c` of `a` or `c` of `a_b`, so it counts for both.
    """
    told = json.loads(answer)
    entries: dict[str, Any] = told["state"]
    variables = {
        name: entry
        for name, entry in entries.items()
        if not name.startswith(_METHOD)
    }
    accesses = {}
    for name, entry in entries.items():
        words = (
            name.removeprefix(_METHOD).split("_")
            if name.startswith(_METHOD)
            else []
        )
        for n in range(1, len(words)):
            accesses[f"{'_'.join(words[:n])}.{'_'.join(words[n:])}"] = entry
    return told["seconds"], {"variables": variables, "accesses": accesses}
