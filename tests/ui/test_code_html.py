"""A line of source as HTML: every character is text, tokens are coloured, and a huge line is cut and counted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.ui.code_html import (
    MAX_LINE,
    blanks_html,
    explained_blanks,
    line_html,
    marked_blanks,
    prose_html,
)

TextOf = Callable[[str], str]
SHORT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0\ufeff"),
    max_size=60,
)


@given(line=SHORT)
def test_a_reader_sees_the_line_as_it_is(text_of: TextOf, line: str) -> None:
    assert text_of(line_html(line)) == line


def test_hostile_lines_are_text_and_bounded(
    text_of: TextOf, hostile: str
) -> None:
    html = line_html(hostile)
    shown = text_of(html)
    assert len(html) < 60 * MAX_LINE
    assert len(shown) < MAX_LINE + 60


def test_a_long_line_tells_how_much_is_missing(text_of: TextOf) -> None:
    shown = text_of(line_html("x" * (MAX_LINE + 1234)))
    assert shown == "x" * MAX_LINE + " … 1,234 more characters"
    assert "more characters" not in line_html("x" * MAX_LINE)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = 1  # one", '<span class="cw-c"># one</span>'),
        ("for x in y:", '<span class="cw-k">for</span>'),
        ("x = 17.5", '<span class="cw-n">17.5</span>'),
    ],
)
def test_tokens_have_their_class(line: str, expected: str) -> None:
    assert expected in line_html(line)


def test_a_string_with_markup_is_a_string(text_of: TextOf) -> None:
    html = line_html("x = '<b>&</b>'")
    assert 'class="cw-s"' in html
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in html
    assert text_of(html) == "x = '<b>&</b>'"


@given(line=SHORT, start=st.integers(0, 60), length=st.integers(0, 60))
def test_marks_change_no_character(
    text_of: TextOf, line: str, start: int, length: int
) -> None:
    assert text_of(line_html(line, ((start, start + length),))) == line


def test_a_mark_may_begin_within_a_token() -> None:
    html = line_html("ab = 'cd'", ((1, 7),))
    assert html.startswith('a<span class="cw-word">b</span>')
    assert (
        '<span class="cw-s cw-word">c</span><span class="cw-s">d</span>' in html
    )


def test_backticks_are_drawn_as_code(text_of: TextOf) -> None:
    html = prose_html(
        "`df['a']` has no <b> column; ```python\nx = 1\n```, a lone ` stays"
    )
    assert html.count("<code>") == 2
    assert text_of(html) == "df['a'] has no <b> column; x = 1, a lone ` stays"


def test_hostile_prose_is_text(text_of: TextOf, hostile: str) -> None:
    text_of(prose_html(f"`{hostile[:5_000]}` and {hostile[:5_000]}"))


def test_a_blank_at_the_end_of_a_quoted_name_is_marked() -> None:
    told = blanks_html("it doesn't have 'yield_kg', but 'yield_kg ' and ' <b>'")
    mark = '<span class="cw-blank" title="{}"> </span>'
    assert told == (
        "it doesn&#x27;t have &#x27;yield_kg&#x27;, but &#x27;yield_kg"
        f"{mark.format('ends in a space')}&#x27; and &#x27;"
        f"{mark.format('begins with a space')}&lt;b&gt;&#x27;"
    )


def test_the_first_marked_blank_is_explained() -> None:
    html = blanks_html("write 'kg ' or 'g '")
    told = explained_blanks(html)
    assert told.count("(· is a space)") == 1
    assert told.index("(· is a space)") < told.index("g<span", 20)
    assert explained_blanks("no name") == "no name"


def test_blanks_are_marked_in_prose_with_tags_of_ours() -> None:
    html = "<p>called &#x27;kg &#x27;</p><p>and <b>x</b> &#x27;ok&#x27;</p>"
    marked = marked_blanks(html)
    assert marked.count("cw-blank") == 1
    assert marked.endswith("<p>and <b>x</b> &#x27;ok&#x27;</p>")
