"""The one rule by which numbers are rounded to be read: half up, on the exact ratio of counts.

Python's own formatting rounds the nearest binary number, so that 0.0725 may become "7.2" or "7.3".
"""

from fractions import Fraction
from math import floor

_LARGEST_WHOLE = 10**7
"""Ratios of counts up to this are recovered exactly from their float."""


def rounded(value: float | Fraction, decimals: int) -> Fraction:
    """Half away from zero. A float counts as the ratio of integers that it is nearest to."""
    exact = (
        value
        if isinstance(value, Fraction)
        else Fraction(value).limit_denominator(_LARGEST_WHOLE)
    )
    scale = 10**decimals
    size = floor(abs(exact) * scale + Fraction(1, 2))
    return Fraction(size if exact >= 0 else -size, scale)


def digits(
    value: float | Fraction, decimals: int, *, sign: bool = False
) -> str:
    """The rounded value as text with so many decimals; with `sign` a plus before what is not negative."""
    return f"{float(rounded(value, decimals)) + 0.0:{'+' if sign else ''}.{decimals}f}"
