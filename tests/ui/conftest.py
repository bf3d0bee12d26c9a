"""What a page may be given, and what a browser must get: hostile texts, and a check of finished HTML."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import pytest

VOID = {"br", "hr", "img", "input", "wbr"}
TAGS = {
    "abbr", "article", "b", "br", "caption", "code", "del", "details", "div", "h2", "h4", "i", "ins", "li", "ol", "p",
    "section", "span", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "wbr",
}  # fmt: skip
ATTRIBUTES = {"class", "scope", "title", "open", "colspan", "style", "tabindex", "aria-label"}
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "end of everything": "</code></div></details></td></table><h1>",
    "attribute": '" onmouseover="alert(1)" x="',
    "quotes": 'it\'s "quoted" & <b>bold</b> &amp; &#x3c;',
    "comment": "<!-- ]]> -->",
    "null bytes": "a\0b\0<\0i\0>",
    "right to left": "\u202e\u2066txt.exe\u2069 שלום",
    "control": "\x1b[31mred\x07\r\n\u2028line",
    "emoji": "😀" * 3,
    "huge": "<" * 1_000_000,
    "many lines": "</p>\n" * 50_000,
}


class Checker(HTMLParser):
    """Follows open tags; refuses what our builders never write."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, f"<{tag}> is not ours"
        assert {name for name, _ in attrs} <= ATTRIBUTES, f"<{tag}> has {attrs}"
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack, f"</{tag}> closes nothing"
        assert self.stack.pop() == tag, f"</{tag}> closes another"

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data[:40]}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl[:40]}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data[:40]}")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="session")
def text_of() -> Callable[[str], str]:
    """The text that a reader sees of HTML that is balanced and holds our own tags and attributes alone."""

    def check(html: str) -> str:
        checker = Checker()
        checker.feed(html)
        checker.close()
        assert checker.stack == []
        return "".join(checker.text)

    return check


@pytest.fixture(params=HOSTILE.values(), ids=HOSTILE)
def hostile(request: pytest.FixtureRequest) -> str:
    return str(request.param)
