"""What tests of the probe need by their parameters."""

from __future__ import annotations

import pytest

from tests.optional import mark_by_parameters


def pytest_itemcollected(item: pytest.Item) -> None:
    """What parameters import is known before anything runs, so that `make test` leaves it out."""
    mark_by_parameters(item)
