"""A table as people read it, for a paper: LaTeX with booktabs, and Markdown. Knows no numbers, only their texts.

A LaTeX table takes one column of a two-column page where it fits, else both, in letters that can be read in print:
what is wider than the page is not scaled down.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd

COLUMN_PT, PAGE_PT = 241, 506
"""85 and 178 mm in TeX's points: a column, and the whole text, of a page with two columns (ACM, IEEE)."""
MOST_ROWS = 40
"""A float cannot break across pages, so a longer table is written as several with one number."""
LONGTABLE_NEEDS = r"% needs \usepackage{array,booktabs,longtable}, and \onecolumn before it in a paper of two columns"
_NARROW, _WIDE = ".,:;|il'() ", "%+−=<>mwMW&"
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    # The fonts of OT1, LaTeX's oldest encoding and still its default, print other letters for these.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # pdfTeX knows these in mathematics only.
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "×": r"$\times$",
    "χ": r"$\chi$",
    "κ": r"$\kappa$",
    "α": r"$\alpha$",
    "→": r"$\rightarrow$",
    "○": r"$\circ$",
    "²": r"$^2$",
    # LaTeX's own dash, whatever the encoding of the document.
    "–": "--",
}
SPECIAL |= {letter: f"\\{letter}" for letter in "&%$#_{}"}


def broken_into_lines(width_mm: int) -> str:
    """LaTeX for a column of this width whose texts go on in the next line."""
    return rf">{{\raggedright\arraybackslash}}p{{{width_mm}mm}}"


class _Size(NamedTuple):
    """How a table may be set: its environment, the size of its letters, and half the gap between columns, in points."""

    environment: str
    command: str
    letter_pt: float
    gap_pt: float
    room_pt: int


_SIZES = (
    _Size("table", "small", 8.5, 6, COLUMN_PT),
    _Size("table", "footnotesize", 7.85, 3, COLUMN_PT),
    _Size("table*", "small", 8.5, 6, PAGE_PT),
    _Size("table*", "footnotesize", 7.85, 3, PAGE_PT),
    _Size("table*", "scriptsize", 7.45, 1.8, PAGE_PT),
)
"""For a document of 10 points, the most comfortable first. The letters have 9, 8 and 7 points; widths are measured on
tables of the study, and small letters are wider in proportion."""


class PaperTable(NamedTuple):
    """A table for LaTeX: texts of a head and of rows, a letter of alignment per column, and the words around it.

    title: the entry of a list of tables, which also begins the caption; label: of `\\ref`, without `tab:`.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    columns: str
    title: str
    caption: str
    label: str


def frame_latex(
    table: pd.DataFrame,
    *,
    title: str,
    caption: str,
    label: str,
    numeric: Sequence[str],
) -> str:
    """The table as `table_latex` sets it; columns of `numeric` are aligned to the right."""
    columns = "".join("r" if name in numeric else "l" for name in table)
    words = {"title": title, "caption": caption, "label": label}
    return table_latex(
        PaperTable(_heads(table), _texts(table), columns, **words)
    )


def table_latex(table: PaperTable) -> str:
    """A float that needs booktabs; several floats for many rows.

    Where not even the page is wide enough, the columns are in blocks one below the other.
    """
    size = _size(table)
    blocks = _blocks(table, size)
    n_rows = max(1, MOST_ROWS // len(blocks))
    starts = range(0, max(1, len(table.rows)), n_rows)
    lines = [r"% needs \usepackage{booktabs}"]
    for start in starts:
        lines += _float(table, blocks, slice(start, start + n_rows), size)
    return "\n".join(lines) + "\n"


def _size(table: PaperTable) -> _Size:
    every = range(len(table.head))
    fitting = [
        size for size in _SIZES if _width(table, every, size) <= size.room_pt
    ]
    return fitting[0] if fitting else _SIZES[-1]


def _width(table: PaperTable, places: Sequence[int], size: _Size) -> float:
    """Points that these columns take; more than they do, so that none is too wide."""
    width = 0.0
    for place in places:
        cells = _cells(table, place)
        lines = [*_lines(table.head[place], cells), *cells]
        width += max(map(_text_width, lines)) * size.letter_pt
    return width + 2 * (len(places) - 1) * size.gap_pt


def _text_width(text: str) -> float:
    """The width of a line in parts of the size of its letters, about as in Computer Modern."""
    width = 0.0
    for letter in text:
        if letter in _NARROW:
            width += 0.36
        elif letter in _WIDE:
            width += 0.83
        else:
            width += 0.72 if letter.isupper() else 0.5
    return width


def _cells(table: PaperTable, place: int) -> list[str]:
    return [row[place] for row in table.rows]


def _blocks(table: PaperTable, size: _Size) -> list[list[int]]:
    """The places of columns in blocks that fit, each of which begins with the columns that name the rows."""
    # Texts before the first number.
    n_names = len(table.columns) - len(table.columns.lstrip("l"))
    names = list(range(min(n_names, len(table.columns) - 1)))
    blocks = [list(names)]
    for place in range(len(names), len(table.head)):
        widened = [*blocks[-1], place]
        fits = _width(table, widened, size) <= size.room_pt
        if fits or len(blocks[-1]) == len(names):
            blocks[-1] = widened
        else:
            blocks.append([*names, place])
    return blocks


def _float(
    table: PaperTable, blocks: list[list[int]], part: slice, size: _Size
) -> list[str]:
    if part.start == 0:
        above = [
            rf"\caption[{{{escaped(table.title)}}}]{{{escaped(table.caption)}}}",
            rf"\label{{tab:{re.sub(r'[^A-Za-z0-9_.-]', '-', table.label)}}}",
        ]
    else:
        # The same number again, and no second entry in a list of tables.
        above = [
            r"\addtocounter{table}{-1}",
            rf"\caption[]{{{escaped(table.title)} (continued)}}",
        ]
    lines = [
        rf"\begin{{{size.environment}}}",
        r"\centering",
        *above,
        rf"\{size.command}",
        rf"\setlength{{\tabcolsep}}{{{size.gap_pt}pt}}",
    ]
    for places in blocks:
        lines += ["", r"\smallskip", *_tabular(table, places, part)]
    return [*lines, rf"\end{{{size.environment}}}"]


def _tabular(
    table: PaperTable, places: Sequence[int], part: slice
) -> list[str]:
    """Some columns of some rows, with the rules of booktabs."""
    aligned = "".join(table.columns[place] for place in places)
    heads = [
        _stacked(
            _lines(table.head[place], _cells(table, place)),
            table.columns[place],
        )
        for place in places
    ]
    rows = [
        " & ".join(escaped(row[place]) for place in places) + r" \\"
        for row in table.rows[part]
    ]
    return [
        rf"\begin{{tabular}}{{@{{}}{aligned}@{{}}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _lines(head: str, cells: Sequence[str]) -> list[str]:
    """A heading in lines at most as wide as its column, where its words allow it."""
    longest_word = max(map(len, head.split()), default=1)
    width = max(longest_word, *map(len, cells)) if cells else len(head)
    return textwrap.wrap(head, max(1, width), break_on_hyphens=False) or [""]


def _stacked(lines: Sequence[str], align: str) -> str:
    if len(lines) == 1:
        return escaped(lines[0])
    stacked = r"\\".join(map(escaped, lines))
    return rf"\begin{{tabular}}[b]{{@{{}}{align}@{{}}}}{stacked}\end{{tabular}}"


def frame_markdown(table: pd.DataFrame) -> str:
    """A table of GitHub's Markdown."""
    heads = _heads(table)
    rows = [heads, ["---"] * len(heads), *_texts(table)]
    return "".join(f"{_markdown_row(row)}\n" for row in rows)


def _heads(table: pd.DataFrame) -> list[str]:
    return [str(name) for name in table.columns]


def _texts(table: pd.DataFrame) -> list[list[str]]:
    return [
        ["" if pd.isna(cell) else str(cell) for cell in row]
        for row in table.itertuples(index=False)
    ]


def _markdown_row(cells: Iterable[str]) -> str:
    # A bar within a cell would end it, and so would a line feed.
    safe = [" ".join(cell.replace("|", "\\|").split()) for cell in cells]
    return f"| {' | '.join(safe)} |"


def escaped(text: str) -> str:
    """The text for LaTeX: nothing in it is a command, and it stays on one line."""
    return "".join(
        SPECIAL.get(letter, letter) for letter in " ".join(text.split())
    )
