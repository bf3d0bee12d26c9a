"""Confusion counts behind a printed pair of accuracy and F1. Knows digits and counts; refuses to know which claim asks.

With 111 crashing and 111 fixed notebooks one digit behind the point names the counts: accuracy moves in steps of
0.45 percentage points, and F1, given accuracy, in steps of a tenth or more. All 15 settings of tables 4(a) and 4(b)
have one solution. The paper drops a final zero ("82%" is 82.0%), as the whole percentages of its tables 2(a) and 2(b)
show, which the answers give as x.0.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from itertools import islice
from math import ceil, floor, inf
from typing import NamedTuple

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.study import measured_tables, table_scores
from crane_core.pipeline.study.table_cells import PERCENT, agrees, printed_value

PAPER = "paper"
TABLES = ("2b", "4a", "4b")
COLUMN_SIGNS: Mapping[Setting, str] = (
    table_scores.SIGNS
    | measured_tables.CATEGORY_SIGNS
    | measured_tables.DOCUMENTATION_SIGNS
)


class Counts(NamedTuple):
    """Crashes found, false alarms, and how many notebooks of each kind there are."""

    tp: int
    fp: int
    n_crashing: int
    n_fixed: int

    @property
    def tn(self) -> int:
        """Fixed notebooks without an alarm."""
        return self.n_fixed - self.fp

    @property
    def fn(self) -> int:
        """Crashes that were not found."""
        return self.n_crashing - self.tp


def printed_counts(
    numbers: pd.DataFrame,
    title: str,
    setting: Setting,
    *,
    n_crashing: int,
    n_fixed: int,
) -> Counts | None:
    """The counts of one detector and setting, detection alone, by its printed cells; None if they name no one.

    numbers: the fields of PublishedNumber. title: the row of the tables, e.g. "GPT-5".
    """
    mine = numbers[
        (numbers["publication"] == PAPER)
        & numbers["table_id"].isin(TABLES)
        & (numbers["row"] == title)
    ]
    printed = dict(zip(mine["column"], mine["printed"], strict=True))
    sign = COLUMN_SIGNS.get(setting)
    accuracy, f1 = printed.get(f"Accuracy {sign}"), printed.get(f"F1 {sign}")
    if accuracy is None or f1 is None:
        return None
    # Two solutions are as useless as none: only one names the counts.
    solutions = _solutions(
        _with_digit(accuracy),
        _with_digit(f1),
        n_crashing,
        n_fixed,
    )
    found = list(islice(solutions, 2))
    return found[0] if len(found) == 1 else None


def _with_digit(printed: str) -> str:
    """The printed percentage with the digit that the paper drops where it is 0."""
    return printed if "." in printed else printed.removesuffix("%") + ".0%"


def _solutions(
    accuracy: str,
    f1: str,
    n_crashing: int,
    n_fixed: int,
) -> Iterable[Counts]:
    """Every pair of counts with these rates; only those near the printed values are rounded exactly."""
    n = n_crashing + n_fixed
    right_of = partial(_share_of, n=n)
    for n_right in _near(
        printed_value(accuracy),
        right_of,
        0,
        n,
    ):
        if not agrees(Fraction(PERCENT * n_right, n), accuracy):
            continue
        # F1 = 200 tp / (2 tp + n_wrong), which grows with tp.
        n_wrong = n - n_right
        hits_of = partial(_hits, n_wrong=n_wrong)
        fewest, most = max(0, n_right - n_fixed), min(n_crashing, n_right)
        for tp in _near(
            printed_value(f1),
            hits_of,
            fewest,
            most,
        ):
            whole = 2 * tp + n_wrong
            if whole and agrees(Fraction(PERCENT * 2 * tp, whole), f1):
                yield Counts(
                    tp,
                    n_fixed - (n_right - tp),
                    n_crashing,
                    n_fixed,
                )


def _share_of(rate: Fraction, n: int) -> Fraction:
    return rate * n / PERCENT


def _hits(f1: Fraction, n_wrong: int) -> Fraction | float:
    """The number of crashes found, tp, that has this F1 in percent; all numbers do where nothing is wrong."""
    return f1 * n_wrong / (2 * (PERCENT - f1)) if f1 < PERCENT else inf


def _near(
    printed: Fraction,
    count_of: Callable[[Fraction], Fraction | float],
    least: int,
    most: int,
) -> range:
    """The counts from `least` to `most` whose rate, in percent, is at most a point away from the printed one."""
    low = count_of(max(printed - 1, Fraction(0)))
    high = count_of(printed + 1)
    first = max(least, floor(low)) if low < inf else most
    last = min(most, ceil(high)) if high < inf else most
    return range(first, last + 1)
