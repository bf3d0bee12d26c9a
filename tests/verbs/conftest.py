"""What tests of verbs run on: a store of three pairs, unless they are about all that ships."""

from __future__ import annotations

import pytest

from crane_core.pipeline.places import DataFolder


@pytest.fixture
def folder(small_folder: DataFolder) -> DataFolder:
    """A data folder of the test's own with three pairs; not for a verb in another process, which would load all."""
    return small_folder


@pytest.fixture
def execution_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a verb that executes notebooks which came from elsewhere."""
    monkeypatch.setenv("CRANE_ALLOW_EXECUTION", "1")
