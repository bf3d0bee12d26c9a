"""Estimators that read texts: what they get must be texts, one per document, with words in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.numpy_arrays import is_array
from crane_core.detectors.rules.families.pandas_frames import is_series
from crane_core.detectors.rules.families.sklearn_classes import KnownClass
from crane_core.detectors.rules.families.sklearn_estimators import value_of
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import shown

TEXTS: Final = ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer")
_NUMBERS: Final = ("int", "uint", "float", "bool")


def fit_texts(operation: Operation, estimator: AbstractValue, known: KnownClass, documents: AbstractValue) -> None:
    """Raise where the documents are certainly no texts; else note that it is fitted."""
    _refuse_documents(operation, estimator, known, documents)
    for name in ("fitted_attributes", "feature_names_in_", "learnt"):
        estimator.facts.pop(name, None)
    estimator.facts["is_fitted"] = True


_USUAL = {"preprocessor": None, "tokenizer": None, "analyzer": "word", "input": "content", "lowercase": True}
"""Settings with which it calls lower() on each document itself."""


def _refuse_documents(
    operation: Operation, estimator: AbstractValue, known: KnownClass, documents: AbstractValue
) -> None:
    words = documents.named("the argument")
    if documents.type == "str":
        operation.crash(
            "ValueError",
            "Iterable over raw text documents expected, string object received",
            fact=f"{words} is a single string",
            remedy="put it in a list",
        )
    if not data.n_samples(documents) or any(value_of(estimator, name) != value for name, value in _USUAL.items()):
        return
    shape = data.shape_as_array(documents) or ()
    if (is_series(documents) or is_array(documents)) and len(shape) == 1:
        _refuse_values(operation, known, documents)
    if is_array(documents) and len(shape) == 2:
        operation.crash(
            "AttributeError",
            f"{known.name} takes one string per document",
            fact=f"{words} has the shape {shown(shape)}",
            remedy="pass one column: ravel() it, or join the columns",
        )


def _refuse_values(operation: Operation, known: KnownClass, documents: AbstractValue) -> None:
    dtype = str(documents.fact("dtype", ""))
    if dtype.startswith(_NUMBERS):
        operation.crash(
            "AttributeError",
            f"{known.name} calls lower() on each document, and numbers do not have it",
            fact=f"{documents.named('the argument')} holds {dtype}",
            remedy="convert them to strings with astype(str)",
        )
    if documents.fact("has_nan") is True and dtype in ("object", "str"):
        _refuse_missing(operation, known, documents)


def _refuse_missing(operation: Operation, known: KnownClass, documents: AbstractValue) -> None:
    """NaN is refused by name; None has no small letters. Where both are there, the first decides."""
    types = documents.fact("item_types")
    kinds = set(types) & {"float", "NoneType"} if isinstance(types, Mapping) else {"float"}
    if len(kinds) != 1:
        return
    operation.crash(
        "ValueError" if kinds == {"float"} else "AttributeError",
        f"np.nan is an invalid document: {known.name} needs a string for every document",
        fact=f"{documents.named('the argument')} holds missing values",
        remedy="fill them with '' first",
    )
