"""The published input texts, where the archive is available."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

RUNTIME_FOLDER = "/executed_code_runinfo/"


@pytest.fixture(scope="session")
def input_texts(root: Path) -> dict[str, str]:
    """All 444 published input texts by their path in the archive."""
    archive = root.parent / "shared" / "upstream" / "crane_llm.tar.gz"
    if not archive.is_file():
        pytest.skip(
            f"the published archive {archive.name} is not beside the checkout"
        )
    texts: dict[str, str] = {}
    with tarfile.open(archive) as members:
        for member in members:
            file = (
                members.extractfile(member)
                if "/llms_inputs/" in member.name
                else None
            )
            if file is not None:
                texts[member.name] = file.read().decode("utf-8")
    return texts


@pytest.fixture(scope="session")
def runtime_texts(input_texts: dict[str, str]) -> dict[str, str]:
    return {
        path: text
        for path, text in input_texts.items()
        if RUNTIME_FOLDER in path
    }
