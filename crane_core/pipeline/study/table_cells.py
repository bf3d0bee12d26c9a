"""One printed cell beside our value for it. Knows digits and exact ratios; refuses to know where a value comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from crane_core.rounding import rounded

PERCENT = 100


class CellStatus(StrEnum):
    """How a printed cell compares with our value, or which of the two is missing."""

    EQUAL = "equal"
    DIFFERS = "differs"
    PUBLISHED_ONLY = "published only"
    OURS_ONLY = "ours only"


class Measured(NamedTuple):
    """Our value of a cell, exact, in the unit of the table (63.28… where it prints percent), from `n` items."""

    value: Fraction
    n: int
    unit: str


Measures = Mapping[tuple[str, str], Measured]
"""Our values by (row, column)."""


@dataclass(frozen=True, slots=True)
class TableCell:
    """`delta` is ours minus printed, unrounded, in the table's unit. `n` counts the items behind our value."""

    row: str
    column: str
    printed: str | None
    ours: Fraction | None
    delta: Fraction | None
    n: int | None
    unit: str
    status: CellStatus


@dataclass(frozen=True, slots=True)
class StudyTable:
    """A table of a publication: its id there, title and source, and every cell beside our value."""

    id: str
    title: str
    source: str
    cells: list[TableCell]


def share(
    part: float,
    whole: float,
    n: int,
) -> Measured:
    """A ratio of two whole counts, as a share of 1."""
    return Measured(Fraction(int(part), int(whole)), n, "share")


def percent(
    part: float,
    whole: float,
    n: int,
) -> Measured:
    """A ratio of two whole counts, in percent."""
    return Measured(PERCENT * Fraction(int(part), int(whole)), n, "percent")


def count(value: float, n: int) -> Measured:
    """A number of items, from `n` of them."""
    return Measured(Fraction(int(value)), n, "count")


def printed_value(printed: str) -> Fraction:
    """The number that a printed text states, a percentage as a number of percent. Raises ValueError on other text."""
    return Fraction(printed.strip().removesuffix("%"))


def printed_decimals(printed: str) -> int:
    """How many digits a printed number has behind the point: 1 for "63.3%"."""
    return len(printed.strip().removesuffix("%").partition(".")[2])


def agrees(value: Fraction, printed: str) -> bool:
    """Whether a value, rounded to the printed digits, is what is printed."""
    # On the exact ratio: a float may lie just below a half that should be rounded up.
    return rounded(value, printed_decimals(printed)) == printed_value(printed)


def compared(
    row: str,
    column: str,
    printed: str | None,
    unit: str,
    measured: Measured | None,
) -> TableCell:
    """The cell of one place."""
    cell = TableCell(
        row=row,
        column=column,
        printed=printed,
        ours=measured and measured.value,
        delta=None,
        n=measured and measured.n,
        unit=unit,
        status=CellStatus.PUBLISHED_ONLY,
    )
    if measured is None:
        return cell
    if printed is None:
        return replace(cell, unit=measured.unit, status=CellStatus.OURS_ONLY)
    delta = measured.value - printed_value(printed)
    status = (
        CellStatus.EQUAL
        if agrees(measured.value, printed)
        else CellStatus.DIFFERS
    )
    return replace(cell, delta=delta, status=status)
