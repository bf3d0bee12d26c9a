"""Which peers are a proxy, and what of their headers counts."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.datastructures import Headers

from crane_core.errors import IdentityError
from crane_core.identity.proxy import configured_proxy
from crane_core.ui.entrance import seen_through

HEADER = {"CRANE_PROXY_HEADER": "X-Forwarded-Email"}


@pytest.mark.parametrize(
    ("named", "peer", "expected"),
    [
        ("", "127.0.0.1", True),
        ("", "::1", True),
        ("", "::ffff:127.0.0.1", True),
        ("", "10.0.0.2", False),
        ("", "", False),
        ("10.0.0.0/24, 192.168.1.5", "10.0.0.2", True),
        ("10.0.0.0/24, 192.168.1.5", "192.168.1.5", True),
        ("10.0.0.0/24, 192.168.1.5", "127.0.0.1", False),
        ("10.0.0.0/24", "10.0.1.2", False),
        ("10.0.0.0/24", "testclient", False),
    ],
)
def test_proxies_are_those_that_are_named_else_this_machine(named: str, peer: str, *, expected: bool) -> None:
    assert configured_proxy({"CRANE_PROXY_FROM": named}).is_one(peer) is expected


@pytest.mark.parametrize("wrong", [{"CRANE_PROXY_FROM": "proxy.example"}, {"CRANE_PROXY_HEADER": "X Email"}])
def test_a_wrong_setting_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(IdentityError):
        configured_proxy(wrong)


def scope_from(peer: str, **headers: str) -> dict[str, Any]:
    pairs = [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "scheme": "http", "client": (peer, 4321), "headers": pairs}


def test_the_header_of_a_stranger_is_removed() -> None:
    proxy = configured_proxy(HEADER | {"CRANE_PROXY_FROM": "10.0.0.1"})
    sent = scope_from("127.0.0.1", X_Forwarded_Email="lea@lab.example", X_Forwarded_For="1.2.3.4", Accept="*/*")
    seen = seen_through(sent, proxy)
    assert "x-forwarded-email" not in Headers(scope=seen)
    assert Headers(scope=seen)["accept"] == "*/*"
    assert seen["client"] == ("127.0.0.1", 4321)


def test_a_proxy_says_who_and_from_where() -> None:
    proxy = configured_proxy(HEADER)
    sent = scope_from(
        "127.0.0.1", X_Forwarded_Email="lea@lab.example", X_Forwarded_For="6.6.6.6, 1.2.3.4", X_Forwarded_Proto="https"
    )
    seen = seen_through(sent, proxy)
    assert Headers(scope=seen)["x-forwarded-email"] == "lea@lab.example"
    assert seen["client"] == ("1.2.3.4", 0)  # what came before it the visitor may have made up
    assert seen["scheme"] == "https"
