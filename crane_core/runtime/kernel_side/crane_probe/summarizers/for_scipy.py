"""scipy.sparse: shape, format, dtype, and the elements that are stored.

Knows the attributes in which sparse matrices and arrays keep their data. Refuses to make one dense.
"""

from __future__ import annotations

from typing import Any

from ..anatomy import instance_dict, is_kind, module_of, mro_of, name_of
from ..bounds import Facts, merged
from ..contents import arrays
from . import for_numpy

_FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


def sparse(value: Any, look: Any) -> Facts:
    """Shape; format and dtype; how many elements are stored, their range and NaN."""
    held = instance_dict(value)
    stored: Any = held.get("data", None)
    facts: Facts = {
        # `shape` is a property; `_shape` is where all formats keep it.
        "structure": {"shape": list(held["_shape"])},
        "representation": {"format": _format(value)},
    }
    np = arrays.numpy()
    if type(stored) is np.ndarray and stored.dtype.kind in arrays.NUMERIC:
        return {"plus": merged(facts, _stored(stored, held["_shape"], look))}
    # A dok matrix is a dict in older releases of scipy, and holds one in newer.
    kept = held.get("_dict", value)
    if is_kind(kept, dict):
        facts["structure"]["n_stored"] = dict.__len__(kept)
    dtype = held.get("dtype", held.get("_dtype"))
    return {
        "plus": merged(
            facts,
            {"representation": {"dtype": str(dtype)}}
            if dtype is not None
            else {},
        )
    }


def _stored(stored: Any, shape: tuple[int, ...], look: Any) -> Facts:
    numbers = for_numpy.numbers(stored.reshape(-1), look)
    values = merged(
        numbers.get("values", {}), numbers["plus"].get("values", {})
    )
    told = {
        key: values[key]
        # What is not stored is 0, so distinct values and types would mislead.
        for key in (
            "has_nan",
            "n_nan",
            "has_inf",
            "value_range",
            "not_computed",
        )
        if key in values
    }
    size = 1
    for length in shape:
        size *= int(length)
    return {
        "structure": {
            "n_stored": int(stored.size),
            "density": round(stored.size / size, 6) if size else 0.0,
        },
        "representation": {"dtype": str(stored.dtype)},
        "values": {"stored": told},
    }


def _format(value: Any) -> str:
    # Classes are named after their format in all releases: csr_matrix, csr_array, _csr_base.
    names = [
        name_of(kind)
        for kind in mro_of(type(value))
        if module_of(kind).startswith("scipy.sparse")
    ]
    return next(
        (each for name in names for each in _FORMATS if each in name.lower()),
        names[0] if names else "",
    )


def shape(value: Any) -> tuple[int, ...] | None:
    """The shape of a sparse matrix or array; None for other objects of scipy."""
    found = instance_dict(value).get("_shape")
    return (
        tuple(int(length) for length in found) if type(found) is tuple else None
    )


SHAPE = shape
SUMMARIZERS = dict.fromkeys(("_spbase", "spmatrix"), sparse)
