"""The cells that a live kernel has run, and what the probe and the rules learn of them.

Knows IPython's history of inputs. Refuses to know what a verdict is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

# A line, not the cell: `%load_ext crane_core` often is above code that ran.
_OURS = re.compile(
    r"^[ \t]*%(?:crane\b|(?:re)?load_ext[ \t]+crane_core\b).*$", re.MULTILINE
)
OUR_CELL = re.compile(r"\s*%%crane\b")


class Ran(NamedTuple):
    """An input that was run; `number` counts as the notebook does, from 1."""

    number: int
    source: str


def ran_before(inputs: Sequence[str], count: int) -> list[Ran]:
    """The inputs before number `count`, without lines of these magics, and without the cells that they only looked at.

    `inputs` are IPython's, the first of which is empty. One that raised counts too: what it did before has happened.
    """
    told = (
        (number, _OURS.sub("", source))
        for number, source in enumerate(inputs[:count])
        if number
    )
    return [
        Ran(number, source)
        for number, source in told
        # Cells under %%crane were only looked at: what they define is not in the kernel.
        if source.strip() and not OUR_CELL.match(source)
    ]


def request(ran: Sequence[Ran], target: str) -> dict[str, Any]:
    """What the probe gets, as of a notebook file (runtime/plan.py)."""
    cells = [
        {
            "code": cell.source,
            "notebook_index": place,
            "executed": True,
            "order": place,
        }
        for place, cell in enumerate(ran)
    ]
    return {"target": target, "cells": cells}
