"""A finished table as HTML that a phone shows as cards: a row is a line on a wide screen, and a block on a narrow one.

A grid of Streamlit is a canvas, which a phone has to scroll sideways. Knows finished cells. Refuses to know what a
row is.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from html import escape

import pandas as pd
import streamlit as st

from crane_core.ui.grid import grid, is_numeric
from crane_core.ui.words import NOTHING, count

MOST_NUMBERS = 5
"""Columns of a table that fits on a phone where all but its first hold numbers."""

_WHOLE = re.compile(r"\d (?:pp|to −?[\d.]+(?: pp)?)")
"""What a line does not break: an interval and its unit."""


def rows_html(
    table: pd.DataFrame,
    *,
    links: Sequence[str] | None = None,
    ticks: Sequence[tuple[str, str]] | None = None,
    about: Mapping[str, str] | None = None,
    looks: Mapping[str, Sequence[str]] | None = None,
    finished: Collection[str] = (),
    css: str = "",
    is_tall: bool = False,
) -> str:
    """The table; every text is escaped here, but for columns that are `finished` HTML. The first column names the row.

    links: of each row the attribute of its link, as `linked_html.address` writes it. ticks: of each row the value of a
    box to tick and what it is called. about: column to what its heading explains. looks: column to
    the style of each of its cells, which the style sheet reads. css: further classes of the table.
    is_tall: it has more rows than a window, and scrolls by itself. A table of a few numbers is narrow
    enough for a phone as it is.
    """
    names = [str(name) for name in table]
    plain = table.replace("<[^>]+>", "", regex=True) if finished else table
    right = {name for name in names if is_numeric(plain[name])}
    is_narrow = len(names) <= MOST_NUMBERS and right.issuperset(names[1:])
    classes = f"cw-versus cw-plain {css}" + (" cw-cards" * (not is_narrow))
    heads = "".join(
        _head(name, (about or {}).get(name, ""), is_right=name in right)
        for name in names
    )
    tick_head = "" if ticks is None else '<td class="cw-tick"></td>'
    rows = []
    for place, cells in enumerate(table.astype(object).itertuples(index=False)):
        first, *others = [
            str(cell) if name in finished else _shown(cell)
            for name, cell in zip(names, cells, strict=True)
        ]
        named = (
            first if links is None else f'<a href="{links[place]}">{first}</a>'
        )
        tick = "" if ticks is None else _tick(*ticks[place])
        told = "".join(
            _cell(
                name,
                cell,
                is_right=name in right,
                looks=looks[name][place] if looks and name in looks else "",
            )
            for name, cell in zip(names[1:], others, strict=True)
        )
        rows.append(f'<tr>{tick}<th scope="row">{named}</th>{told}</tr>')
    # With tabindex it can be scrolled by keyboard.
    around = 'cw-scroll cw-tall" tabindex="0' if is_tall else "cw-scroll"
    return (
        f'<div class="{around}"><table class="{classes}"><thead><tr>{tick_head}{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


FIRST_ROWS = 8
"""Rows that are open; a source can have thousands of problems."""


def draw_first_rows(table: pd.DataFrame, noun: str) -> None:
    """The first rows, and all of them in a grid that folds; noun: what they are, in the plural."""
    st.html(rows_html(table.head(FIRST_ROWS), css="cw-light"))
    if len(table) > FIRST_ROWS:
        with st.expander(f"All {count(len(table))} {noun}"):
            grid(table)


def _shown(cell: object) -> str:
    # NaN alone differs from itself.
    is_missing = cell is None or cell != cell
    if is_missing or cell == "":
        return NOTHING
    return _WHOLE.sub(
        lambda found: found[0].replace(" ", "\xa0"), escape(str(cell))
    )


def _head(name: str, about: str, *, is_right: bool) -> str:
    title = f' title="{escape(about)}"' if about else ""
    css = ' class="cw-number"' if is_right else ""
    return f'<th scope="col"{css}{title}>{escape(name)}</th>'


def _cell(name: str, cell: str, *, is_right: bool, looks: str) -> str:
    # A card on a phone leaves out what a cell has nothing for.
    css = " ".join(["cw-number"] * is_right + ["cw-empty"] * (cell == NOTHING))
    classes = f' class="{css}"' if css else ""
    style = f' style="{escape(looks)}"' if looks else ""
    return f'<td data-head="{escape(name)}"{classes}{style}>{cell}</td>'


def _tick(value: str, words: str) -> str:
    return (
        f'<td class="cw-tick"><input type="checkbox" value="{escape(value)}" '
        f'aria-label="{escape(words)}"></td>'
    )
