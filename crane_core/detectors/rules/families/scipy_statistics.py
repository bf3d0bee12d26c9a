"""scipy.stats: tests of pairs need equal lengths and enough numbers; interpolation needs points that fit."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("scipy")
_PAIRS: Final = ("pearsonr", "spearmanr", "kendalltau", "ttest_rel", "wilcoxon", "linregress", "pointbiserialr")


def _is_column(value: AbstractValue) -> bool:
    shape = data.shape_as_array(value)
    return shape is not None and len(shape) == 1


@RULES.function(*[f"scipy.stats.{name}" for name in _PAIRS])
def pairs(operation: Operation) -> Answer:
    """Two columns of the same length."""
    given = list(operation.arguments.positional[:2])
    if len(given) < 2 or not all(map(_is_column, given)):
        return UNCHANGED
    n_left, n_right = (data.n_samples(each) for each in given)
    if n_left is not None and n_right is not None and n_left != n_right and min(n_left, n_right) > 1:
        operation.crash(
            "ValueError",
            f"x and y must have the same length: {n_left} and {n_right}",
            fact=f"{data.named(given[0], 'x')} has {n_left} values, {data.named(given[1], 'y')} has {n_right}",
            remedy="select both from the same rows",
        )
    return UNCHANGED


@RULES.function("scipy.interpolate.interp1d", "scipy.interpolate.CubicSpline")
def interpolated(operation: Operation) -> Answer:
    """As many values as points."""
    given = operation.arguments.bound("x, y, **others")
    if given is None or not given.keys() >= {"x", "y"} or "axis" in given:
        return UNCHANGED
    x, y = given["x"], given["y"]
    n_x, n_y = data.n_samples(x), data.n_samples(y)
    if _is_column(x) and _is_column(y) and n_x is not None and n_y is not None and n_x != n_y:
        operation.crash(
            "ValueError",
            f"x and y arrays must be equal in length along the interpolation axis: {n_x} and {n_y}",
            fact=f"{data.named(x, 'x')} has {n_x} points, {data.named(y, 'y')} has {n_y}",
            remedy="pass as many values as points",
        )
    return UNCHANGED
