"""Facts about the numbers of an array or a column, in the words of the published extractor and beyond."""

from __future__ import annotations

from typing import Any

from ..bounds import Facts, stated
from . import arrays
from .arrays import DistinctValues, Ranges
from .sequences import CATEGORIES, value_type


def range_facts(found: Ranges | None, at: int, size: int, look: Any) -> Facts:
    """has_nan and value_range of one row of Ranges; n_nan and has_inf where there are any."""
    # The published extractor's words for it, which prompts of the paper have.
    if not size:
        return {"value_range": "empty array", "has_nan": False}
    if found is None:
        return {"not_computed": f"range and NaN of {size} values"}
    n_nan = int(found.n_nan[at])
    facts: Facts = {"has_nan": n_nan > 0}
    # Of NaN alone there is no range.
    if n_nan < size:
        facts["value_range"] = [
            look.scalar(arrays.plain(bound[at]))
            for bound in (found.low, found.high)
        ]
    return facts


def more_facts(found: Ranges | None, at: int, size: int) -> Facts:
    """How many are NaN, and whether any is infinite: beyond the published extractor."""
    if found is None or not size:
        return {}
    n_nan = int(found.n_nan[at])
    ends = (
        [arrays.plain(bound[at]) for bound in (found.low, found.high)]
        if n_nan < size
        else []
    )
    facts = stated(n_nan=n_nan)
    return (
        dict(facts, has_inf=True)
        # Infinity is the greatest or least value, so the ends tell without another pass.
        if any(end in (float("inf"), -float("inf")) for end in ends)
        else facts
    )


def fraction_facts(found: DistinctValues | None, look: Any) -> Facts:
    """The least number of distinct values that are not integers, and one of them."""
    if found is None or found.values.dtype.kind != "f":
        return {}
    np = arrays.numpy()
    finite = found.values[np.isfinite(found.values)]
    others = finite[finite != np.floor(finite)]
    return (
        {
            "n_fractions": len(others),
            "fraction": look.scalar(arrays.plain(others[0])),
        }
        if len(others)
        else {}
    )


def distinct_facts(found: DistinctValues | None, look: Any) -> Facts:
    """num_unique, the values where they are few, and what kind of values that makes."""
    if found is None:
        return {"num_unique": "not computed"}
    values = found.values
    if not len(values):
        return {"value_type": "empty or all NaN", "num_unique": 0}
    # Where looking stopped, the number is only a lower bound.
    facts: Facts = {
        "num_unique" if found.is_all else "num_unique_at_least": len(values)
    }
    if found.is_all and len(values) <= look.limits.values:
        facts["unique_values"] = [
            look.scalar(arrays.plain(value)) for value in values
        ]
    if values.dtype.kind in arrays.NUMERIC:
        # One more than the limit is enough to tell categories from a continuous number.
        return dict(
            facts, value_type=value_type(set(values[: CATEGORIES + 1].tolist()))
        )
    return dict(facts, value_type="times")
