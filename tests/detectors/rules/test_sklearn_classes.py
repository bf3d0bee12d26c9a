"""The table of what scikit-learn's classes refuse: made again for some classes it comes out the same."""

from __future__ import annotations

import importlib
import json
import warnings

import pytest
import sklearn

from crane_core.detectors.rules.families.sklearn_classes import (
    classes,
    version_of_table,
)
from tools.sklearn_classes import TABLE, described

SOME = (
    "StandardScaler LogisticRegression KNeighborsClassifier DecisionTreeClassifier GaussianNB KMeans PCA SimpleImputer "
    "LabelEncoder OneHotEncoder Normalizer LinearRegression SVC Pipeline GridSearchCV MultinomialNB"
)


@pytest.mark.parametrize("name", SOME.split())
def test_table_is_what_trying_gives(name: str) -> None:
    if sklearn.__version__ != version_of_table():
        pytest.skip(
            f"the table is of scikit-learn {version_of_table()}, installed is {sklearn.__version__}"
        )
    module, _, _ = classes()[name].path.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = described(getattr(importlib.import_module(module), name))
    assert (
        json.loads(json.dumps(found))
        == json.loads(TABLE.read_text("utf-8"))["classes"][name]
    )


def test_paths_are_those_under_which_classes_are_imported() -> None:
    for known in classes().values():
        module, _, name = known.path.rpartition(".")
        assert isinstance(
            getattr(importlib.import_module(module), name, type), type
        ), known.path
