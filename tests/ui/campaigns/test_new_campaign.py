"""The form of a new campaign offers what can be labelled now, also what a command made since the form was drawn."""

from __future__ import annotations

import pytest

from benchmarks._server import serve
from crane_core.annotation.plan import Overlap
from crane_core.pipeline.places import DataFolder
from crane_core.ui.campaigns.new_campaign import OVERLAP_WORDS
from tests.spoken import speaker
from tests.ui.visits import Visitor

MISSING = "their texts are not loaded"


def test_every_way_of_dealing_out_items_has_its_words() -> None:
    """Without, the form of a new campaign fails for every lead who opens it."""
    assert set(OVERLAP_WORDS) == set(Overlap)


@pytest.mark.slow
def test_a_run_that_ends_while_the_app_runs_is_offered(
    folder: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    detect = speaker(folder.path, capsys, "detect")
    with serve(folder.path) as address:
        visitor = Visitor(address)
        assert visitor.sees("campaigns").shows(MISSING)
        some = (
            "--setting",
            "code",
            "--benchmark",
            "minibench",
            "--instances",
            "numpy_*",
        )
        assert detect("--detector", "fake", *some, "--runs", "1").code == 0
        offered = visitor.sees("campaigns")
        assert not offered.shows(MISSING)
        assert offered.shows("verdicts can be labelled")
