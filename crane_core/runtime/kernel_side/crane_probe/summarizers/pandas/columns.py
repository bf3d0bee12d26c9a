"""What one column holds, whatever its dtype: numbers, times, texts, categories, objects, arrow arrays.

Knows the arrays in which pandas keeps values. Each fact is exact or said not to be computed.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import chain, islice
from typing import Any, Callable, Iterator, NamedTuple

from ...anatomy import name_of, stored_on, type_name
from ...bounds import Facts, stated
from ...budget import OverBudgetError
from ...contents import arrays, sequences
from ...contents.arrays import Ranges
from ...contents.number_facts import (
    distinct_facts,
    fraction_facts,
    more_facts,
    range_facts,
)
from ...contents.sequences import RowOfValues
from ...kinds import SCALARS, Kinds, counted
from .storage import labels_of, ndarray_of, pandas, to_list

_NS_PER_OBJECT = 60
_NS_PER_CHECKED_TEXT = 10
_NS_PER_ARROW_TEXT = 15
_LONG = 20_000
_FIRST_PIECE = 128
_NS_PER_READ_TEXT = 150
_TESTED = 20
_OFFENDERS = 5
_CLASSES = 50
_MOST_COUNTED = 50_000
"""Values that are looked at one by one in Python, for facts that matter to small data most."""
_DAY_FIRST = re.compile(r"\s*(\d{1,2})[-/.](\d{1,2})[-/.]\d{2,4}\b")
_DATE = re.compile(
    r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]\d{1,2}:\d{2}.*)?\s*"
)
# Of two places: pandas 3 shows the classes under its public path.
_MISSING_TYPES = {
    *("pandas._libs.missing.NAType", "pandas._libs.tslibs.nattype.NaTType"),
    *("pandas.api.typing.NAType", "pandas.api.typing.NaTType"),
}


_TEXTS = ("str", "string")
_PYTHON, _ARROW = "python", "pyarrow"


class ColumnFacts(NamedTuple):
    """Of one column: values in the published extractor's terms, and what goes beyond, by group."""

    values: Facts
    more: Facts
    representation: Facts


def dtype_text(values: Any) -> str:
    """The dtype of an array as pandas writes it; of texts that are stored in the other way than usual, also how."""
    dtype = dtype_of(values)
    text = str(dtype)
    # Both ways are written "str", but `pct_change` of one text raises in one and runs in the other.
    if text in _TEXTS and (stored := _storage(dtype)) != _usual_storage(text):
        return f"{text}[{stored}]"
    return text


def _storage(dtype: Any) -> str:
    return str(getattr(dtype, "storage", _PYTHON))


def _usual_storage(text: str) -> str:
    """pandas 3 stores texts in Arrow where that is installed; before, only those of dtype "str"."""
    major = int(str(pandas().__version__).partition(".")[0])
    is_arrow = "pyarrow" in sys.modules and (major >= 3 or text == "str")
    return _ARROW if is_arrow else _PYTHON


def dtype_of(values: Any) -> Any:
    """The dtype of an array; one that would remember the access is read past its memory."""
    kept: Any = stored_on(type(values), "dtype")
    # The property keeps what it returns in the object: reading would change the kernel's memory.
    return (
        kept.fget(values)
        if name_of(type(kept)) == "CachedProperty"
        else values.dtype
    )


def items_of(values: Any) -> list[Any]:
    """The elements of a short array; times as texts."""
    array = ndarray_of(values)
    if array is not None and array.dtype.kind in arrays.TIMES:
        return [arrays.plain(item) for item in array]
    if name_of(type(values)) == "PeriodArray":
        # NaT among periods is the least integer.
        missing = arrays.numpy().iinfo("int64").min
        return [
            None if item == missing else period_text(values, item)
            for item in values._ndarray.tolist()
        ]
    return to_list(values)


def _not_computed(what: str) -> ColumnFacts:
    return ColumnFacts({"not_computed": what}, {}, {})


class KnownColumn(NamedTuple):
    """What is known of a column before: the ranges of its block, its row there, and whether it is stated in brief."""

    ranges: Ranges | None = None
    row: int = 0
    is_brief: bool = False


def facts_of(
    values: Any,
    look: Any,
    known: KnownColumn = KnownColumn(),  # noqa: B008 - it cannot be changed
) -> ColumnFacts:
    """Facts of a column; where the time is up, that they are not computed."""
    try:
        return _facts_of(values, look, known)
    # Where the time is up in the middle, nothing of the column is half told.
    except OverBudgetError as late:
        return _not_computed(str(late))


def _facts_of(values: Any, look: Any, known: KnownColumn) -> ColumnFacts:
    array = ndarray_of(values)
    if array is not None and array.dtype.kind in arrays.NUMERIC + arrays.TIMES:
        return _of_numbers(values, array, look, known)
    if array is not None:
        return _of_objects(array, look)
    reader = _READERS.get(name_of(type(values)))
    return (
        reader(values, look) if reader is not None else ColumnFacts({}, {}, {})
    )


def _of_numbers(
    values: Any, array: Any, look: Any, known: KnownColumn
) -> ColumnFacts:
    if name_of(type(values)) == "PeriodArray":
        return _of_periods(values, look)
    if not array.size:
        return ColumnFacts(range_facts(None, 0, 0, look), {}, {})
    found, at = (
        (known.ranges, known.row)
        if known.ranges is not None
        else (arrays.overall(array, look), 0)
    )
    basic = range_facts(found, at, array.size, look)
    # The range is known from the block, so distinct values may be counted in a table.
    ends = (found.low[at], found.high[at]) if found is not None else None
    distinct = arrays.distinct(array, look, ends, is_brief=known.is_brief)
    basic.update(distinct_facts(distinct, look))
    more = dict(
        more_facts(found, at, array.size), **fraction_facts(distinct, look)
    )
    return ColumnFacts(_without_times(basic, array, look), more, {})


def _without_times(facts: Facts, array: Any, look: Any) -> Facts:
    """The kind of a column: times are not numbers."""
    if array.dtype.kind in arrays.TIMES:
        return {
            key: value for key, value in facts.items() if key != "value_type"
        }
    return facts


def _of_periods(values: Any, look: Any) -> ColumnFacts:
    """Periods by their ordinal numbers."""
    numbers = values._ndarray
    size = numbers.shape[0]
    if not look.affords(size * 4):
        return _not_computed(f"range and NaN of {size} periods")
    missing = arrays.numpy().iinfo("int64").min
    n_missing = sum(
        int((piece == missing).sum()) for piece in arrays.pieces(numbers)
    )
    facts: Facts = {"has_nan": n_missing > 0}
    # Without the missing ones, which are the least integers.
    found = arrays.in_pieces(
        (piece[piece != missing] for piece in arrays.pieces(numbers)), look
    )
    if found is not None and size > n_missing:
        facts["value_range"] = [
            period_text(values, int(bound[0]))
            for bound in (found.low, found.high)
        ]
    return ColumnFacts(facts, stated(n_nan=n_missing), {})


def period_text(values: Any, ordinal: int) -> str:
    """A period by its ordinal number, as pandas writes it."""
    return str(pandas().Period(ordinal=ordinal, freq=dtype_of(values).freq))


# Masked numbers: Int64, Float64, boolean


def _of_masked(values: Any, look: Any) -> ColumnFacts:
    data, mask = values._data, values._mask
    size = data.shape[0]
    if not look.affords(size * 4):
        return _not_computed(f"range and NaN of {size} values")
    n_missing = int(arrays.numpy().count_nonzero(mask))
    return _of_pieces(lambda: _unmasked(data, mask), size, n_missing, look)


def _unmasked(data: Any, mask: Any) -> Iterator[Any]:
    # A piece at a time: data[~mask] of the whole would copy the column.
    for start in range(0, data.shape[0], arrays.PIECE):
        part = slice(start, start + arrays.PIECE)
        yield data[part][~mask[part]]


def _of_pieces(
    again: Callable[[], Iterator[Any]], size: int, n_missing: int, look: Any
) -> ColumnFacts:
    """Numbers in pieces without those that are missing."""
    found = arrays.in_pieces(again(), look) if size > n_missing else None
    values = range_facts(found, 0, size - n_missing, look)
    # NaN may stand in Float64 beside what is masked.
    values["has_nan"] = n_missing > 0 or bool(values.get("has_nan"))
    values.update(
        _distinct_in_pieces(again, size, look)
        if size > n_missing
        else {"value_type": "empty or all NaN"}
    )
    more = more_facts(found, 0, size - n_missing)
    n_nan = n_missing + more.get("n_nan", 0)
    return ColumnFacts(values, dict(more, **stated(n_nan=n_nan)), {})


def _distinct_in_pieces(
    again: Callable[[], Iterator[Any]], size: int, look: Any
) -> Facts:
    if size > arrays.PIECE:
        return {"num_unique": "not computed"}
    parts = [piece for piece in again() if len(piece)]
    joined = parts[0] if len(parts) == 1 else arrays.numpy().concatenate(parts)
    return distinct_facts(arrays.distinct(joined, look), look)


# Texts and objects


def _object_row(array: Any) -> RowOfValues:
    def again() -> Iterator[Any]:
        return chain.from_iterable(
            piece.tolist() for piece in arrays.pieces(array)
        )

    return RowOfValues(
        array.shape[0], again, lambda at: array[at : at + 1].tolist()[0]
    )


def _of_objects(array: Any, look: Any) -> ColumnFacts:
    """A column of objects: missing ones, types, texts."""
    row = _object_row(array)
    if _is_all_text(array, look):
        return _of_texts_only(row, [(str, row.length)], 0, look)
    if not look.affords(row.length * _NS_PER_OBJECT):
        return _not_computed(
            f"types and missing values of {row.length} objects"
        )
    kinds = counted(row.again)
    # NaN is a float among texts: `object` columns hold it for what is missing.
    has_floats = float in Kinds(*(kind for kind, _ in kinds))
    n_nan = sum(map(_is_nan, row.again())) if has_floats else 0
    n_missing, present = _without_missing(kinds, n_nan)
    if [kind for kind, _ in present] == [str]:
        texts = RowOfValues(
            present[0][1], lambda: filter(_is_text, row.again()), row.at
        )
        return _of_texts_only(texts, kinds, n_missing, look)
    values = {"has_nan": n_missing > 0, "value_type": "categorical or object"}
    more = dict(stated(n_nan=n_missing), **_odd_ones(row, present))
    return ColumnFacts(values, more, sequences.item_types(kinds, look))


def _without_missing(
    kinds: list[tuple[type, int]], n_nan: int
) -> tuple[int, list[tuple[type, int]]]:
    """How many values are missing, and the types of the others with their counts."""
    n_missing, present = n_nan, []
    for kind, count in kinds:
        # Missing values do not count as another type.
        if _is_missing_kind(kind):
            n_missing += count
        elif kind is not float or count > n_nan:
            present.append((kind, count - n_nan if kind is float else count))
    return n_missing, present


def _is_all_text(array: Any, look: Any) -> bool:
    """True when pandas' own quick look finds nothing but texts."""
    # Only if pandas has loaded it, and by a private name that another release may not have.
    quick = getattr(
        sys.modules.get("pandas._libs.lib"), "is_string_array", None
    )
    if (
        quick is None
        or not array.shape[0]
        or not look.affords(array.shape[0] * _NS_PER_CHECKED_TEXT)
    ):
        return False
    return all(quick(piece) for piece in arrays.pieces(array))


def _of_texts_only(
    texts: RowOfValues, kinds: list[tuple[type, int]], n_missing: int, look: Any
) -> ColumnFacts:
    values = dict(
        {"has_nan": n_missing > 0}, **sequences.text_facts(texts, look)
    )
    more = _more_of_texts(texts, n_missing, look)
    return ColumnFacts(values, more, sequences.item_types(kinds, look))


def _more_of_texts(row: RowOfValues, n_missing: int, look: Any) -> Facts:
    told = dict(stated(n_nan=n_missing), **_read_as_numbers(row, look))
    return dict(told, **_forms(row, look))


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_missing_kind(kind: type) -> bool:
    return kind is type(None) or type_name(kind) in _MISSING_TYPES


def _odd_ones(row: RowOfValues, present: list[tuple[type, int]]) -> Facts:
    """Where values of another type stand than most of the column has; missing values are not odd."""
    if len(present) < 2:
        return {}
    # Of two types that are as frequent, the same one in each run.
    most, _ = max(present, key=lambda one: (one[1], type_name(one[0])))
    others = Kinds(*(kind for kind, _ in present if kind is not most))
    odd = (
        (at, item)
        for at, item in enumerate(row.again())
        if type(item) in others
    )
    shown = [
        (at, item)
        for at, item in islice(odd, 4 * _OFFENDERS)
        if not _is_nan(item)
    ]
    told = {str(at): _typed(item) for at, item in shown[:_OFFENDERS]}
    return stated(other_types_at=told)


def _is_nan(value: Any) -> bool:
    return type(value) is float and value != value


def _typed(value: Any) -> str:
    name = type_name(type(value))
    return f"{name} {repr(value)[:40]}" if type(value) in SCALARS else name


def _read_as_numbers(row: RowOfValues, look: Any) -> Facts:
    """How many texts read as numbers, which a library may turn into some, and the first that does not."""
    # to_numeric, astype(float) and many estimators read texts as numbers.
    if not 0 < row.length <= _MOST_COUNTED or not look.affords(
        row.length * _NS_PER_READ_TEXT
    ):
        return {}
    n_read = sum(1 for item in row.again() if _reads_as_number(item))
    others = (item for item in row.again() if not _reads_as_number(item))
    first = next(others, "")
    # It is the one that the crash names. Distinct values are told in another order.
    return {
        "n_read_as_numbers": n_read,
        **stated(first_no_number=look.text(first)),
    }


def rarest(values: Any, n_unique: Any, look: Any) -> Facts:
    """Of few distinct values: how often the rarest occurs."""
    if (
        type(n_unique) is not int
        or not 0 < n_unique <= _CLASSES
        or len(values) > _MOST_COUNTED
    ):
        return {}
    if not look.affords(len(values) * _NS_PER_OBJECT):
        return {}
    counts: Counter[Any] = Counter(
        item
        for item in items_of(values)
        if type(item) in SCALARS and item == item
    )
    # None is what is missing, not a class to be counted.
    counts.pop(None, None)
    return (
        {"n_of_rarest": min(counts.values())} if len(counts) == n_unique else {}
    )


def _forms(row: RowOfValues, look: Any) -> Facts:
    """Of texts of which most read as numbers or dates: those that do not."""
    first = [item for item in islice(row.again(), _TESTED) if item]
    for form, fits in (
        ("numbers", _reads_as_number),
        ("dates", _DATE.fullmatch),
    ):
        # Half of the first twenty decide; the rest is checked against them.
        if first and 2 * len(list(filter(fits, first))) >= len(first):
            return dict(
                {"texts_look_like": form}, **_unlike(row, form, fits, look)
            )
    return {}


def _unlike(row: RowOfValues, form: str, fits: Any, look: Any) -> Facts:
    """Texts that do not have the form of the others; of dates those that tell how they are written."""
    if not look.affords(row.length * _NS_PER_READ_TEXT):
        return {"other_texts": "not computed"}
    others = [item for item in row.again() if not fits(item)]
    shown = [
        look.text(item) for item in list(dict.fromkeys(others))[:_OFFENDERS]
    ]
    more = _telling_dates(row, look) if form == "dates" else {}
    return {"n_other_texts": len(others), **stated(other_texts=shown), **more}


def _telling_dates(row: RowOfValues, look: Any) -> Facts:
    """Of dates that do not begin with the year: the first, and the first with the largest first and second number.

    They tell which of the two is the day, and which formats fit them all.
    """
    if not look.affords(row.length * _NS_PER_READ_TEXT):
        return {}
    first = next((item for item in row.again()), "")
    # A year at the start is unambiguous.
    if not _DAY_FIRST.match(first):
        return {}
    found = [
        match
        for match in map(_DAY_FIRST.match, row.again())
        if match is not None
    ]
    largest = [
        max(found, key=lambda match: int(match[at])).string for at in (1, 2)
    ]
    return {
        "telling_dates": [
            look.text(item) for item in dict.fromkeys([first, *largest])
        ]
    }


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# Other extension arrays


def _of_categories(values: Any, look: Any) -> ColumnFacts:
    """Categories, in order where they have one, and which of them occur."""
    np = arrays.numpy()
    codes, categories = (
        # Releases of pandas keep the codes under two names.
        values._codes if hasattr(values, "_codes") else values._ndarray,
        values.categories,
    )
    labels = labels_of(categories, look.limits.names)
    representation = {
        "categories": [look.scalar(label) for label in labels],
        "ordered": bool(values.ordered),
    }
    if not look.affords(codes.shape[0] * 3):
        return ColumnFacts(
            {"not_computed": f"counts of {codes.shape[0]} values"},
            {},
            representation,
        )
    counts = np.zeros(len(categories) + 1, dtype=int)
    for piece in arrays.pieces(codes):
        # Code -1 is what is missing; bincount takes no negative numbers.
        counts += np.bincount(piece + 1, minlength=len(counts))
    n_missing, n_used = int(counts[0]), int(np.count_nonzero(counts[1:]))
    found = {
        "has_nan": n_missing > 0,
        "num_unique": n_used,
        "value_type": "categorical or object",
    }
    unused = max(0, len(labels) - n_used)
    more = stated(n_nan=n_missing, n_unused_categories=unused)
    return ColumnFacts(found, more, representation)


def _of_texts(values: Any, look: Any) -> ColumnFacts:
    """A column of dtype str or string, kept by numpy or by arrow."""
    arrow = _arrow(values)
    if arrow is None:
        return _of_objects(values._ndarray, look)
    return _of_arrow_texts(arrow, look)


def _arrow(values: Any) -> Any:
    # The attribute has had two names.
    held = vars(values) if hasattr(values, "__dict__") else {}
    found = held.get("_pa_array", held.get("_data"))
    return found if type(found).__module__.startswith("pyarrow") else None


def _arrow_pieces(chunked: Any) -> Iterator[Any]:
    """The values in order; the first pieces are short, as often the first values are enough."""
    # Chunk by chunk, as joining them would copy all texts.
    for chunk in chunked.chunks:
        start, length = 0, _FIRST_PIECE
        while start < len(chunk):
            yield chunk.slice(start, length)
            start, length = start + length, min(arrays.PIECE, 8 * length)


def _of_arrow_texts(chunked: Any, look: Any) -> ColumnFacts:
    n_missing = chunked.null_count
    row = RowOfValues(
        len(chunked) - n_missing,
        lambda: chain.from_iterable(
            piece.drop_null().to_pylist() for piece in _arrow_pieces(chunked)
        ),
        lambda at: chunked[at].as_py(),
    )
    values: Facts = {"has_nan": n_missing > 0}
    values.update(
        _arrow_distinct(chunked, row, look) or sequences.text_facts(row, look)
    )
    return ColumnFacts(values, _more_of_texts(row, n_missing, look), {})


def _arrow_distinct(chunked: Any, row: RowOfValues, look: Any) -> Facts:
    """Distinct texts of a long column by arrow's own counting; nothing if that does not pay or they are many."""
    compute = sys.modules.get("pyarrow.compute")
    if (
        compute is None
        or row.length <= _LONG
        # Many distinct texts are counted by Python as quickly.
        or len(set(row.first(4096))) > sequences.KNOWN_DISTINCT
    ):
        return {}
    if not look.affords(row.length * _NS_PER_ARROW_TEXT):
        return {
            "value_type": "categorical or object",
            "not_computed": f"distinct values of {row.length} texts",
        }
    found: set[Any] = set()
    for piece in _arrow_pieces(chunked):
        look.check()
        found.update(compute.unique(piece).to_pylist())
        if len(found) > sequences.KNOWN_DISTINCT + 1:
            return {}
    short = sequences.row_of(sorted(found - {None}))
    return sequences.text_facts(short, look)


def _of_arrow(values: Any, look: Any) -> ColumnFacts:
    """A column of an arrow dtype."""
    chunked = _arrow(values)
    kind = str(chunked.type)
    if kind in ("string", "large_string", "string_view"):
        return _of_arrow_texts(chunked, look)
    if not _is_arrow_number(kind):
        return ColumnFacts({"has_nan": chunked.null_count > 0}, {}, {})

    def again() -> Iterator[Any]:
        for piece in _arrow_pieces(chunked):
            yield piece.drop_null().to_numpy(zero_copy_only=False)

    return _of_pieces(again, len(chunked), chunked.null_count, look)


def _is_arrow_number(kind: str) -> bool:
    return kind.startswith(
        (
            "int",
            "uint",
            "float",
            "double",
            "halffloat",
            "timestamp",
            "duration",
            "date",
        )
    )


def _of_sparse(values: Any, look: Any) -> ColumnFacts:
    """Sparse values: the ones that are stored, and the one for all others."""
    # A sparse column made dense may not fit into memory.
    stored = values.sp_values
    found = (
        arrays.overall(stored, look)
        if stored.size and stored.dtype.kind in arrays.NUMERIC
        else None
    )
    facts = (
        range_facts(found, 0, stored.size, look)
        if stored.dtype.kind in arrays.NUMERIC
        else {}
    )
    representation = {
        "fill_value": look.scalar(values.fill_value),
        "n_stored": int(stored.size),
    }
    return ColumnFacts({"stored_values": facts}, {}, representation)


_READERS: dict[str, Callable[[Any, Any], ColumnFacts]] = {
    **dict.fromkeys(
        ("IntegerArray", "FloatingArray", "BooleanArray"), _of_masked
    ),
    "Categorical": _of_categories,
    **dict.fromkeys(
        (
            "StringArray",
            "ArrowStringArray",
            "ArrowStringArrayNumpySemantics",
            "StringArrayNumpySemantics",
        ),
        _of_texts,
    ),
    "ArrowExtensionArray": _of_arrow,
    "SparseArray": _of_sparse,
}
