"""The budgets: at most which ratio each question may have, and how quiet a machine has to be to ask it."""

from __future__ import annotations

import math
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks._figures import Figure

BUDGETS = Path(__file__).with_name("budgets.toml")


class BudgetError(ValueError):
    """budgets.toml is not as it should be; the message says where."""


class Quiet(NamedTuple):
    """`cores` a machine must have, `others` of them that other programs may take, `spread` of the repeats."""

    cores: float
    others: float
    spread: float


class Budgets(NamedTuple):
    """`ratios` is benchmark to question to its largest ratio."""

    quiet: Quiet
    ratios: dict[str, dict[str, float]]


class Outcome(StrEnum):
    HELD = "held"
    OVER = "over"
    NOT_MEASURED = "not measured"
    NO_BUDGET = "no budget"


class Told(NamedTuple):
    """What a benchmark told of a question; `figure` is None where it told nothing, `why` is of what was not measured.

    `others` are the cores that other programs took meanwhile.
    """

    benchmark: str
    question: str
    figure: Figure | None
    others: float
    outcome: Outcome
    why: str = ""


def read_budgets(path: Path = BUDGETS) -> Budgets:
    """Raises BudgetError."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BudgetError(f"{path.name} cannot be read: {error}") from error
    quiet = document.pop("quiet", {})
    if not isinstance(quiet, dict) or quiet.keys() != set(Quiet._fields):
        raise BudgetError(
            f"{path.name}: [quiet] needs exactly {', '.join(Quiet._fields)}"
        )
    limits = {
        name: _above_zero(quiet, name, "quiet", path) for name in Quiet._fields
    }
    ratios: dict[str, dict[str, float]] = {}
    for benchmark, questions in document.items():
        if not isinstance(questions, dict) or not questions:
            raise BudgetError(
                f"{path.name}: [{benchmark}] needs a line for each question"
            )
        ratios[benchmark] = {
            question: _above_zero(questions, question, benchmark, path)
            for question in questions
        }
    if not ratios:
        raise BudgetError(f"{path.name} has no budget")
    return Budgets(Quiet(**limits), ratios)


def _above_zero(
    table: dict[str, Any], name: str, where: str, path: Path
) -> float:
    value = table[name]
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not 0 < value < math.inf
    ):
        raise BudgetError(
            f"{path.name}: {name!r} of [{where}] must be a number "
            f"above 0, "
            f"not {value!r}"
        )
    return float(value)


def judged(
    benchmark: str,
    figures: list[Figure],
    others: float,
    budgets: Budgets,
    cores: int,
) -> list[Told]:
    """Every figure of a benchmark, and every question of its budget that has none. A noisy machine never passes."""
    ratios = budgets.ratios.get(benchmark, {})
    told = []
    for one in figures:
        ratio = ratios.get(one.question)
        why = noise(one, others, budgets.quiet, cores)
        if why:
            outcome = Outcome.NOT_MEASURED
        elif ratio is None:
            outcome = Outcome.NO_BUDGET
        else:
            outcome = Outcome.HELD if one.ratio <= ratio else Outcome.OVER
        told.append(Told(benchmark, one.question, one, others, outcome, why))
    silent = ratios.keys() - {one.question for one in figures}
    return told + [
        Told(
            benchmark,
            question,
            None,
            others,
            Outcome.NOT_MEASURED,
            "the benchmark did not tell it",
        )
        for question in sorted(silent)
    ]


def noise(one: Figure, others: float, quiet: Quiet, cores: int) -> str:
    """Why a time says nothing about the program, "" where it does."""
    if not one.is_timed:
        return ""
    if cores < quiet.cores:
        return f"{cores} core of the {quiet.cores:.0f} that the budget is for"
    if others > quiet.others:
        return (
            f"other programs took {others:.2f} cores, at most "
            f"{quiet.others:.2f} may be"
        )
    if one.spread > quiet.spread:
        return (
            f"the repeats differ by {one.spread:.0%}, at most "
            f"{quiet.spread:.0%} may be"
        )
    return ""
