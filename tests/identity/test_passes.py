"""Signed passes and the key that signs them."""

from __future__ import annotations

import stat
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.errors import IdentityError
from crane_core.identity.key import FILE_NAME, signing_key
from crane_core.identity.passes import Purpose, new_pass, opened, signed

KEY, OTHER_KEY = b"k" * 64, b"o" * 64
ANA = "ana@lab.example"
ONE = signed(new_pass(ANA, seconds=600, now=1_000), Purpose.SESSION, KEY)


def test_a_pass_is_read_back_until_it_expires() -> None:
    text = signed(new_pass(ANA, seconds=60, now=1_000), Purpose.INVITATION, KEY)
    assert opened(text, Purpose.INVITATION, KEY, now=1_059).email == ANA
    with pytest.raises(IdentityError, match="expired"):
        opened(text, Purpose.INVITATION, KEY, now=1_060)


def test_a_pass_serves_one_purpose_and_one_key() -> None:
    text = signed(new_pass(ANA, seconds=60), Purpose.INVITATION, KEY)
    with pytest.raises(IdentityError, match="not issued"):
        opened(text, Purpose.SESSION, KEY)
    with pytest.raises(IdentityError, match="not issued"):
        opened(text, Purpose.INVITATION, OTHER_KEY)


def test_two_passes_of_one_person_differ() -> None:
    assert (
        len(
            {
                signed(new_pass(ANA, seconds=60, now=0), Purpose.SESSION, KEY)
                for _ in range(20)
            }
        )
        == 20
    )


@given(st.data())
def test_a_pass_with_another_character_anywhere_is_refused(
    data: st.DataObject,
) -> None:
    text = ONE
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(
        st.characters(codec="utf-8").filter(
            lambda character: character != text[place]
        )
    )
    with pytest.raises(IdentityError):
        opened(text[:place] + other + text[place + 1 :], Purpose.SESSION, KEY)


def test_every_letter_of_a_pass_counts() -> None:
    """The last one holds bits that base64 does not read: a pass that was ended would have come back under another."""
    for letter in string.ascii_letters + string.digits + "-_":
        if letter != ONE[-1]:
            with pytest.raises(IdentityError, match="not issued"):
                opened(ONE[:-1] + letter, Purpose.SESSION, KEY, now=1_001)


@given(st.text(max_size=300))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(IdentityError, match="not issued"):
        opened(text, Purpose.SESSION, KEY)


def test_the_key_is_made_once_and_only_its_owner_reads_it(
    tmp_path: Path,
) -> None:
    key = signing_key(tmp_path, {})
    assert signing_key(tmp_path, {}) == key
    assert len(key) == 64
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    signing_key(tmp_path, {})
    (tmp_path / FILE_NAME).chmod(0o644)
    with pytest.raises(IdentityError, match="can be read by others"):
        signing_key(tmp_path, {})


def test_a_deleted_key_ends_all_passes(tmp_path: Path) -> None:
    text = signed(
        new_pass(ANA, seconds=60), Purpose.SESSION, signing_key(tmp_path, {})
    )
    (tmp_path / FILE_NAME).unlink()
    with pytest.raises(IdentityError):
        opened(text, Purpose.SESSION, signing_key(tmp_path, {}))


def test_the_secret_of_the_environment_comes_first_and_is_not_short(
    tmp_path: Path,
) -> None:
    assert signing_key(tmp_path, {"CRANE_SECRET": "s" * 32}) == b"s" * 32
    with pytest.raises(IdentityError, match="fewer than 32"):
        signing_key(tmp_path, {"CRANE_SECRET": "s" * 31})
