"""Versions as packages state them: release candidates and builds have a major and a minor one too."""

from __future__ import annotations

import pytest

from crane_core.detectors.rules.families.versions import numbers


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
def test_major_and_minor(version: str, expected: tuple[int, ...] | None) -> None:
    assert numbers(version) == expected
