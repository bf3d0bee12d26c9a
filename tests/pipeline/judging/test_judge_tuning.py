"""`judge tune`: questions over HTTP, a rule chosen on one half of the cases, certified on the other, and told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core.domain import JudgeCertificate
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.judging.certificates import (
    NOT_CERTIFIED,
    bias_words,
    certificate_words,
    certificates,
)
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from tests.spoken import Run, speaker

LABELS = {"correct": "correct", "partial": "partial", "wrong": "wrong"}


@pytest.fixture
def run(answered: DataFolder, capsys: pytest.CaptureFixture[str]) -> Run:
    return speaker(answered.path, capsys)


def said_in_normal_order(folder: DataFolder, judge: str) -> dict[str, str]:
    """The judge's label of each verdict, by instance, detector and setting."""
    store = prepare(folder)
    rows = store.cursor().execute(
        "SELECT instance_id || detector || setting, label FROM judgements "
        "WHERE annotator = ? AND presentation = 'normal'",
        [judge],
    )
    found = dict(rows.fetchall())
    store.close()
    return found


def ana_labels_as(folder: DataFolder, judge: str) -> None:
    """Ana gives each item the label that this judge gave it with the known cause first."""
    plan = kept_campaign(folder, "pilot").plan
    said = said_in_normal_order(folder, judge)
    desk = LabelStore(folder, "pilot")
    for place, showing in enumerate(plan.orders["ana"]):
        verdict = plan.item(showing.item).verdict
        name = f"{verdict.instance_id}{verdict.detector}{verdict.setting}"
        act = {
            "event": f"ana-{place:06}",
            "action": "label",
            "item": showing.item,
            "showing": 1,
            "label": LABELS.get(said[name], "wrong"),
        }
        assert desk.take("ana", [act]).refused == {}


def test_the_variant_that_agrees_is_chosen_certified_and_told_with_its_labels(
    run: Run, answered: DataFolder, tmp_path: Path, base_url: str
) -> None:
    create = "--annotators ana --benchmark minibench --experiment ours"
    assert (
        run(
            f"campaign create pilot {create} --design all --repeats 0 --judge-gate 0.75 --seed 7"
        ).code
        == 0
    )
    other = tmp_path / "other.txt"
    other.write_text("Label it otherwise.\n{{body}}", "utf-8")
    ask = f"judge --campaign pilot --model Egret --base-url {base_url}"
    first = json.loads(run(f"{ask} --json").out)
    assert first["certificate"] is None
    second = json.loads(run(f"{ask} --json", "--template", str(other)).out)
    assert second["annotator"] != first["annotator"]
    assert NOT_CERTIFIED in run(ask).out
    ana_labels_as(answered, second["annotator"])

    tune = "judge tune --campaign pilot --person ana --by lead"
    found = json.loads(run(f"{tune} --gate 0.55 --json").out)
    assert (found["judge"], found["orders"], found["needed"]) == (
        second["annotator"],
        "normal",
        1,
    )
    assert found["person"] == "pilot: ana" and found["certified_by"] == "lead"
    assert (found["sensitivity"], found["specificity"]) == (1.0, 1.0)
    # Two judges, each with one label in either order and two in both.
    assert found["n_rules"] == 2 * (1 + 1 + 2)
    assert found["tuned_cases"] + found["n_cases"] == 12
    # Six cases leave much open, however well the labels agree.
    assert 0.3 < found["sensitivity_bound"] < 0.8 and not found["passed"]
    # The person follows the judge's normal order, of own answers as of others.
    assert found["self_preference"] == pytest.approx(0)
    assert -1 <= found["order_bias_low"] < found["order_bias_high"] <= 1

    unknown = run(f"{tune} --judge", "judge of nobody")
    assert (
        "There is no judge 'judge of nobody' here; there are: " in unknown.err
    )
    told = run(tune).out
    # The gate of the campaign's plan, where none is typed.
    assert "tested and not certified" in told and "gate 75.0%" in told
    assert "attempt 2 against the same person" in told
    kept = certificates(answered)[second["annotator"]]
    assert (kept.gate, kept.attempt, kept.is_passed) == (0.75, 2, False)
    assert certificate_words(kept) in run(ask, "--template", str(other)).out
    assert NOT_CERTIFIED in run(ask).out, "the variant that was not chosen"
    assert run("rebuild").code == 0, "the ledger's other lines are loaded"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("tune --fake", "asks no model, so that --fake"),
        ("tune --model gpt-5 --dry-run", "asks no model, so that --model"),
        ("tune --repetitions 3", "asks no model, so that --repetitions"),
        ("tune --budget-usd 2", "asks no model, so that --budget-usd"),
        ("--fake --person ana", "--person belongs to `judge tune`"),
        ("--fake --gate 0.9", "--gate belongs to `judge tune`"),
        ("tune --benchmark minibench", "No LLM judge has labels here"),
    ],
)
def test_what_cannot_be_certified_is_one_line_with_a_remedy(
    run: Run, more: str, words: str
) -> None:
    spoken = run(f"judge {more}")
    last = spoken.err.splitlines()[-1]
    assert (spoken.code, spoken.out) == (1, "")
    assert last.startswith("error: ") and words in last


CERTIFICATE = JudgeCertificate(
    judge="judge x",
    person="published human",
    certified_at="2026-11-27T10:00:00.000+00:00",
    certified_by="ana",
    gate=0.8,
    seed=1,
    attempt=1,
    orders="both",
    needed=2,
    n_labels=3,
    n_rules=6,
    tuned_cases=50,
    n_cases=51,
    n_left_out=4,
    n_correct=90,
    sensitivity=0.95,
    sensitivity_bound=0.9,
    n_other=60,
    specificity=0.9,
    specificity_bound=0.8,
)


def test_a_certificate_in_words_has_each_rate_with_its_bound_and_n() -> None:
    assert certificate_words(CERTIFICATE) == (
        "certified on 2026-11-27 against published human, gate 80.0%: sensitivity 95.0%, at least 90.0% (90 correct), "
        "specificity 90.0%, at least 80.0% (60 others); 51 cases, without the 50 that chose among 6 rules; "
        "rule: correct where at least 2 of 3 labels say so, both orders of the texts; "
        "4 items without all labels left out"
    )
    assert certificate_words(CERTIFICATE, 0.8) == certificate_words(CERTIFICATE)
    assert certificate_words(CERTIFICATE, 0.9).startswith(
        "not certified here, where the plan wants 90.0%; certified elsewhere on 2026-11-27"
    )
    assert [words.split(":")[0] for words in bias_words(CERTIFICATE)] == [
        "Order bias",
        "Self-preference",
    ]
    assert all("not estimated" in words for words in bias_words(CERTIFICATE))
