"""What is asked again, when, and what is not."""

from __future__ import annotations

import email.utils
import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.llm.retrying import (
    Failure,
    FailureScope,
    RetryPatience,
    failure_of,
    retry_after_s,
)


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (408, "", "", FailureScope.TRANSIENT),
        (409, "", "", FailureScope.TRANSIENT),
        (429, "rate_limit_exceeded", "", FailureScope.BUSY),
        (429, "insufficient_quota", "", FailureScope.ENDPOINT),
        (500, "", "", FailureScope.TRANSIENT),
        (502, "", "", FailureScope.TRANSIENT),
        (503, "", "", FailureScope.BUSY),
        (529, "", "", FailureScope.TRANSIENT),
        (400, "", "maximum context length exceeded", FailureScope.QUESTION),
        (400, "content_filter", "", FailureScope.QUESTION),
        (413, "", "", FailureScope.QUESTION),
        (422, "", "", FailureScope.QUESTION),
        (401, "invalid_api_key", "", FailureScope.ENDPOINT),
        (402, "", "", FailureScope.ENDPOINT),
        (403, "", "", FailureScope.ENDPOINT),
        (403, "", "Your input was flagged", FailureScope.QUESTION),
        (404, "model_not_found", "", FailureScope.ENDPOINT),
        (307, "", "", FailureScope.ENDPOINT),
    ],
)
def test_status_and_code_tell_what_a_failure_is_of(
    status: int, code: str, message: str, kind: FailureScope
) -> None:
    failure = failure_of(status, code, message, {})
    assert failure.kind is kind
    assert str(status) in failure.why
    assert bool(failure.remedy) == (kind is FailureScope.ENDPOINT)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "2", "retry-after-ms": "2500"}, 2.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, 0.0),
    ],
)
def test_wait_that_an_endpoint_asks_for_is_read(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s(headers) == seconds


def test_date_to_come_back_at_is_read() -> None:
    told = retry_after_s(
        {"retry-after": email.utils.formatdate(time.time() + 100, usegmt=True)}
    )
    assert told is not None and 50 < told < 150


@given(st.text(max_size=30))
def test_no_header_raises(text: str) -> None:
    told = retry_after_s({"retry-after": text})
    assert told is None or told >= 0


def test_pauses_double_up_to_the_longest_and_are_never_shorter_than_asked() -> (
    None
):
    patience, failure = (
        RetryPatience(first_s=1.0, longest_s=10.0),
        Failure(FailureScope.TRANSIENT, ""),
    )
    for n_failed, most in [
        (1, 1.0),
        (2, 2.0),
        (3, 4.0),
        (4, 8.0),
        (5, 10.0),
        (5_000, 10.0),
    ]:
        assert (
            most / 2
            <= patience.pause_s(n_failed, failure, Random(n_failed))
            <= most
        )
    assert (
        patience.pause_s(1, failure._replace(retry_after_s=60.0), Random(0))
        == 60.0
    )


def test_pauses_of_one_seed_are_the_same() -> None:
    patience, failure = RetryPatience(), Failure(FailureScope.TRANSIENT, "")
    one, same, other = (
        [patience.pause_s(n, failure, random) for n in range(1, 6)]
        for random in map(Random, ("a", "a", "b"))
    )
    assert one == same != other
