"""Facts about the values of a tensor of any library: fewer published facts than for an array.

Knows the facts of for_numpy.py. Imports nothing: numpy is there when a tensor could be seen as an array.
"""

from __future__ import annotations

from typing import Any

from ..bounds import Facts
from ..contents.arrays import Ranges
from ..contents.number_facts import more_facts, range_facts
from . import for_numpy


def of_array(array: Any, look: Any) -> Facts:
    """has_nan, of a flat tensor value_info; range, counts of NaN and the elements of a small one as additions."""
    found = for_numpy.array(array, look)
    values, plus = dict(found.get("values", {})), found.get("plus", {})
    # The paper's extractor has no range for tensors, so that it is an addition.
    range_found = values.pop("value_range", None)
    more = dict(
        plus.get("values", {}),
        **({} if range_found is None else {"value_range": range_found}),
    )
    # For flat continuous ones it has.
    if (
        array.ndim == 1
        and values.get("value_info", {}).get("value_type") == "continuous"
    ):
        values["value_info"] = dict(
            values["value_info"], value_range=range_found
        )
    return {"values": values, "plus": dict(plus, values=more)}


def of_ranges(found: Ranges | None, size: int, look: Any) -> Facts:
    """has_nan and range of a tensor that was looked through in another way than as an array."""
    facts = range_facts(found, 0, size, look)
    range_found = facts.pop("value_range", None)
    more = dict(
        more_facts(found, 0, size),
        **({} if range_found is None else {"value_range": range_found}),
    )
    return {"values": facts, "plus": {"values": more}}
