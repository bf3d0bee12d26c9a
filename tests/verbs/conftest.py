"""What tests of verbs run on: a store of three pairs, unless they are about all that ships."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from crane_core.pipeline.places import DataFolder
from tests.spoken import Run, speaker


@pytest.fixture
def folder(small_folder: DataFolder) -> DataFolder:
    """A data folder of the test's own with three pairs; not for a verb in another process, which would load all."""
    return small_folder


@pytest.fixture
def whole_folder(prepared_folder: DataFolder, tmp_path: Path) -> DataFolder:
    """A data folder of the test's own with all embedded data."""
    return DataFolder(
        Path(shutil.copytree(prepared_folder.path, tmp_path / "data"))
    )


@pytest.fixture
def run(folder: DataFolder, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a verb on the test's own data folder, in this process."""
    return speaker(folder.path, capsys)
