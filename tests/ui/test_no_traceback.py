"""No page shows a Python error, whatever state the campaigns and the store are in.

Of a campaign that is open, test_roles_of_pages.py shows it: every page there, and every role.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from benchmarks._server import serve
from crane_core.pipeline.campaigns.campaigns import campaign_file, lock_campaign
from crane_core.pipeline.places import DataFolder
from crane_core.ui.navigation import page_files
from tests.ui.lab import LISTED, PILOT, Lab, copied

PEOPLE = ("ana", "lea")
DESKS = (
    "campaign=pilot&annotator=ana",
    "campaign=pilot&annotator=ana&own=all",
    "campaign=none&annotator=ana",
)
PARTS = ("Progress", "People+and+guideline", "Result")
VISITS = [
    *((who, page, "") for who, page in product(PEOPLE, page_files())),
    *(("ana", "annotate", one) for one in DESKS),
    *(("lea", "campaigns", f"campaign=pilot&part={one}") for one in PARTS),
]
"""Who, page, query."""


def visit_everything(lab: Lab) -> None:
    shown = []
    for who, page, query in VISITS:
        seen = lab.visitor(f"{who}@lab.example").sees(page, query)
        assert seen.elements, (who, page, query)
        if seen.shows("exception {"):
            shown.append((who, page, query))
    assert shown == []


@contextmanager
def served(folder: DataFolder) -> Iterator[Lab]:
    roles = folder.path.with_name("roles.toml")
    roles.write_text(LISTED)
    with serve(folder.path, CRANE_ROLES=str(roles)) as address:
        yield Lab(address, folder, roles)


@pytest.mark.slow
def test_no_page_shows_a_traceback_of_a_damaged_or_locked_campaign(
    campaign_folder: DataFolder, tmp_path: Path
) -> None:
    """The server starts with the damage; while it runs the campaign is repaired, and locked."""
    folder = copied(campaign_folder, tmp_path)
    file = campaign_file(folder, PILOT)
    whole = file.read_bytes()
    file.write_text(
        '{"record": "campaign", "campaign": "pilot", "plan": "{}"}\n'
    )
    with served(folder) as lab:
        visit_everything(lab)
        file.write_bytes(whole)
        lock_campaign(folder, PILOT, by="lea")
        visit_everything(lab)
        assert (
            lab.visitor("lea@lab.example")
            .sees("campaigns", f"campaign={PILOT}")
            .shows("Locked by")
        )


@pytest.mark.slow
def test_no_page_shows_a_traceback_before_anything_is_stored(
    tmp_path: Path,
) -> None:
    """No store, no ledger: the first start of all."""
    folder = DataFolder(tmp_path / "data")
    folder.path.mkdir()
    with served(folder) as lab:
        visit_everything(lab)
