"""The server's heap: threads share two arenas, and a choice in the environment stands."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

SAYS = """
from threading import Thread
from crane_core.ui.heap import share_arenas
import ctypes, pyarrow
print(share_arenas(), pyarrow.default_memory_pool().backend_name)
held = []
threads = [Thread(target=lambda: held.append(bytearray(70_000))) for _ in range(16)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
ctypes.CDLL(None).malloc_stats()
"""


def said(root: Path, **environment: str) -> tuple[list[str], int]:
    """What it printed, and how many arenas glibc has after 16 threads."""
    done = subprocess.run(
        [sys.executable, "-c", SAYS], cwd=root, env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split(), done.stderr.count("Arena ")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
def test_threads_share_two_arenas(root: Path) -> None:
    words, n_arenas = said(root)
    assert words == ["True", "system"]
    assert n_arenas <= 2


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
def test_a_choice_in_the_environment_stands(root: Path) -> None:
    assert said(root, MALLOC_ARENA_MAX="1")[0] == ["False", "system"]
