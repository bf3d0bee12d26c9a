"""Python source and prose with code in it as escaped HTML. Text from notebooks and models passes `escape`, always."""

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Number, String
from pygments.token import _TokenType as TokenType

from crane_core.ui.found_html import marked_html
from crane_core.worddiff import Span, WordSide, merged_words

_CLASSES: tuple[tuple[TokenType, str], ...] = (
    (Comment, "c"),
    (Keyword, "k"),
    (String, "s"),
    (Number, "n"),
)
_LEXER = PythonLexer(stripnl=False, ensurenl=False)
MAX_LINE = 400
"""Characters of a line that are shown; the rest is counted."""
MAX_INDENT = 40
"""Most columns by which a wrapped line is indented."""
MAX_TEXT = 200_000
"""Characters of a prompt or a reply that are shown; a download has all."""
_QUOTED = re.compile(
    r"(?<!\w)(&#x27;|&quot;)( *)((?:(?!&#x27;|&quot;)[^\n<])*?)( *)\1(?!\w)"
)
_FIRST_BLANK = re.compile(r'(cw-blank" [^>]*>.*?&(?:#x27|quot);)')
"""A marked blank up to the quote that ends its name."""
_BREAK = re.compile(r"[(\[{,=]+|^(?=\.$)|\w(?=\.[A-Za-z_])")
"""Where a line of code may wrap: names stay whole."""
_IN_BACKTICKS = re.compile(r"`{1,3}(?:python\n|\n)?([^`]+?)\n?`{1,3}")


@lru_cache(maxsize=4_000)
def line_html(line: str, changed: tuple[Span, ...] = ()) -> str:
    """One line of Python with its tokens coloured and the `changed` spans marked."""
    shown, cut = line[:MAX_LINE], len(line) - MAX_LINE
    html = "".join(
        _token_html(kind, text) for kind, text in _pieces(shown, changed)
    )
    return html + (
        f'<span class="cw-dim"> … {cut:,} more characters</span>'
        if cut > 0
        else ""
    )


def blanks_html(text: str) -> str:
    """The text with the blanks at the ends of quoted names marked: one that is too many is often what is amiss."""
    return marked_blanks(escape(text))


def marked_blanks(html: str) -> str:
    """The same of text that is escaped already, with tags between; no attribute may have escaped quotes."""
    return _QUOTED.sub(_with_marks, html)


def _with_marks(name: re.Match[str]) -> str:
    quote, before, inner, after = name.groups()
    begins = _blank_html(before, "begins with a space")
    return (
        f"{quote}{begins}{inner}{_blank_html(after, 'ends in a space')}{quote}"
    )


def _blank_html(blank: str, words: str) -> str:
    return blank and f'<span class="cw-blank" title="{words}">{blank}</span>'


def explained_blanks(html: str) -> str:
    """Marked text that says after the first such name what the mark is: the dot would read as part of the name."""
    told = r'\1 <span class="cw-dim">(· is a space)</span>'
    return _FIRST_BLANK.sub(told, html, count=1)


def code_html(
    line: str, changed: tuple[Span, ...] = (), *, is_underlined: bool = False
) -> str:
    """The line as a `code` element with a hanging indent where it wraps."""
    indent = min(len(line) - len(line.lstrip(" ")), MAX_INDENT)
    html = line_html(line, changed)
    if is_underlined:
        # The indent itself stays without a line below it.
        words = html.lstrip(" ")
        html = f'{html[: len(html) - len(words)]}<span class="cw-wavy">{words}</span>'
    return f'<code style="--in:{indent}">{html}</code>'


def prompt_html(
    text: str, rest: str = "more characters", *, find: str = ""
) -> str:
    """A text of others, the words of a search marked; if it is huge, how many `rest` are left out."""
    n_rest = len(text) - MAX_TEXT
    cut = f"\n… {n_rest:,} {rest}" if n_rest > 0 else ""
    return f'<div class="cw-prompt">{marked_html(text[:MAX_TEXT] + cut, find)}</div>'


def prose_html(text: str) -> str:
    """Prose of a person or a model: escaped, with text in backticks as code."""
    html, end = "", 0
    for found in _IN_BACKTICKS.finditer(text):
        html += f"{escape(text[end : found.start()])}<code>{escape(found[1])}</code>"
        end = found.end()
    return html + escape(text[end:])


def differing_prose_html(first: str, text: str) -> str | None:
    """`text`, with what `first` lacks as inserted and what only `first` has as deleted; None where they are unlike.

    Escaped as by `prose_html`, with text in backticks as code.
    """
    pieces = merged_words(first, text)
    if pieces is None:
        return None
    code = {
        WordSide.LEFT: _backticks(first),
        WordSide.RIGHT: _backticks(text),
        WordSide.BOTH: _backticks(text),
    }
    of = {WordSide.LEFT: first, WordSide.RIGHT: text, WordSide.BOTH: text}
    tags = {
        WordSide.LEFT: ("<del>", "</del>"),
        WordSide.RIGHT: ("<ins>", "</ins>"),
        WordSide.BOTH: ("", ""),
    }
    return "".join(
        f"{tags[side][0]}{_stretch_html(of[side], span, code[side])}{tags[side][1]}"
        for side, span in pieces
    )


def _backticks(text: str) -> list[tuple[Span, Span]]:
    """Of each stretch in backticks the whole and the inner span."""
    return [
        (found.span(), found.span(1)) for found in _IN_BACKTICKS.finditer(text)
    ]


def _stretch_html(text: str, span: Span, code: list[tuple[Span, Span]]) -> str:
    """A part of a text, which may begin or end inside backticks."""
    html, at, end = "", *span
    for (outer_start, outer_end), (start, stop) in code:
        if outer_end <= at or outer_start >= end:
            continue
        html += escape(text[at : max(at, outer_start)])
        inner = text[max(at, start) : min(end, stop)]
        html += f"<code>{escape(inner)}</code>" if inner else ""
        at = min(end, outer_end)
    return html + escape(text[at:end])


def _pieces(line: str, changed: tuple[Span, ...]) -> Iterator[tuple[str, str]]:
    """Class and text of each stretch of one token that is changed or unchanged as a whole."""
    at = 0
    edges = sorted({edge for span in changed for edge in span})
    for kind, text in _LEXER.get_tokens(line):
        css = next(
            (
                name
                for parent, name in _CLASSES
                if kind is parent or kind[: len(parent)] == parent
            ),
            "",
        )
        inner = [edge for edge in edges if at < edge < at + len(text)]
        for start, end in zip(
            [at, *inner], [*inner, at + len(text)], strict=True
        ):
            is_changed = any(a <= start and end <= b for a, b in changed)
            yield (
                " ".join(
                    filter(
                        None,
                        (
                            f"cw-{css}" if css else "",
                            "cw-word" if is_changed else "",
                        ),
                    )
                ),
                text[start - at : end - at],
            )
        at += len(text)


def _token_html(css: str, text: str) -> str:
    html = _BREAK.sub(r"\g<0><wbr>", escape(text))
    return f'<span class="{css}">{html}</span>' if css else html
