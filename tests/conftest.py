"""What every test may ask for: the checkout's root, and the Chromium that `make test` found."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def root() -> Path:
    """The top folder of the checkout."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def chromium() -> str | None:
    """Executable for playwright's `launch(executable_path=...)`; None lets playwright take its own."""
    named = os.environ.get("CRANE_CHROMIUM")
    return named or next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)
