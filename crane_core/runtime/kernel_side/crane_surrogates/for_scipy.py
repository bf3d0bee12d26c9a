"""SciPy is tried without surrogates: sparse arrays are made of known values; results are unknown."""

from __future__ import annotations

import scipy
import scipy.sparse

from .no_surrogates import make, named, read

PACKAGE = scipy

__all__ = ["PACKAGE", "make", "named", "read"]
