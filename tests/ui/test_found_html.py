"""Words of a search marked in texts of others, which stay escaped."""

from __future__ import annotations

from crane_core.ui.found_html import is_found, marked_html


def test_the_phrase_is_marked_or_else_each_word() -> None:
    assert (
        marked_html("A Shape  x; shape mismatch", "shape mismatch")
        == "A Shape  x; <mark>shape mismatch</mark>"
    )
    assert (
        marked_html("shape and Mismatch", "shape mismatch")
        == "<mark>shape</mark> and <mark>Mismatch</mark>"
    )


def test_nothing_of_the_text_or_the_search_becomes_html() -> None:
    assert marked_html("<b>&", "<b> nothing") == "<mark>&lt;b&gt;</mark>&amp;"
    assert marked_html("a.b|c <i>", "") == "a.b|c &lt;i&gt;"
    # A pattern's own characters are searched as they are.
    assert marked_html("a.b axb", "a.b") == "<mark>a.b</mark> axb"


def test_a_text_holds_a_search_if_it_has_every_word() -> None:
    assert is_found("Made up by the fake", "FAKE made")
    assert not is_found("Made up", "fake made")
    assert not is_found(None, "made")
    assert not is_found("made", " ")
