"""Arrays, scalars and random numbers of numpy taken apart and put together again; numpy itself is not imported."""

from __future__ import annotations

import pickle
import sys
from typing import Any

from .kinds import NotComparableError, Parts, StateKind


def _numpy() -> Any:
    return sys.modules["numpy"]


def _owner(value: Any) -> Any:
    """The array whose memory a view shows, else None."""
    numpy = _numpy()
    return value.base if isinstance(value.base, numpy.ndarray) else None


def _address(value: Any) -> int:
    return int(value.__array_interface__["data"][0])


def _holds_objects(dtype: Any) -> bool:
    """Whether an array's items are objects of Python."""
    return bool(dtype.kind == "O")


def _array_parts(value: Any) -> Parts:
    """dtype, shape, strides, offset in the owner and its address; then whether it may be written, an owner's bytes."""
    numpy = _numpy()
    bare = value.view(numpy.ndarray)
    owner = _owner(value)
    offset = -1 if owner is None else _address(value) - _address(owner)
    # A view of another array is another view, even where it has the address of one that is gone.
    shown = 0 if owner is None else id(owner)
    form = (repr(bare.dtype), bare.shape, bare.strides, offset, shown)
    writable = bool(value.flags.writeable)
    if owner is not None:
        return (*form, writable, b""), [bare.dtype, owner]
    flat = bare.ravel(order="K")
    if _holds_objects(bare.dtype):
        return (*form, writable, b""), [bare.dtype, None, *flat.tolist()]
    # Pointers stand in the memory of these: a record with objects, and numpy's own strings of any length.
    if bare.dtype.hasobject or bare.dtype.kind == "T":
        raise NotComparableError(f"an array of {bare.dtype}")
    if not bare.dtype.itemsize or not bare.size:
        return (*form, writable, b""), [bare.dtype, None]
    return (*form, writable, memoryview(flat.view("u1"))), [bare.dtype, None]


def _restore_array(value: Any, plain: Any, children: list[Any]) -> None:
    numpy = _numpy()
    bare = value.view(numpy.ndarray)
    writable, content = plain[5:]
    if children[1] is None and bare.size:
        if not value.flags.writeable:
            value.flags.writeable = True
            bare = value.view(numpy.ndarray)
        flat = bare.ravel(order="K")
        if flat.size and not numpy.shares_memory(flat, bare):
            raise ValueError("its memory has gaps")
        _fill(flat, children, content)
    if bool(value.flags.writeable) != writable:
        value.flags.writeable = writable


def _fill(flat: Any, children: list[Any], content: Any) -> None:
    """Writes the elements: objects one by one, of others the bytes as they lie in memory."""
    if _holds_objects(flat.dtype):
        for place, item in enumerate(children[2:]):
            flat[place] = item
    elif len(content):
        flat.view("u1")[:] = _numpy().frombuffer(content, "u1")


def _build_array(kind: type, plain: Any, children: list[Any]) -> Any:
    numpy = _numpy()
    _, shape, strides, offset, _, writable, content = plain
    dtype, owner = children[:2]
    if owner is not None and not _holds_objects(dtype):
        memory = owner.view(numpy.ndarray).ravel(order="K")
        made = numpy.ndarray(shape, dtype, memory, offset, strides)
    elif owner is not None:
        raise ValueError("a view of an array of objects")
    else:
        # The order of the memory is kept, as `ravel` read the bytes in it.
        order = "F" if len(shape) > 1 and strides[0] < strides[-1] else "C"
        made = numpy.empty(shape, dtype, order)
        _fill(made.ravel(order="K"), children, content)
    made.flags.writeable = writable
    return made if kind is numpy.ndarray else made.view(kind)


def _bits_parts(value: Any) -> Parts:
    return pickle.dumps(value.bit_generator.state, 4), []


def _restore_bits(value: Any, plain: Any, _: list[Any]) -> None:
    value.bit_generator.state = pickle.loads(plain)  # noqa: S301 - from the kernel's own copy


def _legacy_parts(value: Any) -> Parts:
    return pickle.dumps(value.get_state(legacy=False), 4), []


def _restore_legacy(value: Any, plain: Any, _: list[Any]) -> None:
    value.set_state(pickle.loads(plain))  # noqa: S301 - from the kernel's own copy


def _source_parts(value: Any) -> Parts:
    return pickle.dumps(value.state, 4), []


def _restore_source(value: Any, plain: Any, _: list[Any]) -> None:
    value.state = pickle.loads(plain)  # noqa: S301 - from the kernel's own copy


def _scalar_parts(value: Any) -> Parts:
    if value.dtype.hasobject:
        raise NotComparableError("a record with objects")
    return (value.dtype.str, value.tobytes()), []


KINDS: dict[tuple[str, str], StateKind] = {
    ("numpy", "ndarray"): StateKind(
        "numpy array",
        _array_parts,
        _restore_array,
        _build_array,
        n_fixed=5,
        owner_at=1,
    ),
    ("numpy", "generic"): StateKind("numpy scalar", _scalar_parts),
    ("numpy", "Generator"): StateKind(
        "numpy generator", _bits_parts, _restore_bits, has_state=False
    ),
    ("numpy", "RandomState"): StateKind(
        "numpy random state", _legacy_parts, _restore_legacy, has_state=False
    ),
    ("numpy", "BitGenerator"): StateKind(
        "numpy source", _source_parts, _restore_source, has_state=False
    ),
}
"""By package and class; the first class of an object's `__mro__` that is listed decides."""
