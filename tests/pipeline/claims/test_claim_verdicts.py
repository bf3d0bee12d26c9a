"""The rules by which a claim holds, rounds differently, is within noise or is contradicted, by hand."""

from fractions import Fraction

import pytest

from crane_core.pipeline.claims.verdicts import (
    ClaimEstimate,
    ClaimKind,
    ClaimVerdict,
    judge,
)

HOLDS, ROUNDS, NOISE, CONTRADICTED, NOT_TESTABLE = (
    ClaimVerdict.HOLDS,
    ClaimVerdict.ROUNDS_DIFFERENTLY,
    ClaimVerdict.WITHIN_NOISE,
    ClaimVerdict.CONTRADICTED,
    ClaimVerdict.NOT_TESTABLE,
)
Spread = tuple[str, float | None, float | None]


def estimates(*spreads: Spread) -> list[ClaimEstimate]:
    return [
        ClaimEstimate(f"no. {i}", Fraction(value), low, high)
        for i, (value, low, high) in enumerate(spreads, start=1)
    ]


def alone(value: str) -> list[ClaimEstimate]:
    return estimates((value, None, None))


@pytest.mark.parametrize(
    ("stated", "unit", "value", "verdict"),
    [
        ("501", "count", "501", HOLDS),
        ("501", "count", "502", CONTRADICTED),
        ("0.89", "kappa", "0.8897", HOLDS),
        ("0.89", "kappa", "0.8985", ROUNDS),
        ("0.89", "kappa", "0.9001", CONTRADICTED),
        ("855", "tokens", "854.5", HOLDS),
        ("855", "tokens", "854.4", ROUNDS),
    ],
)
def test_a_number_is_held_to_its_digits(
    stated: str, unit: str, value: str, verdict: ClaimVerdict
) -> None:
    assert (
        judge(ClaimKind.NUMBER, stated, unit, alone(value)).verdict is verdict
    )


def test_a_number_of_several_is_that_of_each() -> None:
    judged = judge(
        ClaimKind.NUMBER,
        "5",
        "count",
        estimates(("5", None, None), ("4", None, None)),
    )
    assert (judged.verdict, judged.why, judged.decisive.name) == (
        CONTRADICTED,
        "it is 4",
        "no. 2",
    )


@pytest.mark.parametrize(
    ("stated", "spread", "verdict"),
    [
        ("+9.4", ("9.4595", 3.6, 15.2), ROUNDS),
        ("+9.5", ("9.4595", 3.6, 15.2), HOLDS),
        ("+9.3", ("9.4595", 3.6, 15.2), CONTRADICTED),
        ("+9.5", ("9.4595", -0.1, 19.0), NOISE),
        ("+9.4", ("9.4595", -0.1, 19.0), NOISE),
        ("+9.5", ("9.4595", 0.0, 19.0), NOISE),
        ("-9.5", ("9.4595", 3.6, 15.2), CONTRADICTED),
        ("-0.1", ("0", -1.0, 1.0), NOISE),
        ("-1.4", (str(Fraction(-300, 222)), None, None), HOLDS),
        ("-1.3", (str(Fraction(-300, 222)), None, None), ROUNDS),
    ],
)
def test_a_change_is_held_to_sign_digits_and_interval(
    stated: str, spread: Spread, verdict: ClaimVerdict
) -> None:
    assert (
        judge(ClaimKind.CHANGE, stated, "pp", estimates(spread)).verdict
        is verdict
    )


def test_a_change_within_noise_still_tells_its_rounding() -> None:
    judged = judge(
        ClaimKind.CHANGE, "+9.4", "pp", estimates(("9.4595", -0.1, 19.0))
    )
    assert judged.why == "its interval includes 0; it rounds to 9.5"


@pytest.mark.parametrize(
    ("spreads", "verdict"),
    [
        ([("7.2", 1, 13), ("9.46", 3, 15)], HOLDS),
        ([("6.6", 1, 13), ("10.4", 3, 15)], HOLDS),
        ([("6.4", 1, 13), ("9", 3, 15)], ROUNDS),
        ([("5.9", 1, 13), ("9", 3, 15)], CONTRADICTED),
        ([("7.2", -1, 13), ("9.46", 3, 15)], NOISE),
        ([("7.2", None, None)], HOLDS),
    ],
)
def test_a_range_holds_every_estimate(
    spreads: list[Spread], verdict: ClaimVerdict
) -> None:
    assert (
        judge(ClaimKind.RANGE, "7 to 10", "pp", estimates(*spreads)).verdict
        is verdict
    )


@pytest.mark.parametrize(
    ("kind", "spreads", "verdict"),
    [
        (ClaimKind.RISES, [("2", 1, 3), ("4", 2, 6)], HOLDS),
        (ClaimKind.RISES, [("2", 1, 3), ("4", -1, 9)], NOISE),
        (ClaimKind.RISES, [("2", 1, 3), ("0", -1, 1)], NOISE),
        (ClaimKind.RISES, [("2", 1, 3), ("-2", -9, 5)], NOISE),
        (ClaimKind.RISES, [("-2", -3, -1), ("4", 2, 6)], CONTRADICTED),
        (ClaimKind.RISES, [("-2", -3, -1), ("4", None, None)], CONTRADICTED),
        (ClaimKind.RISES, [("2", None, None)], NOT_TESTABLE),
        (ClaimKind.RISES, [("-2", None, None)], NOT_TESTABLE),
        (ClaimKind.FALLS, [("-2", -3, -1)], HOLDS),
        (ClaimKind.FALLS, [("-2", -3, 1)], NOISE),
        (ClaimKind.FALLS, [("2", 1, 3)], CONTRADICTED),
        (ClaimKind.FALLS, [("0", -1, 1)], NOISE),
        (ClaimKind.FALLS, [("2", -1, 5)], NOISE),
        (ClaimKind.DOES_NOT_RISE, [("-2", -9, 4.9), ("0", -1, 1)], HOLDS),
        (ClaimKind.DOES_NOT_RISE, [("1", -1, 3)], HOLDS),
        (ClaimKind.DOES_NOT_RISE, [("-2", -9, 5), ("0", -1, 1)], NOISE),
        (ClaimKind.DOES_NOT_RISE, [("0", -16, 16)], NOISE),
        (
            ClaimKind.DOES_NOT_RISE,
            [("-2", -9, 1), ("2", 0.5, 3.5)],
            CONTRADICTED,
        ),
        (ClaimKind.DOES_NOT_RISE, [("-2", None, None)], NOT_TESTABLE),
        (ClaimKind.SIMILAR, [("1", -2, 4), ("-1", -4.9, 3)], HOLDS),
        (ClaimKind.SIMILAR, [("0", -16, 16)], NOISE),
        (ClaimKind.SIMILAR, [("1", -2, 4), ("23", 5.5, 38)], CONTRADICTED),
        (ClaimKind.SIMILAR, [("-23", -38, -5.5)], CONTRADICTED),
        (ClaimKind.SIMILAR, [("0", None, None)], NOT_TESTABLE),
    ],
)
def test_a_direction_needs_every_sign_and_every_interval(
    kind: ClaimKind, spreads: list[Spread], verdict: ClaimVerdict
) -> None:
    assert judge(kind, "", "pp", estimates(*spreads)).verdict is verdict


def test_the_one_that_fails_is_named() -> None:
    judged = judge(
        ClaimKind.RISES,
        "",
        "pp",
        estimates(("2", 1, 3), ("4", -1, 9), ("5", 1, 9)),
    )
    assert judged.decisive.name == "no. 2"
    assert "no. 2 (1 of 3)" in judged.why


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        ("1.35", HOLDS),
        ("1.65", HOLDS),
        ("1.34", CONTRADICTED),
        ("1.66", CONTRADICTED),
    ],
)
def test_about_is_within_a_tenth(value: str, verdict: ClaimVerdict) -> None:
    assert judge(ClaimKind.ABOUT, "1.5", "pp", alone(value)).verdict is verdict


@pytest.mark.parametrize(
    "kind",
    [
        ClaimKind.RISES,
        ClaimKind.DOES_NOT_RISE,
        ClaimKind.FALLS,
        ClaimKind.SIMILAR,
    ],
)
def test_no_direction_is_shown_or_refuted_by_a_tie_alone(
    kind: ClaimKind,
) -> None:
    assert judge(kind, "", "pp", estimates(("0", -16.4, 16.4))).verdict is NOISE


@pytest.mark.parametrize(
    ("kind", "spread", "verdict"),
    [
        (ClaimKind.MORE_THAN, ("201", None, None), HOLDS),
        (ClaimKind.MORE_THAN, ("200", None, None), CONTRADICTED),
        (ClaimKind.MORE_THAN, ("201", 190, 210), NOISE),
        (ClaimKind.MORE_THAN, ("199", 190, 210), NOISE),
        (ClaimKind.MORE_THAN, ("190", 180, 199), CONTRADICTED),
        (ClaimKind.AT_MOST, ("200", None, None), HOLDS),
        (ClaimKind.AT_MOST, ("201", None, None), CONTRADICTED),
        (ClaimKind.AT_MOST, ("190", 180, 199), HOLDS),
        (ClaimKind.AT_MOST, ("201", 190, 210), NOISE),
    ],
)
def test_a_threshold_is_strict_and_an_interval_that_includes_it_decides_nothing(
    kind: ClaimKind, spread: Spread, verdict: ClaimVerdict
) -> None:
    assert judge(kind, "200", "count", estimates(spread)).verdict is verdict


def test_a_remark_is_told_and_stands_for_a_missing_interval() -> None:
    largest = ClaimEstimate(
        "torch",
        Fraction(33),
        remark="the largest of 6 differences has no ordinary interval",
    )
    judged = judge(ClaimKind.CHANGE, "+33", "pp", [largest])
    assert (judged.verdict, judged.why) == (HOLDS, largest.remark)


def test_nothing_is_judged_by_nothing() -> None:
    with pytest.raises(ValueError, match="at least one"):
        judge(ClaimKind.RISES, "", "pp", [])
    with pytest.raises(ValueError, match="7 to 10"):
        judge(ClaimKind.RANGE, "7-10", "pp", alone("8"))
