"""Which peers are a proxy, and what of their headers counts."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.datastructures import Headers

from crane_core.errors import IdentityError
from crane_core.identity.proxy import configured_proxy
from crane_core.ui.door import seen_through

HERE = {"CRANE_PROXY_FROM": "127.0.0.1"}
HEADER = {"CRANE_PROXY_HEADER": "X-Forwarded-Email"}


@pytest.mark.parametrize(
    ("named", "peer", "expected"),
    [
        ("", "127.0.0.1", False),
        ("", "::1", False),
        ("", "10.0.0.2", False),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "::ffff:127.0.0.1", True),
        ("127.0.0.1", "127.0.0.2", False),
        ("", "", False),
        ("10.0.0.0/24, 192.168.1.5", "10.0.0.2", True),
        ("10.0.0.0/24, 192.168.1.5", "192.168.1.5", True),
        ("10.0.0.0/24, 192.168.1.5", "127.0.0.1", False),
        ("10.0.0.0/24", "10.0.1.2", False),
        ("10.0.0.0/24", "testclient", False),
    ],
)
def test_proxies_are_those_that_are_named(
    named: str, peer: str, *, expected: bool
) -> None:
    assert (
        configured_proxy({"CRANE_PROXY_FROM": named}).is_one(peer) is expected
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"CRANE_PROXY_FROM": "proxy.example"},
        {"CRANE_PROXY_HEADER": "X Email"},
        HEADER,
    ],
)
def test_a_wrong_setting_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(IdentityError):
        configured_proxy(wrong)


def scope_from(peer: str, **headers: str) -> dict[str, Any]:
    pairs = [
        (name.replace("_", "-").lower().encode(), value.encode())
        for name, value in headers.items()
    ]
    return {
        "type": "http",
        "scheme": "http",
        "client": (peer, 4321),
        "headers": pairs,
    }


def test_the_header_of_a_stranger_is_removed() -> None:
    proxy = configured_proxy(HEADER | {"CRANE_PROXY_FROM": "10.0.0.1"})
    sent = scope_from(
        "127.0.0.1",
        X_Forwarded_Email="lea@lab.example",
        X_Forwarded_For="1.2.3.4",
        Accept="*/*",
    )
    seen = seen_through(sent, proxy)
    assert "x-forwarded-email" not in Headers(scope=seen)
    assert Headers(scope=seen)["accept"] == "*/*"
    assert seen["client"] == ("127.0.0.1", 4321)


def test_a_proxy_says_who_and_from_where() -> None:
    proxy = configured_proxy(HEADER | HERE)
    sent = scope_from(
        "127.0.0.1",
        X_Forwarded_Email="lea@lab.example",
        X_Forwarded_For="6.6.6.6, 1.2.3.4",
        X_Forwarded_Proto="https",
    )
    seen = seen_through(sent, proxy)
    assert Headers(scope=seen)["x-forwarded-email"] == "lea@lab.example"
    assert seen["client"] == (
        "1.2.3.4",
        0,
    )  # what came before it the visitor may have made up
    assert seen["scheme"] == "https"


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        ("1.2.3.4", "1.2.3.4"),
        ("6.6.6.6,1.2.3.4", "1.2.3.4"),
        (
            "6.6.6.6, 1.2.3.4, 10.0.0.9",
            "1.2.3.4",
        ),  # two proxies of ours in a row
        ("1.2.3.4:5678", "1.2.3.4"),
        ("[2001:db8::1]:5678", "2001:db8::1"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("1.2.3.4, unknown", "10.0.0.9"),
        ("", "10.0.0.9"),
    ],
)
def test_the_visitor_is_the_last_one_who_is_no_proxy(
    forwarded: str, expected: str
) -> None:
    proxy = configured_proxy({"CRANE_PROXY_FROM": "10.0.0.0/24"})
    assert (
        seen_through(scope_from("10.0.0.9", X_Forwarded_For=forwarded), proxy)[
            "client"
        ][0]
        == expected
    )


def test_a_line_of_the_proxy_counts_more_than_the_visitors_own() -> None:
    sent = scope_from("127.0.0.1")
    sent["headers"] = [
        (b"x-forwarded-for", b"6.6.6.6"),
        (b"x-forwarded-proto", b"https"),
        (b"x-forwarded-for", b"1.2.3.4"),
        (b"x-forwarded-proto", b"http"),
    ]
    seen = seen_through(sent, configured_proxy(HERE))
    assert (seen["client"][0], seen["scheme"]) == ("1.2.3.4", "http")


@pytest.mark.parametrize("peer", ["127.0.0.1", "10.0.0.2", "::1"])
def test_without_a_named_proxy_nobody_claims_another_address_or_scheme(
    peer: str,
) -> None:
    sent = scope_from(
        peer, X_Forwarded_For="1.2.3.4", X_Forwarded_Proto="https"
    )
    seen = seen_through(sent, configured_proxy({}))
    assert (seen["client"], seen["scheme"]) == ((peer, 4321), "http")
