"""Terms in sentences: each is explained once, whatever else the sentence holds, which stays text."""

from __future__ import annotations

import re

import pytest

from crane_core.ui.glossary import TERMS, explained, with_terms
from crane_core.ui.words import literal


def terms_of(html: str) -> list[str]:
    return re.findall(
        r'<abbr class="cw-term" tabindex="0" title="[^"]+">([^<]+)</abbr>', html
    )


def test_the_first_of_each_term_is_explained() -> None:
    text = "Against runtime state (+RT), majority of answers; −RT is code only, +RT more."
    html = with_terms(text)
    assert terms_of(html) == ["+RT", "majority of answers", "−RT"]
    assert TERMS["vote"] in html
    assert re.sub("<[^>]+>", "", html) == text


@pytest.mark.parametrize(
    "text",
    [
        "+RT−S and +RT+D",
        "−RT+",
        "mean of answers",
        "strictly",
        "a majority of them",
        "",
    ],
)
def test_what_only_looks_like_a_term_stays(text: str) -> None:
    assert with_terms(text) == text
    assert terms_of(with_terms(literal(text))) == []


def test_escaped_markdown_keeps_its_terms() -> None:
    assert terms_of(
        with_terms(literal("with runtime state (+RT), code only (−RT)"))
    ) == [
        "+RT",
        "−RT",
    ]


def test_no_html_of_the_text_becomes_html() -> None:
    hostile = "<img src=x onerror=alert(1)> & &lt;b&gt; −RT"
    for text in (hostile, literal(hostile)):
        html = with_terms(text)
        assert html.count("<") == 2
        assert "&amp;" in html
    assert 'title="a &quot;b&quot;"' not in explained("−RT", '"><b>')
    assert "<b>" not in explained("−RT", '"><b>')
