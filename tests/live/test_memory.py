"""What an open notebook's kernel pays for its verdicts: a few megabytes, once, and no module of ours in sight."""

from __future__ import annotations

from benchmarks.live_kernel import LIMIT_MB, one
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


def test_a_kernel_gains_less_than_the_limit_and_no_library() -> None:
    seen = one(read_plan(PANDAS, None), PANDAS.parent, pause_s=0)
    assert seen is not None
    assert 0 < seen.gained_mb < LIMIT_MB
    assert set(seen.libraries) == {"crane_core"}
