"""What a call asks of the frames that it is given: columns by keyword, features that a model was fitted with.

Knows functions of pandas, seaborn, plotly express and statsmodels, and the methods of fitted estimators, by name.
Refuses to call them.
"""

from __future__ import annotations

import re
from types import FunctionType, MethodType
from typing import Any, Callable, Iterator, NamedTuple

from ..anatomy import (
    Names,
    instance_dict,
    module_of,
    mro_of,
    name_of,
    package_of,
    type_name,
)
from ..chains.following import Missing, chain_text, followed, similar
from ..kinds import INDICES, PLAIN, ROWS
from ..syntax.asked import ATTRIBUTE, Chain, Unknown

# Keywords of seaborn and plotly that name a column of `data`; others name colours and sizes.
_PLOTTED = (
    "x",
    "y",
    "hue",
    "style",
    "size",
    "col",
    "row",
    "units",
    "color",
    "symbol",
    "facet_col",
    "facet_row",
)
_SEVERAL = ("vars", "x_vars", "y_vars")
_BY_FUNCTION: dict[str, tuple[tuple[int, str, tuple[str, ...]], ...]] = {
    # The frames of merge are two: each keyword names columns of one of them.
    "merge": ((0, "left", ("on", "left_on")), (1, "right", ("on", "right_on"))),
    "melt": ((0, "frame", ("id_vars", "value_vars")),),
    "pivot": ((0, "data", ("index", "columns", "values")),),
    # pivot_table's `index` may also be a Grouper or an array, so only `values` is judged.
    "pivot_table": ((0, "data", ("values",)),),
    "get_dummies": ((0, "data", ("columns",)),),
}
"""Functions of pandas: position and keyword of a frame, and the keywords that name columns of it."""
_ON_FEATURES = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "transform",
    "score",
    "decision_function",
    "apply",
)
# These take frames with other columns: they compare no names, or leave it to their parts.
_COMPARE_NOTHING = (
    "DummyClassifier",
    "DummyRegressor",
    "FunctionTransformer",
    "FeatureUnion",
    "ColumnTransformer",
)
_LEAVE_IT = tuple(
    f"sklearn.{module}"
    for module in (
        *(
            "ensemble._voting",
            "ensemble._stacking",
            "calibration",
            "multioutput",
            "multiclass",
            "compose._target",
        ),
        *("semi_supervised", "model_selection", "frozen"),
    )
)
"""Modules of estimators that hand their data on to others, which may take frames with other columns."""
# A name before a bracket is a function of patsy, such as C(...), not a column.
_WORD = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*\s*\(|[A-Za-z_]\w*")
# Quoted names hold anything, also what looks like a name.
_QUOTED = re.compile(r"Q\(\s*['\"].*?['\"]\s*\)|'[^']*'|\"[^\"]*\"")


class Asks(NamedTuple):
    """A label that a call expects; `of` names what has not got it."""

    missing: Missing
    of: str


def asks(chain: Chain, namespace: Names) -> Iterator[Asks]:
    """What the first call of a chain asks of frames among its arguments, and does not find."""
    at = chain.first_call
    if at is None or chain.name not in namespace:
        return
    # The first call only: what comes after is asked of its result, which is not there yet.
    positional, named = chain.steps[at].value[0], dict(chain.steps[at].value[1])
    text = chain_text(chain.name, chain.steps[: at + 1])
    function = _reached(chain, namespace, at)
    frames = _Frames(namespace, positional, named)
    package = package_of_function(function)
    # A method's name as it is written; a function may be imported under another one.
    is_method = at and chain.steps[at - 1].kind == ATTRIBUTE
    name = chain.steps[at - 1].value if is_method else _name(function)
    for reader in _READERS.get(package, ()):
        yield from reader(name, frames, text)
    # The package is empty for methods, and of estimators it is their class that tells.
    if package or not at:
        return
    if name in _ON_FEATURES:
        reached = followed(namespace[chain.name], chain.steps[: at - 1])
        *_, owner = reached.values.values()
        yield from _features(owner, frames, text)
    elif name == "merge":
        yield from _merged(frames, text)


def _reached(chain: Chain, namespace: Names, at: int) -> Any:
    """What is called, where it is stored."""
    # Only where every step was followed: a name alone may belong to another class.
    reached = followed(namespace[chain.name], chain.steps[:at])
    value = reached.values.get(at)
    return value.__func__ if type(value) is MethodType else value


def package_of_function(function: Any) -> str:
    """The top-level package that defines a function; empty for a method."""
    module = function.__module__ if type(function) is FunctionType else None
    return module.partition(".")[0] if type(module) is str else ""


def _name(function: Any) -> str:
    return function.__name__ if type(function) is FunctionType else ""


class _Frames:
    """The arguments of a call, and which of them are frames of the kernel."""

    def __init__(
        self, namespace: Names, positional: Any, named: dict[str, Any]
    ) -> None:
        self._namespace = namespace
        self.positional = positional
        self.named = named

    def without(self, keyword: str) -> _Frames:
        named = {
            word: value for word, value in self.named.items() if word != keyword
        }
        return _Frames(self._namespace, self.positional, named)

    def argument(self, at: int, keyword: str) -> Any:
        if keyword in self.named:
            return self.named[keyword]
        return self.positional[at] if 0 <= at < len(self.positional) else None

    def labels(self, argument: Any) -> tuple[str, list[Any], list[Any]] | None:
        """Name, column labels and names of index levels of a frame that is an argument; None for anything else."""
        if type(argument) is not Unknown or not argument.name:
            return None
        value = self._namespace.get(argument.name)
        if package_of(type(value)) != "pandas" or not any(
            name_of(kind) == "DataFrame" for kind in mro_of(type(value))
        ):
            return None
        from ..summarizers.pandas.following import table_of

        table = table_of(value)
        # Labels of several levels are found by their parts, too.
        is_known = table.labels is not None and not any(
            type(label) is tuple for label in table.labels
        )
        return (
            (argument.name, list(table.labels or ()), list(table.levels))
            if is_known
            else None
        )

    def defines(self, name: str) -> bool:
        return name in self._namespace


def _lacks(
    frames: _Frames, argument: Any, wanted: Any, text: str
) -> Iterator[Asks]:
    """Labels that are wanted of a frame and not there."""
    found = frames.labels(argument)
    if found is None:
        return
    name, labels, levels = found
    # A single label may be any hashable; a list names several.
    for label in wanted if type(wanted) in ROWS else [wanted]:
        # Names of index levels count as columns in merge and groupby (pandas 0.23).
        if (
            type(label) in INDICES
            and label not in labels
            and label not in levels
        ):
            yield _no_column(name, label, labels, asked_by=text)


def _no_column(of: str, label: Any, there: list[Any], **more: str) -> Asks:
    fact = {"column": label, "similar": similar(label, there), **more}
    return Asks(Missing("columns", fact), of)


def _of_pandas(name: str, frames: _Frames, text: str) -> Iterator[Asks]:
    for at, keyword, naming in _BY_FUNCTION.get(name, ()):
        argument = frames.argument(at, keyword)
        for word in naming:
            if frames.named.get(word) is not None and not (
                # With col_level the names are those of one level of the header.
                name == "melt" and "col_level" in frames.named
            ):
                yield from _lacks(frames, argument, frames.named[word], text)


def _merged(frames: _Frames, text: str) -> Iterator[Asks]:
    """`left.merge(right, on=...)`: the right side."""
    # The left side is the object itself, whose columns are known by its own chain.
    right = frames.argument(0, "right")
    for word in ("on", "right_on"):
        if frames.named.get(word) is not None:
            yield from _lacks(frames, right, frames.named[word], text)


def _of_plots(name: str, frames: _Frames, text: str) -> Iterator[Asks]:
    """Columns to plot, named by strings; a string that is not a column is an error in seaborn and plotly express."""
    frame = (
        frames.argument(0, "data")
        if "data_frame" not in frames.named
        else frames.named["data_frame"]
    )
    for word in _PLOTTED:
        # An array or a Series in place of a string is data, no label.
        if type(frames.named.get(word)) is str:
            yield from _lacks(frames, frame, frames.named[word], text)


def _of_seaborn(name: str, frames: _Frames, text: str) -> Iterator[Asks]:
    # A colour of seaborn is a colour, one of plotly a column.
    yield from _of_plots(name, frames.without("color"), text)
    for word in _SEVERAL if name == "pairplot" else ():
        if type(frames.named.get(word)) in ROWS:
            yield from _lacks(
                frames, frames.argument(0, "data"), frames.named[word], text
            )


def _of_statsmodels(name: str, frames: _Frames, text: str) -> Iterator[Asks]:
    """Names in a formula that are neither columns nor known in the kernel."""
    formula, data = frames.argument(0, "formula"), frames.argument(1, "data")
    # A formula without "~" is a design of one side, which statsmodels refuses by itself.
    if type(formula) is str and "~" in formula:
        plain = _QUOTED.sub(" ", formula)
        words = [
            word
            for word in _WORD.findall(plain)
            if not word.rstrip().endswith("(")
        ]
        # patsy looks up names of a formula in the caller's variables, too.
        wanted = [
            word for word in dict.fromkeys(words) if not frames.defines(word)
        ]
        for ask in _lacks(frames, data, wanted, text):
            fact = dict(ask.missing.fact, **{"in": "formula"})
            yield ask._replace(missing=ask.missing._replace(fact=fact))


def _features(model: Any, frames: _Frames, text: str) -> Iterator[Asks]:
    """The features a model was fitted with, beside the columns of the frame it is given now."""
    asking = _asking(model)
    needed = _columns_needed(asking)
    fitted = _feature_names(asking) if needed is None else None
    found = frames.labels(
        frames.positional[0] if frames.positional else frames.named.get("X")
    )
    if found is None:
        return
    name, labels, _ = found
    for feature in needed or fitted or ():
        if feature not in labels:
            why = "the model was fitted with it"
            yield _no_column(name, feature, labels, asked_by=text, why=why)
    # A column transformer takes what it needs and leaves the rest.
    if fitted is None:
        return
    for label in labels:
        if type(label) in PLAIN and label not in fitted:
            why = f"{name} has it, the model was fitted without"
            of = "the features of the model"
            yield _no_column(of, label, fitted, asked_by=text, why=why)


def _asking(model: Any) -> Any:
    """What looks at the names first: of a pipeline, the first step that is neither a word nor None."""
    steps = (
        instance_dict(model).get("steps")
        if package_of(type(model)) == "sklearn"
        else None
    )
    parts = (
        [step[1] for step in steps if type(step) is tuple and len(step) > 1]
        if type(steps) is list
        else []
    )
    # "passthrough" and None are steps that look at nothing.
    return (
        _asking(next((part for part in parts if type(part) not in PLAIN), None))
        if parts
        else model
    )


def _feature_names(model: Any) -> list[Any] | None:
    """The names that an estimator compares with those of its fit; None if it leaves that to others, or to none."""
    kind = type(model)
    if (
        package_of(kind) != "sklearn"
        or name_of(kind) in _COMPARE_NOTHING
        or module_of(kind).startswith(_LEAVE_IT)
    ):
        # Voting and stacking pass data on: an inner model may have been fitted with arrays.
        return None
    return _plain_names(instance_dict(model).get("feature_names_in_"))


def _plain_names(names: Any) -> list[Any] | None:
    return (
        list(names.tolist())
        if type_name(type(names)) == "numpy.ndarray"
        else None
    )


def _columns_needed(model: Any) -> list[Any] | None:
    """The columns that a fitted column transformer takes: the others of a frame may be missing, or be new ones."""
    held = instance_dict(model)
    parts, names = held.get("transformers_"), held.get("feature_names_in_")
    fitted_with = _plain_names(names)
    kind = type(model)
    is_one = (
        package_of(kind) == "sklearn" and name_of(kind) == "ColumnTransformer"
    )
    if not is_one or type(parts) is not list or fitted_with is None:
        return None
    taken = [
        part[1:] for part in parts if type(part) is tuple and len(part) == 3
    ]
    needed: list[Any] = []
    for transformer, given in taken:
        # "drop" needs no columns to be there when it transforms.
        if type(transformer) is not str or transformer != "drop":
            needed += _labels_given(given, fitted_with)
    return list(dict.fromkeys(needed))


def _labels_given(given: Any, names: list[Any]) -> list[Any]:
    """Columns given by name, or by place; of masks and slices none."""
    wanted = given if type(given) is list else [given]
    at = [
        names[number]
        for number in wanted
        # A place counts among the columns of the fit, and is turned into a name there.
        if type(number) is int and -len(names) <= number < len(names)
    ]
    return [name for name in wanted if type(name) is str] + at


_READERS: dict[
    str, tuple[Callable[[str, _Frames, str], Iterator[Asks]], ...]
] = {
    "pandas": (_of_pandas,),
    "seaborn": (_of_seaborn,),
    "plotly": (_of_plots,),
    "statsmodels": (_of_statsmodels,),
}
