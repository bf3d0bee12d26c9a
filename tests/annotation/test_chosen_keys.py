"""A choice of keys: what the browser may send, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from crane_core.annotation.chosen_keys import MOST_KEYS, checked_keys


@pytest.mark.parametrize("key", ["j", "7", "?", "é", "alt+k", "alt+0", None])
def test_a_letter_a_digit_a_sign_with_alt_or_no_key(key: str | None) -> None:
    chosen = {"isOff": True, "keys": {"label-with-unclear": key, "skip": "x"}}
    assert checked_keys(chosen | {"n": 3, "person": "ana"}) == chosen


@pytest.mark.parametrize(
    "key",
    [
        "r",
        "c",
        "J",
        " ",
        "",
        "jk",
        "alt+",
        "alt+jj",
        "\n",
        "\x00",
        "Enter",
        7,
        True,
        ["j"],
        {},
    ],
)
def test_what_cannot_be_a_key_is_refused(key: Any) -> None:
    with pytest.raises(ValueError, match="cannot be the key of skip"):
        checked_keys({"isOff": False, "keys": {"skip": key}})


@pytest.mark.parametrize(
    "action", ["", "Skip", "__proto__", "label-", "a b", "label-<b>", "x" * 60]
)
def test_what_is_no_action_is_refused(action: str) -> None:
    with pytest.raises(ValueError, match="is not the name of an action"):
        checked_keys({"isOff": False, "keys": {action: "j"}})


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "j",
        {},
        {"isOff": 1, "keys": {}},
        {"isOff": False, "keys": []},
        {"keys": {}},
    ],
)
def test_what_is_no_choice_is_refused(body: Any) -> None:
    with pytest.raises(ValueError, match="it needs isOff"):
        checked_keys(body)


def test_there_is_an_end_to_the_number_of_keys() -> None:
    with pytest.raises(ValueError, match="201 keys; 200 are the most"):
        checked_keys(
            {
                "isOff": False,
                "keys": {f"label-{n}": None for n in range(MOST_KEYS + 1)},
            }
        )
