"""Second labels drawn by chance, from the command to the result: weighted shares, weighted agreement, what is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from crane_core.annotation.order import Showing
from crane_core.annotation.outcome import Provenance
from crane_core.annotation.rounds import RoundKind
from crane_core.pipeline.agreement.agreement import (
    PERCENT,
    ComparedVerdicts,
    agreement_table,
    common_items,
)
from crane_core.pipeline.agreement.labelled import labelled_verdicts
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.campaigns.label_frame import label_frame
from crane_core.pipeline.campaigns.labelling import LabelStore, adjudicate
from crane_core.pipeline.campaigns.status import (
    CampaignStatus,
    campaign_status,
    open_words,
    status_words,
)
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from tests.spoken import Run, speaker

CREATE = (
    "create pilot --benchmark minibench --experiment ours --annotators ana,ben "
    "--design all --overlap adaptive --second-share 0.5 --repeats 0 --seed 20261128077"
)


@pytest.fixture
def run(answered: DataFolder, capsys: pytest.CaptureFixture[str]) -> Run:
    return speaker(answered.path, capsys, "campaign")


def doubtful(item: str) -> bool:
    return int(item, 16) % 3 == 0


def label(folder: DataFolder, *, as_second: bool = False) -> None:
    """Everything dealt: first labels are correct; second ones of doubtful items say wrong."""
    desk = LabelStore(folder, "pilot")
    for annotator in desk.plan.annotators:
        for showing in desk.plan.orders[annotator]:
            if showing in desk.journal(annotator).given:
                continue
            is_wrong = as_second and doubtful(showing.item)
            act = {
                "event": f"{annotator}-{showing.item}",
                "action": "label",
                "item": showing.item,
                "showing": showing.showing,
                "label": "wrong" if is_wrong else "correct",
            }
            assert desk.take(annotator, [act]).refused == {}


def finished(folder: DataFolder, run: Run) -> CampaignStatus:
    """Two labels where chance wanted them, doubtful items decided as wrong, and the lock."""
    assert run(CREATE).code == 0
    label(folder)
    drawn = run("second pilot --by lea")
    assert drawn.code == 0
    assert "of 48 items were drawn for a second label" in drawn.out
    label(folder, as_second=True)
    status = campaign_status(folder, "pilot")
    for dispute in status.waiting:
        adjudicate(
            folder,
            status.plan,
            dispute.item,
            label="wrong",
            reason="b",
            by="lea",
        )
    assert run("lock pilot --by lea").code == 0
    return campaign_status(folder, "pilot")


def test_the_plan_says_how_second_labels_are_drawn(run: Run) -> None:
    shown = run(f"{CREATE} --dry-run")
    assert "each item by one of them, and 50% by a second one" in shown.out
    assert "with a chance of 20% or more" in shown.out
    assert "Stop rule: none" in shown.out


def test_shares_are_corrected_by_what_second_labels_changed(
    answered: DataFolder, run: Run
) -> None:
    status = finished(answered, run)
    assert status.result is not None
    assert status.outcomes[Provenance.SINGLE] > 0
    assert status.stop is None
    second = status.plan.second
    weight = {
        item: 1 / one.chance for item, one in second.items() if one.is_drawn
    }
    wrong = sum(w for item, w in weight.items() if doubtful(item))
    found = status.result.whole.shares["wrong"]
    # Each stratum is labelled in full, so the correction is the weighted share of pairs that differ.
    assert found.value == pytest.approx(wrong / sum(weight.values()))
    assert found.low < found.value < found.high
    assert found.n == 48
    assert "wrong: " in status_words(status)


def test_agreement_weights_pairs_by_their_chances(
    answered: DataFolder, run: Run
) -> None:
    plan = finished(answered, run).plan
    store = prepare(answered)
    labels = label_frame(store, answered)
    items = common_items(
        labelled_verdicts(labels, verdict_frame(store)),
        ["pilot: ana", "pilot: ben"],
        ComparedVerdicts.DIAGNOSES,
    )
    store.close()
    drawn = {i: one for i, one in plan.second.items() if one.is_drawn}
    weight = {item: 1 / one.chance for item, one in drawn.items()}
    agreed = sum(w for item, w in weight.items() if not doubtful(item))
    (row,) = agreement_table(items, [PERCENT]).to_dict("records")
    assert row["value"] == pytest.approx(agreed / sum(weight.values()))
    assert row["n"] == len(drawn)


def test_items_that_wait_for_a_draw_are_told_and_block_the_lock(
    answered: DataFolder, run: Run
) -> None:
    assert run(CREATE).code == 0
    label(answered)
    status = campaign_status(answered, "pilot")
    assert "48 items wait for the draw of second labels" in open_words(status)
    refused = run("lock pilot --by lea")
    assert refused.code == 1
    assert "wait for the draw" in refused.err
    assert run("second pilot --by lea").code == 0
    assert kept_campaign(answered, "pilot").plan.rounds[-1].kind is (
        RoundKind.SECOND
    )
    again = run("second pilot --by lea")
    assert again.code == 1
    assert "no item with a first label waits for a draw" in again.err


def test_an_export_before_the_lock_hides_the_draw(
    answered: DataFolder, run: Run, tmp_path: Path
) -> None:
    assert run(CREATE).code == 0
    label(answered)
    assert run("second pilot --by lea").code == 0
    assert run(f"export pilot --out {tmp_path}/out").code == 0
    told = (tmp_path / "out" / "rounds.jsonl").read_text()
    assert '"second": {}' in told


def test_a_judge_without_labels_is_refused(run: Run) -> None:
    assert run(CREATE).code == 0
    refused = run("second pilot --by lea --judge nobody")
    assert refused.code == 1
    assert "No judge 'nobody' labelled items of pilot" in refused.err


def test_first_showings_alone_are_drawn_for(
    answered: DataFolder, run: Run
) -> None:
    """A hidden repeat does not count as a second label."""
    assert run(CREATE.replace("--repeats 0 ", "--repeats 0.5 ")).code == 0
    label(answered)
    assert run("second pilot --by lea").code == 0
    plan = kept_campaign(answered, "pilot").plan
    assert len(plan.second) == len(plan.items)
    for item, one in plan.second.items():
        had = [
            name
            for name, order in plan.orders.items()
            if Showing(item, 1) in order
        ]
        assert len(had) == 1 + one.is_drawn
