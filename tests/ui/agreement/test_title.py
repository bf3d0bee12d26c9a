"""The title of Agreement: what the interval allows to say, names where they are short, and no claim from few labels."""

from __future__ import annotations

from typing import Any

import pytest

from crane_core.pipeline.campaigns.label_frame import LabellerKind
from crane_core.stats.agreement import Why
from crane_core.ui.agreement.coefficients import coefficients_html
from crane_core.ui.agreement.phrases import in_caption
from crane_core.ui.agreement.title import (
    agreement_title,
    nothing_title,
    subject_words,
)


def row(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    why: str | None = None,
    coefficient: str = "Cohen's kappa",
) -> dict[str, Any]:
    return {
        "coefficient": coefficient,
        "source": "",
        "value": value,
        "low": low,
        "high": high,
        "n": 30,
        "n_cases": 20,
        "why": why,
    }


@pytest.mark.parametrize(
    ("found", "title"),
    [
        (
            row(0.16, 0.06, 0.3),
            "ana and ben agree little more often than by chance: kappa 0.16 (95% 0.06 to 0.30)",
        ),
        (
            row(-0.29, -0.41, -0.12),
            "ana and ben agree less often than by chance: kappa −0.29 (95% −0.41 to −0.12)",
        ),
        (
            row(-0.29, -0.61, 0.08),
            "No evidence that ana and ben agree more often than by chance: kappa −0.29 (95% −0.61 to 0.08)",
        ),
        (
            row(1.0, why=Why.NO_WIDTH),
            "ana and ben agree on all 30 diagnoses; too few for an interval of kappa",
        ),
        (
            row(0.4, why=Why.NO_WIDTH),
            "Too few cases to compare ana and ben with chance: kappa 0.40, 30 diagnoses",
        ),
        (
            row(None, why=Why.NO_VARIATION),
            "ana and ben give all 30 diagnoses one label, so kappa is not defined",
        ),
        (
            row(0.5, 0.4, 0.6, coefficient="Krippendorff's alpha, ordinal"),
            "ana and ben agree more often than by chance: Krippendorff's alpha 0.50 (95% 0.40 to 0.60)",
        ),
    ],
)
def test_the_interval_decides_the_sentence(
    found: dict[str, Any], title: str
) -> None:
    assert agreement_title(found, "ana and ben", "diagnoses") == title


@pytest.mark.parametrize(
    ("found", "title"),
    [
        (
            row(0.16, 0.06, 0.3),
            "ana and ben agree on 84.9%, little more often than by chance: kappa 0.16 (95% 0.06 to 0.30)",
        ),
        (
            row(0.66, 0.6, 0.7),
            "ana and ben agree on 84.9%, more often than by chance: kappa 0.66 (95% 0.60 to 0.70)",
        ),
        (
            row(-0.29, -0.41, -0.12),
            "ana and ben agree on 84.9%, less often than by chance: kappa −0.29 (95% −0.41 to −0.12)",
        ),
    ],
)
def test_of_two_the_share_stands_before_what_chance_makes_of_it(
    found: dict[str, Any], title: str
) -> None:
    said = agreement_title(found, "ana and ben", "diagnoses", 0.849)
    assert said == title


def test_long_names_are_told_by_their_kind() -> None:
    human, judge = LabellerKind.HUMAN, LabellerKind.JUDGE
    long = ["published human", "published judge, repetition 1"]
    assert subject_words(["ana", "ben"], [human, human]) == "ana and ben"
    assert subject_words(["pilot: ana", "pilot: ben"], [human, human]) == (
        "ana and ben"
    )
    assert subject_words(["a: ana", "b: ben"], [human, human]) == (
        "a: ana and b: ben"
    )
    assert subject_words(long, [human, judge]) == "a person and an LLM judge"
    assert subject_words([*"abc"], [human, human, judge]) == (
        "2 people and an LLM judge"
    )
    assert subject_words(["j" * 20] * 2, [judge, judge]) == (
        "2 passes of LLM judges"
    )
    assert nothing_title("a person and an LLM judge", "diagnoses") == (
        "A person and an LLM judge have none of the diagnoses in common"
    )


def test_intervals_stand_on_one_scale_that_begins_below_the_lowest() -> None:
    html = coefficients_html([row(-0.3, -0.5, -0.1), row(0.5, 0.4, 0.6)])
    # From -0.6 to 1: 0 lies at 37.5%, -0.5 at 6.3%.
    assert html.count('<u style="left:37.5%"></u>') == 2
    assert "left:6.3%" in html
    assert ">−0.60</span>" in html
    assert "no evidence" not in html


def test_a_coefficient_without_value_or_interval_says_so() -> None:
    html = coefficients_html(
        [row(None, why="<b>none</b>"), row(1.0, why=Why.NO_WIDTH)]
    )
    assert "not defined, &lt;b&gt;none&lt;/b&gt;" in html
    assert html.count("too little data for an interval") == 2


def test_a_caption_says_every_value_with_its_interval_and_n() -> None:
    rows = [row(0.08, -0.02, 0.36), row(1.0), row(None, why="no labels")]
    assert in_caption(["A", "B", "C"], rows) == (
        "A 0.08 (−0.02 to 0.36), n 30; B 1.00, no interval, n 30; C not defined: no labels, n 30."
    )
