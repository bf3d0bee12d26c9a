"""How much memory the app takes after every page was visited: 450 MB on the imported data, 900 MB on a hundred times.

    python -m benchmarks.app_memory [--data FOLDER]

Resident bytes of the server and what it started, after two visits of each page; the most that was seen after any of
them. --data takes a folder with the large store that was made before.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks._archive import archive_or_exit, imported
from benchmarks._browser import blank_page
from benchmarks._figures import figure, tell
from benchmarks._memory import resident_bytes
from benchmarks._server import serve_process
from benchmarks._timing import machine
from benchmarks.large_store import large
from benchmarks.page_changes import opened, turn_to
from crane_core.pipeline.places import DataFolder

LIMIT_MB, LARGE_LIMIT_MB = 450.0, 900.0
ROUNDS = 2


def after_each_page(folder: DataFolder) -> dict[str, float]:
    """Page and round to megabytes (10^6) after it; the first is after the start and what the server does beside it."""
    with blank_page() as page, serve_process(folder.path) as (address, pid):
        opened(page, address)
        seen = {"start": resident_bytes(pid) / 1e6}
        names = page.get_by_test_id("stTopNavLink").all_inner_texts()
        for number in range(1, ROUNDS + 1):
            for name in [*names[1:], names[0]]:
                turn_to(page, re.escape(name))
                seen[f"{name}, visit {number}"] = resident_bytes(pid) / 1e6
    return seen


def show(question: str, folder: DataFolder, limit: float) -> None:
    seen = after_each_page(folder)
    for name, megabytes in seen.items():
        print(f"  {name:26}{megabytes:7,.0f} MB")
    tell(figure(question, [max(seen.values())], limit, unit="MB"))


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.app_memory")
    parser.add_argument(
        "--data", type=Path, help="a data folder that holds the large store already"
    )
    chosen = parser.parse_args(arguments)
    archive_or_exit()
    with tempfile.TemporaryDirectory() as scratch:
        show("memory of the app", imported(Path(scratch) / "x1"), LIMIT_MB)
        show(
            "memory of the app at 100x",
            DataFolder(chosen.data) if chosen.data else large(Path(scratch) / "x100"),
            LARGE_LIMIT_MB,
        )
    print(machine())


if __name__ == "__main__":
    main(sys.argv[1:])
