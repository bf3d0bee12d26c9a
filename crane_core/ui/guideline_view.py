"""A guideline on a page: sections folded away, earlier versions, and what a version changed.

A lead wrote the text, so it is drawn as Markdown without HTML, and no picture in it makes a browser ask elsewhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from itertools import groupby, pairwise

import streamlit as st

from crane_core.annotation.guideline import GuidelineVersion, sections
from crane_core.celldiff import LinePair, align_lines
from crane_core.ui import pair_diff
from crane_core.ui.words import count, literal, moment
from crane_core.worddiff import Span

CONTEXT = 1
"""Unchanged lines beside a change that stay open."""


def draw_guideline(text: str) -> None:
    """The text; each section of the third level, such as a list of examples, folded."""
    head, folded = sections(text)
    st.markdown(_markdown(head))
    for section in folded:
        with st.expander(literal(section.title)):
            st.markdown(_markdown(section.text))


def draw_earlier(
    versions: Sequence[GuidelineVersion], labels: Mapping[str, int]
) -> None:
    """Every version before the one in force, the latest first; `labels`: how many one gave under each."""
    for earlier, later in reversed(list(pairwise(versions))):
        n = labels.get(earlier.version, 0)
        given = f": {count(n)} of your labels" if n else ""
        with st.expander(
            literal(
                f"Version {earlier.version}, until {moment(later.since)}{given}"
            )
        ):
            st.markdown(_markdown(earlier.text))


def _markdown(text: str) -> str:
    return text.replace("![", "!\\[")


@lru_cache(maxsize=64)
def change_html(older: str, newer: str) -> str:
    """The lines of two versions side by side, changed words marked, unchanged stretches folded. All of it escaped."""
    pairs = align_lines(older, newer)
    near = {
        at
        for i, pair in enumerate(pairs)
        if not pair.same
        for at in range(i - CONTEXT, i + CONTEXT + 1)
    }
    stretches = groupby(enumerate(pairs), key=lambda entry: entry[0] in near)
    body = "".join(
        (pair_diff.lines_html if is_open else pair_diff.collapsed_html)(
            ["".join(_sides(pair)) for _, pair in group]
        )
        for is_open, group in stretches
    )
    return f'<div class="cw-pair cw-prose"><section class="cw-cell">{body}</section></div>'


def _sides(pair: LinePair) -> Iterator[str]:
    spans = pair_diff.words_of(pair)
    for side, line in enumerate((pair.left, pair.right)):
        number = f"<i>{line.number}</i>" if line else ""
        text = _marked(line.text, spans[side]) if line else ""
        yield pair_diff.side_html(pair, side, number, text)


def _marked(text: str, words: tuple[Span, ...]) -> str:
    html, end = "", 0
    for start, stop in words:
        html += f'{escape(text[end:start])}<span class="cw-word">{escape(text[start:stop])}</span>'
        end = stop
    return html + escape(text[end:])
