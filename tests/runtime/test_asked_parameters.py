"""What scikit-learn says of values of parameters, asked in the worker, beside its own functions."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import minmax_scale
from sklearn.utils._param_validation import InvalidParameterError

from tests.runtime.surrogate_orders import answered

CLASS, FUNCTION = (
    "sklearn.linear_model.LogisticRegression",
    "sklearn.preprocessing.minmax_scale",
)


def asked(path: str, given: dict[str, Any], step: str = "") -> dict[str, Any]:
    usual = "fit" if path == CLASS else "call"
    order = {
        "step": "parameters",
        "of": path,
        "name": step or usual,
        "given": given,
    }
    return answered(order)


@pytest.mark.parametrize(
    "given",
    [{"solver": "lbfg"}, {"C": -1}, {"max_iter": "many"}, {"tol": None}],
)
def test_a_class_refuses_in_its_own_words(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError) as refused:
        LogisticRegression(**given).fit([[0], [1]], [0, 1])
    said = asked(CLASS, given)
    assert said["raised"] == "InvalidParameterError"
    assert said["message"] == str(refused.value)
    assert [said["name"]] == list(given)


def test_a_function_refuses_in_its_own_words() -> None:
    with pytest.raises(InvalidParameterError) as refused:
        minmax_scale([[1]], axis=7)
    said = asked(FUNCTION, {"axis": 7})
    assert said["message"] == str(refused.value)
    assert said["name"] == "axis"


def test_what_it_may_be_is_told() -> None:
    assert {"'lbfgs'", "'saga'"} <= set(
        asked(CLASS, {"solver": "lbfg"})["options"]
    )


@pytest.mark.parametrize(
    ("path", "given"),
    [
        (CLASS, {"solver": "lbfgs", "C": 2}),
        (CLASS, {"no_such": 3}),
        (FUNCTION, {"axis": 1}),
        ("sklearn.base.clone", {"safe": "x"}),
        ("sklearn.no_such.function", {"a": 1}),
        ("os.getcwd", {"a": 1}),
    ],
)
def test_nothing_is_said_of_what_is_taken_or_not_known(
    path: str, given: dict[str, Any]
) -> None:
    assert list(asked(path, given)) == ["unknown"]


def test_making_an_estimator_checks_nothing() -> None:
    LogisticRegression(solver="lbfg")
    assert list(asked(CLASS, {"solver": "lbfg"}, "call")) == ["unknown"]
