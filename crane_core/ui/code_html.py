"""Python source as escaped HTML, line by line. Text from notebooks is never trusted: everything passes `escape`."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Number, String
from pygments.token import _TokenType as TokenType

_CLASSES: tuple[tuple[TokenType, str], ...] = ((Comment, "c"), (Keyword, "k"), (String, "s"), (Number, "n"))
_LEXER = PythonLexer(stripnl=False, ensurenl=False)
MAX_LINE = 400
"""Characters of a line that are shown; the rest is counted."""


@lru_cache(maxsize=2_000)
def line_html(line: str) -> str:
    """One line of Python with its tokens coloured."""
    shown, cut = line[:MAX_LINE], len(line) - MAX_LINE
    html = "".join(_token_html(kind, text) for kind, text in _LEXER.get_tokens(shown))
    return html + (f'<span class="cw-dim"> … {cut:,} more characters</span>' if cut > 0 else "")


def _token_html(kind: TokenType, text: str) -> str:
    css = next((name for parent, name in _CLASSES if kind is parent or kind[: len(parent)] == parent), None)
    return f'<span class="cw-{css}">{escape(text)}</span>' if css else escape(text)
