"""A desk opens for every name that a campaign and an annotator may have."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import NAME, Design, DrawKind, Population
from crane_core.pipeline.campaigns.campaigns import drawn_plan, keep_campaign
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import open_store
from crane_core.ui import keys
from tests.ui.visits import Visitor

CAMPAIGNS = ("pilot", "pilot__2", "pilot_", "a" * 40)
ANNOTATORS = (
    "ana__b",
    "ana_",
    "a___",
    "0",
    "a.b",
    "a..",
    "ana.jsonl",
    "nul",
    "constructor",
    "plan",
    "b" * 40,
)


@pytest.fixture
def app(
    open_app: str,
    open_folder: DataFolder,
    answered_folder: DataFolder,
    tmp_path: Path,
) -> str:
    """An app with these campaigns. They are drawn beside it, because it holds its own database."""
    store = open_store(
        shutil.copy(answered_folder.database, tmp_path / "crane.duckdb")
    )
    try:
        for campaign in CAMPAIGNS:
            wanted = Population("minibench", "ours")
            request = CampaignRequest(
                campaign, ANNOTATORS, wanted, Design(DrawKind.ALL), seed=7
            )
            keep_campaign(open_folder, drawn_plan(store, request))
    finally:
        store.close()
    return open_app


def test_a_desk_opens_under_every_name(app: str) -> None:
    visits = [(CAMPAIGNS[1], name) for name in ANNOTATORS] + [
        (campaign, "ana_") for campaign in CAMPAIGNS
    ]
    for campaign, annotator in visits:
        seen = Visitor(app).sees(
            "annotate", f"campaign={campaign}&annotator={annotator}"
        )
        assert seen.shows("crane_desk"), (campaign, annotator)
        assert not seen.shows("exception {"), (campaign, annotator)
    for campaign in CAMPAIGNS:
        seen = Visitor(app).sees("campaigns", f"campaign={campaign}&decide=1")
        assert not seen.shows("exception {"), campaign


def test_no_two_desks_share_a_key_and_none_holds_what_streamlit_splits_at() -> (
    None
):
    names = [*CAMPAIGNS, *ANNOTATORS, "a_", "_".join("ab"), "a-b", "ab"]
    assert all(NAME.fullmatch(name) for name in names)
    found = [keys.desk(*pair) for pair in itertools.product(names, names)] + [
        keys.deciding(name) for name in names
    ]
    assert len(set(found)) == len(found)
    assert not any("_" in key for key in found)
