"""Indexes: what pandas refuses where labels repeat, and what needs a frequency that an index has not.

Knows what a state says of an index: its class, its length, its first and last labels, whether they repeat, and its
frequency. Each refusal was compared with pandas 3 on thousands of pairs of small indexes (its tests repeat some).
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final, NoReturn

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    is_array,
    literal_of,
)
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    SERIES,
    is_frame,
    is_pandas,
    is_series,
    n_rows,
    whole_labels,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("pandas: indexes")
_COLUMNS: Final = (1, "columns")
_DOUBLE = "cannot reindex on an axis with duplicate labels"
_ONE_BY_ONE: Final = (
    "drop duplicated labels first: x[~x.index.duplicated()], or reset_index()"
)
_TIMES: Final = ("DatetimeIndex", "PeriodIndex", "TimedeltaIndex")


def index_of(value: AbstractValue) -> Mapping[str, Any]:
    """What is known of the index of a frame or series."""
    is_table = is_frame(value) or is_series(value)
    return value.mapping("index") if is_table else {}


def _repeats(value: AbstractValue) -> bool:
    """Whether some label certainly repeats."""
    known = index_of(value)
    return known.get("unique") is False and known.get("type") != "MultiIndex"


def _are_unlike(left: AbstractValue, right: AbstractValue) -> bool:
    """Whether two indexes certainly are not equal: by their lengths, by what repeats, or by their first labels."""
    one, other = index_of(left), index_of(right)
    lengths = {n_rows(left), n_rows(right)}
    if len(lengths) == 2 and None not in lengths:
        return True
    if {one.get("unique"), other.get("unique")} == {True, False}:
        return True
    shown = [each.get("first") for each in (one, other)]
    are_plain = all(
        isinstance(labels, list)
        and all(type(label) in (int, str) for label in labels)
        for labels in shown
    )
    # Times are shown as texts, and one moment has many of them.
    is_time = any(each.get("type") in _TIMES for each in (one, other))
    return are_plain and not is_time and shown[0] != shown[1]


def _told(value: AbstractValue) -> str:
    known = index_of(value)
    first = known.get("first")
    shown = (
        f", first {', '.join(map(repr, first))}"
        if isinstance(first, list)
        else ""
    )
    n_double = known.get("n_duplicates")
    repeats = (
        f"{n_double} of the labels repeat" if n_double else "labels repeat"
    )
    return f"{repeats} in the index of {value.named('the table')} (length {n_rows(value)}{shown})"


def _refuse_repeated(
    operation: Operation, value: AbstractValue, remedy: str
) -> NoReturn:
    """Raises Crash: rows cannot be looked up by labels that repeat."""
    operation.crash("ValueError", _DOUBLE, fact=_told(value), remedy=remedy)


@RULES.method(FRAME, "reindex")
@RULES.method(SERIES, "reindex")
def reindexed(operation: Operation) -> Answer:
    """Other labels cannot be looked up among labels that repeat; the very same ones are not looked up."""
    old = operation.receiver
    given = operation.arguments.bound(
        "labels=None, *, index=None, columns=None, axis=None, **others"
    )
    # Of a method (`ffill`) or a level pandas has other things to say first.
    if given is None or not given.keys() <= {"labels", "index", "axis"}:
        return UNKNOWN
    is_of_columns = literal_of(given.get("axis"), 0) in _COLUMNS
    wanted = whole_labels(given.get("index") or given.get("labels"))
    if is_of_columns or wanted is None or not _repeats(old):
        return UNKNOWN
    # Labels that are all different are not those of the index.
    if len(set(wanted)) == len(wanted):
        _refuse_repeated(operation, old, _ONE_BY_ONE)
    return UNKNOWN


@RULES.method(FRAME, "asfreq")
@RULES.method(SERIES, "asfreq")
def with_frequency(operation: Operation) -> Answer:
    """A range of dates has each once, and is looked up in the index."""
    old = operation.receiver
    if _repeats(old) and index_of(old).get("type") == "DatetimeIndex":
        _refuse_repeated(operation, old, _ONE_BY_ONE)
    return UNKNOWN


@RULES.set_item(FRAME)
def stored_series(operation: Operation) -> Answer:
    """A series is put into a table by its labels, unless both have the same."""
    old, (label, value) = operation.receiver, operation.arguments.positional
    is_column = isinstance(label.literal, (str, int))
    if (
        is_column
        and is_series(value)
        and n_rows(old)
        and _repeats(value)
        and _are_unlike(old, value)
    ):
        _refuse_repeated(
            operation,
            value,
            "store its values, .to_numpy(), if the rows are in the same order; or drop duplicated labels first",
        )
    return UNKNOWN


@RULES.function("pandas.concat")
def beside(operation: Operation) -> Answer:
    """Tables are put beside each other by their labels, unless all have the same."""
    given = operation.arguments.bound("objs, *, axis=0, join='outer', **others")
    if given is None or literal_of(given.get("axis"), 0) not in _COLUMNS:
        return UNKNOWN
    tables = given["objs"].items or ()
    # Before pandas 2 a mixed set of indexes was joined in another way.
    if not is_pandas(operation, 2, 0) or not all(map(index_of, tables)):
        return UNKNOWN
    double = next(filter(_repeats, tables), None)
    is_mixed = any(_are_unlike(*pair) for pair in combinations(tables, 2))
    if double is not None and is_mixed:
        # Series alone are the columns of a new table, which looks their labels up in another way.
        are_columns = all(map(is_series, tables))
        operation.crash(
            "ValueError" if are_columns else "InvalidIndexError",
            _DOUBLE
            if are_columns
            else "Reindexing only valid with uniquely valued Index objects",
            fact=_told(double),
            remedy=_ONE_BY_ONE,
        )
    return UNKNOWN


@RULES.method(SERIES, "map")
def mapped_by_series(operation: Operation) -> Answer:
    """The value of each element is looked up among the labels of a series."""
    by = operation.first
    if is_series(by) and _repeats(by) and n_rows(operation.receiver):
        operation.crash(
            "InvalidIndexError",
            "Reindexing only valid with uniquely valued Index objects",
            fact=_told(by),
            remedy="drop duplicated labels of the mapping first, or use merge",
        )
    return UNKNOWN


@RULES.method(FRAME, "to_dict", "to_json")
def as_records(operation: Operation) -> Answer:
    """A dict by row needs one key for each."""
    is_dict = operation.name == "to_dict"
    parameters = (
        "orient='dict', **others"
        if is_dict
        else "path=None, *, orient=None, **others"
    )
    given = operation.arguments.bound(parameters)
    if given is None or not _repeats(operation.receiver):
        return UNKNOWN
    orient = literal_of(given.get("orient"), "dict" if is_dict else "columns")
    if orient == "index" or orient == "columns" and not is_dict:
        operation.crash(
            "ValueError",
            f"DataFrame index must be unique for orient='{orient}'.",
            fact=_told(operation.receiver),
            remedy="use orient='records', or reset_index() first",
        )
    return UNKNOWN


@RULES.method(FRAME, "unstack")
@RULES.method(SERIES, "unstack")
def unstacked(operation: Operation) -> Answer:
    """Each cell of the new table comes of one row."""
    known = index_of(operation.receiver)
    if known.get("type") == "MultiIndex" and known.get("unique") is False:
        operation.crash(
            "ValueError",
            "Index contains duplicate entries, cannot reshape",
            fact=f"{known.get('n_duplicates', 'some')} rows of {operation.receiver.named('it')} repeat the labels of "
            "another",
            remedy="aggregate them first: groupby(level=...).mean(), or pivot_table(..., aggfunc=...)",
        )
    return UNKNOWN


# Frequencies


def _has_no_frequency(value: AbstractValue) -> bool:
    """Whether pandas certainly finds no frequency: none is kept, and the dates do not follow one."""
    known = index_of(value)
    if known.get("type") == "DatetimeIndex":
        return "freq" in known and known["freq"] is None
    return False


@RULES.method(SERIES, "to_period")
@RULES.method(FRAME, "to_period")
def as_periods(operation: Operation) -> Answer:
    """Dates without a rhythm are not periods until one says of which length."""
    given = operation.arguments.bound("freq=None, **others")
    if (
        given is not None
        and "freq" not in given
        and _has_no_frequency(operation.receiver)
    ):
        operation.crash(
            "ValueError",
            "You must pass a freq argument as current index has none.",
            fact=f"the dates of {operation.receiver.named('the series')} have no frequency",
            remedy="pass one: to_period('D')",
        )
    return UNKNOWN


@RULES.function(
    "statsmodels.tsa.seasonal.seasonal_decompose",
    "statsmodels.tsa.api.seasonal_decompose",
    "statsmodels.api.tsa.seasonal_decompose",
)
def decomposed(operation: Operation) -> Answer:
    """Without a period, the index tells how many rows make a season."""
    given = operation.arguments.bound(
        "x, model='additive', filt=None, period=None, two_sided=True, extrapolate_trend=0"
    )
    x = given["x"] if given is not None else AbstractValue()
    if given is None or "period" in given or not n_rows(x) and not is_array(x):
        return UNKNOWN
    # Missing values are refused first, with another message of the same class.
    kind = index_of(x).get("type")
    counts_rows = is_array(x) or kind in ("RangeIndex", "Index")
    if counts_rows or _has_no_frequency(x):
        operation.crash(
            "ValueError",
            "You must specify a period or x must be a pandas object with a PeriodIndex or a DatetimeIndex with a freq "
            "not set to None",
            fact=f"{x.named('the series')} is an array"
            if is_array(x)
            else f"the index of {x.named('the series')} is a {kind} without a frequency",
            remedy="pass period=..., or give the index a frequency: .asfreq('D')",
        )
    return UNCHANGED
