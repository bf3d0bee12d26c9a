"""SciPy is tried without surrogates: sparse arrays are made of known values; results are unknown."""

from __future__ import annotations

from typing import Any, Mapping

import scipy
import scipy.sparse

from .made import NotMadeError, no_name, nothing_told

PACKAGE = scipy
named = no_name
read = nothing_told


def make(facts: Mapping[str, Any], _fill: int) -> Any:
    """Raises NotMadeError: no object of SciPy is made of facts."""
    raise NotMadeError(facts["type"])
