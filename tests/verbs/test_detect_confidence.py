"""Confidences of a run from its raw replies: what counts, what is counted as left out, and the words of the section."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest

from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.confidence import (
    NO_CHANCE,
    ConfidenceKind,
    RunConfidence,
    run_confidence,
)
from crane_core.prompts import confidence
from crane_core.storage.answers import RunKey
from crane_core.ui.runs.confidence_view import (
    confidence_figures,
    confidence_findings,
    none_words,
)
from tests.spoken import Run


def said(stated: object) -> str:
    """Always a crash: right on half of the instances."""
    document = {"reasoning": "x", "detection": True, "confidence": stated}
    return json.dumps(document)


def confidence_of(run: Run, folder: DataFolder, *replies: str) -> RunConfidence:
    with fake_server(FakePlan(replies=replies)) as base_url:
        asked = run(
            "detect --detector llm --model heron --setting code --benchmark minibench --instances numpy_*",
            "--template", "with-confidence", "--runs", "2", "--concurrency", "1",
            "--base-url", base_url, "--json",
        )  # fmt: skip
    job = json.loads(asked.out)["job"]
    store = prepare_or_read(folder)
    try:
        return run_confidence(store, RunKey("minibench", job, "heron", "code"))
    finally:
        store.close()


def test_answers_without_a_usable_confidence_are_counted(
    run: Run, folder: DataFolder
) -> None:
    found = confidence_of(run, folder, said(80), said(0.9))
    assert found.right.n + found.left_out.total() == found.n_answers
    assert set(found.left_out) == {confidence.UNCLEAR}
    assert found.stated == pytest.approx(0.8)
    p = found.right.value
    assert found.brier.value == pytest.approx(0.04 * p + 0.64 * (1 - p))
    assert found.bins["x"].tolist() == pytest.approx([0.8])
    assert found.risks["coverage"].tolist() == [1.0]
    assert found.risks["value"].tolist() == pytest.approx([1 - p])
    [stated, brier, surest] = confidence_findings(found)
    assert stated.startswith(
        "Stated confidence: **80.0%** on average; right: **"
    )
    assert f"Brier score: **{found.brier.value:.3f}**" in brier
    assert "(confidence from 80%, 100.0% of all)" in surest
    assert [
        len(figure.panels) for figure in confidence_figures(found, "heron")
    ] == [1, 1]


def test_a_run_without_confidences_says_so(
    run: Run, folder: DataFolder
) -> None:
    found = confidence_of(run, folder, '{"reasoning": "x", "detection": true}')
    assert found.right.n == 0 and found.bins.empty and found.risks.empty
    assert found.left_out == Counter({confidence.NONE: found.n_answers})
    assert none_words(found) == (
        f"None of the {found.n_answers} answers of this run carries a usable confidence ({found.n_answers}: no "
        "confidence stated), so there is no calibration to show."
    )


def test_the_probability_of_the_tokens_is_another_confidence(
    run: Run, folder: DataFolder
) -> None:
    """The fake server tells chances by the length of a word: of `true` exp(-1/4), of `false` exp(-1/2)."""
    with fake_server(FakePlan(seed=3)) as base_url:
        asked = run(
            "detect --detector llm --model heron --setting code --benchmark minibench --instances numpy_*",
            "--logprobs", "--runs", "2", "--concurrency", "1", "--base-url", base_url, "--json",
        )  # fmt: skip
    key = RunKey("minibench", json.loads(asked.out)["job"], "heron", "code")
    store = prepare_or_read(folder)
    try:
        tokens = run_confidence(store, key, ConfidenceKind.TOKENS)
        stated = run_confidence(store, key)
        crashes = store.cursor().execute(
            "SELECT crashes, chance FROM replies JOIN runs ON experiment = job AND replies.instance_id = "
            "runs.instance_id AND replies.run_index = runs.run_index"
        ).fetchall()  # fmt: skip
    finally:
        store.close()
    assert {round(chance, 6) for _, chance in crashes} <= {
        round(math.exp(-1 / 4), 6),
        round(math.exp(-1 / 2), 6),
    }
    assert all((chance > 0.7) == crashes for crashes, chance in crashes)
    assert not stated.right.n
    assert tokens.right.n == tokens.n_answers == len(crashes)
    assert not tokens.left_out
    [first, *_] = confidence_findings(tokens)
    assert first.startswith("Probability of the tokens: **")
    figures = confidence_figures(tokens, "heron")
    assert [figure.name for figure in figures] == [
        "confidence_tokens",
        "risk_coverage_tokens",
    ]


def test_answers_without_probabilities_are_counted(
    run: Run, folder: DataFolder
) -> None:
    plain = '{"reasoning": "x", "detection": true}'
    with fake_server(FakePlan(replies=(plain,))) as base_url:
        asked = run(
            "detect --detector llm --model heron --setting code --benchmark minibench --instances numpy_1_*",
            "--runs", "1", "--base-url", base_url, "--json",
        )  # fmt: skip
    key = RunKey("minibench", json.loads(asked.out)["job"], "heron", "code")
    store = prepare_or_read(folder)
    try:
        found = run_confidence(store, key, ConfidenceKind.TOKENS)
    finally:
        store.close()
    assert found.left_out == Counter({NO_CHANCE: found.n_answers})
