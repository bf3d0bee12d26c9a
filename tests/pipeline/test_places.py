"""Where things lie: the named folder, else the environment's, else the checkout's."""

from __future__ import annotations

from pathlib import Path

import pytest

from crane_core.errors import StoreError
from crane_core.pipeline.places import CHECKOUT, data_folder, embedded


def test_the_named_folder_wins_over_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRANE_DATA", str(tmp_path / "environment"))
    assert data_folder().path == tmp_path / "environment"
    assert data_folder(tmp_path / "named").path == tmp_path / "named"
    assert (tmp_path / "named").is_dir()


@pytest.mark.parametrize("value", ["", None])
def test_else_it_is_data_of_the_checkout(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("CRANE_DATA", raising=False)
    if value is not None:
        monkeypatch.setenv("CRANE_DATA", value)
    assert data_folder().path == CHECKOUT / "data"


def test_relative_and_home_paths_become_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (
        data_folder("here").path
        == data_folder("~/here").path
        == tmp_path / "here"
    )


def test_a_folder_that_cannot_be_is_refused_with_a_remedy(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("not a folder")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(
            StoreError, match="cannot be used as the data folder"
        ) as caught:
            data_folder(place)
        assert "CRANE_DATA" in caught.value.remedy


def test_what_changes_lies_in_the_folder_and_what_ships_in_the_checkout(
    tmp_path: Path, root: Path
) -> None:
    folder = data_folder(tmp_path)
    places = (folder.database, folder.sources, folder.ledger, folder.downloads)
    assert [place.name for place in places] == [
        "crane.duckdb",
        "sources",
        "ledger",
        "downloads",
    ]
    assert {place.parent for place in places} == {tmp_path}
    assert list(embedded()) == [
        "published",
        "minibench",
        "minibench-states",
        "minibench-results",
    ]
    assert all(
        path.is_dir() and path.is_relative_to(root / "data")
        for path in embedded().values()
    )
