"""No page shows a Python error to anybody, whatever state the campaigns and the store are in."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path

import pytest

from benchmarks._server import serve
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, Kind, Population
from crane_core.identity.key import signing_key
from crane_core.identity.passes import Purpose, new_pass, signed
from crane_core.pipeline.campaigns.campaigns import campaign_file, drawn_plan, keep_campaign, lock_campaign
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.ui.navigation import page_files
from tests.ui.visits import Visitor

ROLES = """
"vic@lab.example" = "viewer"
"ana@lab.example" = "annotator"
"cyd@lab.example" = "annotator"
"lea@lab.example" = "lead"
"ada@lab.example" = "admin"
"""
EVERYBODY = ("", "vic", "ana", "cyd", "lea", "ada")
DESKS = ("campaign=pilot&annotator=ana", "campaign=pilot&annotator=ana&own=all", "campaign=none&annotator=ana")


@pytest.fixture
def folder(answered_folder: DataFolder, tmp_path: Path) -> DataFolder:
    """A blind campaign in which ana labels."""
    own = DataFolder(Path(shutil.copytree(answered_folder.path, tmp_path / "data")))
    store = prepare(own)
    wish = CampaignRequest("pilot", ("ana", "ben"), Population("minibench", "ours"), Design(Kind.ALL), seed=7)
    try:
        keep_campaign(own, drawn_plan(store, wish))
    finally:
        store.close()
    (tmp_path / "roles.toml").write_text(ROLES)
    return own


def open_and_blind(folder: DataFolder) -> None:
    """The campaign as it is."""


def locked(folder: DataFolder) -> None:
    lock_campaign(folder, "pilot", by="lea")


def damaged(folder: DataFolder) -> None:
    campaign_file(folder, "pilot").write_text('{"record": "campaign", "campaign": "pilot", "plan": "{}"}\n')


def fresh(folder: DataFolder) -> None:
    """No store, no ledger: the first start of all."""
    shutil.rmtree(folder.path)
    folder.path.mkdir()


def visits(people: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Who, page, query."""
    yield from ((who, page, "") for who, page in product(people, page_files()))
    yield from (("ana", "annotate", query) for query in DESKS)


@pytest.mark.parametrize("state", [open_and_blind, locked, damaged, fresh])
def test_no_page_of_any_role_shows_a_traceback(state: Callable[[DataFolder], None], folder: DataFolder) -> None:
    state(folder)
    key = signing_key(folder.path)
    shown = []
    with serve(folder.path, CRANE_ROLES=str(folder.path.parent / "roles.toml")) as address:
        for who, page, query in visits(EVERYBODY if state is open_and_blind else ("ana", "lea")):
            session = signed(new_pass(f"{who}@lab.example", seconds=600), Purpose.SESSION, key)
            visitor = Visitor(address, f"crane_session={session}" if who else "")
            seen = visitor.sees(page, query)
            assert seen.elements, (who, page, query)
            if seen.shows("exception {"):
                shown.append((who, page, query))
    assert shown == []
