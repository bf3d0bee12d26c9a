"""numpy: arrays with shape, dtype, range and NaN; arrays of objects and texts; scalars; what an index will find.

Knows `numpy.ndarray` itself. Refuses to run what a subclass of it overrides, and to copy an array that is not masked.
"""

from __future__ import annotations

from typing import Any, Iterator

from ..anatomy import MISSING, instance_dict, is_kind, package_of, type_name
from ..bounds import Facts, merged, stated
from ..chains.following import Resolution, fault_of_index, lacking, without
from ..contents import arrays, sequences
from ..contents.number_facts import (
    distinct_facts,
    fraction_facts,
    more_facts,
    range_facts,
)
from ..contents.sequences import RowOfValues
from ..kinds import BOUNDS, counted
from ..syntax.asked import ATTRIBUTE, CALL, ITEM, ChainStep, Steps, Unknown
from . import for_builtins

# Computed in C from what the array stores: reading them runs no code of Python.
_READABLE = (
    "shape",
    "dtype",
    "ndim",
    "size",
    "nbytes",
    "itemsize",
    "T",
    "real",
    "strides",
)
_SHOWN_ELEMENTS = 20
_MOST_COPIED = 1_000_000
"""Elements of a masked array beyond which those that are not masked are not gathered."""
_NS_PER_TEXT = 150
_NS_PER_SORTED = 60
_MOST_CLASSES = 50


def base_array(value: Any) -> Any:
    """The same memory as a plain ndarray: nothing that a subclass overrides takes part."""
    np = arrays.numpy()
    return (
        value
        if type(value) is np.ndarray
        else np.ndarray.view(value, np.ndarray)
    )


def array(value: Any, look: Any) -> Facts:
    """Shape, dtype, has_nan and value_range; of a flat array the distinct values; of a short one its elements."""
    plain = base_array(value)
    summary: Facts = {
        "structure": {"shape": list(plain.shape)},
        "representation": {"dtype": dtype_text(plain.dtype)},
    }
    # "assignment destination is read-only" is what writing to such an array raises.
    if not plain.flags.writeable:
        summary["plus"] = {"representation": {"writeable": False}}
    told: Facts = look.in_time(summary, lambda: _told(value, plain, look))
    return told


def _told(value: Any, plain: Any, look: Any) -> Facts:
    mask = _mask_of(value)
    # Without the mask the numbers under it would count, so it is read before anything else.
    if mask is None or not look.affords(mask.size):
        return _content(plain, look)
    n_masked = {
        "plus": {
            "values": {"n_masked": int(arrays.numpy().count_nonzero(mask))}
        }
    }
    return merged(_unmasked(plain, mask, look), n_masked)


def _mask_of(value: Any) -> Any:
    """The mask of a masked array that masks something; None elsewhere."""
    np = arrays.numpy()
    mask: Any = (
        instance_dict(value).get("_mask", None)
        if type(value) is not np.ndarray
        else None
    )
    is_mask = (
        type(mask) is np.ndarray
        and mask.dtype.kind == "b"
        and mask.shape == base_array(value).shape
    )
    return mask if is_mask else None


def _unmasked(plain: Any, mask: Any, look: Any) -> Facts:
    """Facts about the elements that are not masked; those of a small array in their places, null where masked."""
    if plain.size > _MOST_COPIED:
        return {
            "values": {
                "not_computed": f"what is not masked of {plain.size} values"
            }
        }
    told = _content(plain[~mask], look)
    if plain.ndim != 1:
        # Distinct values of a table of numbers say nothing about its rows.
        told.get("values", {}).pop("value_info", None)
        told.get("plus", {}).get("values", {}).pop("n_of_rarest", None)
    shown = (
        # A time or object that is masked has no spelling to be covered.
        _elements(plain, look).get("items")
        if plain.dtype.kind not in arrays.TIMES + "O"
        else None
    )
    told.get("plus", {}).get("values", {}).pop("items", None)
    return (
        told
        if shown is None
        else merged(
            told,
            {"plus": {"values": {"items": _covered(shown, mask.tolist())}}},
        )
    )


def _covered(items: Any, mask: Any) -> Any:
    if type(items) is list:
        return [_covered(item, covers) for item, covers in zip(items, mask)]
    return None if mask else items


def dtype_text(dtype: Any) -> str:
    """The name of a dtype, with fields and byte order."""
    return str(dtype)


def _content(plain: Any, look: Any) -> Facts:
    kind = plain.dtype.kind
    # Times are numbers to numpy, and NaT is their NaN.
    if kind in arrays.NUMERIC + arrays.TIMES:
        return numbers(plain, look)
    if kind == "O":
        return _objects(plain, look)
    if kind in "US":
        return merged(
            _texts(plain, look), {"plus": {"values": _elements(plain, look)}}
        )
    # Complex numbers have no order, and so no range.
    if kind == "c":
        return {
            "values": {"has_nan": _any_nan(plain, look)},
            "plus": {"values": _elements(plain, look)},
        }
    return {
        "plus": {
            "representation": {
                "fields": [look.text(name) for name in plain.dtype.names or ()]
            }
        }
    }


def _any_nan(plain: Any, look: Any) -> Any:
    np = arrays.numpy()
    if not look.affords(plain.size * 3):
        return "not computed"
    return any(bool(np.isnan(piece).any()) for piece in arrays.pieces(plain))


def numbers(plain: Any, look: Any) -> Facts:
    """Range, NaN and, of a flat array, distinct values; the elements of a small one."""
    found = arrays.overall(plain, look) if plain.size else None
    values = range_facts(found, 0, plain.size, look)
    more = more_facts(found, 0, plain.size)
    if plain.ndim == 1 and plain.size:
        ends = None if found is None else (found.low[0], found.high[0])
        distinct = arrays.distinct(plain, look, ends)
        values["value_info"] = distinct_facts(distinct, look)
        more.update(fraction_facts(distinct, look))
        more.update(_rarest(plain, values["value_info"], look))
    return {
        "values": values,
        "plus": {"values": merged(more, _elements(plain, look))},
    }


def _rarest(plain: Any, info: Facts, look: Any) -> Facts:
    """Of a few distinct integers: how often the rarest occurs, as splits in proportion need two of each."""
    if (
        plain.dtype.kind not in "biu"
        or info.get("num_unique", _MOST_CLASSES) >= _MOST_CLASSES
        or not look.affords(plain.size * _NS_PER_SORTED)
    ):
        return {}
    _, counts = arrays.numpy().unique(plain, return_counts=True)
    return {"n_of_rarest": int(counts.min())}


def _elements(plain: Any, look: Any) -> Facts:
    """All elements of a small array, nested as its shape."""
    # A nesting of four levels is unreadable in a prompt; its shape is told in any case.
    if not 0 < plain.size <= _SHOWN_ELEMENTS or plain.ndim > 3:
        return {}
    return {
        "items": _shown(plain.tolist(), look)
        if plain.dtype.kind not in arrays.TIMES
        else _times(plain)
    }


def _times(plain: Any) -> list[str]:
    return [str(item) for item in plain.ravel().astype(str).tolist()]


def _shown(value: Any, look: Any) -> Any:
    return (
        [_shown(item, look) for item in value]
        if type(value) is list
        else look.scalar(value)
    )


def elements(plain: Any) -> Iterator[Any]:
    """The elements as objects of Python, one after the other."""
    for piece in arrays.pieces(plain):
        yield from piece.tolist()


def row_of(plain: Any) -> RowOfValues:
    """The elements of an array as a row of objects of Python, in the order of memory."""
    return RowOfValues(
        plain.size,
        lambda: elements(plain),
        # One element only: tolist of the whole array would make objects of all.
        lambda at: plain.ravel(order="K")[at : at + 1].tolist()[0],
    )


def _texts(plain: Any, look: Any) -> Facts:
    if not look.affords(plain.size * _NS_PER_TEXT):
        return {
            "values": {"not_computed": f"distinct values of {plain.size} texts"}
        }
    row = row_of(plain)
    facts = sequences.text_facts(row, look) if plain.dtype.kind == "U" else {}
    return {"values": stated(value_info=facts)}


def _objects(plain: Any, look: Any) -> Facts:
    """An array of objects: types, shapes of what is inside, values where all are plain."""
    facts = for_builtins.row_facts(row_of(plain), look)
    facts.pop("structure", None)
    return merged(
        facts, {"plus": {"representation": _types_of_columns(plain, look)}}
    )


def _types_of_columns(plain: Any, look: Any) -> Facts:
    """Of a table of objects: which types stand in which column."""
    if (
        # Only tables, where a column of mixed types is what a model refuses.
        plain.ndim != 2
        or not 1 < plain.shape[1] <= look.limits.columns
        or not look.affords(plain.size * 60)
    ):
        return {}
    kinds = [
        counted(plain[:, at].tolist().__iter__) for at in range(plain.shape[1])
    ]
    return {
        "column_types": [
            sequences.kind_counts(each, look.limits.values) for each in kinds
        ]
    }


def scalar(value: Any, look: Any) -> Facts:
    """A scalar of numpy: its value."""
    return {"values": {"value": look.scalar(value)}}


def plain_scalar(value: Any) -> Any:
    """A numpy scalar as Python's own; other objects as they are."""
    np = arrays.numpy()
    if not is_kind(value, np.generic):
        return value
    return (
        arrays.plain(value)
        # item() of a long double keeps being one of numpy.
        if value.dtype.kind in "biufMm" and value.dtype.itemsize <= 8
        else _wide(value)
    )


def _wide(value: Any) -> Any:
    return (
        float(value)
        if value.dtype.kind == "f"
        else value.item()
        if value.dtype.kind in "cUS"
        else value
    )


def dtype(value: Any, look: Any) -> Facts:
    """A dtype: its name, with fields and byte order."""
    return {"plus": {"representation": {"dtype": dtype_text(value)}}}


def archive(value: Any, look: Any) -> Facts:
    """An .npz file: the names of its arrays."""
    names = instance_dict(value).get("files")
    return (
        {"plus": {"values": {"keys": [look.scalar(name) for name in names]}}}
        if type(names) is list
        else {}
    )


def shape(value: Any) -> tuple[int, ...] | None:
    """Of an array with dimensions; None for what counts as a single value."""
    np = arrays.numpy()
    if not is_kind(value, np.ndarray):
        return None
    own: tuple[int, ...] = np.ndarray.shape.__get__(value)
    return own or None


def follow(value: Any, steps: Steps) -> Resolution | None:
    """Attributes that an array computes from what it stores, and indices."""
    np = arrays.numpy()
    if not is_kind(value, np.ndarray):
        return _follow_archive(value, steps[0])
    step, plain = steps[0], base_array(value)
    # A subclass may have its own property of this name.
    if (
        step.kind == ATTRIBUTE
        and step.value in _READABLE
        and type(value) is np.ndarray
    ):
        return Resolution(getattr(plain, step.value))
    if step.kind == ITEM and package_of(type(value)) == "numpy":
        found = _index(plain, step.value)
        return (
            found
            if type(value) is np.ndarray
            else found._replace(value=MISSING)
        )  # a matrix keeps its two axes
    # ndarray has no __call__ in any release: `a(0)` for `a[0]` is a frequent slip.
    if step.kind == CALL:
        return without(value, "__call__")
    return None if step.kind == ATTRIBUTE else Resolution()


def _follow_archive(value: Any, step: ChainStep) -> Resolution | None:
    names = instance_dict(value).get("files")
    if (
        step.kind == ITEM
        and type(names) is list
        # Keys of an archive are read when it is opened; the arrays only when they are taken.
        and type(step.value) is str
        and step.value not in names
    ):
        kind = type_name(type(value))
        return lacking("keys", type=kind, key=step.value, keys=names[:20])
    return None


def _index(plain: Any, index: Any) -> Resolution:
    """A view by numbers and slices; what is beyond the shape is missing."""
    parts = index if type(index) is tuple else (index,)
    if any(type(part) is str for part in parts):
        return _field(plain, index)
    # Masks and lists make copies, whose memory a look must not take.
    if not all(_is_basic(part) for part in parts):
        return Resolution()
    fault = fault_of_index(parts, plain.shape)
    return _out(plain, index, fault) if fault else Resolution(plain[index])


def _is_basic(part: Any) -> bool:
    if type(part) is slice:
        return BOUNDS.hold_all((part.start, part.stop, part.step))
    return part is None or type(part) is int


def _field(plain: Any, index: Any) -> Resolution:
    names = plain.dtype.fields  # with titles, which name a field too
    # Without fields, a text as index is an IndexError whatever the values are.
    if names is None:
        return _out(
            plain, index, "an array without fields takes no text as index"
        )
    if type(index) is str:
        return (
            Resolution(plain[index])
            if index in names
            else _out(plain, index, "no such field")
        )
    return Resolution()


def _out(plain: Any, index: Any, why: str) -> Resolution:
    spelled = list(index) if type(index) is tuple else index
    return lacking(
        "keys",
        type="numpy.ndarray",
        index=_spelled(spelled),
        shape=list(plain.shape),
        why=why,
    )


def _spelled(index: Any) -> Any:
    if type(index) is list:
        return [_spelled(part) for part in index]
    return (
        str(index)
        if type(index) is slice
        else index.text
        if type(index) is Unknown
        else index
    )


def sign(value: Any) -> str:
    """The dtype: what tells arrays of one shape apart."""
    return (
        dtype_text(base_array(value).dtype)
        if is_kind(value, arrays.numpy().ndarray)
        else ""
    )


FOLLOW = follow
SIGN = sign
SHAPE = shape
SCALAR = plain_scalar
SUMMARIZERS = {
    "ndarray": array,
    "generic": scalar,
    "dtype": dtype,
    "NpzFile": archive,
}
