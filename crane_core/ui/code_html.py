"""Python source and prose with code in it as escaped HTML. Text from notebooks and models passes `escape`, always."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Number, String
from pygments.token import _TokenType as TokenType

from crane_core.worddiff import Span

_CLASSES: tuple[tuple[TokenType, str], ...] = ((Comment, "c"), (Keyword, "k"), (String, "s"), (Number, "n"))
_LEXER = PythonLexer(stripnl=False, ensurenl=False)
MAX_LINE = 400
"""Characters of a line that are shown; the rest is counted."""
MAX_INDENT = 40
"""Columns by which the continuation of a wrapped line may stand in."""
_IN_BACKTICKS = re.compile(r"`{1,3}(?:python\n|\n)?([^`]+?)\n?`{1,3}")


@lru_cache(maxsize=4_000)
def line_html(line: str, changed: tuple[Span, ...] = ()) -> str:
    """One line of Python with its tokens coloured and the `changed` spans marked."""
    shown, cut = line[:MAX_LINE], len(line) - MAX_LINE
    html = "".join(_token_html(kind, text) for kind, text in _pieces(shown, changed))
    return html + (f'<span class="cw-dim"> … {cut:,} more characters</span>' if cut > 0 else "")


def code_html(line: str, changed: tuple[Span, ...] = ()) -> str:
    """The line as a `code` element whose continuation, where it wraps, stands in further than its beginning."""
    indent = min(len(line) - len(line.lstrip(" ")), MAX_INDENT)
    return f'<code style="--in:{indent}">{line_html(line, changed)}</code>'


def prose_html(text: str) -> str:
    """Prose of a person or a model: escaped, and what stands in backticks as code."""
    html, end = "", 0
    for found in _IN_BACKTICKS.finditer(text):
        html += f"{escape(text[end : found.start()])}<code>{escape(found[1])}</code>"
        end = found.end()
    return html + escape(text[end:])


def _pieces(line: str, changed: tuple[Span, ...]) -> Iterator[tuple[str, str]]:
    """Class and text of each stretch of one token that is changed or unchanged as a whole."""
    at = 0
    edges = sorted({edge for span in changed for edge in span})
    for kind, text in _LEXER.get_tokens(line):
        css = next((name for parent, name in _CLASSES if kind is parent or kind[: len(parent)] == parent), "")
        inner = [edge for edge in edges if at < edge < at + len(text)]
        for start, end in zip([at, *inner], [*inner, at + len(text)], strict=True):
            is_changed = any(a <= start and end <= b for a, b in changed)
            yield (
                " ".join(filter(None, (f"cw-{css}" if css else "", "cw-word" if is_changed else ""))),
                text[start - at : end - at],
            )
        at += len(text)


def _token_html(css: str, text: str) -> str:
    return f'<span class="{css}">{escape(text)}</span>' if css else escape(text)
