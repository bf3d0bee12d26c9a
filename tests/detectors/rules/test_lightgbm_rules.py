"""Targets that train with LightGBM's own interface, and that ask its estimators: beside what LightGBM does."""

from __future__ import annotations

import pytest

from tests.optional import needs

from .conftest import Predict

pytestmark = needs("lightgbm")

SETUP = """
import numpy as np
import pandas as pd
import lightgbm as lgb
from lightgbm import LGBMClassifier, LGBMRegressor

rng = np.random.default_rng(0)
X = pd.DataFrame({"area": rng.uniform(20, 200, 60), "rooms": rng.integers(1, 6, 60), "age": rng.uniform(0, 90, 60)})
price = pd.Series(X["area"] * 3, name="price")
dear = (price > price.median()).astype(int)
kinds = np.arange(60) % 3
towns = X.assign(town=["Bern", "Rome"] * 30)
odd = X.rename(columns={"area": "area [m2]"})
quiet = {"verbose": -1, "num_threads": 1, "min_child_samples": 5}
train, valid = lgb.Dataset(X, label=dear), lgb.Dataset(X, label=dear)
short = lgb.Dataset(X, dear[:40])
three = lgb.Dataset(X.values, kinds)
one_more = lgb.Dataset(X.values, kinds + 1)
two = {**quiet, "objective": "binary"}
many = {**quiet, "objective": "multiclass"}
new = LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1)
grown = LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1).fit(X, price)
"""

CRASHES = {
    "number of classes not set": "lgb.train(many, three, 2)",
    "labels of another length": "lgb.train(two, short, 2)",
    "labels of another length than an array": "lgb.LGBMClassifier(n_estimators=2).fit(np.zeros((40, 2)), np.zeros(20))",
    "labels of another length, made here": "data = lgb.Dataset(X, label=dear.values[:30])\nlgb.train(two, data, 2)",
    "texts": "lgb.train(two, lgb.Dataset(towns, dear), 2)",
    "brackets in a name": "lgb.train(two, lgb.Dataset(odd, dear), 2)",
    "no Dataset": "lgb.train(two, X, 2)",
    "stops early on nothing": "lgb.train(two, train, 2, callbacks=[lgb.early_stopping(3)])",
    "fit stops early on nothing": "new.fit(X, price, callbacks=[lgb.early_stopping(3)])",
    "argument of LightGBM 3": "LGBMRegressor().fit(X, price, eval_set=[(X, price)], early_stopping_rounds=5)",
    "booster with fewer features": "b = lgb.train(two, lgb.Dataset(X, dear), 2)\nb.predict(X[['area', 'age']])",
    "model with fewer features": "grown.predict(X[['area', 'age']])",
    "array with fewer features": "grown.predict(X.values[:, :2])",
    "importances of none": "pd.Series(new.feature_importances_, index=X.columns)",
    "booster of none": "new.booster_.save_model('m.txt')",
}
RUNS = {
    "two classes": "b = lgb.train(two, train, 2, valid_sets=[valid], callbacks=[lgb.early_stopping(3)])\nb.predict(X)",
    "three classes": "many['num_class'] = 3\nlgb.train(many, three, 2).predict(X)",
    "other name of a parameter": "lgb.train({**many, 'num_classes': 4}, one_more, 2)",
    "one against all": "lgb.train({**quiet, 'objective': 'multiclassova', 'num_class': 3}, one_more, 2)",
    "categories": "t = towns.assign(town=towns['town'].astype('category'))\nlgb.train(two, lgb.Dataset(t, dear), 2)",
    "fit with a list to stop at": "new.fit(X, price, eval_set=[(X, price)], callbacks=[lgb.early_stopping(3)])",
    "importances after fit": "new.fit(X, price)\nnew.feature_importances_.sum()",
    "other columns of one width": "grown.predict(X.rename(columns={'area': 'size'}))",
    "check switched off": "grown.booster_.predict(X.values[:, :2], predict_disable_shape_check=True)",
    "a dataset of which nothing is known": "lgb.train(two, lgb.Dataset(np.asarray(X), label=list(dear)), 2)",
    "attributes of the class": "new.n_estimators\nnew.get_params()\ngrown.best_iteration_",
}


@pytest.mark.parametrize("name", CRASHES)
def test_crashes(check: Predict, name: str) -> None:
    assert check(SETUP, CRASHES[name]).raised is not None


@pytest.mark.parametrize(
    "target",
    ["grown.predict(X.assign(k=pd.Categorical(kinds)))", "grown.predict(towns)"],
)
def test_other_columns_are_refused_for_their_dtype_first(
    predict_here: Predict, target: str
) -> None:
    seen = predict_here(SETUP, target)
    assert seen.raised == "ValueError"
    assert seen.exception in (None, "ValueError")


@pytest.mark.parametrize("name", RUNS)
def test_runs(check: Predict, name: str) -> None:
    assert not check(SETUP, RUNS[name]).findings
