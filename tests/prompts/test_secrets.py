"""Keys and passwords do not reach a prompt; everything else does, unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.prompts.secrets import redacted, scrubbed

# Put together here, so that nothing that scans this file takes them for real.
KEYS = [
    "sk-" + "a1B2" * 8,
    "ghp_" + "x" * 36,
    "github_pat_" + "y" * 30,
    "hf_" + "z" * 34,
    "AKIA" + "Q" * 16,
    "AIza" + "k" * 35,
    "xoxb-" + "1" * 12,
    "glpat-" + "g" * 20,
    "eyJ" + "h" * 20 + "." + "p" * 20 + "." + "s" * 20,
    "-----BEGIN " + "RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_in_a_known_form_is_taken_out(key: str) -> None:
    assert (
        redacted(f"login('{key}')  # ok")
        == f"login('<secret of {len(key)} characters>')  # ok"
    )


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("password = 'hunter2'", "password = '<secret of 7 characters>'"),
        (
            'os.environ["KAGGLE_API_KEY"] = "0123abcd"',
            'os.environ["KAGGLE_API_KEY"] = "<secret of 8 characters>"',
        ),
        (
            "connect(user='me', passwd='open')",
            "connect(user='me', passwd='<secret of 4 characters>')",
        ),
        (
            "{'client_secret': 'abcdef'}",
            "{'client_secret': '<secret of 6 characters>'}",
        ),
        ("'https://me:pw@host/x'", "'https://<secret of 5 characters>@host/x'"),
    ],
)
def test_a_text_under_a_name_that_says_secret_is_taken_out(
    code: str, shown: str
) -> None:
    assert redacted(code) == shown
    assert redacted(shown) == shown


@pytest.mark.parametrize(
    "code",
    [
        "token = '<pad>'",
        "password = getpass()",
        "api_key = os.environ['X']",
        "password = ''",
        "df['task-a'] = 'sk-learn'",
        "url = 'https://host:80/a@b'",
    ],
)
def test_what_is_no_secret_stays(code: str) -> None:
    assert redacted(code) == code


def test_published_inputs_stay_as_they_are(input_texts: dict[str, str]) -> None:
    assert [
        path for path, text in input_texts.items() if redacted(text) != text
    ] == []


def test_texts_of_a_state_are_redacted_at_any_depth() -> None:
    assert scrubbed(
        {"value": "hunter2", "type": "str", "n": 7}, "db_password"
    ) == {
        "value": "<secret of 7 characters>",
        "type": "str",
        "n": 7,
    }
    assert scrubbed(
        {"items": {"api_key": {"value": "abc"}, "model": {"value": "m"}}},
        "config",
    ) == {
        "items": {
            "api_key": {"value": "<secret of 3 characters>"},
            "model": {"value": "m"},
        }
    }
    assert scrubbed(["ok", KEYS[0]]) == [
        "ok",
        f"<secret of {len(KEYS[0])} characters>",
    ]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text("ab'=: \n", max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON)
def test_a_state_without_secrets_is_left_alone(facts: Any) -> None:
    assert scrubbed(facts) == facts


def test_redacting_a_long_hostile_text_is_linear() -> None:
    """A pattern that backtracks over a million characters would not come back."""
    for text in (
        "password=" * 100_000,
        "-----BEGIN PRIVATE KEY-----" * 30_000,
        "://a:" * 200_000,
        "eyJ" * 300_000,
    ):
        assert json.dumps(redacted(text))
