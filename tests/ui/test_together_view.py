"""The sentences about combinations: better only where both tests say so."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.pipeline.results.combinations import Member, Way
from crane_core.ui.together_words import finding, finding_of_chosen

RULES, ONE, OTHER = Member("rules", "runtime"), Member("heron", "code"), Member("egret", "runtime")
NAMES = {RULES: "Certain-crash rules +RT", ONE: "Heron −RT", OTHER: "Egret +RT"}


def row(member: Member, p: float, *, difference: float = 0.05, way: Way = Way.CASCADE) -> dict[str, object]:
    return {"way": way, "members": (RULES, member), "best": member, "accuracy": 0.8, "alone": 0.8 - difference} | {
        "difference": difference, "low": 0.02, "high": 0.08, "p_holm": p, "p_by_case_holm": p, "n": 222, "n_asked": 172
    }  # fmt: skip


def test_the_finding_names_what_holds_up_and_counts_the_rest() -> None:
    said = finding(pd.DataFrame([row(ONE, 0.008), row(OTHER, 0.3)]), NAMES)
    assert said.startswith("Asked first, Certain-crash rules +RT raise the accuracy of **Heron −RT** from 75.0% to ")
    assert "p = 0.008" in said
    assert "about 172 of 222 instances" in said
    assert said.endswith("The other one is not better than its best member beyond chance.")
    assert "Egret" not in said
    many = finding(pd.DataFrame([row(ONE, 0.008), row(OTHER, 0.3), row(OTHER, 0.4)]), NAMES)
    assert many.endswith("Of the other 2, none is better than its best member beyond chance.")


@pytest.mark.parametrize("by_case", [0.04, 0.2])
def test_one_test_alone_supports_nothing(by_case: float) -> None:
    rows = pd.DataFrame([row(ONE, 0.01) | {"p_by_case_holm": by_case}])
    assert finding(rows, NAMES).startswith("No evidence") == (by_case > 0.05)


@pytest.mark.parametrize(
    ("p", "difference", "said"),
    [
        (0.0001, 0.05, "**Cascade is right more often than Heron −RT, the best single member**: 80.0% against 75.0%"),
        (
            0.2,
            0.05,
            "Cascade is right 80.0% of the time, Heron −RT alone 75.0% (+5.0 pp, 2.0 to 8.0 pp, p = 0.200)",
        ),
        (0.001, -0.05, "No way of combining them is right more often than Heron −RT alone (85.0%)"),
    ],
)
def test_the_best_way_in_a_sentence(p: float, difference: float, said: str) -> None:
    assert finding_of_chosen(pd.DataFrame([row(ONE, p, difference=difference)]), NAMES).startswith(said)
