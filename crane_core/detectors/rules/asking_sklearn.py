"""What is sent to scikit-learn about a step: data with the values that are certain, and estimators with parameters.

Data of many rows are sent with fewer; what is answered of them speaks of the rows that there are.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.families import pandas_frames, sklearn_classes
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families import sklearn_estimators as estimators
from crane_core.detectors.rules.families.numpy_arrays import is_array
from crane_core.detectors.rules.sending import NotSentError

_MOST_ROWS = 400
_USUAL_ROWS = 40
_FEWER = 200
"""So many rows are sent for many; two for each other number."""
_MOST_COLUMNS = 500
_MOST_VALUES = 100
_MOST_ITEMS = 1_000
_PLAIN: Final = (bool, int, float, str, type(None))
_KEEPS_PARTS: Final = (
    "SelectFromModel",
    "CalibratedClassifierCV",
    "FrozenEstimator",
    "FunctionTransformer",
)
"""Classes that may use parts as they were fitted before, or call functions."""
_AS_WIDE: Final = (
    *(
        "StandardScaler",
        "MinMaxScaler",
        "MaxAbsScaler",
        "RobustScaler",
        "Normalizer",
        "Binarizer",
        "PowerTransformer",
    ),
    *("QuantileTransformer", "OrdinalEncoder"),
)
"""Classes that give as many columns as they get; others give those that values, or a parameter, decide."""
_PREDICTS: Final = (
    "predict",
    "fit_predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
)
_PARTS: Final = frozenset(
    [
        "estimator",
        "estimators",
        "base_estimator",
        "steps",
        "transformers",
        "kernel",
    ]
)
"""Parameters that may hold what decides itself about data."""
_WITH_ANY_PARAMETERS: Final = re.compile("^Unknown label type")
"""What every classifier without parts refuses, however it is set: any other fault raises the same class before."""
# scikit-learn quotes numbers of rows ("inconsistent numbers of samples: [200, 202]"). They are
# put back, so a message shows the numbers that the notebook has.
_NUMBER_OF_ROWS = re.compile(r"\b2\d\d\b")


# What quotes the stand-in's own values: the array that has too few dimensions, the classes that are too small.
_INVENTED = re.compile(
    r":?\s*array=\[.*?\]\]?\.(?=\s|$)| Classes with too few members are: \[.*?\]",
    re.DOTALL,
)


_FLAWS: Final = {
    "text": "could not convert string to float",
    "nan": "contains NaN",
    "inf": "contains infinity",
    "negative": "egative",
}
"""What a message says of each flaw of data."""
_MOST_FLAWS = 3


class Learning:
    """The order about one step. `lengths` maps numbers of rows to those that are sent."""

    def __init__(self, values: Sequence[AbstractValue]) -> None:
        known = dict.fromkeys(
            n
            for value in values
            if _is_data(value) and (n := data.n_samples(value)) is not None
        )
        self._values = [value for value in values if _is_data(value)]
        is_long = any(n > _MOST_ROWS for n in known)
        # Numbers that differ still differ in what is sent, so that the same pairs are refused.
        self._sent = {
            n: _FEWER + 2 * at if is_long else n for at, n in enumerate(known)
        }
        self._usual = next(iter(self._sent.values()), _USUAL_ROWS)
        self.lengths = (
            {sent: n for n, sent in self._sent.items()} if is_long else {}
        )
        self.is_whole = not is_long
        self._tells = ""
        self._has_dtypes = True
        self._is_fit_anew = self._fits_parts = self._gives_floats = False
        self._is_ordered = True
        self._refusals = re.compile("")

    def order(
        self,
        path: str,
        name: str,
        operands: Sequence[AbstractValue],
        keywords: Mapping[str, AbstractValue],
    ) -> dict[str, Any]:
        """Raises NotSentError."""
        self._tells = "" if path else _told_of_result(name, operands[0])
        # What it was fitted to before is dropped: `forest.fit(X2, y)` on other columns runs.
        self._is_fit_anew = name.startswith("fit")
        self._fits_parts = self._is_fit_anew or bool(path)
        self._gives_floats = name in (
            "predict_proba",
            "predict_log_proba",
            "decision_function",
        )
        given = {key: self.sent(value) for key, value in keywords.items()}
        sent = [self.sent(value) for value in operands]
        # `ColumnTransformer([('s', StandardScaler(), [0, 1])])` names columns by position,
        # and here their order is not known.
        if not self._is_ordered and _may_name_places(sent[0]):
            raise NotSentError
        return {
            "step": "learns",
            "of": path,
            "name": name,
            "operands": sent,
            "keywords": given,
        } | {"is_whole": self.is_whole}

    def restored(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """An answer with the numbers of rows that there are; of a step's result, what no value decides."""
        if "message" in answer:
            if not self._refusals.search(answer["message"]):
                return {}
            said = _INVENTED.sub("", answer["message"])
            return {
                **answer,
                "message": _NUMBER_OF_ROWS.sub(self._row_in_words, said),
            }
        return self._result(dict(answer.get("gave", {})))

    def _result(self, gave: dict[str, Any]) -> dict[str, Any]:
        if self._tells not in ("rows", "shape") or "shape" not in gave:
            return {}
        first, *rest = gave["shape"] or [0]
        # A number of rows that was not sent stands for none of the notebook.
        if self.lengths and first not in self.lengths:
            return {}
        gave["shape"] = [
            self.lengths.get(first, first),
            *(rest if self._tells == "shape" else [None] * len(rest)),
        ]
        return {
            "gave": gave
            if self._has_dtypes
            else {name: gave[name] for name in ("type", "shape")}
        }

    def evidence(self, message: str) -> str:
        """Which of the data have what a message speaks of, and in which column; "" where it speaks of nothing such."""
        speaks_of = next(
            (name for name, words in _FLAWS.items() if words in message), ""
        )
        flaws = data.negatives if speaks_of == "negative" else data.flaws
        found = [
            flaw.fact
            for value in self._values
            for flaw in flaws(value)
            if flaw.name == speaks_of
        ]
        return "; ".join(found[:_MOST_FLAWS])

    def _row_in_words(self, found: re.Match[str]) -> str:
        return str(self.lengths.get(int(found[0]), found[0]))

    def sent(
        self, value: AbstractValue, *, is_part: bool = False
    ) -> dict[str, Any]:
        """Raises NotSentError."""
        if value.path:
            return {"named": value.path}
        if sklearn_classes.known_class(value) is not None:
            return self._estimator(value, is_part=is_part)
        if value.type in ("list", "tuple") and value.items is not None:
            if len(value.items) > _MOST_ITEMS:
                raise NotSentError
            return {value.type: self._all_sent(value.items)}
        if value.type == "dict" and value.members is not None:
            keys = map(_plain, value.members)
            parts = self._all_sent([*value.members.values()])
            return {"dict": [*map(list, zip(keys, parts, strict=True))]}
        # `SelectFromModel(forest, prefit=True)` uses a part as it was fitted, which is not sent.
        if value.literal == "prefit":
            raise NotSentError
        if value.literal is not NOT_KNOWN:
            return _plain(value.literal)
        return self.data(value)

    def _all_sent(
        self, values: Sequence[AbstractValue]
    ) -> list[dict[str, Any]]:
        """Raises NotSentError."""
        return [self.sent(each, is_part=True) for each in values]

    def data(self, value: AbstractValue) -> dict[str, Any]:
        """Raises NotSentError."""
        shape = data.shape_as_array(value)
        if shape is None or None in shape[1:] or not shape:
            raise NotSentError
        n_rows = self._rows(shape[0])
        columns = self._labels(value)
        if columns is not None and len(columns) < _MOST_COLUMNS:
            return {
                "facts": {
                    "type": "sklearn.table",
                    "n_rows": n_rows,
                    "columns": self._columns(value, columns, n_rows),
                }
            }
        facts = data.values_of(value)
        self._has_dtypes &= "dtype" in facts
        dtype = str(facts.get("dtype", ""))
        holds = self._holds(facts, shape[0], n_rows)
        if pandas_frames.is_series(value):
            name = (
                value.fact("name")
                if isinstance(value.fact("name"), str)
                else None
            )
            known = {
                "type": "sklearn.column",
                "n_rows": n_rows,
                "dtype": dtype,
                "name": name,
                "holds": holds,
            }
            return {"facts": known}
        if not is_array(value):
            raise NotSentError
        # Where all elements are texts, none of them is NaN.
        holds["may_miss"] &= value.item_types != {"str"}
        return {
            "facts": {
                "type": "sklearn.array",
                "shape": [n_rows, *shape[1:]],
                "dtype": dtype,
                "holds": holds,
            }
        }

    def _labels(self, value: AbstractValue) -> tuple[Any, ...] | None:
        """All labels of a frame, in any order where it is learnt again; None where they are not known."""
        columns = data.columns_of(value)
        # Published states list columns in no order, and a fit takes them in any.
        if columns is None and self._is_fit_anew:
            columns = data.columns_in_any_order(value)
            self._is_ordered &= columns is None
        return columns

    def _columns(
        self, frame: AbstractValue, labels: Sequence[Any], n_rows: int
    ) -> list[list[Any]]:
        """Label, dtype and values of each."""
        facts, n_all = data.facts_by_column(frame), data.n_samples(frame)
        if any(type(label) not in (str, int) for label in labels):
            raise NotSentError
        self._has_dtypes &= all("dtype" in each for each in facts.values())
        known = [(label, facts.get(label, {})) for label in labels]
        return [
            [
                label,
                str(each.get("dtype", "")),
                self._holds(each, n_all, n_rows),
            ]
            for label, each in known
        ]

    def _rows(self, n_rows: int | None) -> int:
        if n_rows is None:
            self.is_whole = False
            return self._usual
        if n_rows not in self._sent:
            raise NotSentError  # data within another operand: their rows were not counted
        return self._sent[n_rows]

    def _holds(
        self, facts: Mapping[str, Any], n_all: int | None, n_sent: int
    ) -> dict[str, Any]:
        """All values, or those among which all are; and some, with how many rows have them at least."""
        known = data.all_values(facts)
        values = _listed(
            known if known is not None else facts.get("among_values")
        )
        # A state sorts distinct values. The first in the data is the one that a message names.
        first = facts.get("first_no_number")
        values = sorted(values, key=lambda value: value != first)
        is_whole = bool(values) and known is not None
        held = [
            (value, count)
            for value, count in data.certain(facts, n_all)
            if not (values and _is_proper(value))
        ]
        some = [
            [value, self._share(count, n_all, n_sent)] for value, count in held
        ]
        rarest = (
            facts.get("n_of_rarest") if is_whole and len(values) > 1 else None
        )
        return {
            "all": values,
            "is_whole": is_whole,
            "rarest": rarest,
            "some": some,
            "may_miss": "has_nan" not in facts,
        }

    @staticmethod
    def _share(count: int, n_all: int | None, n_sent: int) -> int:
        """Of fewer rows as large a part, one at least."""
        return max(1, min(count, count * n_sent // n_all if n_all else 1))

    def _estimator(
        self, value: AbstractValue, *, is_part: bool
    ) -> dict[str, Any]:
        known = sklearn_classes.known_class(value)
        if (
            known is None
            or known.name in _KEEPS_PARTS
            or _is_set_by_hand(value)
        ):
            raise NotSentError
        # What a part has learnt is not sent with it.
        may_be_fitted = estimators.is_fitted(value) is not False
        if is_part and not self._fits_parts and may_be_fitted:
            raise NotSentError
        fit_on = None if is_part else self._fitted_to(value, known.kind)
        self._fits_parts = self._fits_parts or fit_on is not None
        given = self._given(value, known.parameters)
        own = self._parts(value)
        if not estimators.are_parameters_told(value, len(own)):
            if is_part or fit_on:
                raise NotSentError
            self._take_untold(known)
        facts = {
            "type": "sklearn.estimator",
            "path": value.type,
            "given": given | own,
            "fit_on": fit_on,
        }
        return {"facts": facts}

    def _take_untold(self, known: sklearn_classes.KnownClass) -> None:
        """Raises NotSentError; of a classifier a few refusals come whatever its parameters are."""
        if known.kind != "classifier" or not _PARTS.isdisjoint(
            known.parameters
        ):
            raise NotSentError
        self._refusals = _WITH_ANY_PARAMETERS

    def _given(
        self, value: AbstractValue, names: Iterable[str]
    ) -> dict[str, Any]:
        """The parameters that the code or the state tells."""
        given = {}
        for name in names:
            # What the code has set is newer than what the state tells.
            if name in value.attributes:
                given[name] = self.sent(value.attributes[name], is_part=True)
            elif _tells_parameter(value, name):
                part = estimators.parameter(value, name)
                given[name] = self.sent(part, is_part=True)
        return given

    def _parts(self, value: AbstractValue) -> dict[str, Any]:
        """The parameter that holds the parts of a pipeline or column transformer, where they are known."""
        if (
            value.class_name == "Pipeline"
            and (steps := estimators.steps(value)) is not None
        ):
            return {
                "steps": {
                    "list": [
                        {"tuple": [_plain(n), self.sent(p, is_part=True)]}
                        for n, p in steps
                    ]
                }
            }
        if (
            value.class_name == "ColumnTransformer"
            and (held := estimators.columns_of_parts(value)) is not None
        ):
            parts = [
                {
                    "tuple": [
                        _plain(n),
                        self.sent(p, is_part=True),
                        _plain(names),
                    ]
                }
                for n, p, names in held
            ]
            return {"transformers": {"list": parts}}
        return {}

    def _fitted_to(
        self, value: AbstractValue, kind: str
    ) -> list[dict[str, Any]] | None:
        """What it was fitted to; None if it was not."""
        fitted = _is_fitted(value)
        if fitted is False or self._is_fit_anew:
            return None
        known = value.fact("fit_on") or _told_of_fit(value)
        if fitted is None or not isinstance(known, Mapping):
            raise NotSentError
        self._has_dtypes &= (
            value.fact("fit_on") is not None or self._gives_floats
        )
        if not self._has_dtypes and not _needs_no_dtypes(value, kind):
            self._tells = ""
        self.is_whole = self.is_whole and known["is_whole"]
        sent: list[dict[str, Any]] = known["data"]
        return sent


def _is_set_by_hand(value: AbstractValue) -> bool:
    """`bare.coef_ = np.ones((1, 3))` makes an estimator count as fitted without a fit."""
    # check_is_fitted of scikit-learn looks for names with this ending.
    return any(name.endswith("_") for name in value.attributes)


def _is_fitted(value: AbstractValue) -> bool | None:
    """Whether an estimator is fitted; of a pipeline of which no fit was followed, its last part tells."""
    if value.class_name == "Pipeline" and value.fact("fit_on") is None:
        parts = estimators.steps(value)
        # Pipeline.__sklearn_is_fitted__ looks at the last step alone, too.
        return estimators.is_fitted(parts[-1][1] if parts else value)
    return estimators.is_fitted(value)


def _needs_no_dtypes(value: AbstractValue, kind: str) -> bool:
    """Whether the result has one shape and type, whatever dtypes the estimator was fitted to."""
    return kind in ("transformer", "cluster") or "classes_" in value.facts


def _listed(values: Any) -> list[Any]:
    """Values that can be sent one by one: few, plain and none of them NaN, which does not equal itself."""
    if not isinstance(values, list) or not 0 < len(values) <= _MOST_VALUES:
        return []
    if not estimators.are_plain(values) or any(
        value != value for value in values
    ):
        return []
    return values


def _tells_parameter(value: AbstractValue, name: str) -> bool:
    """Whether the code or the state says what a parameter of an estimator is."""
    return name in value.mapping("parameters_set") or name in value.mapping(
        "parameters"
    )


def _told_of_result(method: str, estimator: AbstractValue) -> str:
    """What of the result of a method no value decides: its "shape", the number of its "rows", or "" for nothing."""
    if method in _PREDICTS:
        return "shape"
    if method not in ("transform", "fit_transform"):
        return ""
    is_wide = (
        estimator.class_name in _AS_WIDE
        # PCA(n_components=0.9) keeps as many as explain 90% of the variance.
        or type(estimators.value_of(estimator, "n_components")) is int
    )
    return "shape" if is_wide else "rows"


def sent_to_fit(given: Mapping[str, AbstractValue]) -> dict[str, Any] | None:
    """What an estimator is fitted to, X and y in order; None if that cannot be sent."""
    values = [given[name] for name in ("X", "y") if name in given]
    # sample_weight= and others may decide what is learnt.
    if given.keys() - {"X", "y"}:
        return None
    learning = Learning(values)
    try:
        return {
            "data": [learning.sent(value) for value in values],
            "is_whole": learning.is_whole,
        }
    except NotSentError:
        return None


def _told_of_fit(value: AbstractValue) -> dict[str, Any] | None:
    """Data of the names, classes and categories that a state tells; None where it does not tell enough."""
    parts = _parts_in_order(value)
    known = sklearn_classes.known_class(parts[-1]) if parts else None
    if known is None:
        return None
    n_rows = _rows_learnt(value)
    n_sent = _USUAL_ROWS if n_rows is None else n_rows
    classes = estimators.classes_fitted(parts[-1])
    targets = {"type": "sklearn.column", "n_rows": n_sent, "name": None}
    targets |= _filled(classes)
    # These two are fitted to labels alone, without a table.
    if known.name in ("LabelEncoder", "LabelBinarizer"):
        return (
            {"data": [{"facts": targets}], "is_whole": False}
            if classes
            else None
        )
    columns = _columns_learnt(parts[0])
    if columns is None:
        return None
    table = {"type": "sklearn.table", "n_rows": n_sent, "columns": columns}
    sent = (
        [table, targets]
        if known.kind in ("classifier", "regressor")
        else [table]
    )
    return {
        "data": [{"facts": each} for each in sent],
        "is_whole": n_sent == n_rows,
    }


def _parts_in_order(value: AbstractValue) -> list[AbstractValue]:
    """The parts of a pipeline, of another estimator itself."""
    if value.class_name != "Pipeline":
        return [value]
    return [part for _, part in estimators.steps(value) or ()]


def _rows_learnt(value: AbstractValue) -> int | None:
    """How many rows nearest neighbours keep, who refuse to find more than that; None of too many to be sent."""
    told = value.mapping("learnt").get("n_samples_fit_")
    n_rows = told.get("value") if isinstance(told, Mapping) else None
    return n_rows if type(n_rows) is int and n_rows <= _MOST_ROWS else None


def _columns_learnt(value: AbstractValue) -> list[list[Any]] | None:
    """Label, dtype and values of each column that an estimator was fitted to; None if their number is not known."""
    n_features = estimators.features_fitted(value)
    if n_features is None or n_features >= _MOST_COLUMNS:
        return None
    labels: Sequence[Any] = estimators.names_fitted(value) or range(n_features)
    categories = _categories(value, labels)
    return [
        [label, *_filled(categories.get(label)).values()] for label in labels
    ]


def _categories(value: AbstractValue, labels: Sequence[Any]) -> dict[Any, Any]:
    """The categories that an encoder learnt, by label; of a column transformer those of its parts."""
    parts = [
        (part, names)
        for _, part, names in estimators.columns_of_parts(value) or ()
        if isinstance(names, list)
    ]
    found: dict[Any, Any] = {}
    for part, names in parts or [(value, list(labels))]:
        categories = part.fact("categories_")
        if isinstance(categories, list) and len(categories) == len(names):
            found |= dict(zip(names, categories, strict=True))
    return found


def _filled(values: Any) -> dict[str, Any]:
    """Dtype and values of a column that holds all of these, or any numbers."""
    known = (
        values
        if isinstance(values, list) and values and estimators.are_plain(values)
        else []
    )
    holds = {
        "all": known,
        "is_whole": bool(known),
        "rarest": None,
        "some": [],
        "may_miss": False,
    }
    are_numbers = all(isinstance(each, (int, float)) for each in known)
    return {"dtype": "float64" if are_numbers else "object", "holds": holds}


def _may_name_places(sent: Mapping[str, Any]) -> bool:
    """Whether a parameter of an estimator, or of its parts, may say by position which columns are meant."""
    if not sent.get("facts", {"type": "sklearn.estimator"})["type"].endswith(
        "estimator"
    ):
        return True
    given = dict(sent["facts"]["given"]) if "facts" in sent else {}
    parts = [
        step["tuple"][1] for step in given.pop("steps", {}).get("list", ())
    ]
    return sent.keys().isdisjoint(("is", "facts", "named")) or any(
        map(_may_name_places, [*given.values(), *parts])
    )


def _is_data(value: AbstractValue) -> bool:
    return (
        pandas_frames.is_frame(value)
        or pandas_frames.is_series(value)
        or is_array(value)
    )


def _is_proper(value: Any) -> bool:
    """Whether a value is neither missing nor infinite: one of those that are listed."""
    return isinstance(value, str) or value is not None and math.isfinite(value)


def _plain(value: Any) -> dict[str, Any]:
    """Raises NotSentError."""
    if isinstance(value, (list, tuple, set)) and len(value) <= _MOST_ITEMS:
        return {type(value).__name__: [_plain(part) for part in value]}
    if isinstance(value, dict):
        return {
            "dict": [[_plain(key), _plain(part)] for key, part in value.items()]
        }
    if type(value) not in _PLAIN:
        raise NotSentError
    return {"is": value}


__all__ = ["Learning", "NotSentError"]
