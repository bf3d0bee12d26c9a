"""What objects of libraries have by a name, beside the objects themselves; what is written anywhere may be there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crane_core.runtime.kernel_side.crane_surrogates import operations, worker
from tests.runtime.surrogate_orders import answered


def of_object(
    path: str, name: str, *, is_made: bool = True, is_label: bool = True
) -> dict[str, Any]:
    order = {
        "step": "of object",
        "of": path,
        "name": name,
        "is_made": is_made,
        "is_label": is_label,
    }
    return answered(order)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("sklearn.linear_model.Ridge", "fits"),
        ("sklearn.feature_selection.SelectKBest", "fit_transforms"),
    ],
)
def test_a_name_that_no_code_of_a_library_writes_is_missing(
    path: str, name: str
) -> None:
    assert of_object(path, name)["raised"] == "AttributeError"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("sklearn.linear_model.Ridge", "coef_"),
        ("sklearn.linear_model.Ridge", "feature_names_in_"),
        ("sklearn.linear_model.Ridge", "nonsense"),
        ("sklearn.utils.Bunch", "keyss"),
        ("pandas.DataFrame", "sums"),
        ("pandas.Timestamp", "days"),
        ("torch.nn.Linear", "weights"),
        ("os.PathLike", "fspaths"),
        ("sklearn.nothing", "fits"),
        ("sklearn.model_selection.KFold", "get_n_splitz"),
    ],
)
def test_what_may_be_there_is_unknown(path: str, name: str) -> None:
    """As it is written somewhere, found by code of the class, like no other, or the class makes other objects."""
    assert list(of_object(path, name)) == ["unknown"]


def test_an_object_that_is_there_needs_not_be_made() -> None:
    assert (
        of_object("scipy.sparse.csr_array", "toarrays", is_made=False)["raised"]
        == "AttributeError"
    )
    assert (
        of_object(
            "sklearn.model_selection.KFold", "get_n_splitz", is_made=False
        )["raised"]
        == "AttributeError"
    )


def test_a_table_shows_only_labels_that_it_may_have() -> None:
    assert (
        of_object("pandas.DataFrame", "sums", is_made=False, is_label=False)[
            "raised"
        ]
        == "AttributeError"
    )
    assert list(of_object("pandas.DataFrame", "sums", is_made=False)) == [
        "unknown"
    ]
    assert list(
        of_object(
            "pandas.DataFrame", "add_columns", is_made=False, is_label=False
        )
    ) == ["unknown"]


def test_methods_are_known_but_those_that_objects_may_hide() -> None:
    assert (
        of_object("sklearn.linear_model.Ridge", "fit")["gave"]["type"]
        == "method"
    )
    assert list(of_object("sklearn.pipeline.Pipeline", "fit_predict")) == [
        "unknown"
    ]


def chained(
    step: str, name: str, inner: dict[str, Any], *operands: Any, **keywords: Any
) -> dict[str, Any]:
    told = [{"made": inner}, *({"is": each} for each in operands)]
    held = {key: {"is": value} for key, value in keywords.items()}
    return worker.answer(
        json.dumps(
            {
                "step": step,
                "of": "",
                "name": name,
                "operands": told,
                "keywords": held,
            }
        ).encode()
    )


def on_table(name: str, *operands: Any, **keywords: Any) -> dict[str, Any]:
    facts = {
        "type": "pandas.DataFrame",
        "shape": [3, 2],
        "columns": ["a", "b"],
        "dtypes": ["int64", "float64"],
    }
    facts["index"] = {"type": "RangeIndex", "range": [0, 3, 1]}
    held = {key: {"is": value} for key, value in keywords.items()}
    given = [{"facts": facts}, *({"is": each} for each in operands)]
    return {
        "step": "method",
        "of": "pandas.DataFrame",
        "name": name,
        "operands": given,
        "keywords": held,
    }


def test_a_name_is_looked_for_in_the_result_of_another_step() -> None:
    assert (
        chained("attribute", "means", on_table("rolling", 2))["raised"]
        == "AttributeError"
    )
    assert (
        chained("attribute", "means", on_table("groupby", "a"))["raised"]
        == "AttributeError"
    )
    assert "raised" not in chained("attribute", "b", on_table("groupby", "a"))
    assert "raised" not in chained("attribute", "mean", on_table("rolling", 2))


def test_labels_of_a_result_that_hang_on_values_are_not_looked_for() -> None:
    assert list(chained("attribute", "sums", on_table("sum"))) == ["unknown"]
    assert list(
        chained("attribute", "ones", on_table("pivot_table", index="a"))
    ) == ["unknown"]


def test_a_step_on_the_result_of_another_is_refused_as_by_itself() -> None:
    assert (
        chained("method", "rank", on_table("expanding"), method="maximum")[
            "raised"
        ]
        == "ValueError"
    )
    assert (
        chained("method", "mean", on_table("rolling", 2), 1, 2, 3, 4)["raised"]
        == "TypeError"
    )
    assert "raised" not in chained(
        "method", "rank", on_table("expanding"), method="max"
    )


def test_what_is_made_of_known_values_alone_is_known_whole() -> None:
    listed = {"list": [{"is": "b"}, {"is": "a"}]}
    made = {
        "step": "call",
        "of": "pandas",
        "name": "Series",
        "operands": [listed],
        "keywords": {},
    }
    assert chained("attribute", "astypes", made)["raised"] == "AttributeError"
    assert "raised" not in chained("method", "astype", made, "category")


def test_what_is_drawn_is_not_made_again() -> None:
    drawn = {
        "step": "call",
        "of": "numpy",
        "name": "random.rand",
        "operands": [{"is": 3}],
        "keywords": {},
    }
    assert not operations.is_made_again(drawn)
    assert operations.is_made_again({**drawn, "name": "arange"})


def test_sparse_arrays_of_known_values_are_known_whole() -> None:
    listed = {"list": [{"list": [{"is": 5}]}]}
    made = {
        "step": "call",
        "of": "scipy",
        "name": "sparse.csr_array",
        "operands": [listed],
        "keywords": {},
    }
    assert chained("attribute", "toarrays", made)["raised"] == "AttributeError"
    assert chained("method", "toarray", made, 1, 2, 3)["raised"] == "TypeError"
    assert "raised" not in chained("method", "toarray", made)
