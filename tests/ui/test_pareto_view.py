"""The sentence over the costs names the front, the cheapest first."""

from __future__ import annotations

import pandas as pd

from crane_core.ui.pareto_words import finding, title


def test_the_front_is_told_from_its_cheapest() -> None:
    known = pd.DataFrame(
        {
            "detector_title": ["pylint", "GPT-5", "Gemini 2.5 Flash"],
            "setting": ["code", "code", "runtime"],
            "value": [0.568, 0.761, 0.734],
            "low": [0.5, 0.7, 0.67],
            "high": [0.63, 0.81, 0.79],
            "n": [222, 222, 30],
            "tokens": [0.0, 880.0676, 1458.6],
            "usd": [0.0, 1.1001, 0.4376],
            "is_front": [True, True, False],
        }
    )
    told = finding(known, "accuracy", "tokens")
    assert told == (
        "**Highest accuracy for its tokens:** pylint −RT with 56.8% for 0 tokens (50.0 to 63.0%, n 222), then "
        "GPT-5 −RT with 76.1% for 880 tokens (70.0 to 81.0%, n 222); 95% intervals by case. The "
        "differences between these marks are not tested."
    )
    assert title(known, "accuracy", "tokens") == (
        "GPT-5 −RT has the highest accuracy (76.1%, 880 tokens); pylint −RT has 56.8% for 0 tokens"
    )
    assert title(known[:1], "F1", "tokens") == (
        "pylint −RT has the highest F1 (56.8%, 0 tokens)"
    )
    assert "$1.10 per 1,000" in finding(known, "accuracy", "usd")
