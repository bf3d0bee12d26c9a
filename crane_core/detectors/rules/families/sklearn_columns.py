"""Column transformers: columns that the frame lacks, and what each transformer refuses of its own columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue, literal, restricted
from crane_core.detectors.rules.answer import UNCHANGED, Answer
from crane_core.detectors.rules.evidence import enumerated
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.numpy_arrays import is_array
from crane_core.detectors.rules.families.sklearn_classes import KnownClass, known_class
from crane_core.detectors.rules.families.sklearn_encoders import refuse_unseen_category
from crane_core.detectors.rules.families.sklearn_estimators import is_fitted, not_fitted, unfitted_copy
from crane_core.detectors.rules.families.sklearn_results import as_many_rows
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import is_beyond

RULES: Final = Family("scikit-learn: column transformers")
FitTransform = Callable[[Operation, AbstractValue, KnownClass, AbstractValue, AbstractValue | None], AbstractValue]
_MOST_TOLD: Final = 8
"""A state may have cut rows of so many columns."""
_KEPT: Final = ("index", "column_index")


def transformers(value: AbstractValue) -> list[tuple[AbstractValue, Any]] | None:
    """Estimator and columns of each, None if they are not all known. Columns may be NOT_KNOWN."""
    held = value.attributes.get("transformers")
    if held is None:
        return _stated_transformers(value)
    if held.items is None or not all(item.items and len(item.items) == 3 for item in held.items):
        return None
    return [(item.items[1], item.items[2].literal) for item in held.items if item.items]


def _stated_transformers(value: AbstractValue) -> list[tuple[AbstractValue, Any]] | None:
    """Of a state: the first columns of each, of long rows no more."""
    order, columns, parts = value.fact("step_order"), value.mapping("columns_of_steps"), value.mapping("steps")
    if not isinstance(order, list) or not {"columns_of_steps", "steps"} <= value.facts.keys():
        return None
    found = [(parts.get(name), columns.get(name)) for name in order if name != "remainder"]
    return [
        (AbstractValue(facts["type"], {k: fact for k, fact in facts.items() if k != "type"}), given)
        for facts, given in found
        if isinstance(facts, Mapping) and facts.get("type", "str") != "str" and isinstance(given, (list, str))
    ]


def fit_columns(
    operation: Operation,
    estimator: AbstractValue,
    x: AbstractValue,
    y: AbstractValue | None,
    fit_transform: FitTransform,
) -> None:
    """Every transformer gets its columns; copies are fitted, so what was given stays as it is."""
    for part, columns in transformers(estimator) or ():
        _refuse_no_transformer(operation, part)
        _refuse_missing(operation, columns, x)
        known = known_class(part)
        chosen = _chosen(x, columns)
        if known is not None and chosen is not None:
            fit_transform(operation, unfitted_copy(part), known, chosen, y)
    estimator.facts["is_fitted"] = True
    names = data.names_of(x)
    estimator.facts["columns_fit"] = sorted(_asked(estimator)) if names is not None else []


def _asked(estimator: AbstractValue) -> set[str]:
    given = [columns for _, columns in transformers(estimator) or () if not isinstance(columns, tuple)]
    return {column for columns in given for column in _listed(columns) if isinstance(column, str)}


def _listed(columns: Any) -> list[Any]:
    """Columns that are given as one name, or as several."""
    return [columns] if isinstance(columns, str) else list(columns) if isinstance(columns, (list, tuple)) else []


def _refuse_no_transformer(operation: Operation, part: AbstractValue) -> None:
    """Pairs are given as transformer and columns, triples as name, transformer and columns."""
    is_other_word = part.type == "str" and part.is_literal and part.literal not in ("drop", "passthrough")
    if part.type in ("list", "tuple") or is_other_word:
        operation.crash(
            "TypeError",
            "columns are given where a transformer is expected",
            fact=f"{part.literal!r} is a {part.type}" if part.is_literal else f"it is a {part.type}",
            remedy="pass the transformer first, then its columns",
        )


def _lacking(x: AbstractValue, names: Iterable[Any]) -> list[Any]:
    """The names that are certainly no column of the frame."""
    labels = data.known_labels(x)
    return [] if labels is None else [name for name in names if name not in labels]


def _columns_in_words(x: AbstractValue) -> str:
    return f"{x.named('X')} has the columns {enumerated(sorted(map(str, data.known_labels(x) or ())), 12)}"


def _refuse_missing(operation: Operation, columns: Any, x: AbstractValue) -> None:
    wanted = _listed(columns)
    named = [column for column in wanted if isinstance(column, str)]
    if named and is_array(x):
        operation.crash(
            "ValueError",
            "Specifying the columns using strings is only supported for dataframes",
            fact=f"{x.named('X')} is an array",
            remedy="pass a DataFrame, or use column numbers",
        )
    if missing := _lacking(x, named):
        operation.crash(
            "ValueError",
            f"the column transformer asks for {', '.join(map(repr, missing[:5]))}",
            fact=_columns_in_words(x),
            remedy="use columns that the frame has at this step",
        )
    n_columns = data.n_features(x)
    if beyond := [at for at in wanted if type(at) is int and is_beyond(at, n_columns)]:
        operation.crash(
            "ValueError",
            f"column index {beyond[0]} is out of bounds",
            fact=f"{x.named('X')} has {n_columns} columns",
            remedy="use existing column numbers",
        )


def _chosen(x: AbstractValue, columns: Any) -> AbstractValue | None:
    """The part of a frame that a transformer gets; a single name gives a series."""
    if data.known_labels(x) is None:
        return None
    if isinstance(columns, str):
        facts = dict(data.per_column(x).get(columns, {}), length=data.n_samples(x))
        return AbstractValue("pandas.Series", facts, words=f"column {columns!r}")
    wanted = _listed(columns)
    is_whole = 0 < len(wanted) < _MOST_TOLD and all(isinstance(column, str) for column in wanted)
    return chosen_columns(x, wanted) if is_whole and not _lacking(x, wanted) else None


def chosen_columns(x: AbstractValue, columns: Sequence[str]) -> AbstractValue:
    """x[columns]."""
    facts = {
        "columns": tuple(columns),
        "column_labels": frozenset(columns),
        "shape": (data.n_samples(x), len(columns)),
        "dtypes": restricted(data.dtypes_of(x), columns),
        "per_column": restricted(data.per_column(x), columns),
        "n_nan": restricted(x.mapping("n_nan"), columns),
        "columns_with_inf": [label for label in x.fact("columns_with_inf") or () if label in columns],
    }
    known = restricted(x.facts, _KEPT) | {name: fact for name, fact in facts.items() if fact not in ({}, [])}
    if x.fact("has_nan") is False:
        known["has_nan"] = False
    return AbstractValue(x.type, known, words=x.words)


def transform_columns(
    operation: Operation, estimator: AbstractValue, known: KnownClass, x: AbstractValue
) -> AbstractValue:
    if is_fitted(estimator) is False:
        not_fitted(operation, estimator, known.name)
    if missing := _lacking(x, estimator.fact("columns_fit", sorted(_asked(estimator))) or ()):
        operation.crash(
            "ValueError",
            f"columns are missing: {', '.join(missing[:8])}",
            fact=_columns_in_words(x),
            remedy="pass the columns that it was fitted with",
        )
    if is_fitted(estimator) is True:
        _refuse_unseen(operation, estimator, x)
    return as_many_rows(operation, x)


def _refuse_unseen(operation: Operation, estimator: AbstractValue, x: AbstractValue) -> None:
    """Categories that an encoder among the fitted transformers has not seen."""
    for part, columns in _stated_transformers(estimator) or ():
        known, chosen = known_class(part), _chosen(x, columns)
        if known is not None and chosen is not None and known.name in ("OneHotEncoder", "OrdinalEncoder"):
            refuse_unseen_category(operation, part, known, chosen)


@RULES.function("sklearn.compose.make_column_transformer")
def made(operation: Operation) -> Answer:
    """A column transformer of pairs of estimator and columns."""
    given = operation.arguments.positional
    if not operation.arguments.is_complete or not all(pair.items and len(pair.items) == 2 for pair in given):
        return UNCHANGED
    items = [AbstractValue("tuple", items=[literal(name), *pair]) for name, pair in _numbered(given)]
    facts = {"class_name": "ColumnTransformer", "is_fitted": False, "parameters_set": {}, "n_parameters_set": 0}
    attributes = {"transformers": AbstractValue("list", items=items), **operation.arguments.keywords}
    return AbstractValue("sklearn.compose.ColumnTransformer", facts, attributes=attributes)


def _numbered(pairs: Sequence[AbstractValue]) -> Iterator[tuple[str, list[AbstractValue]]]:
    for at, pair in enumerate(pairs):
        yield f"{at}", list(pair.items or ())
