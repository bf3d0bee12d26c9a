"""How a program ended, told by its watchdog: a death that cuts connections comes before what it gave out."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from crane_core.runtime import guarded as watched
from crane_core.runtime.guarded import Guarded
from crane_core.runtime.limits import KernelLimits
from tests.patience import PATIENCE_S

DIES = "import os, signal, time; time.sleep(1); os.kill(os.getpid(), signal.SIGSEGV)"
STAYS = "import time; time.sleep(600)"


@pytest.mark.parametrize(
    ("code", "is_cut", "why", "status"),
    [
        (DIES, True, "exit", -11),
        (STAYS, False, "output", None),
        (STAYS, True, "output", None),
    ],
)
def test_a_death_is_told_before_what_was_given_out(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    code: str,
    is_cut: bool,
    why: str,
    status: int | None,
) -> None:
    monkeypatch.setattr(
        watched, "_DEATH_TOLD_S", PATIENCE_S if code is DIES else 1.0
    )
    guarded = Guarded(
        [sys.executable, "-c", code],
        folder=tmp_path,
        env=dict(os.environ),
        limits=KernelLimits(),
    )
    end = guarded.end_for_output(is_cut=is_cut)
    assert end.why == why
    assert status is None or end.status == status
