"""The clustered bootstrap against scipy's bootstrap of the same statistic on the same 111 cases.

python -m benchmarks.bootstrap
"""

from __future__ import annotations

import numpy as np
from scipy.stats import bootstrap

from benchmarks._timing import machine, repeated
from crane_core.stats.intervals import N_RESAMPLES, clustered_rate

LIMIT_S = 0.05


def main() -> None:
    right = np.random.default_rng(1).integers(0, 2, size=222).astype(float)
    cases = np.repeat(np.arange(111), 2)
    per_case = (right.reshape(111, 2).mean(axis=1),)
    ours = repeated(lambda: clustered_rate(right, np.ones(222), cases, seed=1), 20)
    peer = repeated(lambda: bootstrap(per_case, np.mean, n_resamples=N_RESAMPLES, method="percentile", rng=1), 20)
    print(machine())
    print(f"ours, 222 instances in 111 cases, {N_RESAMPLES:,} resamples: {ours.in_ms()}")
    print(f"scipy.stats.bootstrap over the 111 means: {peer.in_ms()}")
    print(f"ratio ours / scipy {ours.median / peer.median:.2f}; share of the limit {ours.median / LIMIT_S:.2f}")


if __name__ == "__main__":
    main()
