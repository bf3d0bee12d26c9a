"""SciPy: which sparse arrays, tests of samples and interpolations are tried."""

from __future__ import annotations

from .places import NONE, TWO, listed, prefixed

_SPARSE = prefixed(
    "sparse.",
    "bsr_array coo_array csc_array csr_array bsr_matrix coo_matrix csc_matrix csr_matrix",
)
_PAIRS = (
    "stats.pearsonr stats.spearmanr stats.kendalltau stats.ttest_rel stats.wilcoxon stats.linregress"
    " stats.pointbiserialr interpolate.interp1d interpolate.CubicSpline"
)
CALLS = listed((NONE, _SPARSE), (TWO, _PAIRS))
IS_MADE_AGAIN = True
IS_TRIED = True
HIDES_RESULTS = True
