"""What an open notebook's kernel pays for its verdicts: a few megabytes, once, and no module of ours in sight."""

from __future__ import annotations

import pytest

from benchmarks.live_kernel import LIMIT_MB, Questions, one
from crane_core.pipeline.places import CHECKOUT
from crane_core.runtime.plan import read_plan

PANDAS = (
    CHECKOUT
    / "data"
    / "minibench"
    / "benchmark"
    / "pandas_1"
    / "pandas_1_reproduced.ipynb"
)


@pytest.mark.slow
def test_a_kernel_gains_less_than_the_limit_and_no_library() -> None:
    plan = read_plan(PANDAS, None)
    ran = [cell.source for cell in plan.executed]
    seen = one(Questions(PANDAS.parent, ran, [plan.target.source]), pause_s=0)
    assert seen is not None
    assert 0 < seen.gained_mb < LIMIT_MB
    assert set(seen.libraries) == {"crane_core"}
