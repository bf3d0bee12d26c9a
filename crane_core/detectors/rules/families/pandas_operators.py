"""What operators on columns and tables return where pandas does not answer: a new one, which nothing else holds."""

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families import pandas_frames
from crane_core.detectors.rules.families.numpy_arrays import is_array
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("pandas: operators")
# @ is left out: of two series it gives a number.
_SYMBOLS: Final = (
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&",
    "|",
    "^",
)
_SCALARS: Final = ("int", "float", "str", "bool")


@RULES.operator(pandas_frames.SERIES, *_SYMBOLS)
@RULES.operator(pandas_frames.FRAME, *_SYMBOLS)
def on_columns(operation: Operation) -> Answer:
    """A new frame or series, of which nothing else is known."""
    sides = (operation.receiver, operation.first)
    scalars = (
        () if operation.name in "&|^" else _SCALARS
    )  # bits of a number go with some dtypes alone
    if not all(
        pandas_frames.is_frame(each)
        or pandas_frames.is_series(each)
        or is_array(each)
        or each.type in scalars
        for each in sides
    ):
        return UNKNOWN
    # The dtype stays open: integers that are divided, or aligned with gaps, become floats.
    return AbstractValue(
        pandas_frames.FRAME
        if any(map(pandas_frames.is_frame, sides))
        else pandas_frames.SERIES
    )
