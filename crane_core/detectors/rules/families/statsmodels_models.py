"""statsmodels: models of tables, series in time, plots of residuals; data that numpy cannot make numbers of.

Knows the public names under statsmodels.api and statsmodels.tsa. Formulas are read only as far as plain names go.
"""

from __future__ import annotations

import builtins
import keyword
import re
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue, restricted
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.numpy_arrays import is_array, literal_of
from crane_core.detectors.rules.families.pandas_frames import is_frame, is_series
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ

RULES: Final = Family("statsmodels")
_LINEAR: Final = ("OLS", "WLS", "GLS", "Logit", "Probit", "MNLogit", "Poisson", "GLM", "RLM", "QuantReg")
_FORMULAS: Final = ("ols", "wls", "gls", "logit", "probit", "mnlogit", "poisson", "glm", "rlm", "quantreg")
_OF_RESULTS: Final = (
    *("summary", "summary2", "params", "pvalues", "tvalues", "bse", "rsquared", "rsquared_adj", "aic", "bic", "resid"),
    *("fittedvalues", "conf_int", "get_prediction", "f_pvalue", "llf"),
)
_NULLABLE: Final = ("Int", "UInt", "Float", "boolean")
_KEPT_WITH_CONSTANT: Final = ("dtypes", "per_column", "n_nan", "columns_with_inf", "has_nan", "dtype")
_LINES: Final = ("45", "s", "r", "q")
_PLAIN_FORMULA: Final = re.compile(r"[A-Za-z_]\w*(\s*[~+*:\-]\s*([A-Za-z_]\w*|[01]))*")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_FORMULA_ERROR: Final = "PatsyError"
"""patsy reads formulas wherever it is installed, and statsmodels up to 0.15 requires it."""
_BINDINGS: Final = ("{0} =", "{0}=", "{0},", "{0} in ", "def {0}(", "class {0}", "import {0}", "as {0}")
_FORMULA_CALLS: Final = ("smf.", "ols(", "logit(", "glm(", "statsmodels.", "poisson(", "mixedlm(", "quantreg(")
_CODINGS: Final = ("Treatment", "Poly", "Sum", "Diff", "Helmert")
_OF_FORMULAS: Final = frozenset(["C", "Q", "I", "bs", "cr", "cc", "te", "center", "standardize", "scale", *_CODINGS])


def _paths(names: tuple[str, ...], *modules: str) -> list[str]:
    return [f"{module}.{name}" for module in modules for name in names]


@RULES.function(
    *_paths(_LINEAR, "statsmodels.api", "statsmodels.regression.linear_model", "statsmodels.discrete.discrete_model")
)
def of_arrays(operation: Operation) -> Answer:
    """A model of two arrays: equal lengths, numbers, nothing missing."""
    given = operation.arguments.bound("endog, exog=None, **others")
    if given is None:
        return UNCHANGED
    y, x = given["endog"], given.get("exog")
    if x is not None:
        _refuse_lengths(operation, y, x)
    is_checked = "missing" not in given
    for value in (y, x):
        if value is not None:
            _refuse_objects(operation, value)
            if is_checked:
                _refuse_missing(operation, value)
    _refuse_no_shares(operation, y)
    return _unfitted(operation)


def _unfitted(operation: Operation) -> AbstractValue:
    """A model of which nothing has been estimated yet."""
    name = operation.function_name.lower()
    made = next((each for each in _LINEAR if each.lower() == name), None)
    return AbstractValue() if made is None else AbstractValue(f"statsmodels.{made}", words=f"the {made} model")


@RULES.attribute("statsmodels.*", *_OF_RESULTS)
def of_results(operation: Operation) -> Answer:
    """What only fitting gives, asked of the model itself."""
    model = operation.receiver
    if model.class_name in _LINEAR:
        operation.crash(
            "AttributeError",
            f"{model.class_name} object has no attribute {operation.name} before it is fitted",
            fact=f"{model.named('it')} is a {model.class_name} model, not its results",
            remedy="call .fit(), and use the result",
        )
    return UNKNOWN


def _refuse_no_shares(operation: Operation, y: AbstractValue) -> None:
    """A model of a yes or no takes targets from 0 to 1."""
    name = operation.function_name
    low, high = data.range_of(data.values_of(y))
    if name not in ("Logit", "Probit") or not (is_series(y) or is_array(y)) or low is None or high is None:
        return
    if (low < 0 or high > 1) and data.values_of(y).get("has_nan") is False:
        operation.crash(
            "ValueError",
            f"endog of {name} must be in the unit interval",
            fact=f"{y.named('endog')} goes from {low:g} to {high:g}",
            remedy="convert it to 0 and 1: (y > limit).astype(int); for more classes use MNLogit",
        )


def _refuse_lengths(operation: Operation, y: AbstractValue, x: AbstractValue) -> None:
    n_y, n_x = data.n_samples(y), data.n_samples(x)
    are_alike = (is_frame(x) or is_series(x)) == (is_frame(y) or is_series(y))
    if differ(n_y, n_x) and are_alike:
        operation.crash(
            "ValueError",
            f"endog and exog have different numbers of rows: {n_y} and {n_x}",
            fact=f"{y.named('endog')} has {n_y} rows, {x.named('exog')} has {n_x}",
            remedy="select both from the same rows",
        )


def _dtypes(value: AbstractValue) -> dict[Any, str]:
    if is_frame(value):
        return {label: str(dtype) for label, dtype in data.dtypes_of(value).items()}
    return {value.named("it"): str(value.fact("dtype", ""))} if is_series(value) else {}


def _refuse_objects(operation: Operation, value: AbstractValue) -> None:
    """Columns of texts, and nullable ones with a gap, become an array of objects."""
    for label, dtype in _dtypes(value).items():
        facts = data.per_column(value).get(label, {}) if is_frame(value) else data.values_of(value)
        text = data.no_number(facts, dtype)
        has_gap = dtype.startswith(_NULLABLE) and facts.get("has_nan") is True and is_frame(value)
        if text is not None or has_gap:
            operation.crash(
                "ValueError" if text is not None else "TypeError",
                "Pandas data cast to numpy dtype of object: a model needs numbers",
                fact=f"column {label!r} holds "
                + (f"the text {text!r}" if text is not None else "missing values (pd.NA)"),
                remedy="drop the missing rows, or convert the column to float"
                if has_gap
                else "encode the strings first",
            )


def _refuse_missing(operation: Operation, value: AbstractValue) -> None:
    dtypes = list(_dtypes(value).values())
    if not dtypes or not all(dtype.startswith(("float", "int", "uint")) for dtype in dtypes):
        return
    is_whole = len(dtypes) == data.n_features(value) or "distinct_dtypes" in value.facts
    if is_frame(value) and not is_whole:
        return
    flaw = next((flaw for flaw in data.flaws(value) if flaw.name in ("nan", "inf")), None)
    if flaw is not None:
        operation.crash(
            "MissingDataError",
            "exog contains inf or nans: a model needs finite numbers",
            fact=flaw.fact,
            remedy="drop these rows, or pass missing='drop'",
        )


@RULES.function(
    *_paths(_FORMULAS, "statsmodels.formula.api"), *[f"statsmodels.formula.api.{name.upper()}" for name in _FORMULAS]
)
def of_formula(operation: Operation) -> Answer:
    """Names of a plain formula that the frame lacks; a variable of the notebook may stand for one."""
    given = operation.arguments.bound("formula, data=None, **others")
    if given is not None and "data" in given and isinstance(formula := given["formula"].literal, str):
        _refuse_formula(operation, formula.strip(), given["data"])
    return _unfitted(operation)


def _refuse_formula(operation: Operation, formula: str, frame: AbstractValue) -> None:
    labels = data.known_labels(frame)
    if labels is None or not _PLAIN_FORMULA.fullmatch(formula) or not all(isinstance(label, str) for label in labels):
        return
    known = labels | {value.words for value in operation.variables()}
    names = [name for name in _NAME.findall(formula) if name not in known]
    if missing := [name for name in names if not any(map(operation.mentions, (f"{name} =", f"{name}=")))]:
        operation.crash(
            _FORMULA_ERROR,
            f"the formula names {missing[0]}",
            fact=f"{frame.named('the frame')} has the columns {', '.join(sorted(labels)[:12])}",
            remedy="use columns that the frame has",
        )


@RULES.missing("columns")
def not_in_frame(operation: Operation) -> Answer:
    """A name of a formula that is neither a column nor in the kernel, and that no cell seems to make."""
    name, asked_by = operation.absent.get("column"), str(operation.absent.get("asked_by", ""))
    is_formula = asked_by.startswith(_FORMULA_CALLS) and "~" in operation.text
    if not is_formula or not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        return UNKNOWN
    if any(operation.mentions(text.format(name)) for text in _BINDINGS) or _is_of_patsy(name):
        return UNKNOWN
    return operation.crash(
        _FORMULA_ERROR,
        f"the formula names {name}",
        fact=f"{operation.absent.get('of', 'the frame')} has no such column, and there is no variable with this name",
        remedy="use columns that the frame has",
    )


def _is_of_patsy(name: str) -> bool:
    """Names built into formulas, and into Python."""
    return name in _OF_FORMULAS or hasattr(builtins, name)


@RULES.function(
    "statsmodels.api.add_constant", "statsmodels.tools.add_constant", "statsmodels.tools.tools.add_constant"
)
def with_constant(operation: Operation) -> Answer:
    """The same columns and perhaps one more: a column that is constant already is enough."""
    table = operation.first
    shape = data.shape_as_array(table)
    if shape is None or len(shape) != 2 or not (is_frame(table) or is_array(table)):
        return UNCHANGED
    facts = restricted(table.facts, _KEPT_WITH_CONSTANT)
    if is_frame(table) and len(data.dtypes_of(table)) == shape[1]:
        facts["distinct_dtypes"] = sorted({*map(str, data.dtypes_of(table).values()), "float64"})
    return AbstractValue(table.type, {**facts, "shape": (shape[0], None)}, words=table.words)


@RULES.function("statsmodels.api.qqplot", "statsmodels.graphics.gofplots.qqplot")
def quantiles(operation: Operation) -> Answer:
    """The line is named by a text."""
    given = operation.arguments.bound(
        "data, dist=None, distargs=(), a=0, loc=0, scale=1, fit=False, line=None, **others"
    )
    line = None if given is None else given.get("line")
    if line is not None and line.is_literal and line.literal is not None and line.literal not in _LINES:
        operation.crash(
            "ValueError",
            f"line must be one of {', '.join(map(repr, _LINES))}",
            fact=f"it is {line.literal!r}",
            remedy="write '45' with quotes" if line.literal == 45 else "use one of these",
        )
    return UNCHANGED


@RULES.method("statsmodels.*", "predict")
def asked(operation: Operation) -> Answer:
    """A table with the columns that the model was fitted with; the constant is one of them."""
    model, given = operation.receiver, operation.arguments.bound("exog=None, **others")
    if given is None or "exog" not in given or model.fact("model") not in _LINEAR or "formula" in model.facts:
        return UNKNOWN
    x, n_fitted = given["exog"], model.fact("n_columns")
    shape = data.shape_as_array(x)
    if type(n_fitted) is not int or shape is None or len(shape) != 2 or shape[1] in (None, n_fitted):
        return UNCHANGED
    columns = model.fact("columns")
    known = columns if isinstance(columns, list) else [n_fitted]
    lacks_constant = "const" in known and "const" not in (data.known_labels(x) or ("const",))
    return operation.crash(
        "ValueError",
        f"the model was fitted with {n_fitted} columns, but gets {shape[1]}",
        fact=f"{x.named('exog')} has {shape[1]} columns; the model has {', '.join(map(str, known))}",
        remedy="add the constant here too: sm.add_constant(..., has_constant='add')"
        if lacks_constant
        else "pass the columns that the model was fitted with",
    )


@RULES.function(*_paths(("ARMA", "ARIMA"), "statsmodels.tsa.arima_model"))
def of_long_ago(operation: Operation) -> Answer:
    """They can still be imported, and say what stands in their place. No older statsmodels runs on Python 3.11."""
    is_told = "statsmodels" in operation.packages
    if is_at_least(operation, "statsmodels", 0, 13) or not is_told and is_at_least(operation, "python", 3, 11):
        operation.crash(
            "NotImplementedError",
            "statsmodels 0.13 removed this ARIMA class",
            fact=f"statsmodels {operation.packages.get('statsmodels', 'of this Python')} is installed",
            remedy="import it from statsmodels.tsa.arima.model",
        )
    return UNCHANGED


@RULES.function(*_paths(("ExponentialSmoothing",), "statsmodels.tsa.holtwinters", "statsmodels.tsa.api"))
def smoothed(operation: Operation) -> Answer:
    """Factors need numbers above zero."""
    given = operation.arguments.bound("endog, trend=None, damped_trend=False, seasonal=None, **others")
    if given is None:
        return UNCHANGED
    series = given["endog"]
    low, _ = data.range_of(data.values_of(series))
    parts = [
        name for name in ("trend", "seasonal") if given.get(name, AbstractValue()).literal in ("mul", "multiplicative")
    ]
    if parts and low is not None and low <= 0:
        operation.crash(
            "ValueError",
            "endog must be strictly positive when using multiplicative trend or seasonal components",
            fact=f"{series.named('endog')} goes down to {low:g}",
            remedy=f"use {parts[0]}='add'",
        )
    return UNCHANGED


@RULES.function(*_paths(("adfuller",), "statsmodels.tsa.stattools", "statsmodels.tsa.api"))
def unit_root_tested(operation: Operation) -> Answer:
    """Statistic, p, lags, observations, critical values, and the criterion by which the lags were chosen.

    Up to statsmodels 0.15.
    """
    given = operation.arguments.bound("x, maxlag=None, regression='c', autolag='AIC', store=False, regresults=False")
    if given is None:
        return UNCHANGED
    flaw = next((flaw for flaw in data.flaws(given["x"]) if flaw.name in ("nan", "inf")), None)
    if flaw is not None:
        operation.crash(
            "MissingDataError",
            "exog contains inf or nans: the test does not accept missing values",
            fact=flaw.fact,
            remedy="drop them first",
        )
    is_usual = not {"autolag", "store", "regresults"} & given.keys()
    if not is_usual or is_at_least(operation, "statsmodels", 0, 16) or "statsmodels" not in operation.packages:
        return UNCHANGED
    return AbstractValue("tuple", items=[AbstractValue() for _ in range(6)], words="the result of adfuller")


@RULES.function("statsmodels.tsa.seasonal.seasonal_decompose", "statsmodels.api.tsa.seasonal_decompose")
def decomposed(operation: Operation) -> Answer:
    """Two whole periods, nothing missing, positive numbers for a product."""
    given = operation.arguments.bound("x, model='additive', filt=None, period=None, **others")
    if "freq" in operation.arguments.keywords:
        operation.crash(
            "TypeError",
            "seasonal_decompose() got an unexpected keyword argument 'freq'",
            fact="freq is given",
            remedy="use period instead",
        )
    if given is None:
        return UNCHANGED
    series = given["x"]
    _has_two_periods(operation, series, literal_of(given.get("period")))
    flaw = next((flaw for flaw in data.flaws(series) if flaw.name in ("nan", "inf")), None)
    if flaw is not None and str(series.fact("dtype", "")).startswith("float"):
        operation.crash(
            "ValueError", "This function does not handle missing values", fact=flaw.fact, remedy="fill them first"
        )
    low, _ = data.range_of(data.values_of(series))
    if low is not None and low <= 0 and str(literal_of(given.get("model"))).startswith("m"):
        operation.crash(
            "ValueError",
            "Multiplicative seasonality is not appropriate for zero and negative values",
            fact=f"{series.named('x')} goes down to {low:g}",
            remedy="use model='additive'",
        )
    return UNCHANGED


def _has_two_periods(operation: Operation, series: AbstractValue, period: object) -> None:
    n_all = data.n_samples(series)
    if type(period) is int and n_all is not None and n_all < 2 * period:
        operation.crash(
            "ValueError",
            f"x must have 2 complete cycles, which requires {2 * period} observations",
            fact=f"{series.named('x')} has {n_all}",
            remedy=f"set period to {n_all // 2} or less",
        )


@RULES.function(
    *_paths(("plot_pacf",), "statsmodels.graphics.tsaplots", "statsmodels.api.graphics.tsa"),
    *_paths(("pacf",), "statsmodels.tsa.stattools", "statsmodels.api.tsa"),
)
def partial_correlations(operation: Operation) -> Answer:
    """At most half as many lags as observations."""
    given = operation.arguments.bound("x, **others")
    lags = None if given is None else next((given[name].literal for name in ("lags", "nlags") if name in given), None)
    n_all = None if given is None else data.n_samples(given["x"])
    if (
        type(lags) is int
        and n_all is not None
        and lags > n_all // 2
        and (given or {}).keys() <= {"x", "lags", "nlags", "title", "ax"}
    ):
        operation.crash(
            "ValueError",
            f"Can only compute partial correlations for lags up to 50% of the sample size ({n_all // 2})",
            fact=f"{lags} lags are requested",
            remedy=f"use {n_all // 2} lags or fewer",
        )
    return UNCHANGED


@RULES.function("statsmodels.graphics.tsaplots.plot_acf", "statsmodels.api.graphics.tsa.plot_acf")
def correlations(operation: Operation) -> Answer:
    """One lag less than there are observations."""
    given = operation.arguments.bound("x, ax=None, lags=None, **others")
    lags = None if given is None else given.get("lags", AbstractValue()).literal
    n_all = None if given is None else data.n_samples(given["x"])
    if type(lags) is int and n_all is not None and lags >= n_all > 1:
        operation.crash(
            "ValueError",
            f"{n_all} observations allow lags up to {n_all - 1}",
            fact=f"{lags} lags are requested",
            remedy=f"use {n_all - 1} lags or fewer",
        )
    return UNCHANGED
