"""What looking at a variable may cost is counted in work: a busy machine lowers no limit."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from crane_core.runtime.kernel_side.crane_probe import budget
from crane_core.runtime.kernel_side.crane_probe.budget import (
    LookBudget,
    OverBudgetError,
)


@pytest.mark.parametrize(
    ("wall_s", "worked_s", "is_over"),
    [
        pytest.param(0.9, 0.9, False, id="in time"),
        pytest.param(1.1, 1.0, True, id="slow"),
        pytest.param(2.4, 0.2, False, id="others had the processor"),
        pytest.param(2.5, 0.0, True, id="asleep"),
    ],
)
def test_others_turns_do_not_count_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
    wall_s: float,
    worked_s: float,
    *,
    is_over: bool,
) -> None:
    now = {"wall": 100.0, "worked": 7.0}
    clocks = SimpleNamespace(
        perf_counter=lambda: now["wall"], thread_time=lambda: now["worked"]
    )
    monkeypatch.setattr(budget, "time", clocks)
    looking = LookBudget(steps=10, nodes=10, seconds=1.0)
    now.update(wall=100.0 + wall_s, worked=7.0 + worked_s)
    assert (looking.seconds_left == 0.0) is is_over
    if is_over:
        with pytest.raises(OverBudgetError, match="took more than 1 s"):
            looking.affords(1)
    else:
        assert looking.affords(1)
