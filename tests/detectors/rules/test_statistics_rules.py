"""What notebooks do with statsmodels, LightGBM and scipy: each target runs for real beside the prediction."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

SETUP = """
import numpy as np, pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.tsa.seasonal import seasonal_decompose
from statsmodels.graphics.tsaplots import plot_acf, plot_pacf
from statsmodels.tsa.holtwinters import ExponentialSmoothing
from statsmodels.tsa.stattools import adfuller
from scipy import stats
from scipy.interpolate import interp1d

rng = np.random.default_rng(0)
n = 60
X = pd.DataFrame({"area": rng.uniform(20, 200, n), "rooms": rng.integers(1, 6, n), "age": rng.uniform(0, 90, n)})
price = pd.Series(X["area"] * 3 + rng.normal(0, 5, n), name="price")
flats = X.assign(price=price)
dear = (price > price.median()).astype(int)
holes = X.copy(); holes.loc[3, "age"] = np.nan
gaps = X.assign(walls=pd.array([1, None] + [2] * (n - 2), dtype="Int64"))
towns = X.assign(town=["Bern", "Rome"] * (n // 2))
odd = X.rename(columns={"area": "area [m2]"})
short = price[:40]
few = X[:40]
daily = pd.Series(np.arange(30.0) % 7 + 1, index=pd.date_range("2024-01-01", periods=30))
below = daily - 5
noise = rng.normal(0, 1, 30)
line = sm.OLS(price, sm.add_constant(X[["area", "age"]])).fit()
by_formula = smf.ols("price ~ area", data=flats).fit()
"""
TREES = """
from lightgbm import LGBMClassifier, LGBMRegressor
model = LGBMRegressor(n_estimators=3, min_child_samples=5, verbose=-1, n_jobs=1)
small = LGBMClassifier(n_estimators=3, min_child_samples=5, verbose=-1, n_jobs=1)
grown = LGBMRegressor(n_estimators=3, min_child_samples=5, verbose=-1, n_jobs=1).fit(X, price)
"""

CRASHES = {
    "asked before it was fitted, a model": "sm.OLS(price, X).summary()",
    "asked before it was fitted, a formula": "smf.ols('price ~ area', data=flats).params",
    "a constant left out": "line.predict(few[['area', 'age']])",
    "targets beyond 0 and 1": "sm.Logit(X['rooms'], X[['area']])",
    "factors of negative numbers": "ExponentialSmoothing(below, seasonal='mul', seasonal_periods=7)",
    "two names for six values": "stat, p = adfuller(daily + noise)",
    "a gap in a test": "adfuller(holes['age'])",
    "no column in a formula": "smf.ols('price ~ area + C(zone)', data=flats)",
    "ARIMA of long ago": "from statsmodels.tsa.arima_model import ARIMA\nARIMA(daily, order=(1, 0, 0))",
    "rows that do not match": "sm.OLS(price, few).fit()",
    "missing values": "sm.OLS(price, holes).fit()",
    "texts": "sm.OLS(price, towns).fit()",
    "a gap beside other numbers": "sm.OLS(price, sm.add_constant(gaps))",
    "line as a number": "sm.qqplot(price, line=45, fit=True)",
    "period too long": "seasonal_decompose(daily, period=20)",
    "product of negative numbers": "seasonal_decompose(below, model='multiplicative', period=7)",
    "freq of long ago": "seasonal_decompose(daily, freq=7)",
    "more lags than half": "plot_pacf(daily, lags=20)",
    "more lags than observations": "plot_acf(daily, lags=40)",
    "brackets in a name": "model.fit(odd, price)",
    "texts for trees": "model.fit(towns, price)",
    "targets that do not match": "model.fit(X, short)",
    "measurements for a classifier": "small.fit(X, price)",
    "asked before it was fitted": "model.predict(X)",
    "fewer features": "model.fit(X, price)\nmodel.predict(X[['area', 'rooms']])",
    "pairs of other lengths": "stats.pearsonr(price, short)",
    "ranks of other lengths": "stats.spearmanr(price, short)",
    "differences of other lengths": "stats.ttest_rel(price, short)",
    "points without values": "interp1d(price, short)",
}

FINE = {
    "a model's own names": "m = smf.ols('price ~ area', data=flats)\nm.formula, m.exog_names, m.fit().summary()",
    "the constant again": "line.predict(sm.add_constant(few[['area', 'age']]))",
    "one row as it is": "line.predict([1, 50.0, 3.0])",
    "a frame for a formula": "by_formula.predict(few)",
    "factors of positive numbers": "ExponentialSmoothing(daily, seasonal='mul', seasonal_periods=7)",
    "two of six values": "stat, p = adfuller(daily + noise)[:2]",
    "formula with a contrast": "smf.ols('price ~ C(rooms, Treatment(2)) + np.log(area)', data=flats)",
    "least squares": "sm.OLS(price, sm.add_constant(X)).fit().params",
    "a missing value in what is explained": "sm.OLS(holes['age'], X[['area']]).fit().params",
    "a constant that nobody looks for": "sm.OLS(price, holes, hasconst=False)",
    "missing rows dropped": "sm.OLS(price, holes, missing='drop').fit()",
    "a gap in integers dropped": "sm.OLS(price, gaps, missing='drop').fit()",
    "a gap in targets alone": "sm.OLS(gaps[['walls']], X[['area']])",
    "logit": "sm.Logit(dear, sm.add_constant(X[['age']])).fit(disp=0)",
    "nullable column as decimals": "sm.OLS(price, gaps[['walls']].astype(float).fillna(1)).fit()",
    "missing targets for trees": "model.fit(X, holes['age'])",
    "formula": "smf.ols('price ~ area + rooms', data=flats).fit().rsquared",
    "formula with a function": "smf.ols('np.log(price) ~ area + C(rooms)', data=flats).fit()",
    "formula with a variable": "extra = X['age'] * 2\nsmf.ols('price ~ area + extra', data=flats).fit()",
    "line as a text": "sm.qqplot(price, line='45', fit=True)",
    "decomposition": "seasonal_decompose(daily, period=7).trend",
    "decomposition by the index": "seasonal_decompose(daily)",
    "correlations": "plot_acf(daily, lags=10)\nplot_pacf(daily, lags=10)",
    "trees": "model.fit(X, price).predict(X)",
    "trees with gaps": "model.fit(holes, price)",
    "trees with categories": "model.fit(towns.astype({'town': 'category'}), price)",
    "classes as words": "small.fit(X, dear.map({0: 'low', 1: 'high'})).predict(X)",
    "two samples need no pairs": "stats.ttest_ind(price, short)",
    "pairs": "stats.pearsonr(price, X['area'])",
    "interpolation": "interp1d(np.arange(60), price)(3.5)",
}


def setup_of(target: str) -> str:
    return SETUP + TREES if re.search(r"\b(model|small|grown)\.", target) else SETUP


def tried(cases: dict[str, str]) -> pytest.MarkDecorator:
    """Each target after its set-up, by the name of the case."""
    together = [(setup_of(target), target) for target in cases.values()]
    return pytest.mark.parametrize(("setup", "target"), together, ids=cases)


@tried(CRASHES)
def test_crash_is_predicted_with_its_class(
    setup: str, target: str, check: Callable[[str, str], object]
) -> None:
    check(setup, target)


@tried(FINE)
def test_what_runs_is_left_alone(
    setup: str, target: str, check: Callable[[str, str], object]
) -> None:
    check(setup, target)
