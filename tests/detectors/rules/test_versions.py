"""Versions as packages state them: release candidates and builds have a major and a minor one too."""

from __future__ import annotations

import pytest

from crane_core.detectors.rules.operation import numbers
from tests.detectors.rules.conftest import cells_of, findings, state_of


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1.3.2", (1, 3)),
        ("1.3rc1", (1, 3)),
        ("2.10.0+cpu", (2, 10)),
        ("0.14.dev0+g12", (0, 14)),
        ("", None),
        ("3", None),
    ],
)
def test_major_and_minor(
    version: str, expected: tuple[int, ...] | None
) -> None:
    assert numbers(version) == expected


@pytest.mark.parametrize(
    ("python", "is_certain"),
    [("3.11.7", True), ("3.13.0", True), ("3.14.1", False)],
)
def test_a_generator_of_a_number_is_certain_only_where_python_asks_at_once(
    python: str, *, is_certain: bool
) -> None:
    state = state_of({"variables": {}, "captured": {"python": python}})
    for target, predicted in (
        ("made = (x for x in 5)", is_certain),
        ("sum(x for x in 5)", True),
    ):
        found = findings(cells_of("beds = 5", target), state).findings
        assert [one.exception for one in found] == ["TypeError"] * predicted, (
            python,
            target,
        )
