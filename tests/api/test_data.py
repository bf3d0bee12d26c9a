"""Frames of a data folder from Python: what they hold, beside whom they can be read, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

from crane_core import api
from crane_core.pipeline.places import DataFolder


@pytest.fixture
def data(folder: DataFolder) -> str:
    return str(folder.path)


def test_frames_are_of_what_is_loaded(data: str) -> None:
    with api.open_data(data) as opened:
        cases, runs, verdicts = opened.cases(), opened.runs(), opened.verdicts()
        assert list(opened.benchmarks()["n_cases"]) == [111, 40]
        assert len(cases) == 151 and cases["crashing_instance"].notna().all()
        assert len(runs) == len(opened.sql("FROM runs")) > len(verdicts) > 2_000
        study = verdicts[
            (verdicts["benchmark"] == "junobench")
            & (verdicts["detector"] == "gpt-5")
        ]
        assert (
            len(study)
            and study["vote"].isin(["crash", "safe", "tie", "unanswered"]).all()
        )
        assert set(opened.labels()["annotator"]) == {"published human"}


def test_it_reads_while_another_process_holds_the_database(data: str) -> None:
    program = f"""
import sys
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import data_folder
store = prepare(data_folder({data!r}))
print("open", flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with api.open_data(data) as opened:
            assert len(opened.cases()) == 151
        holder.stdin.close()
    assert holder.returncode == 0


def test_refusals_carry_a_remedy(data: str) -> None:
    with (
        api.open_data(data) as opened,
        pytest.raises(api.CraneError) as refused,
    ):
        opened.sql("DROP TABLE runs")
    assert refused.value.remedy
    with pytest.raises(api.CraneError):
        api.open_data("/dev/null/none")
