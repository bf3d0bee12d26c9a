"""After the login the browser goes to the page that was asked for, and to no other address."""

from __future__ import annotations

import pytest

from crane_core.ui.entrance import MAX_CHARACTERS, page_of


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/results", "./results"),
        ("/annotate/", "./annotate"),
        (
            "/cases?case=pandas_1&benchmark=junobench",
            "./cases?case=pandas_1&benchmark=junobench",
        ),
    ],
)
def test_our_pages_are_found_with_their_parameters(
    address: str, page: str
) -> None:
    assert page_of(address) == page


@pytest.mark.parametrize(
    "address",
    [
        "",
        "/",
        "//evil.example/results",
        "https://evil.example/results",
        "javascript:alert(1)",
        "/results/../../evil",
        "/\\evil.example/results",
        "/oauth2callback?code=1",
        "http://[broken/results",
        "/cases?" + "x" * MAX_CHARACTERS,
    ],
)
def test_any_other_address_is_not_gone_to(address: str) -> None:
    assert page_of(address) is None
