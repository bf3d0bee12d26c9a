"""What inputs cost against how often they lead to the truth, in words. Knows no page."""

import pandas as pd

from crane_core.pipeline.results.input_cost import QUESTIONS
from crane_core.pipeline.rows import as_rows
from crane_core.stats.outcome import Outcome
from crane_core.ui.words import count, interval, percent, setting_short

COSTS = {"tokens": "tokens", "usd": "price"}
AXES = {
    "tokens": ("tokens per question, mean", ",.0f"),
    "usd": (f"USD per {QUESTIONS:,} questions, input", "$,.2f"),
}
ABOUT = (
    "Filled and joined: no other mark is right as often for less, or more often for the same. Lines: 95% intervals by "
    "case; marks whose intervals overlap may change places.{left_out}\n\n"
    "Tokens are those of the input, {how} with o200k_base; the input of the published study is its text without the "
    "words around it. The price is the list price of input tokens; output is not counted, because the published "
    "answers do not say how long they were. Detection alone, majority of answers; a question is one answer on one "
    "instance."
)


def mark_labels(known: pd.DataFrame) -> list[str]:
    """The input beside each mark; of those that cost nothing, which stand above each other, only of the best."""
    return [
        setting_short(row["setting"]) if row["cost"] or row["is_front"] else ""
        for row in as_rows(known)
    ]


def finding(known: pd.DataFrame, rate: str, cost: str) -> str:
    """The front in a sentence, from its cheapest to its best; known: of `with_front`."""
    front = as_rows(known[known["is_front"]])
    parts = [
        f"{_name(row)} with {percent(row['value'])} for {cost_words(row, cost)} "
        f"({interval(row['low'], row['high'])}, n {count(row['n'])})"
        for row in front
    ]
    return (
        f"**Highest {rate} for its {COSTS[cost]}:** {', then '.join(parts)}; 95% intervals by case. "
        f"The differences between these marks are {Outcome.NOT_TESTED}."
    )


def title(known: pd.DataFrame, rate: str, cost: str) -> str:
    """The best and the cheapest of the front in a sentence; known: of `with_front`, with some row."""
    front = as_rows(known[known["is_front"]])
    least, best = front[0], front[-1]
    first = f"{_name(best)} has the highest {rate} ({percent(best['value'])}, {cost_words(best, cost)})"
    if len(front) == 1:
        return first
    return f"{first}; {_name(least)} has {percent(least['value'])} for {cost_words(least, cost)}"


def _name(row: dict[str, str]) -> str:
    return f"{row['detector_title']} {setting_short(row['setting'])}"


def cost_words(row: dict[str, float], cost: str) -> str:
    """What a question, or a number of questions, costs."""
    if cost == "tokens":
        return f"{count(round(row['tokens']))} tokens"
    return f"${row['usd']:.2f} per {QUESTIONS:,}"
