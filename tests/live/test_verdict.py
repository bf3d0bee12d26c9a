"""How a verdict is shown: everything escaped, bounded and on its line."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from crane_core.live.reply import ModelAnswer, Sending
from crane_core.live.verdict import MOST_LETTERS, LiveVerdict, scope_words

OURS = {"div", "strong", "span", "code", "details", "summary", "pre"}


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.add(tag)


def finding(text: str) -> dict[str, str]:
    return dict.fromkeys(
        ("exception", "message", "fact", "remedy", "code_line"), text
    )


@given(st.text(st.characters(), max_size=60))
def test_text_of_a_notebook_stays_text(text: str) -> None:
    hostile = f"<script>{text}</script>\x1b[31m\n"
    verdict = LiveVerdict((finding(hostile),), 0.0)
    assert Tags(verdict._repr_html_()).found <= OURS
    assert len(repr(verdict).splitlines()) == 5
    assert "\x1b" not in repr(verdict)
    unsure = LiveVerdict((), 0.0, (hostile, hostile))
    assert Tags(unsure._repr_html_()).found <= OURS
    assert [name for name, _ in unsure.rows] == ["note", "unsure", "unsure"]
    assert len(repr(unsure).splitlines()) == 4
    open_kernel = LiveVerdict((), 0.0, (), scope=hostile, offer=hostile)
    assert Tags(open_kernel._repr_html_()).found <= OURS
    assert len(repr(open_kernel).splitlines()) == 3
    prompt = {
        "text": hostile,
        "tokens": 1,
        "kind": "exact",
        "model": hostile,
        "base_url": hostile,
    }
    assert Tags(Sending(prompt)._repr_html_()).found <= OURS
    reply = {
        "model": hostile,
        "trouble": None,
        "crashes": True,
        "reasoning": hostile,
    }
    assert Tags(ModelAnswer(reply)._repr_html_()).found <= OURS


def test_what_was_looked_at_names_libraries_that_answered_and_limits() -> None:
    assert scope_words(["pandas", "PyTorch"], is_limited=True) == (
        "this code and what its names hold now, less what is unsure; pandas, PyTorch answered on stand-ins."
        " Not looked at: what only a run shows."
    )


def test_no_text_is_without_end() -> None:
    assert (
        len(repr(LiveVerdict((finding("x" * 100_000),), 0.0)))
        < 7 * MOST_LETTERS
    )
