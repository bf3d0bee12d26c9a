"""LLM judges on the campaign's page: which guideline they had, and a row per person in words."""

from __future__ import annotations

from dataclasses import replace

from crane_core.annotation.label_set import study_labels
from crane_core.pipeline.agreement.campaign_judges import (
    CampaignJudge,
    counted_words,
)
from crane_core.ui.campaigns.result import judge_words, labels_note, shown
from crane_core.ui.words import literal
from tests.own_labels import FOUR, TWO

ROW = {
    "judge": "judge gpt-5 on pilot, repetition 1", "person": "pilot: ana", "n": 35, "n_cases": 12,
    "percent": 0.914, "percent_low": 0.8, "percent_high": 0.97, "percent_why": None,
    "kappa": 0.85, "kappa_low": 0.7, "kappa_high": 0.95, "kappa_why": None,
    "n_both": 40, "n_more": 8,
    "alone": 0.319, "alone_low": 0.19, "alone_high": 0.48,
    "powered": 0.33, "powered_low": 0.21, "powered_high": 0.46,
}  # fmt: skip


def test_a_judge_under_an_older_guideline_says_so() -> None:
    judges = [
        CampaignJudge("judge *a* on pilot", "0123456789ab", "judge *a*"),
        CampaignJudge("judge b on pilot", "ba9876543210", "judge b"),
    ]
    older, newer = judge_words(judges, "ba9876543210", {}, 0.8)
    assert older.startswith(
        "judge \\*a\\* on pilot: guideline 0123456789ab; ba9876543210 is in force now; not certified"
    )
    assert newer.startswith(
        "judge b on pilot: guideline ba9876543210, in force; not certified"
    )


def test_a_row_has_every_number_with_its_n_and_interval() -> None:
    assert shown(ROW, "pilot", study_labels()) == {
        "Person": "ana",
        "Judge": "judge gpt-5, repetition 1",
        "Items": "35",
        "Agreement": "91.4% (80.0 to 97.0%)",
        "Cohen's kappa": "0.85 (0.70 to 0.95)",
        "Correct, person only": "31.9% (19.0 to 48.0%)",
        "Correct, with the judge": "33.0% (21.0 to 46.0%)",
        "Both + judge": "40 + 8",
    }


def test_final_labels_and_undefined_values_have_dashes() -> None:
    nothing = dict.fromkeys(
        (
            "n_both",
            "n_more",
            "alone",
            "powered",
            "kappa",
            "kappa_low",
            "kappa_high",
        )
    )
    row = shown(
        ROW | nothing | {"person": "pilot: final"}, "pilot", study_labels()
    )
    assert (row["Person"], row["Cohen's kappa"]) == ("final", "–")
    assert {
        row[name]
        for name in (
            "Correct, person only",
            "Correct, with the judge",
            "Both + judge",
        )
    } == {"–"}


def test_a_value_without_an_interval_says_so() -> None:
    row = shown(
        ROW
        | {
            "percent": 0.0,
            "percent_why": "every resample has one value",
            "kappa_why": "too few",
        },
        "pilot",
        study_labels(),
    )
    assert (row["Agreement"], row["Cohen's kappa"]) == (
        "0.0% (no interval)",
        "0.85 (no interval)",
    )


def test_labels_of_a_campaign_have_a_mean_credit_and_without_any_credit_no_estimate() -> (
    None
):
    assert {"Credit, person only", "Credit, with the judge"} < set(
        shown(ROW, "pilot", FOUR)
    )
    assert "Credit, with the judge: prediction-powered" in labels_note(FOUR)
    words = (
        "Credit: the mean over the labels (correct 1, partial 0.5, wrong 0; a judge's unverifiable 0; "
        "unclear: left out)."
    )
    assert counted_words(FOUR) == words
    assert labels_note(FOUR).endswith(literal(words))
    silent = replace(
        TWO, labels=tuple(replace(label, credit=None) for label in TWO.labels)
    )
    assert list(shown(ROW, "pilot", silent)) == [
        "Person",
        "Judge",
        "Items",
        "Agreement",
        "Cohen's kappa",
    ]
    why = "The labels of this campaign have no credit, so there is no share of correct diagnoses to estimate."
    assert labels_note(silent).endswith(literal(why))
    assert "Correct, with the judge" in labels_note(
        study_labels()
    ) and "credit" not in labels_note(study_labels())
