"""What the published extractor says is laid out so that the rule of decisive facts can be applied to it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import _peer
from benchmarks._decisive import Fact, is_told
from benchmarks._peer import (
    PeerMissingError,
    laid_out,
    peer_expression,
    peer_folder,
)
from benchmarks._peer_look import plain


class Unprintable:
    def __str__(self) -> str:
        return "a thing"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((np.float64(8.3), np.int64(4)), [8.3, 4]),
        ({("a", 1): {"b", "a"}}, {"('a', 1)": ["a", "b"]}),
        (
            {"is": np.bool_(True), "not": False, "none": None},
            {"is": True, "not": False, "none": None},
        ),
        (np.dtype("int16"), "int16"),
        (np.str_("x"), "x"),
        (Unprintable(), "a thing"),
    ],
)
def test_numbers_of_numpy_become_numbers_and_objects_their_text(
    value: Any, expected: Any
) -> None:
    told = plain(value)
    assert told == expected
    assert json.loads(json.dumps(told)) == expected


def answer(**entries: Any) -> str:
    return json.dumps({"seconds": 0.5, "state": entries})


def test_attributes_count_for_every_variable_that_they_may_be_of() -> None:
    seconds, state = laid_out(
        answer(X_fit={"shape": [3, 2]}, __method__X_fit_shape={"length": 2})
    )
    assert seconds == 0.5
    assert state["variables"] == {"X_fit": {"shape": [3, 2]}}
    assert state["accesses"] == {
        "X.fit_shape": {"length": 2},
        "X_fit.shape": {"length": 2},
    }
    assert is_told(
        Fact("", "X_fit", "list(X_fit.shape)", [3, 2], ([3, 2],), None), state
    )


def test_peer_that_cannot_be_installed_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(_peer, "PEER", "no/such/package")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(PeerMissingError, match="cannot be installed"):
        peer_folder()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_expression_gives_the_answer_of_a_package_in_a_folder_and_leaves_no_name(
    tmp_path: Path,
) -> None:
    package = tmp_path / "crane_llm" / "nb_extension"
    package.mkdir(parents=True)
    (package / "runinfo.py").write_text(
        "def collect_live_runinfo(target_code):\n    return {target_code: {'n': 1}}\n"
    )
    expression = peer_expression(tmp_path, "x + 'y'")
    code = f"import sys; before = {{*globals()}}; told = {expression}; print(told, {{*globals()}} - before, *sys.path)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert """"state": {"x + 'y'": {"n": 1}}""" in done.stdout
    assert str(tmp_path) not in done.stdout
    assert (
        "{'before', 'told'}" in done.stdout
        or "{'told', 'before'}" in done.stdout
    )
