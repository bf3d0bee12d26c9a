"""statsmodels: what its models, tests and plots refuse by the values of data; names of formulas.

Knows the public names under statsmodels.api and statsmodels.tsa.
"""

import builtins
import keyword
from collections.abc import Callable, Hashable, Mapping
from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue, restricted
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.numpy_arrays import is_array
from crane_core.detectors.rules.families.pandas_frames import (
    is_frame,
    is_series,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation, is_at_least
from crane_core.detectors.rules.shapes import differ

RULES: Final = Family("statsmodels")
_MODELS_TEXT: Final = (
    "OLS WLS GLS Logit Probit MNLogit Poisson GLM RLM QuantReg"
)
_MODELS: Final = tuple(_MODELS_TEXT.split())
_OF_RESULTS: Final = (
    "summary summary2 params pvalues tvalues bse rsquared rsquared_adj aic bic resid fittedvalues conf_int"
    " get_prediction f_pvalue llf"
)
_KEPT_WITH_CONSTANT: Final = (
    "dtypes",
    "per_column",
    "n_nan",
    "columns_with_inf",
    "has_nan",
    "dtype",
)
_NUMBERS: Final = ("float", "int", "uint")
_NULLABLE: Final = ("Int", "UInt", "Float")
# The list that qqplot itself names in statsmodels.graphics.gofplots.
_LINES: Final = ("45", "s", "r", "q")
_FORMULA_CALLS: Final = (
    "smf.",
    "ols(",
    "logit(",
    "glm(",
    "statsmodels.",
    "poisson(",
    "mixedlm(",
    "quantreg(",
)
_CODINGS: Final = ("Treatment", "Poly", "Sum", "Diff", "Helmert")
_OF_FORMULAS: Final = frozenset(
    [
        "C",
        "Q",
        "I",
        "bs",
        "cr",
        "cc",
        "te",
        "center",
        "standardize",
        "scale",
        *_CODINGS,
    ]
)


def _function(names: tuple[str, ...], *modules: str) -> Callable[[Rule], Rule]:
    return RULES.function(
        *[
            f"statsmodels.{module}.{name}"
            for module in modules
            for name in names
        ]
    )


# Models


@_function(_MODELS, "api", "regression.linear_model", "discrete.discrete_model")
def of_arrays(operation: Operation) -> Answer:
    """A model of two arrays: equal lengths, numbers, nothing missing."""
    given = operation.arguments.bound("endog, exog=None, **others")
    if given is None:
        return UNCHANGED
    y, x = given["endog"], given.get("exog", AbstractValue())
    n_y, n_x = data.n_samples(y), data.n_samples(x)
    are_alike = (is_frame(x) or is_series(x)) == (is_frame(y) or is_series(y))
    if differ(n_y, n_x) and are_alike:
        operation.crash(
            "ValueError",
            f"endog and exog have different numbers of rows: {n_y} and {n_x}",
            fact=f"{y.named('endog')} has {n_y} rows, {x.named('exog')} has {n_x}",
            remedy="select both from the same rows",
        )
    # MNLogit takes texts as classes.
    for value in (x,) if operation.function_name == "MNLogit" else (y, x):
        _refuse_texts(operation, value)
    # missing="drop" removes these rows before anything reads them.
    if "missing" not in given:
        _refuse_missing(operation, x, given)
    return _unfitted(operation)


def _refuse_missing(
    operation: Operation, x: AbstractValue, given: Mapping[str, AbstractValue]
) -> None:
    flaw = next(
        (flaw for flaw in data.flaws(x) if flaw.name in ("nan", "inf")), None
    )
    # Only the search for a constant column finds NaN, and hasconst=False skips it. NaN in endog passes.
    if flaw is not None and "hasconst" not in given and _holds_numbers(x):
        operation.crash(
            "MissingDataError",
            "exog contains inf or nans: a model needs finite numbers",
            fact=flaw.fact,
            remedy="drop these rows, or fill them first",
        )
    gap = _gap(x)
    if gap is not None and is_at_least(operation, "statsmodels", 0, 15):
        operation.crash(
            "TypeError",
            "float() argument must be a string or a real number, not 'NAType'",
            fact=f"column {gap!r} holds missing values (pd.NA)",
            remedy="drop the missing rows, or convert the column to float",
        )


@_function(tuple(name.lower() for name in _MODELS), "formula.api")
def _unfitted(operation: Operation) -> Answer:
    """A model of which nothing has been estimated yet."""
    made = next(
        each
        for each in _MODELS
        if each.lower() == operation.function_name.lower()
    )
    return AbstractValue(f"statsmodels.{made}", words=f"the {made} model")


@RULES.attribute("statsmodels.*", *_OF_RESULTS.split())
def of_results(operation: Operation) -> Answer:
    """What only fitting adds, read from the model itself."""
    model = operation.receiver
    # The results of a fit are of other classes, and have these names; `model.params = ...` makes one.
    if model.class_name not in _MODELS or operation.may_give_attribute(
        operation.name
    ):
        return UNKNOWN
    return operation.crash(
        "AttributeError",
        f"{model.class_name} object has no attribute {operation.name} before it is fitted",
        fact=f"{model.named('it')} is a {model.class_name} model, not its results",
        remedy="call .fit(), and use the result",
    )


def _refuse_texts(operation: Operation, value: AbstractValue) -> None:
    """Columns of texts become an array of objects."""
    columns = data.dtypes_of(value) if is_frame(value) else {}
    if is_series(value):
        columns = {value.named("it"): value.fact("dtype", "")}
    for label, dtype in columns.items():
        facts = (
            data.per_column(value).get(label, {})
            if is_frame(value)
            else data.values_of(value)
        )
        if (text := data.no_number(facts, str(dtype))) is not None:
            operation.crash(
                "ValueError",
                "Pandas data cast to numpy dtype of object: a model needs numbers",
                fact=f"column {label!r} holds the text {text!r}",
                remedy="encode the strings first",
            )


def _gap(table: AbstractValue) -> Hashable:
    """A column of nullable numbers that lacks some, beside other columns of numbers: together they are objects."""
    nullable = [
        label
        for label, dtype in data.dtypes_of(table).items()
        if str(dtype).startswith(_NULLABLE)
    ]
    # A nullable column alone becomes floats with NaN; beside others, all become objects with pd.NA.
    is_alone = (
        # Distinct dtypes are noted by add_constant, whose column stands beside.
        len(data.dtypes_of(table)) + ("distinct_dtypes" in table.facts) < 2
    )
    if (
        not is_frame(table)
        or is_alone
        or not _holds_numbers(table, (*_NUMBERS, *_NULLABLE))
    ):
        return None
    return next(
        (
            label
            for label in nullable
            if data.per_column(table).get(label, {}).get("has_nan") is True
        ),
        None,
    )


def _holds_numbers(
    value: AbstractValue, kinds: tuple[str, ...] = _NUMBERS
) -> bool:
    """Whether all columns are known, and none is of another kind."""
    dtypes = (
        [str(dtype) for dtype in data.dtypes_of(value).values()]
        if is_frame(value)
        else []
    )
    if is_series(value):
        dtypes = [str(value.fact("dtype", ""))]
    is_whole = (
        is_series(value)
        or len(dtypes) == data.n_features(value)
        or "distinct_dtypes" in value.facts
    )
    return (
        bool(dtypes)
        and is_whole
        and all(dtype.startswith(kinds) for dtype in dtypes)
    )


@RULES.missing("columns")
def not_in_frame(operation: Operation) -> Answer:
    """A name of a formula that is neither a column nor in the kernel, and that no cell seems to make."""
    name, asked_by = (
        operation.absent.get("column"),
        str(operation.absent.get("asked_by", "")),
    )
    is_formula = asked_by.startswith(_FORMULA_CALLS) and "~" in operation.text
    if (
        not is_formula
        or not isinstance(name, str)
        or not name.isidentifier()
        or keyword.iskeyword(name)
    ):
        return UNKNOWN
    # patsy runs a formula as Python code that has more functions: C(zone, Treatment).
    # `extra = X["age"] * 2` before the call makes the name a variable, which patsy finds.
    is_of_patsy = name in _OF_FORMULAS or hasattr(builtins, name)
    if is_of_patsy or operation.may_bind(name):
        return UNKNOWN
    return operation.crash(
        "PatsyError",
        f"the formula names {name}",
        fact=f"{operation.absent.get('of', 'the frame')} has no such column, and there is no variable with this name",
        remedy="use columns that the frame has",
    )


@_function(("add_constant",), "api", "tools", "tools.tools")
def with_constant(operation: Operation) -> Answer:
    """The same columns and perhaps one more: a column that is constant already is enough."""
    table = operation.first
    shape = data.shape_as_array(table)
    if (
        shape is None
        or len(shape) != 2
        or not (is_frame(table) or is_array(table))
    ):
        return UNCHANGED
    # The column that is added holds ones: it brings no gap and no infinity.
    facts = restricted(table.facts, _KEPT_WITH_CONSTANT)
    if is_frame(table) and len(data.dtypes_of(table)) == shape[1]:
        # The constant is of floats, beside integers too.
        facts["distinct_dtypes"] = sorted(
            {*map(str, data.dtypes_of(table).values()), "float64"}
        )
    return AbstractValue(
        table.type, {**facts, "shape": (shape[0], None)}, words=table.words
    )


# Series in time


@_function(("ARMA", "ARIMA"), "tsa.arima_model")
def of_long_ago(operation: Operation) -> Answer:
    """They can still be imported, and say what replaces them. No older statsmodels runs on Python 3.11."""
    is_told = "statsmodels" in operation.packages
    if (
        is_at_least(operation, "statsmodels", 0, 13)
        or not is_told
        and is_at_least(operation, "python", 3, 11)
    ):
        operation.crash(
            "NotImplementedError",
            "statsmodels 0.13 removed this ARIMA class",
            fact=f"statsmodels {operation.packages.get('statsmodels', 'of this Python')} is installed",
            remedy="import it from statsmodels.tsa.arima.model",
        )
    return UNCHANGED


def _literal(operation: Operation, name: str) -> object:
    """The value of an argument that is given by name; None if it is not known."""
    given = operation.arguments.keywords.get(name)
    return given.literal if given is not None and given.is_literal else None


# Plots


@_function(("qqplot",), "api", "graphics.gofplots")
def quantiles(operation: Operation) -> Answer:
    """The line is named by a text."""
    line = _literal(operation, "line")
    if line is not None and line not in _LINES:
        operation.crash(
            "ValueError",
            f"line must be one of {', '.join(map(repr, _LINES))}",
            fact=f"it is {line!r}",
            remedy="write '45' with quotes"
            if line == 45
            else "use one of these",
        )
    return UNCHANGED


@_function(("plot_acf", "plot_pacf"), "graphics.tsaplots", "api.graphics.tsa")
def correlations(operation: Operation) -> Answer:
    """One lag less than there are observations; partial correlations for at most half as many."""
    n_all, lags = data.n_samples(operation.first), _literal(operation, "lags")
    is_partial = operation.function_name == "plot_pacf"
    if (
        type(lags) is not int
        or n_all is None
        or n_all < 2
        or is_partial
        and "method" in operation.arguments.keywords
    ):
        return UNCHANGED
    most = n_all // 2 if is_partial else n_all - 1
    if lags > most:
        operation.crash(
            "ValueError",
            f"{n_all} observations allow lags up to {most}",
            fact=f"{lags} lags are requested",
            remedy=f"use {most} lags or fewer",
        )
    return UNCHANGED
