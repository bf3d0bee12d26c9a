"""Pages are imported by one thread at a time: visits at once show their pages, and no deadlock of imports."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import pytest

from benchmarks._server import serve
from crane_core.pipeline.places import DataFolder
from crane_core.ui.first_visit import (
    drawing,
    imported_by,
    wait_for_a_page,
)
from crane_core.ui.navigation import page_files
from tests.patience import PATIENCE_S
from tests.ui.lab import copied
from tests.ui.visits import Visitor

CIRCLE = """
import sys, time
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from crane_core.ui.first_visit import import_modules

found, second = Event(), Event()

class Slow(SourceFileLoader):
    def create_module(self, spec):  # found, and not yet a module: now the other thread asks for a part of it
        found.set()
        second.wait()
        time.sleep(0.3)

class Finder:
    def find_spec(name, path=None, target=None):
        if name == "circle":
            file = sys.argv[1]
            return spec_from_file_location(name, file, loader=Slow(name, file), submodule_search_locations=[file[:-12]])

def of_the_whole():
    import_modules(["circle"])

def of_a_part():
    found.wait()
    second.set()
    import_modules(["circle.part"])

sys.meta_path.insert(0, Finder)
with ThreadPoolExecutor(2) as pool:
    for visit in [pool.submit(of_the_whole), pool.submit(of_a_part)]:
        visit.result()
"""


def test_work_beside_waits_until_a_visitor_has_the_page_but_not_for_ever() -> (
    None
):
    beside = Thread(target=wait_for_a_page, args=(PATIENCE_S,))
    with drawing():
        beside.start()
        beside.join(0.1)
        assert beside.is_alive()
    beside.join(PATIENCE_S)
    assert not beside.is_alive()
    with drawing():
        # Nobody comes: the wait ends, and later ones are not waited out again.
        wait_for_a_page(0.0)
        wait_for_a_page(PATIENCE_S)


@pytest.mark.slow
def test_two_threads_may_enter_a_circle_of_imports(
    root: Path, tmp_path: Path
) -> None:
    circle = tmp_path / "circle"
    circle.mkdir()
    (circle / "__init__.py").write_text("import circle.part\n")
    (circle / "part.py").write_text("import circle\n")
    done = subprocess.run(
        [sys.executable, "-c", CIRCLE, str(circle / "__init__.py")],
        env={"PYTHONPATH": str(root), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr


def test_what_a_page_imports_is_known() -> None:
    assert all(imported_by(page) for page in page_files())
    assert "crane_core.ui.intake_view" in imported_by("data")


@pytest.mark.slow
def test_visits_at_once_to_a_server_just_started(
    prepared_folder: DataFolder, tmp_path: Path
) -> None:
    data = copied(prepared_folder, tmp_path).path
    with serve(data) as address, ThreadPoolExecutor(4) as pool:
        pages = [
            name for name in page_files() if name != next(iter(page_files()))
        ]
        drawn = list(pool.map(Visitor(address).sees, pages))
    for page, seen in zip(pages, drawn, strict=True):
        assert not seen.shows("exception {"), page
        assert seen.shows("heading {"), page
