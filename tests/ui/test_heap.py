"""The server's heap: threads share two arenas, large pieces go back, and a choice in the environment stands."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from crane_core.ui.server_process import ARENAS

SETTINGS = [
    "MALLOC_ARENA_MAX",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
]
SAYS = """
from threading import Thread
from crane_core.ui.server_process import give_back
import ctypes, pyarrow
print(*give_back(), pyarrow.default_memory_pool().backend_name)
held = []
threads = [Thread(target=lambda: held.append(bytearray(70_000))) for _ in range(16)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
ctypes.CDLL(None).malloc_stats()
"""
KEEPS = """
import ctypes, re
from crane_core.ui.server_process import give_back
give_back()

def resident():
    return int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1])

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]

def filled(n):
    piece = libc.malloc(n)
    libc.memset(piece, 1, n)
    return piece

libc.free(filled(30_000_000))  # by which glibc raises its threshold
before = resident()
pieces = [(filled(8_000_000), filled(100_000)) for _ in range(10)]  # a small one behind each large one
for large, _ in pieces:
    libc.free(large)
print(resident() - before)
"""


def said(
    root: Path, program: str = SAYS, **environment: str
) -> tuple[list[str], int]:
    """What it printed, and how many arenas glibc has after 16 threads."""
    bare = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MALLOC_")
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env=bare | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split(), done.stderr.count("Arena ")


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc has arenas"
)
def test_threads_share_two_arenas(root: Path) -> None:
    words, n_arenas = said(root)
    assert words == [*SETTINGS, "system"]
    assert n_arenas <= ARENAS


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc has the setting"
)
def test_large_pieces_go_back_to_the_system(root: Path) -> None:
    [kilobytes], _ = said(root, KEEPS)
    assert int(kilobytes) < 8_000
    [kilobytes], _ = said(root, KEEPS, MALLOC_MMAP_THRESHOLD_="33554432")
    assert int(kilobytes) > 60_000, "the test would not notice"


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc has arenas"
)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_choice_in_the_environment_stands(root: Path, name: str) -> None:
    words, _ = said(root, **{name: "1"})
    assert words == [*(other for other in SETTINGS if other != name), "system"]
