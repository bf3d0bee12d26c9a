"""Closed tabs give back their open files at once: where a system allows few, many can come one after another."""

from __future__ import annotations

import resource
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks._server import serve_process
from crane_core.identity.visitor import Role
from crane_core.pipeline.places import DataFolder
from tests.patience import once
from tests.ui.lab import Lab, copied
from tests.ui.visits import Visitor, drawn, in_own_loop

FEW_FILES = 64
N_VISITS = 20
"""Three open files each would be 60, beside those that the server has open from the start."""

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="the system lists no open files"
)


def n_open(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


@pytest.mark.slow
def test_ended_sessions_hold_no_files(
    prepared_folder: DataFolder, tmp_path: Path
) -> None:
    data = copied(prepared_folder, tmp_path).path
    with serve_process(data) as (address, pid):
        for page in ("", "data", "annotate"):
            Visitor(address).sees(page)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (FEW_FILES, FEW_FILES))
        before = n_open(pid)
        for _ in range(N_VISITS):
            in_own_loop(_look_in(address))
        assert Visitor(address).sees("data").shows("Inventory")
        once(lambda: n_open(pid) < before + 12)


def test_a_session_that_comes_back_is_drawn_again(lab: Lab) -> None:
    before = lab.log()
    lea = lab.of(Role.LEAD)
    first = lea.sees("data")
    again = replace(lea, session=first.session).sees("data")
    assert again.session == first.session
    assert again.shows("Inventory")
    assert "event loop" not in lab.log().removeprefix(before)


async def _look_in(address: str) -> None:
    """A visitor who leaves while the page is being drawn, or before."""
    async with await Visitor(address)._joined():
        pass
    async with await Visitor(address)._joined() as socket:
        await drawn(socket, "annotate", "")
