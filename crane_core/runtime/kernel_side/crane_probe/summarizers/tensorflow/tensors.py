"""Tensors, variables, ragged and sparse tensors of TensorFlow: shape, dtype, range and NaN without a copy.

Knows eager tensors by their buffers. Refuses to run an operation on their values, and to look into a graph.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Iterator

from ...anatomy import instance_dict, module_dict, package_of, type_name
from ...bounds import Facts, merged, stated
from ...contents import arrays
from ...kinds import ROWS
from ..tensor_values import of_array, of_ranges

_MOST_ELSEWHERE = 1_000_000
"""Elements of a tensor on another device that are fetched."""
_MOST_TEXTS = 20_000
_NS_PER_CONVERTED = 3


def tensorflow() -> Any:
    """The TensorFlow that the notebook has loaded."""
    return sys.modules["tensorflow"]


def tensor(value: Any, look: Any) -> Facts:
    """Shape, dtype, has_nan, of a flat one distinct values; the range as an addition. Symbolic ones have no values."""
    # A class of the notebook may derive from Tensor.
    if package_of(type(value)) != "tensorflow":
        return {}
    summary = {
        "structure": {"shape": dims(value.shape)},
        "representation": {"dtype": value.dtype.name},
    }
    if not is_eager(value):
        return summary
    found: Facts = look.in_time(summary, lambda: _values(value, look))
    return found


def is_eager(value: Any) -> bool:
    """Whether a tensor has values, rather than a place in a graph."""
    return type(value).__name__ == "EagerTensor"


def dims(shape: Any) -> Any:
    """A shape as a list, None for sizes that are open; None where even the rank is open."""
    # TensorShape keeps Dimension objects or integers, by release.
    inner = instance_dict(shape).get("_dims")
    if type(inner) is tuple:
        return [None if size is None else int(size) for size in inner]
    return list(shape) if type(shape) in ROWS else None


def _values(value: Any, look: Any) -> Facts:
    array = as_array(value)
    if array is None:
        return {
            "plus": {
                "values": {
                    "not_computed": f"the values of {value.dtype.name} on {device_of(value)}"
                }
            }
        }
    # numpy knows bfloat16 only by an extension package, and cannot compare it.
    if (
        type(array.dtype).__name__.startswith("BFloat16")
        or str(array.dtype) == "bfloat16"
    ):
        found = None
        if array.size and look.affords(array.size * _NS_PER_CONVERTED):
            found = arrays.in_pieces(_widened(array), look)
        return of_ranges(found, array.size, look)
    return of_array(array, look)


def device_of(value: Any) -> str:
    """`CPU:0`, `GPU:1`."""
    device = value.device
    return device.rpartition("device:")[2] if type(device) is str else ""


def as_array(value: Any) -> Any:
    """The tensor's memory as an array of numpy; None for a long one that lies elsewhere, or is of texts."""
    n = 1
    for size in value.shape:
        n *= int(size)
    # Fetching from a GPU copies, and waits for its work.
    if not device_of(value).startswith("CPU") and n > _MOST_ELSEWHERE:
        return None
    if value.dtype.name in ("string", "resource", "variant") and (
        n > _MOST_TEXTS or value.dtype.name != "string"
    ):
        return None
    # The memory itself; numpy() would copy.
    array = value._numpy_internal()
    return arrays.numpy().asarray(array)


def _widened(array: Any) -> Iterator[Any]:
    """bfloat16 as float32, of which it is the upper half, piece by piece."""
    np = arrays.numpy()
    for piece in arrays.pieces(array.view(np.uint16)):
        yield (piece.astype(np.uint32) << np.uint32(16)).view(np.float32)


def variable(value: Any, look: Any) -> Facts:
    """As a tensor; whether it is trained as an addition."""
    held = instance_dict(value)
    trained = (
        {"trainable": held["_trainable"]}
        if type(held.get("_trainable")) is bool
        else {}
    )
    found = read(value)
    # A variable in a graph, or one whose resource is gone, has no value now.
    if found is not None:
        return merged(tensor(found, look), {"plus": {"values": trained}})
    dtype = getattr(held.get("_dtype"), "name", None)
    summary = {
        "structure": {"shape": dims(held.get("_shape"))},
        "representation": stated(dtype=dtype),
    }
    return merged(
        summary,
        {
            "plus": {
                "values": dict(
                    trained, not_computed="its value cannot be read now"
                )
            }
        },
    )


def read(value: Any) -> Any:
    """The eager tensor that a variable holds, which shares its memory; None outside eager execution."""
    if (
        package_of(type(value)) != "tensorflow"
        or not tensorflow().executing_eagerly()
    ):
        return None
    # In a tf.function a variable's value is symbolic.
    if instance_dict(value).get("_in_graph_mode") is not False:
        return None
    with _unrecorded():
        found = value.value()
    return found if is_eager(found) else None


def _unrecorded() -> Any:
    """Reading a variable makes a gradient tape that is open watch it, unless recording is stopped."""
    names = ("tensorflow.python.eager.record", "tensorflow.python.eager.tape")
    stops = (
        module_dict(sys.modules.get(name)).get("stop_recording")
        for name in names
    )
    return next(
        (stop() for stop in stops if stop is not None), contextlib.nullcontext()
    )


def ragged(value: Any, look: Any) -> Facts:
    """Shape with open sizes; how long its rows are, and its values."""
    if package_of(type(value)) != "tensorflow":
        return {}
    held = instance_dict(value)
    inside = look.inside([("row_values", held.get("_values"))])
    base = {
        "structure": {"shape": dims(value.shape)},
        "representation": {"dtype": value.dtype.name},
    }
    lengths = _row_lengths(held.get("_row_partition"))
    return merged(
        base,
        {
            "plus": merged(
                inside,
                {"structure": dict(lengths, ragged_rank=value.ragged_rank)},
            )
        },
    )


def _row_lengths(partition: Any) -> Facts:
    splits = instance_dict(partition).get("_row_splits")
    if splits is None or not is_eager(splits):
        return {}
    # Row lengths are the differences of their limits.
    lengths = arrays.numpy().diff(as_array(splits))
    shortest = (
        {"row_lengths": [int(lengths.min()), int(lengths.max())]}
        if len(lengths)
        else {}
    )
    return dict(shortest, n_rows=len(lengths))


def sparse(value: Any, look: Any) -> Facts:
    """Shape, dtype, and how many values are stored."""
    if package_of(type(value)) != "tensorflow":
        return {}
    stored = instance_dict(value).get("_values")
    base = {
        "structure": {"shape": dims(value.shape)},
        "representation": {"dtype": value.dtype.name},
    }
    return merged(
        base,
        {
            "plus": {"structure": {"n_stored": dims(stored.shape)[0]}}
            if stored is not None
            else {}
        },
    )


def shape(value: Any) -> tuple[int, ...] | None:
    """Of an eager tensor with dimensions; None for what counts as a single value."""
    return tuple(dims(value.shape)) or None if is_eager(value) else None


def plain_scalar(value: Any) -> Any:
    """An eager tensor of no dimensions, or a variable that holds one, as Python's number; others as they are."""
    name = type(value).__name__
    found = (
        read(value)
        if name == "ResourceVariable"
        and dims(instance_dict(value).get("_shape")) == []
        else value
    )
    if found is None or not is_eager(found) or dims(found.shape) != []:
        return value
    array = as_array(found)
    return (
        value
        # bfloat16's item() is not a number of Python.
        if array is None or type_name(type(array.dtype)).startswith("ml_dtypes")
        else array.item()
    )
