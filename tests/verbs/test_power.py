"""`power`: against simulated benchmarks whose cases are tested by sign flips, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

from crane_core.cli import main
from crane_core.stats.sign_flip import sign_flip
from crane_core.verbs.power import planned


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_it_is_about_what_the_test_by_case_finds(correlation: float) -> None:
    """300 benchmarks of 80 cases with two instances that are alike as often as was said."""
    gained, lost, n_cases = 0.2, 0.07, 80
    rng = np.random.default_rng(11)
    cases = np.repeat(np.arange(n_cases), 2)
    n_found = 0
    for _ in range(300):
        drawn = rng.random((n_cases, 2))
        drawn[:, 1] = np.where(
            rng.random(n_cases) < correlation, drawn[:, 0], drawn[:, 1]
        )
        change = (drawn < gained).astype(float) - (drawn > 1 - lost)
        n_found += sign_flip(change.ravel(), cases, seed=1) <= 0.05
    told = planned(n_cases, 2, correlation, gained, lost, 0.05)
    assert told.n_independent == (160 if correlation == 0 else 106)
    assert n_found / 300 == pytest.approx(told.power, abs=0.07)


def test_it_prints_a_row_for_each_size(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        main(
            [
                "power",
                "--gained",
                "0.14",
                "--lost",
                "0.06",
                "--cases",
                "5,111",
                "--comparisons",
                "3",
                "--json",
            ]
        )
        == 0
    )
    few, many = json.loads(capsys.readouterr().out)
    assert (few["n_cases"], few["n_instances"], few["detectable"]) == (
        5,
        10,
        None,
    )
    assert many["n_independent"] == 222 and 0.08 < many["detectable"] < 0.11
    assert (
        main(["power", "--gained", "0.14", "--lost", "0.06", "--cases", "5"])
        == 0
    )
    printed = capsys.readouterr().out
    assert "none" in printed and "alpha = 0.05;" in printed


@pytest.mark.parametrize("shares", [("0", "0"), ("0.7", "0.7")])
def test_shares_that_leave_nothing_are_refused(
    shares: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["power", "--gained", shares[0], "--lost", shares[1]]) == 1
    assert "must be above 0 and at most 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value"),
    [("--gained", "14"), ("--cases", "0"), ("--correlation", "nan")],
)
def test_wrong_usage_is_named(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["power", "--gained", "0.1", "--lost", "0.1", option, value])
    assert value in capsys.readouterr().err
