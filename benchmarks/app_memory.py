"""How much memory the app takes after every page was visited: 450 MB on the imported data, 900 MB on a hundred times.

    python -m benchmarks.app_memory

Resident bytes of the server and what it started, after two visits of each page; the most that was seen after any of
them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks._browser import blank_page, menu, opened, turn_to
from benchmarks._data import archive_or_exit, imported, large
from benchmarks._figures import figure, tell
from benchmarks._server import resident_bytes, serve_process
from benchmarks._timing import command, machine
from crane_core.pipeline.places import DataFolder

LIMIT_MB, LARGE_LIMIT_MB = 450.0, 900.0
ROUNDS = 2


def after_each_page(folder: DataFolder) -> dict[str, float]:
    """Page and round to megabytes (10^6) after it; the first is after the start and what the server does beside it."""
    with blank_page() as page, serve_process(folder.path) as (address, pid):
        opened(page, address)
        seen = {"start": resident_bytes(pid) / 1e6}
        for number in range(1, ROUNDS + 1):
            for name in menu(page):
                turn_to(page, name)
                seen[f"{name}, visit {number}"] = resident_bytes(pid) / 1e6
    return seen


def show(question: str, folder: DataFolder, limit: float) -> None:
    seen = after_each_page(folder)
    for name, megabytes in seen.items():
        print(f"  {name:26}{megabytes:7,.0f} MB")
    tell(figure(question, [max(seen.values())], limit, unit="MB"))


def main() -> None:
    command(__doc__).parse_args()
    archive_or_exit()
    with tempfile.TemporaryDirectory() as scratch:
        show("memory of the app", imported(Path(scratch) / "x1"), LIMIT_MB)
        show(
            "memory of the app at 100x",
            large(Path(scratch) / "x100"),
            LARGE_LIMIT_MB,
        )
    print(machine())


if __name__ == "__main__":
    main()
