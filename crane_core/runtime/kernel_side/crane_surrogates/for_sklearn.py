"""Surrogates for scikit-learn: data with the values that are certain in them, and estimators that are fitted to such.

What an estimator or metric refuses counts if every fill is refused with one message of those below: they speak of
what the operands certainly have. Knows no estimator by itself; parameters are as stated, but for those that only cost
time.
"""

from __future__ import annotations

import copy
import importlib
import json
import re
import signal
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Iterator, Mapping, Sequence

import numpy as np
import sklearn
import sklearn.model_selection

from . import signatures
from .made import FILLS, NotMadeError, made, nothing_told, refusal

PACKAGE = sklearn
read = nothing_told
_PUBLIC = re.compile(
    r"sklearn\.(?!.*\b(?:conftest|datasets|experimental|externals|tests|utils)\b)[a-z][\w.]*\w"
)
_PATH = re.compile(r'"path": "([\w.]+)"')
_MOST_S = 0.05
"""How long one fill may compute; what has not been refused by then is taken for accepted."""
_FIRST_S = 0.5
"""How long the first fill of a class may: what scikit-learn loads late is loaded then."""
_met: set[str] = set()
"""Classes and functions that have computed something here."""
_LESS = {"n_estimators": 3, "n_init": 2}
# Their steps, not their number of estimators, take the time.
_FEWER_STEPS = ("HistGradient", "MLP")
# Messages of the library, by reason: two fills that are refused for one reason agree.
_OF_SCHEMA_TEXTS = (
    "inconsistent numbers of samples|does not match number of samples",
    r"Expected 2D array|Expected (?:a )?\d-dimensional|Found array with dim|should be a 1d array|bad input shape",
    "Found array with 0 (?:sample|feature)",
    r"could not convert string|Cannot use \w+ strategy with non-numeric data",
    "contains infinity",
    r"X has \d+ features?, but|feature names should match|Feature names are only supported",
    "not fitted yet",
    "Unknown label type|continuous(?:-multioutput)? is not supported|continuous format is not supported",
    "at least 2 classes|has to be greater than one; got 1 class|contains only one label|more than 1 class",
    "Classification metrics can't handle a mix|Mix of label input types|[Ll]abels in y_true and y_pred should be of",
    "Target is multiclass but average|multiclass format is not supported|multi_class must be in",
    r"pos_label=\S+ is not a valid label|pos_label is not specified|does not match size of target_names",
    "different number of output|Number of labels is 1|Supported target types are",
    "not a column of the dataframe|not columns of the dataframe|columns are missing|all features must be in",
    "Specifying the columns using strings|Negative values in data passed|must be non-negative",
    "could not be promoted",
    "but the target y is None|requires y to be passed",
    "Invalid parameter '",
    "intermediate steps should be transformers|should implement fit and transform|should be a string describing",
    "(?<!'float' object )has no attribute",  # of np.nan another message, which depends on whether it is that object
    "string object received|np.nan is an invalid document",
    "array required as input",
    "contains NaN",
)
"""Of what is certain of the operands however many rows there are."""
_OF_SIZE_TEXTS = (
    "greater than the number of samples|greater than: the number of members",
    "resulting train set will be empty|should be greater or equal to the number of classes",
    r"n_samples=\d+ should be >=|Expected n_samples >=|must be between 0 and min|Expected n_neighbors|only 1 member",
    "Number of labels is|The sum of test_size|should be either positive and smaller",
)
"""Of numbers of samples, too."""
_OF_CATEGORIES_TEXTS = ("Found unknown categories|previously unseen labels",)
"""Of all values on both sides."""
_OF_SCHEMA = tuple(map(re.compile, _OF_SCHEMA_TEXTS))
OF_MISSING = len(_OF_SCHEMA) - 1
_OF_SIZE = tuple(map(re.compile, _OF_SIZE_TEXTS))
_OF_CATEGORIES = tuple(map(re.compile, _OF_CATEGORIES_TEXTS))


class _TooLongError(BaseException):
    """It was not refused in its time."""


class _NeverFittedError(Exception):
    """What an estimator was fitted to is not what this fill has: it would have been refused then."""


def named(name: str) -> Any:
    """A function or class of feature selection or metrics; raises NotMadeError for others."""
    # A whole module would hold functions that read files (datasets) or run code (utils).
    if not name.startswith(("feature_selection.", "metrics.")):
        raise NotMadeError(name)
    return signatures.found(f"sklearn.{name}")


def make(facts: Mapping[str, Any], fill: int) -> Any:
    """A table, a column, an array, or an estimator."""
    kind = facts["type"].partition(".")[2]
    if kind == "table":
        return _table(facts, fill)
    if kind == "column":
        return _column(
            facts["dtype"], facts["n_rows"], facts["holds"], fill
        ).rename(facts["name"])
    if kind == "array":
        shape = facts["shape"]
        return np.asarray(
            _values(facts["dtype"], int(np.prod(shape)), facts["holds"], fill)
        ).reshape(shape)
    if kind == "estimator":
        # Copied, as a fit changes the estimator that is kept.
        return copy.deepcopy(_fitted(json.dumps(facts), fill))
    raise NotMadeError(kind)


# Data


def _table(facts: Mapping[str, Any], fill: int) -> Any:
    pandas = importlib.import_module("pandas")
    # By position, as labels may occur twice.
    columns = {
        at: _column(dtype, facts["n_rows"], holds, fill)
        for at, (_, dtype, holds) in enumerate(facts["columns"])
    }
    table = pandas.DataFrame(columns, index=pandas.RangeIndex(facts["n_rows"]))
    table.columns = pandas.Index([label for label, _, _ in facts["columns"]])
    return table


def _column(dtype: str, n: int, holds: Mapping[str, Any], fill: int) -> Any:
    """A column of pandas, which would take objects that are texts for its own dtype of texts."""
    values = _values(dtype, n, holds, fill)
    return importlib.import_module("pandas").Series(values, dtype=values.dtype)


def _values(dtype: str, n: int, holds: Mapping[str, Any], fill: int) -> Any:
    """`n` values: all those that occur, or any; among them those that are certain."""
    values = _possible(dtype, n, holds, fill)
    # Integers and booleans of NumPy cannot be missing.
    can_miss = dtype.lower()[:3] not in ("int", "uin", "boo")
    if n and fill == 1 and holds["may_miss"] and can_miss:
        values[0] = None
    at = 0
    for value, count in holds["some"]:
        # The values that are certain come first; where they are makes no difference to a refusal.
        for place in range(at, min(at + count, n)):
            values[place] = _like(value, place - at, fill)
        at += count
    return _of_dtype(values, dtype)


def _possible(
    dtype: str, n: int, holds: Mapping[str, Any], fill: int
) -> list[Any]:
    """`n` values of which it is known, or not, which there are."""
    known = holds["all"]
    if not known:
        return _any(dtype, n, fill)
    # One row has the rarest value, as stratified splits refuse a class of one.
    if holds["rarest"] == 1 and n > 1:
        return [known[0], *_cycle(known[1:], n - 1)]
    # The first value alone with one fill: which of them occur where is unknown.
    is_first_alone = fill == 1 and not holds["is_whole"]
    return _cycle(known[:1] if is_first_alone else known, n)


def _like(value: Any, at: int, fill: int) -> Any:
    """Something that does not fit in the same way; one row has the very value."""
    other = (at % 2, 0, at % 3)[fill]
    if type(value) is str:
        return value + "abc"[:other]
    return value if value is None or value < 0 else value + other


def _cycle(values: Sequence[Any], n: int) -> list[Any]:
    return [values[at % len(values)] for at in range(n)]


def _any(dtype: str, n: int, fill: int) -> list[Any]:
    """Values that no estimator refuses together: two numbers or three, one, or all different; texts of numbers."""
    # Two classes, three, one: what needs several classes differs with the fill.
    if dtype.startswith(("int", "uint", "Int", "bool")):
        return _cycle(((0, 1), (0, 1, 2), (0,))[fill], n)
    if dtype.startswith(("float", "Float")):
        if fill == 2:
            return [at * 0.37 + 0.5 for at in range(n)]
        return _cycle(((0.0, 1.0), (0.0,))[fill], n)
    if dtype.startswith(("datetime", "timedelta")):
        kind = dtype.partition("64")[0]
        return list(np.arange(n).astype(f"{kind}64[D]"))
    if not dtype:
        return _any(("float64", "int64", "object")[fill], n, fill)
    numbers = ("1", "2") if dtype.startswith(("str", "<U")) else (0.0, 1.0)
    return _cycle(("a", "b", "c") if fill == 2 else numbers, n)


def _of_dtype(values: list[Any], dtype: str) -> Any:
    is_untold_text = not dtype and str in map(type, values)
    if dtype == "object" or is_untold_text:
        return np.array(values, object)
    if dtype.startswith("<U"):
        return np.array(values, dtype=str)
    if not _is_of_numpy(dtype):
        return importlib.import_module("pandas").array(values, dtype=dtype)
    # None among numbers is NaN to NumPy.
    numbers = [np.nan if value is None else value for value in values]
    return np.array(numbers).astype(dtype or None)


def _is_of_numpy(dtype: str) -> bool:
    # NumPy takes "str" for its own, but facts mean the dtype of pandas by it.
    if dtype == "str":
        return False
    try:
        np.dtype(dtype or None)
    except TypeError:
        return False
    return True


# Estimators


@lru_cache(maxsize=64)
def _fitted(told: str, fill: int) -> Any:
    """An estimator by its facts, fitted to what it was fitted to; raises NotMadeError if it cannot be."""
    facts = json.loads(told)
    kind = (
        signatures.found(facts["path"])
        if _PUBLIC.fullmatch(facts["path"])
        else None
    )
    # A class with its own __new__ may make anything.
    if kind is None or not signatures.is_made_of_anything(kind):
        raise NotMadeError(facts["path"])
    given = {name: made(value, fill) for name, value in facts["given"].items()}
    # `memory` is a cache on the disk, `input="filename"` reads files.
    if (
        given.get("memory") is not None
        or given.get("input", "content") != "content"
    ):
        raise NotMadeError("what reads or writes files")
    estimator = _eased(kind(**given))
    try:
        return (
            estimator.fit(*(made(data, fill) for data in facts["fit_on"]))
            if facts["fit_on"]
            else estimator
        )
    except Exception:  # noqa: BLE001 - it was fitted to other values
        # With other values it may have been fitted: this fill says nothing.
        raise _NeverFittedError from None


def _eased(estimator: Any) -> Any:
    """With less of what costs time and cannot be refused."""
    # Boosting and networks count rounds by max_iter.
    less = (
        {**_LESS, "max_iter": 5}
        if type(estimator).__name__.startswith(_FEWER_STEPS)
        else _LESS
    )
    for name, most in less.items():
        value = getattr(estimator, name, None)
        # Only lowered: a smaller number was chosen by the notebook.
        if type(value) is int and value > most:
            setattr(estimator, name, most)
    for name in ("n_jobs", "verbose"):
        if type(getattr(estimator, name, None)) is int:
            # Several processes would not end with the time, and cannot be started in the seal.
            setattr(estimator, name, None if name == "n_jobs" else 0)
    return estimator


# Asking


def outcomes(order: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """By fill: {"gave": result}, or {"raised", "message", "about", "fill"}; `about` is the place of its message.

    That among those that count. Of a function by its path, or of a method of the first operand; empty for what says
    nothing.
    """
    path = order["of"]
    function = (
        signatures.found(path) if path and _PUBLIC.fullmatch(path) else None
    )
    # A path that is asked for must be a public function of the library.
    if bool(path) != callable(function):
        raise NotMadeError(path)
    for each in filter(_PUBLIC.fullmatch, _PATH.findall(json.dumps(order))):
        signatures.found(each)  # imported before the time counts
    patterns = (*_OF_SCHEMA, *(_OF_SIZE if order["is_whole"] else ()))
    patterns += _OF_CATEGORIES if _are_values_known(order["operands"]) else ()
    # A fill that could not have been fitted is left out, as the notebook's was.
    for fill in FILLS:
        with suppress(_NeverFittedError):
            yield _outcome(function, order, fill, patterns)


def _outcome(
    function: Any, order: Mapping[str, Any], fill: int, patterns: Sequence[Any]
) -> dict[str, Any]:
    met = str(_PATH.findall(json.dumps(order)) or order["of"])
    most_s = _MOST_S if met in _met else _FIRST_S
    _met.add(met)
    try:
        with _limited(most_s):
            operands = [made(each, fill) for each in order["operands"]]
            keywords = {
                name: made(each, fill)
                for name, each in order["keywords"].items()
            }
            run = function or getattr(operands.pop(0), order["name"])
            return {"gave": run(*operands, **keywords)}
    # What takes long is not refused: checks come first in scikit-learn.
    except (_TooLongError, MemoryError):
        return {}
    except (NotMadeError, _NeverFittedError):
        raise
    except Exception as error:  # noqa: BLE001 - what it raises is the answer
        # Another message may speak of values, which the stand-in has not got.
        about = next(
            (at for at, each in enumerate(patterns) if each.search(str(error))),
            None,
        )
        return (
            {}
            if about is None
            else {**refusal(error), "about": about, "fill": fill}
        )


def _are_values_known(operands: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all values of all data are known, also of those that an estimator was fitted to."""
    for operand in operands:
        facts = operand.get("facts", {})
        held = [column for _, _, column in facts.get("columns", ())]
        if "holds" in facts:
            held.append(facts["holds"])
        if not all(each["all"] and each["is_whole"] for each in held):
            return False
        if not _are_values_known(facts.get("fit_on") or ()):
            return False
    return True


@contextmanager
def _limited(most_s: float) -> Iterator[None]:
    def end(_signal: int, _frame: Any) -> None:
        # A BaseException, so that no `except Exception` of the library takes it for a refusal.
        raise _TooLongError

    before = signal.signal(signal.SIGPROF, end)
    # Of processor time: a busy machine must not decide.
    signal.setitimer(signal.ITIMER_PROF, most_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
