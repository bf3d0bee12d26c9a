"""What a pair raises and why, as HTML."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crane_core.ui.pair_facts import MAX_RAISED, raised_html, why_html
from crane_core.ui.words import exception_name

TextOf = Callable[[str], str]


@pytest.mark.parametrize(
    ("name", "message", "shown"),
    [
        ("valueerror", "no such\nsecond line", "ValueError: no such"),
        ("valueerror", "ValueError: no such", "ValueError: no such"),
        ("keyerror", None, "KeyError"),
        (None, "it ended", "it ended"),
        (None, None, ""),
        ("strangeerror", "x", "strangeerror: x"),
    ],
)
def test_the_exception_with_the_first_line_of_its_message(
    text_of: TextOf, name: str | None, message: str | None, shown: str
) -> None:
    assert (
        text_of(raised_html({"exception": name, "message": message})) == shown
    )


def test_names_as_their_owners_write_them() -> None:
    assert [
        exception_name(name)
        for name in ("lightgbmerror", "notfittederror", None)
    ] == [
        "LightGBMError",
        "NotFittedError",
        None,
    ]


def test_hostile_messages_are_text_and_bounded(
    text_of: TextOf, hostile: str
) -> None:
    html = raised_html({"exception": "valueerror", "message": hostile})
    text_of(html)
    assert len(html) < 20 * MAX_RAISED
    text_of(why_html({"diagnosis": hostile}, {"fixed": hostile}))
