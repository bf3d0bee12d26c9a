"""Which arguments libraries take, by their signatures, beside a real call; nothing of what is asked runs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crane_core.runtime.kernel_side.crane_surrogates import signatures, worker


def bound(
    path: str,
    n_positional: int,
    *keywords: str,
    is_method: bool = False,
    kind: str = "call",
) -> dict[str, Any]:
    order = {
        "step": "binds",
        "of": path,
        "name": "method" if is_method else kind,
    }
    return worker.answer(
        json.dumps(
            {**order, "operands": n_positional, "keywords": keywords}
        ).encode()
    )


@pytest.mark.parametrize(
    ("path", "n_positional", "keywords"),
    [
        ("numpy.vectorize", 0, ["pyfunk"]),
        ("numpy.savetxt", 1, []),
        ("pandas.merge", 1, []),
        ("pandas.DataFrame", 1, ["columnss"]),
        ("sklearn.linear_model.LogisticRegression", 0, ["c"]),
        ("sklearn.metrics.accuracy_score", 1, []),
        ("matplotlib.pyplot.subplots", 0, ["nrowss", "a b"]),
    ],
)
def test_arguments_that_a_function_does_not_take_are_refused_as_by_itself(
    path: str, n_positional: int, keywords: list[str]
) -> None:
    answer = bound(path, n_positional, *keywords)
    if path == "matplotlib.pyplot.subplots":  # it hands unknown names on
        assert list(answer) == ["unknown"]
        return
    assert answer["raised"] == "TypeError"
    module, _, name = path.rpartition(".")
    function = getattr(__import__(module, fromlist=[name]), name)
    with pytest.raises(TypeError):
        function(*[None] * n_positional, **dict.fromkeys(keywords))


def test_a_method_gets_its_object_first() -> None:
    assert (
        bound(
            "sklearn.linear_model._logistic.LogisticRegression.fit",
            1,
            is_method=True,
        )["raised"]
        == "TypeError"
    )
    assert list(
        bound(
            "sklearn.linear_model._logistic.LogisticRegression.fit",
            2,
            is_method=True,
        )
    ) == ["unknown"]


def test_a_wrapped_method_without_its_object_is_not_told_as_a_lack_of_arguments() -> (
    None
):
    """scikit-learn's wrapper asks what it takes for the object, the data, for its parameters."""
    from sklearn.cluster import KMeans

    with pytest.raises(AttributeError):
        KMeans.fit(np.eye(3))
    assert list(bound("sklearn.cluster.KMeans.fit", 1)) == ["unknown"]
    assert (
        bound("sklearn.cluster.KMeans.fit_predict", 0)["raised"] == "TypeError"
    )


def test_a_signature_that_was_put_on_a_function_is_not_believed() -> None:
    """Matplotlib shows what `set` may be given, and refuses others as attributes."""
    from matplotlib.figure import Figure

    with pytest.raises(AttributeError):
        Figure().set(nonsense=1)
    assert list(
        bound("matplotlib.figure.Figure.set", 0, "nonsense", is_method=True)
    ) == ["unknown"]


@pytest.mark.parametrize(
    "path",
    [
        "os.system",
        "numpy.tests.test_lazyloading",
        "matplotlib.__main__.run",
        "numpy.nothing.at_all",
        "sklearn.nothing",
        "numpy",
        "",
    ],
)
def test_what_cannot_be_told_is_unknown(path: str) -> None:
    assert list(bound(path, 100)) == ["unknown"]


def test_a_wrapper_that_changes_arguments_is_not_believed() -> None:
    """pandas and NumPy wrap functions to rename keywords: what is wrapped does not tell what is taken."""

    def taken(**keywords: Any) -> Any:
        return np.testing.assert_array_equal(actual=1, desired=1, **keywords)

    taken()
    assert "raised" not in bound("numpy.testing.assert_array_equal", 2)
    assert pd.DataFrame({"a": [1]}).shape == (1, 1)
    assert "raised" not in bound(
        "pandas.core.frame.DataFrame.drop_duplicates", 0, is_method=True
    )


@pytest.mark.parametrize(
    ("path", "given", "keywords"),
    [
        ("numpy.shares_memory", [1], []),
        ("numpy.fmax", [1], []),
        ("numpy.fmax", [1, 2, None, 4], []),
        ("numpy.multiply.outer", [1], []),
        ("numpy.int32.bit_count", [], []),
        ("numpy.random.choice", [1, 2, 3, 4, 5], []),
        ("numpy.bincount", [], ["minlength"]),
        ("numpy.busdaycalendar", [1, 2, 3], ["holidays"]),
        ("builtins.type", [1, 2, 3, 4], []),
        ("builtins.next", [], []),
        ("builtins.float.fromhex", [], []),
        ("functools.reduce", [1], []),
        ("pandas.Timestamp.fromordinal", [1, 2, 3, 4, 5], []),
    ],
)
def test_functions_that_are_not_written_in_python_say_how_many_arguments_they_take(
    path: str, given: list[Any], keywords: list[str]
) -> None:
    answer = bound(path, len(given), *keywords)
    assert answer["raised"] == "TypeError"
    with pytest.raises(TypeError):
        signatures.found(path)(*given, **dict.fromkeys(keywords, 1))


@pytest.mark.parametrize(
    ("path", "n_given"),
    [
        ("numpy.shares_memory", 2),
        ("numpy.fmax", 2),
        ("builtins.type", 1),
        ("builtins.print", 0),
        ("builtins.input", 0),
        ("builtins.float.fromhex", 1),
        ("numpy.int32.bit_count", 1),
        ("numpy.set_printoptions", 0),
        ("functools.reduce", 2),
        ("builtins.exit", 3),
    ],
)
def test_what_they_say_of_the_objects_that_they_get_does_not_count(
    path: str, n_given: int
) -> None:
    assert list(bound(path, n_given)) == ["unknown"]


@pytest.mark.parametrize(
    ("path", "n_given", "is_refused"),
    [
        ("numpy.ndarray.fill", 0, True),
        ("numpy.ndarray.fill", 1, False),
        ("numpy.ndarray.reshape", 3, False),
        ("numpy.int64.bit_count", 1, True),
        ("builtins.dict.pop", 3, True),
        ("builtins.dict.pop", 2, False),
        ("builtins.list.append", 0, True),
        ("pandas._libs.tslibs.timedeltas.Timedelta.ceil", 4, True),
        ("pandas._libs.tslibs.timedeltas.Timedelta.ceil", 1, False),
    ],
)
def test_so_do_methods(path: str, n_given: int, *, is_refused: bool) -> None:
    assert ("raised" in bound(path, n_given, is_method=True)) is is_refused


def test_data_that_stands_where_an_estimator_should_is_asked_for_what_estimators_have() -> (
    None
):
    from sklearn.linear_model import Ridge

    with pytest.raises(AttributeError):
        Ridge.fit(np.eye(3), np.ones(3))
    assert (
        bound("sklearn.linear_model.Ridge.fit", 2, kind="call of data")[
            "raised"
        ]
        == "AttributeError"
    )
    assert list(bound("sklearn.linear_model.Ridge.fit", 2)) == ["unknown"]


def test_a_module_is_not_called() -> None:
    assert bound("numpy.linalg", 1)["raised"] == "TypeError"
    assert "raised" not in bound("numpy.linalg.inv", 1)
