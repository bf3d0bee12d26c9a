"""How many examples a property is tried on: few in `make test`, as many as its test asks for in `make test-all`."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import HealthCheck, settings

QUICK: Final = "quick"
"""Profile of `make test`, and of pytest by itself."""
THOROUGH: Final = "thorough"
"""Profile of `make test-all`: `pytest --hypothesis-profile thorough`."""
FEW: Final = 20
"""Examples of a property in the quick profile."""


def register() -> None:
    """Make the two profiles known. In both, a slow machine fails no test, and every machine tries the same examples."""
    alike = settings(
        deadline=None,
        derandomize=True,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
        ],
    )
    settings.register_profile(QUICK, alike, max_examples=FEW)
    settings.register_profile(THOROUGH, alike)
    settings.load_profile(QUICK)


def examples(number: int, **more: Any) -> settings:
    """Settings of a property that wants this many examples; the quick profile tries at most `FEW`."""
    quick = settings.get_current_profile_name() == QUICK
    return settings(max_examples=min(number, FEW) if quick else number, **more)
