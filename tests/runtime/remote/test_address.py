"""Addresses as people paste them: the server, the token and the kernel in them, and what is refused without a quote."""

from __future__ import annotations

import pytest

from crane_core.errors import KernelStartError
from crane_core.runtime.remote.address import (
    ServerAddress,
    is_address,
    read_address,
)

HOST = "http://127.0.0.1:8888"
TOKEN = "0f9abc"


@pytest.mark.parametrize(
    ("pasted", "base", "kernel"),
    [
        (f"{HOST}/?token={TOKEN}", f"{HOST}/", ""),
        (f"{HOST}/lab?token={TOKEN}", f"{HOST}/", ""),
        (f"{HOST}/lab/tree/a/trip%201.ipynb?token={TOKEN}", f"{HOST}/", "a/trip 1.ipynb"),
        (f"{HOST}/notebooks/trip.ipynb?token={TOKEN}", f"{HOST}/", "trip.ipynb"),
        (f"{HOST}/?token={TOKEN}#4a57", f"{HOST}/", "4a57"),
        (f"{HOST}/#4a57?token={TOKEN}", f"{HOST}/", "4a57"),
        (f"https://h/user/lab/lab/tree/x.ipynb?token={TOKEN}", "https://h/user/lab/", "x.ipynb"),
        (f"https://h/base/user/ana/?token={TOKEN}#a/x.ipynb", "https://h/base/user/ana/", "a/x.ipynb"),
        (f"HTTPS://[::1]:8/jupyter?token={TOKEN}", "https://[::1]:8/jupyter/", ""),
    ],
)  # fmt: skip
def test_a_pasted_address_is_taken_apart(
    pasted: str, base: str, kernel: str
) -> None:
    address = read_address(f" {pasted}\n")
    assert address == ServerAddress(base, kernel, TOKEN)
    assert TOKEN not in repr(address)
    assert address.is_encrypted == base.startswith("https")


@pytest.mark.parametrize(
    "odd",
    [
        "http://",
        "http://:80/",
        "http://h:x/",
        "http://h:99999/",
        "http://[::/",
        "http://ana:" + "pw@h/",
        "http://h/\x1b[2J",
        "http://h/" + "x" * 5_000,
    ],
)
def test_what_is_no_address_is_refused_without_a_quote(odd: str) -> None:
    assert is_address(odd)
    with pytest.raises(
        KernelStartError, match=r"^The address behind --attach "
    ) as told:
        read_address(f"{odd}?token={TOKEN}")
    assert TOKEN not in str(told.value)
    assert "pw" not in str(told.value)
