"""Refusals travel between processes whole: message, remedy, and what else they carry."""

from __future__ import annotations

import pickle

import pytest

from crane_core.detectors.bounded_tool import ToolStoppedError
from crane_core.errors import CellRaisedError, CraneError, DetectorError


@pytest.mark.parametrize(
    "error",
    [
        DetectorError("The tool is missing.", remedy="Install it."),
        ToolStoppedError("The tool was too slow.", remedy="Try again."),
        CellRaisedError("Code cell 3 raised.", remedy="Fix it.", cell=3),
    ],
)
def test_an_error_comes_back_from_another_process_as_it_was(error: CraneError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))
