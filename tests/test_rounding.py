"""Half up on the exact ratio: against fractions and decimal's own rounding."""

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.rounding import digits, rounded


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (
            100 * 29 / 400,
            1,
            "7.3",
        ),  # 7.25 as a binary number; Python writes 7.2
        (100 * 1 / 16, 1, "6.3"),
        (0.5, 0, "1"),
        (2.5, 0, "3"),
        (-0.125, 2, "-0.13"),
        (-0.0004, 2, "0.00"),
        (73.0, 1, "73.0"),
    ],
)
def test_halves_go_up(value: float, decimals: int, text: str) -> None:
    assert digits(value, decimals) == text


def test_a_sign_stands_before_all_that_is_not_negative() -> None:
    assert [digits(value, 1, sign=True) for value in (7.25, -7.25, 0.0)] == [
        "+7.3",
        "-7.3",
        "+0.0",
    ]


@given(st.integers(0, 5000), st.integers(1, 5000), st.integers(0, 3))
def test_a_float_is_rounded_as_the_ratio_it_came_from(
    part: int, whole: int, decimals: int
) -> None:
    exact = Decimal(100 * part) / Decimal(whole)
    expected = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    assert (
        digits(part / whole * 100, decimals)
        == digits(Fraction(100 * part, whole), decimals)
        == f"{expected:f}"
    )


@given(st.floats(-1, 1), st.integers(0, 4))
def test_it_is_at_most_half_a_unit_away(value: float, decimals: int) -> None:
    assert abs(rounded(value, decimals) - Fraction(value)) <= Fraction(
        1, 2 * 10**decimals
    ) + Fraction(1, 10**6)
