"""`power`: what a campaign or benchmark of a given size could reveal, before anybody makes it."""

import argparse
import math
from typing import NamedTuple

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.errors import CraneError
from crane_core.pipeline.places import DataFolder
from crane_core.stats.design_effect import design_effect
from crane_core.stats.power import (
    ALPHA,
    POWER,
    mcnemar_power,
    minimum_detectable_difference,
)
from crane_core.terminal import give_either, in_columns

NAME = "power"
HELP = "compute the power of a comparison and its minimum detectable difference, by number of cases"
ONLY_READS = True
EXAMPLE = "python -m crane_core power --gained 0.14 --lost 0.06 --comparisons 3"
_COUNT = arguments.integer(1, 1_000_000)
_HEADER = (
    "cases",
    "instances",
    "independent",
    "power",
    "minimum detectable difference",
)


class Planned(NamedTuple):
    """A benchmark of `n_cases`; `n_independent` instances tell as much, were they independent. Shares in 0..1."""

    n_cases: int
    n_instances: int
    n_independent: int
    power: float
    detectable: float


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the expected gains and losses (shares in 0..1), and the sizes and correlations to plan with."""
    add(
        verb,
        option(
            "--gained",
            "share of instances that are right only with the new input",
            arguments.share,
            required=True,
        ),
        option(
            "--lost",
            "share of instances that are right only with the old input",
            arguments.share,
            required=True,
        ),
    )
    add(
        verb.add_argument_group("what is assumed"),
        option(
            "--cases",
            "default: 20,50,111,200,500",
            _counts,
            default=[20, 50, 111, 200, 500],
        ),
        option(
            "--instances",
            "instances per case (default: 2, crashing and fixed)",
            _COUNT,
            default=2,
        ),
        option(
            "--correlation",
            "correlation of the changes within a case, 0 to 1 (default: 0)",
            arguments.share,
            default=0.0,
        ),
        option(
            "--comparisons",
            "number of comparisons tested together; uses Holm's strictest step",
            _COUNT,
            default=1,
        ),
    )
    add(
        verb,
        flag("--json", "print JSON to stdout"),
    )


def _counts(text: str) -> list[int]:
    return [_COUNT(part) for part in text.split(",")]


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Print power and minimum detectable difference for each number of cases; returns 0.

    Raises CraneError if the two shares are not possible together.
    """
    if not 0 < chosen.gained + chosen.lost <= 1:
        raise CraneError(
            f"{chosen.gained:g} gained and {chosen.lost:g} lost are not valid shares.",
            remedy="Their sum is the share of instances that change; it must be above 0 and at most 1.",
        )
    # Holm's first step, which is the strictest, so the plan holds in whichever order the tests reject.
    alpha = ALPHA / chosen.comparisons
    rows = [
        planned(
            n,
            chosen.instances,
            correlation=chosen.correlation,
            gained=chosen.gained,
            lost=chosen.lost,
            alpha=alpha,
        )
        for n in chosen.cases
    ]
    document = [_plain(row) for row in rows]
    give_either(document, _in_words(rows, alpha), as_json=chosen.json)
    return 0


def planned(
    n_cases: int,
    per_case: int,
    correlation: float,
    gained: float,
    lost: float,
    alpha: float,
) -> Planned:
    """Power of the exact McNemar test over as many instances as count once those of a case are alike (Kish 1965)."""
    n_instances = n_cases * per_case
    n_independent = math.floor(
        design_effect([per_case], correlation).n_effective * n_cases
    )
    share = gained + lost
    return Planned(
        n_cases,
        n_instances,
        n_independent,
        mcnemar_power(n_independent, share, gained - lost, alpha=alpha),
        minimum_detectable_difference(n_independent, share, alpha=alpha),
    )


def _plain(row: Planned) -> dict[str, float | int | None]:
    return row._asdict() | {
        # JSON has no NaN: no difference is detectable with so few cases.
        "detectable": None if math.isnan(row.detectable) else row.detectable
    }


def _in_words(rows: list[Planned], alpha: float) -> str:
    cells = [_HEADER, *(_cells(row) for row in rows)]
    lines = in_columns(cells, right=range(len(_HEADER)))
    test = f"Exact McNemar test at alpha = {alpha:.4g}; minimum detectable difference with {POWER:.0%} power."
    return "\n".join([*lines, test])


def _cells(row: Planned) -> tuple[str, ...]:
    smallest = (
        "none"
        if math.isnan(row.detectable)
        else f"{100 * row.detectable:.1f} pp"
    )
    return (
        f"{row.n_cases:,}",
        f"{row.n_instances:,}",
        f"{row.n_independent:,}",
        f"{row.power:.0%}",
        smallest,
    )
