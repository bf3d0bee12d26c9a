"""scipy.stats: tests of pairs need equal lengths and enough numbers; interpolation needs points that fit."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ

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
    if differ(n_left, n_right) and {0, 1}.isdisjoint([n_left, n_right]):
        operation.crash(
            "ValueError",
            f"x and y must have the same length: {n_left} and {n_right}",
            fact=f"{given[0].named('x')} has {n_left} values, {given[1].named('y')} has {n_right}",
            remedy="select both from the same rows",
        )
    return UNCHANGED


@RULES.function("scipy.interpolate.interp1d", "scipy.interpolate.CubicSpline")
def interpolated(operation: Operation) -> Answer:
    """As many values as points."""
    given = operation.arguments.bound("x, y, **others")
    if given is None or "axis" in given:
        return UNCHANGED
    x, y = given["x"], given["y"]
    n_x, n_y = data.n_samples(x), data.n_samples(y)
    if _is_column(x) and _is_column(y) and differ(n_x, n_y):
        operation.crash(
            "ValueError",
            f"x and y arrays must be equal in length along the interpolation axis: {n_x} and {n_y}",
            fact=f"{x.named('x')} has {n_x} points, {y.named('y')} has {n_y}",
            remedy="pass as many values as points",
        )
    return UNCHANGED
