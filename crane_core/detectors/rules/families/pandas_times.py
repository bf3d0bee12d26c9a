"""Times of pandas: rows that are counted by time need an index of times; frequencies that this pandas does not know.

Frequencies are asked of the pandas here where it is the kernel's.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    SERIES,
    column,
    is_frame,
    is_numeric,
    is_text,
    lacks,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("pandas: times")
_OF_TIME: Final = ("DatetimeIndex", "TimedeltaIndex", "PeriodIndex")
_RENAMED: Final = {
    "M": "ME",
    "Q": "QE",
    "Y": "YE",
    "A": "YE",
    "BM": "BME",
    "BQ": "BQE",
    "BY": "BYE",
    "BA": "BYE",
    "SM": "SME",
    "H": "h",
    "BH": "bh",
    "T": "min",
    "S": "s",
    "L": "ms",
    "U": "us",
    "N": "ns",
}


@RULES.method(FRAME, "resample")
@RULES.method(SERIES, "resample")
def resampled(operation: Operation) -> Answer:
    old = operation.receiver
    given = operation.arguments.bound(
        "rule, closed=None, label=None, convention='start', on=None, level=None, origin='start_day', offset=None,"
        " group_keys=False"
    )
    if given is None:
        return UNKNOWN
    if "level" in given:
        return UNCHANGED
    kind = _kind_of_column(old, given["on"]) if "on" in given else _kind_of_index(old)
    if kind and kind not in _OF_TIME:
        operation.crash(
            "TypeError",
            "Only valid with DatetimeIndex, TimedeltaIndex or PeriodIndex",
            fact=f"{old.named('it')} has a {kind}"
            if "on" not in given
            else f"the column {given['on'].literal!r} becomes a {kind}",
            remedy="convert to datetimes first: pandas.to_datetime(...), and make them the index or pass on=",
        )
    if kind == "DatetimeIndex":
        _is_known_frequency(operation, given.get("rule", AbstractValue()))
    return UNCHANGED


def _kind_of_index(old: AbstractValue) -> str:
    index = old.fact("index")
    kind = index.get("type") if isinstance(index, Mapping) else None
    return kind if isinstance(kind, str) and kind.endswith("Index") else ""


def _kind_of_column(old: AbstractValue, on: AbstractValue) -> str:
    """The index that a column would be."""
    if not is_frame(old) or not isinstance(on.literal, str) or lacks(old, on.literal):
        return ""
    dtype = column(old, on.literal).fact("dtype")
    if not isinstance(dtype, str):
        return ""
    return "DatetimeIndex" if dtype.startswith("datetime64") else "Index" if is_text(dtype) or is_numeric(dtype) else ""


def _is_known_frequency(operation: Operation, value: AbstractValue) -> None:
    text = value.literal
    if not isinstance(text, str) or _is_frequency(text, operation.packages.get("pandas", "")):
        return
    head = text.lstrip("0123456789.").partition("-")[0]
    rest = text[text.index(head) + len(head) :] if head else ""
    new = _RENAMED.get(head)
    operation.crash(
        "ValueError",
        f"Invalid frequency: {text!r}",
        fact=f"pandas {operation.packages['pandas']} does not know it",
        remedy=f"write {text[: text.index(head)] + new + rest!r}"
        if new
        else "use a frequency such as 'D', 'W', 'ME', 'h'",
    )


@cache
def _is_frequency(text: str, version: str) -> bool:
    """Whether it may be one: False only where the kernel's own pandas says so."""
    import pandas
    from pandas.tseries.frequencies import to_offset

    if pandas.__version__ != version:
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            to_offset(text)
        except ValueError:
            return False
    return True


@RULES.method(FRAME, "asfreq")
@RULES.method(SERIES, "asfreq")
def as_frequency(operation: Operation) -> Answer:
    if _kind_of_index(operation.receiver) == "DatetimeIndex":
        _is_known_frequency(operation, operation.arguments.keywords.get("freq", operation.first))
    return UNKNOWN
