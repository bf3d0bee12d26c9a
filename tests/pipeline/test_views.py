"""Saved views: the ledger holds each act, the list is what they come to, and no person sees another's."""

from __future__ import annotations

from contextlib import closing

import pytest

from crane_core import ledger
from crane_core.errors import ViewError
from crane_core.pipeline.audit import is_private
from crane_core.pipeline.loading.load import load_ledger, prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.views import (
    LONGEST_QUERY,
    MOST,
    PageView,
    remove,
    rename,
    save,
    views,
)

TORCH = PageView("cases", "library=torch")
ALL = PageView("results", "")


def test_views_are_saved_renamed_and_removed_per_person(
    empty: DataFolder,
) -> None:
    save(empty, "ana", "Torch", TORCH)
    save(empty, "ana", "Torch", TORCH)  # the same again is not written again
    save(empty, "ana", "  All   results ", ALL)
    save(empty, "", "Of everybody", ALL)
    rename(empty, "ana", "Torch", "Torch cases")
    assert list(views(empty, "ana").items()) == [
        ("Torch cases", TORCH),
        ("All results", ALL),
    ]
    assert dict(views(empty, "")) == {"Of everybody": ALL}
    assert dict(views(empty, "ben")) == {}
    remove(empty, "ana", "Torch cases")
    assert list(views(empty, "ana")) == ["All results"]
    (file,) = (
        path for path in ledger.files(empty.ledger) if path.stem == "ana"
    )
    assert len(ledger.tail(file).records) == 4


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "two\x00"])
def test_a_name_must_be_readable(empty: DataFolder, name: str) -> None:
    with pytest.raises(ViewError, match="a name of 1 to 80 letters"):
        save(empty, "ana", name, ALL)


def test_what_cannot_be_done_is_told(empty: DataFolder) -> None:
    for n in range(MOST):
        save(empty, "ana", f"view {n}", ALL)
    with pytest.raises(ViewError, match="which is the most"):
        save(empty, "ana", "one more", ALL)
    with pytest.raises(ViewError, match="already"):
        rename(empty, "ana", "view 1", "view 2")
    with pytest.raises(ViewError, match="no view 'gone'"):
        remove(empty, "ana", "gone")
    with pytest.raises(ViewError, match="letters"):
        save(empty, "ben", "long", PageView("cases", "x" * (LONGEST_QUERY + 1)))
    with pytest.raises(ViewError, match="not a name that views are kept for"):
        save(empty, "../ana", "out", ALL)


def test_the_database_does_not_load_them(folder: DataFolder) -> None:
    with closing(prepare(folder)) as store:
        save(folder, "ana", "Torch", TORCH)
        assert is_private("views/ana.jsonl")
        assert load_ledger(store, folder) == 0
