"""CSV that is safe to open in a spreadsheet: no untrusted text becomes a formula there. The only writer of CSV.

A text that begins with a sign that starts a formula gets an apostrophe in front, which spreadsheets take for "this is
text". One that begins with an apostrophe gets another, so that removing one restores the original. A number
stays a number, as text too. Source of the signs: OWASP, CSV Injection.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

GUARD = "'"
_STARTS = tuple("=+-@＝＋－＠\t\r\n" + GUARD)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?%?", re.ASCII)


def guarded(text: str) -> str:
    """The text as it may stand in a cell."""
    return (
        GUARD + text
        if text.startswith(_STARTS) and not _NUMBER.fullmatch(text)
        else text
    )


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would compute the text, were it not guarded."""
    return not text.startswith(GUARD) and guarded(text) != text


def unguarded(cell: str) -> str:
    """The original text of a cell."""
    return cell.removeprefix(GUARD)


def csv_text(rows: Iterable[Sequence[object]], *, line_end: str = "\n") -> str:
    """Rows as CSV, the header among them; None is an empty cell. RFC 4180 has lines end in CR LF."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=line_end)
    writer.writerows(
        [guarded(cell) if isinstance(cell, str) else cell for cell in row]
        for row in rows
    )
    return text.getvalue()


def csv_as_it_is(rows: Iterable[Sequence[str]]) -> str:
    """Rows as CSV without guards: for a table of the user that `import` reads. See `is_formula` for what is added."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def csv_of(table: pd.DataFrame) -> str:
    """A table as CSV, without its index."""
    # Who has no table needs no pandas.
    from pandas.api.types import is_numeric_dtype

    safe = table.rename(columns=lambda name: guarded(str(name)))
    for place, kind in enumerate(table.dtypes):
        if not is_numeric_dtype(kind):
            column = table.iloc[:, place].astype(object)
            safe.isetitem(
                place,
                [
                    guarded(cell) if isinstance(cell, str) else cell
                    for cell in column
                ],
            )
    return str(safe.to_csv(index=False, lineterminator="\n"))
