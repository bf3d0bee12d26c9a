"""Confusion counts behind a printed pair of accuracy and F1. Knows digits and counts; refuses to know which claim asks.

With 111 crashing and 111 fixed notebooks one digit behind the point names the counts: accuracy moves in steps of
0.45 percentage points, and F1, given accuracy, in steps of a tenth or more. All 15 settings of tables 4(a) and 4(b)
have one solution. The paper drops a final zero ("82%" is 82.0%), as the whole percentages of its tables 2(a) and 2(b)
show, which the answers give as x.0.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.table_cells import PERCENT, agrees
from crane_core.pipeline.table_scores import SIGNS
from crane_core.pipeline.tables import table_4a, table_4b

PAPER = "paper"
TABLES = ("2b", "4a", "4b")
COLUMN_SIGNS: Mapping[Setting, str] = SIGNS | table_4a.SIGNS | table_4b.SIGNS


class Counts(NamedTuple):
    """Crashes found, false alarms, and how many notebooks of each kind there are."""

    tp: int
    fp: int
    n_crashing: int
    n_fixed: int

    @property
    def tn(self) -> int:
        return self.n_fixed - self.fp

    @property
    def fn(self) -> int:
        return self.n_crashing - self.tp


def printed_counts(
    numbers: pd.DataFrame, title: str, setting: Setting, *, n_crashing: int, n_fixed: int
) -> Counts | None:
    """The counts of one detector and setting, detection alone, by its printed cells; None if they name no one.

    numbers: the fields of PublishedNumber. title: the row of the tables, e.g. "GPT-5".
    """
    mine = numbers[(numbers["publication"] == PAPER) & numbers["table_id"].isin(TABLES) & (numbers["row"] == title)]
    printed = dict(zip(mine["column"], mine["printed"], strict=True))
    sign = COLUMN_SIGNS.get(setting)
    accuracy, f1 = printed.get(f"Accuracy {sign}"), printed.get(f"F1 {sign}")
    if accuracy is None or f1 is None:
        return None
    found = list(_solutions(_with_digit(accuracy), _with_digit(f1), n_crashing, n_fixed))
    return found[0] if len(found) == 1 else None


def _with_digit(printed: str) -> str:
    """The printed percentage with the digit that the paper drops where it is 0."""
    return printed if "." in printed else printed.removesuffix("%") + ".0%"


def _solutions(accuracy: str, f1: str, n_crashing: int, n_fixed: int) -> Iterable[Counts]:
    n = n_crashing + n_fixed
    for n_right in range(n + 1):
        if agrees(Fraction(PERCENT * n_right, n), accuracy):
            for tp in range(max(0, n_right - n_fixed), min(n_crashing, n_right) + 1):
                whole = 2 * tp + n - n_right
                if whole and agrees(Fraction(PERCENT * 2 * tp, whole), f1):
                    yield Counts(tp, n_fixed - (n_right - tp), n_crashing, n_fixed)
