"""The sentences about combinations: gains and losses, as the tests decide them."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.pipeline.results.combinations import Member, Way
from crane_core.stats.outcome import outcome
from crane_core.ui.together_words import (
    adjusted_tests,
    changed_by_rules,
    finding,
    finding_of_chosen,
)

RULES, ONE, OTHER = (
    Member("rules", "runtime"),
    Member("heron", "code"),
    Member("egret", "runtime"),
)
NAMES = {RULES: "Certain-crash rules +RT", ONE: "Heron −RT", OTHER: "Egret +RT"}


def row(
    member: Member,
    p: float,
    *,
    difference: float = 0.05,
    way: Way = Way.CASCADE,
) -> dict[str, object]:
    return {"way": way, "members": (RULES, member), "best": member, "accuracy": 0.8, "alone": 0.8 - difference} | {
        "difference": difference, "low": 0.02, "high": 0.08, "p_holm": p, "p_by_case_holm": p, "n": 222, "n_asked": 172,
        "outcome": str(outcome(difference, [p])),
    }  # fmt: skip


def test_the_finding_names_gains_and_counts_the_rest() -> None:
    said = finding(pd.DataFrame([row(ONE, 0.008), row(OTHER, 0.3)]), NAMES)
    assert said == (
        "**Asking the rules first: 1 of 2 combinations gains, none loses, 1 without evidence**, "
        "against the better of the two alone. Gains: Heron −RT."
    )


def test_the_table_has_the_numbers_of_gains_and_losses_alone() -> None:
    rows = [row(ONE, 0.008), row(OTHER, 0.3)]
    [shown] = changed_by_rules(pd.DataFrame(rows), NAMES).to_dict("records")
    assert shown == {
        "After Certain-crash rules +RT": "Heron −RT",
        "Best alone": "75.0%",
        "Rules first": "80.0%",
        "Change": "+5.0 pp",
        "95% interval": "2.0 to 8.0 pp",
        "p (Holm)": "0.008",
        "Model asked": "172 of 222",
    }


def test_a_caption_names_the_test_of_each_row() -> None:
    rows = pd.DataFrame([row(ONE, 0.008), row(OTHER, 0.3)])
    assert adjusted_tests(rows.assign(name=["Heron −RT", "Egret +RT"])) == (
        "Test: exact McNemar test, Holm-adjusted over 2 comparisons; Heron −RT: p = 0.008 (by case p = 0.008), gain; "
        "Egret +RT: p = 0.300 (by case p = 0.300), no evidence."
    )


def test_harm_is_told() -> None:
    said = finding(
        pd.DataFrame([row(ONE, 0.008, difference=-0.1), row(OTHER, 0.3)]), NAMES
    )
    assert said == (
        "**Asking the rules first: none of 2 combinations gains, 1 loses, 1 without evidence**, "
        "against the better of the two alone. Losses: Heron −RT."
    )


@pytest.mark.parametrize(
    ("p", "difference", "said"),
    [
        (
            0.0001,
            0.05,
            "**Cascade is right more often than Heron −RT, the best single member**: 80.0% against 75.0% (+5.0 pp, 2.0 "
            "to "
            "8.0 pp, p < 0.001). The one comparison is a gain.",
        ),
        (
            0.2,
            0.05,
            "Cascade is right 80.0% of the time, Heron −RT alone 75.0% (+5.0 pp, 2.0 to 8.0 pp, p = 0.200): no "
            "evidence. "
            "The one comparison is without evidence.",
        ),
        (
            0.001,
            -0.05,
            "No way of combining them is right more often than Heron −RT alone (85.0%); the best is cascade, 80.0%. "
            "The "
            "one comparison is a loss.",
        ),
    ],
)
def test_the_best_way_in_a_sentence(
    p: float, difference: float, said: str
) -> None:
    assert (
        finding_of_chosen(
            pd.DataFrame([row(ONE, p, difference=difference)]), NAMES
        )
        == said
    )
