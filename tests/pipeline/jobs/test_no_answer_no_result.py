"""A job that ended without one answer stands on Runs, and nowhere among results, comparisons or tables."""

from __future__ import annotations

import pytest

from crane_core.llm.fake_server import FakePlan, ServerFault, fake_server
from crane_core.pipeline.detection.score import scores
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.measures import Credit, VoteRule, rate_table
from crane_core.pipeline.results.run_comparison import compare_runs
from crane_core.pipeline.results.run_list import run_list
from crane_core.stats.rates import RATES
from crane_core.storage.answers import RunKey
from tests.spoken import speaker

ON = "--setting code --benchmark minibench --instances numpy_1_* --runs 1"


@pytest.mark.parametrize(
    "fault",
    [
        ServerFault.REFUSAL,
        pytest.param(ServerFault.ENDLESS_THINKING, marks=pytest.mark.slow),
        pytest.param(ServerFault.EMPTY, marks=pytest.mark.slow),
    ],
)
def test_job_without_an_answer_is_a_run_and_no_result(
    folder: DataFolder, capsys: pytest.CaptureFixture[str], fault: ServerFault
) -> None:
    run = speaker(folder.path, capsys)
    with fake_server(FakePlan(faults={fault: 1})) as base_url:
        spoken = run(
            f"detect --detector llm --model heron --base-url {base_url} {ON}",
        )
    assert "0 of 2 questions answered" in spoken.out
    store = prepare(folder)
    try:
        verdicts = verdict_frame(store)
        [path] = (folder.ledger / "runs").glob("*.jsonl")
        listed = run_list(store, verdicts)
        [row] = listed[listed["experiment"] == path.stem].to_dict("records")
        assert (row["n_answers"], row["n_unanswered"], row["is_job"]) == (
            0,
            2,
            True,
        )
        mine = verdicts[verdicts["experiment"] == path.stem]
        for rate in RATES:
            found = rate_table(
                mine,
                by=["detector"],
                rate=rate,
                rule=VoteRule.MAJORITY,
                credit=Credit.DETECTION,
            )
            assert found["n"].sum() == 0 and found["value"].notna().sum() == 0
        assert all(
            each.rates["Accuracy"].n == 0 for each in scores(store, path.stem)
        )
        other = listed[
            (listed["benchmark"] == "minibench") & (listed["n_answers"] > 0)
        ].iloc[0]
        silent, answered = (
            RunKey(*(str(each[name]) for name in RunKey._fields))
            for each in (row, other)
        )
        found = compare_runs(verdicts, listed, answered, [silent])
        assert found.differences.empty and found.instances.empty
    finally:
        store.close()
