"""Frames of a data folder from Python: what they hold, beside whom they can be read, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

from crane_core import api
from crane_core.errors import StoreError
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


@pytest.mark.slow
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


def test_a_leaderboard_is_the_one_that_the_report_prints(data: str) -> None:
    with api.open_data(data) as opened:
        found = opened.leaderboard("junobench", credit="correct diagnosis")
        alone = opened.leaderboard("junobench")
    first = found.iloc[0]
    assert (first["model"], first["setting"]) == ("gpt-5", "runtime")
    assert first["accuracy"] == pytest.approx(170 / 222)
    assert (first["rank_best"], first["rank_worst"]) == (1, 3)
    assert (first["judged_by"], first["n"]) == ("published human", 222)
    assert alone["judged_by"].isna().all()
    assert (
        alone["why_unranked"].isna().sum() > found["why_unranked"].isna().sum()
    )


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        ({"benchmark": "nowhere"}, "benchmark"),
        ({"credit": "much"}, "credit"),
        ({"vote": "loudest"}, "vote"),
        ({"credit": "correct diagnosis", "annotator": "ana"}, "annotator"),
    ],
)
def test_a_leaderboard_of_what_is_unknown_is_refused(
    data: str, asked: dict[str, str], refused: str
) -> None:
    with (
        api.open_data(data) as opened,
        pytest.raises(StoreError, match=f"is no {refused} here") as left,
    ):
        opened.leaderboard(**{"benchmark": "junobench"} | asked)
    assert left.value.remedy.startswith("Choose from: ")


def test_refusals_carry_a_remedy(data: str) -> None:
    with (
        api.open_data(data) as opened,
        pytest.raises(api.CraneError) as refused,
    ):
        opened.sql("DROP TABLE runs")
    assert refused.value.remedy
    with pytest.raises(api.CraneError):
        api.open_data("/dev/null/none")
