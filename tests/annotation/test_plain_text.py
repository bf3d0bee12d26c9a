"""Marks of style go, words and code stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.annotation.plain_text import plain_text

SAID = "The key 'a' is not in df, so a KeyError follows."


@pytest.mark.parametrize(
    "written",
    [
        SAID,
        "The key ‘a’ is not in `df`, so a **KeyError** follows",
        "- The key 'a' is not in df,\n- so a KeyError follows.",
        "## The key 'a'\nis not in *df*,\n\nso a\u00a0KeyError follows.",
        "1. The key `'a'`\n2) is not in df, so\n```python\na KeyError\n```\nfollows.",
    ],
)
def test_texts_that_differ_in_style_alone_become_one(written: str) -> None:
    assert plain_text(written) == SAID


@pytest.mark.parametrize(
    "code",
    [
        "2**3 and 4**5 are large.",
        "f(**options, **others) takes x*y*z.",
        "__init__ of a_b_c sets df['x'] - 1.",
        "a # b is a comment.",
        "3.5 is a number, 4) is not.",
    ],
)
def test_code_in_a_text_is_left_alone(code: str) -> None:
    assert plain_text(code) == code


@given(st.text(max_size=300))
def test_a_plain_text_is_one_line_and_stays_as_it_is(text: str) -> None:
    once = plain_text(text)
    assert "\n" not in once and "`" not in once
    assert "  " not in once and once == once.strip()
    assert not set("“”‘’–—…") & set(once)
