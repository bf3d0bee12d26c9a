"""Values put into bins: cut and qcut with edges and labels that do not go together."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, Answer
from crane_core.detectors.rules.families.numpy_arrays import is_array, kind_of
from crane_core.detectors.rules.families.pandas_frames import is_numeric, is_series, mapped, n_rows
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("pandas: bins")
_LABELS: Final = "pass one label per bin: one fewer than edges"


@RULES.function("pandas.cut")
def cut(operation: Operation) -> Answer:
    """Edges that rise, and a label for each bin."""
    given = operation.arguments.bound(
        "x, bins, right=True, labels=None, retbins=False, precision=3, include_lowest=False, duplicates='raise',"
        " ordered=True"
    )
    if given is None or not _holds_numbers(given["x"]):
        return UNCHANGED
    edges, count = _numbers(given["bins"]), given["bins"].literal
    if edges is not None:
        _rise(operation, edges)
        if "duplicates" not in given:
            _are_distinct(operation, edges)
    n_bins = len(edges) - 1 if edges is not None else count if type(count) is int and count > 0 else None
    if n_bins is not None and "duplicates" not in given:
        _fit_labels(operation, given, n_bins)
    return _binned(given)


@RULES.function("pandas.qcut")
def qcut(operation: Operation) -> Answer:
    """As many labels as quantiles; where edges fall together and labels are too few it is a ValueError as well."""
    given = operation.arguments.bound("x, q, labels=None, retbins=False, precision=3, duplicates='raise'")
    if given is None or not _holds_numbers(given["x"]):
        return UNCHANGED
    shares, count = _numbers(given["q"]), given["q"].literal
    n_bins = len(shares) - 1 if shares is not None else count if type(count) is int and count > 0 else None
    if n_bins is not None and "duplicates" not in given:
        _fit_labels(operation, given, n_bins)
    return _binned(given)


def _binned(given: dict[str, AbstractValue]) -> AbstractValue:
    x = given["x"]
    return mapped(x, None) if is_series(x) and "retbins" not in given else AbstractValue()


def _holds_numbers(x: AbstractValue) -> bool:
    if is_series(x):
        return is_numeric(x.fact("dtype")) and bool(n_rows(x))
    shape = x.fact("shape")
    is_line = isinstance(shape, tuple) and len(shape) == 1 and bool(shape[0])
    return is_array(x) and is_line and kind_of(x.fact("dtype")) in ("i", "u", "f")


def _numbers(value: AbstractValue) -> list[float] | None:
    found = value.literal
    is_row = value.type in ("list", "tuple") and isinstance(found, (list, tuple)) and len(found) > 1
    return list(found) if is_row and all(type(each) in (int, float) for each in found) else None


def _rise(operation: Operation, edges: Sequence[float]) -> None:
    falls = [(left, right) for left, right in itertools.pairwise(edges) if right < left]
    if falls:
        operation.crash(
            "ValueError",
            "bins must increase monotonically",
            fact=f"{falls[0][1]} comes after {falls[0][0]}",
            remedy="sort the edges",
        )


def _are_distinct(operation: Operation, edges: Sequence[float]) -> None:
    twice = [left for left, right in itertools.pairwise(edges) if left == right]
    if twice and len(edges) > 2:
        operation.crash(
            "ValueError",
            "Bin edges must be unique",
            fact=f"{twice[0]} occurs twice",
            remedy="remove one, or pass duplicates='drop'",
        )


def _fit_labels(operation: Operation, given: dict[str, AbstractValue], n_bins: int) -> None:
    labels = given.get("labels")
    if labels is None or labels.type not in ("list", "tuple") or labels.items is None:
        return
    if len(labels.items) != n_bins:
        operation.crash(
            "ValueError",
            f"Bin labels must be one fewer than the number of bin edges: {len(labels.items)} labels for {n_bins} bins",
            fact=f"{n_bins} bins have {n_bins + 1} edges",
            remedy=_LABELS,
        )
