"""How the tests of this folder wait: for one element where two stand for an instant, and not where two remain."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from . import conftest
from .conftest import OpenPage

TWO = "data:text/html,<p>old</p><p>new</p>"


def test_an_expectation_waits_until_one_of_two_elements_is_gone(
    open_page: OpenPage,
) -> None:
    page = open_page(TWO)
    page.evaluate("setTimeout(() => document.querySelector('p').remove(), 300)")
    expect(page.locator("p")).to_have_text("new")


def test_two_elements_that_remain_fail_with_playwrights_message(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page(TWO)
    monkeypatch.setattr(conftest, "TIMEOUT_MS", 300)
    with pytest.raises(AssertionError, match="strict mode violation"):
        expect(page.locator("p")).to_have_text("new")
