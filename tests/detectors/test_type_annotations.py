"""Types of the state, in names that the notebook would use."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from crane_core.detectors.type_annotations import (
    annotation_lines,
    public_name,
    public_names,
)
from crane_core.domain import KernelState, Setting, VariableState
from tests.detectors.asked import state
from tests.optional import each, needing


def resolved(path: str) -> Any:
    """The object of a dotted path."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


INTERNAL = [
    "pandas.core.frame.DataFrame",
    "pandas.core.series.Series",
    "pandas.core.indexes.base.Index",
    "pandas.core.indexes.datetimes.DatetimeIndex",
    "pandas.core.arrays.categorical.Categorical",
    "pandas.core.groupby.generic.DataFrameGroupBy",
    "sklearn.ensemble._forest.RandomForestRegressor",
    "sklearn.svm._classes.SVC",
    "sklearn.preprocessing._data.MinMaxScaler",
    "sklearn.pipeline.Pipeline",
    "scipy.sparse._csr.csr_matrix",
    "statsmodels.tsa.seasonal.DecomposeResult",
    "matplotlib.axes._axes.Axes",
    "matplotlib.figure.Figure",
    "lightgbm.sklearn.LGBMRegressor",
    "torch.nn.modules.loss.BCELoss",
    "torch.nn.modules.container.Sequential",
    "torch.optim.sgd.SGD",
    "torch.optim.lr_scheduler.StepLR",
    "torch.utils.data.dataloader.DataLoader",
    "torch.utils.data.dataset.Subset",
    "torchvision.transforms.transforms.Compose",
    "torchvision.datasets.folder.ImageFolder",
    "torchvision.models.vgg.VGG",
    "keras.src.models.sequential.Sequential",
    "keras.src.callbacks.history.History",
    "keras.src.layers.core.dense.Dense",
    "keras.src.optimizers.adam.Adam",
    "keras.src.legacy.preprocessing.image.DirectoryIterator",
]


@pytest.mark.parametrize("internal", INTERNAL)
def test_an_internal_class_has_a_public_name(internal: str) -> None:
    public = public_name(f"<class '{internal}'>")
    assert public is not None and public.count(".") <= internal.count(".")


@pytest.mark.parametrize("internal", each(INTERNAL))
def test_public_name_is_that_of_the_same_class(internal: str) -> None:
    public = public_name(f"<class '{internal}'>")
    assert public is not None
    assert resolved(public) is resolved(internal)


def test_the_public_name_of_a_functional_model() -> None:
    assert (
        public_name("keras.src.models.functional.Functional") == "keras.Model"
    )


@needing("keras")
def test_a_functional_model_is_a_model() -> None:
    assert issubclass(
        resolved("keras.src.models.functional.Functional"),
        resolved("keras.Model"),
    )


@pytest.mark.parametrize(
    "type_text",
    ["module", "dict_keys", "generator", "ellipsis", "len", "<class 'function'>", "<class 'type'>", "", "a-b",
     "x.class", "<class '__main__.Net'>", "<enum 'Kind'>", "int]\nimport os", "a" * 400],
)  # fmt: skip
def test_what_has_no_public_name_is_not_written(type_text: str) -> None:
    assert public_name(type_text) is None


def test_every_entry_has_its_source_and_no_internal_name_twice() -> None:
    known = public_names()
    assert known.types and known.modules and known.merged and known.unnamed
    assert not known.modules.keys() & known.merged.keys()


@pytest.mark.parametrize(
    ("imports", "line"),
    [
        ("import pandas as pd", ["df: pd.DataFrame"]),
        ("import pandas", ["df: pandas.DataFrame"]),
        ("from pandas import DataFrame as D", ["df: D"]),
        ("import pandas.core.frame", ["df: pandas.DataFrame"]),
        ("from pandas import *", ["import pandas", "", "df: pandas.DataFrame"]),
        (
            "def f():\n    import pandas as pd",
            ["import pandas", "", "df: pandas.DataFrame"],
        ),
        ("%matplotlib inline\nimport pandas as pd", ["df: pd.DataFrame"]),
        ("this is not a Python", ["import pandas", "", "df: pandas.DataFrame"]),
    ],
)
def test_types_are_spelled_through_the_imports_of_the_cells(
    imports: str, line: list[str]
) -> None:
    assert (
        annotation_lines([imports], state(df="pandas.core.frame.DataFrame"))
        == line
    )


def test_lines_stand_in_the_order_of_names_and_imports_before_them_once() -> (
    None
):
    held = state(
        b="keras.src.models.sequential.Sequential",
        a="<class 'int'>",
        c="keras.src.layers.core.dense.Dense",
    )
    held.variables["d"] = VariableState(
        "keras.src.models.sequential.Sequential"
    )
    assert annotation_lines([], held) == [
        *("import keras", "import keras.layers", ""),
        *(
            "a: int",
            "b: keras.Sequential",
            "c: keras.layers.Dense",
            "d: keras.Sequential",
        ),
    ]


def test_names_that_no_cell_assigns_or_only_functions_need_are_left_out() -> (
    None
):
    held = KernelState(
        "b",
        "i",
        Setting.RUNTIME,
        "o",
        {
            "__name__": VariableState("str"),
            "df": VariableState("int", via=["f"]),
        },
    )
    assert annotation_lines([], held) == []


@pytest.mark.parametrize(
    "name", ["not a name", "class", "x: int\nimport os", ""]
)
def test_a_name_that_is_no_name_is_left_out(name: str) -> None:
    assert annotation_lines([], state(**{name: "int"})) == []


def test_an_import_that_would_overwrite_a_variable_is_not_written() -> None:
    assert annotation_lines(
        [], state(keras="int", model="keras.src.models.sequential.Sequential")
    ) == ["keras: int"]


@pytest.mark.parametrize(
    ("cell", "types"),
    [
        ("list = [1]", {"list": "list", "a": "list"}),
        (
            "from sklearn.svm import SVC\nSVC = SVC()",
            {
                "SVC": "sklearn.svm._classes.SVC",
                "a": "sklearn.svm._classes.SVC",
            },
        ),
        (
            "import pandas as pd\npd = pd.DataFrame()",
            {"pd": "pandas.DataFrame"},
        ),
    ],
)
def test_a_name_that_is_an_object_now_is_no_type(
    cell: str, types: dict[str, str]
) -> None:
    assert annotation_lines([cell], state(**types)) == []


def test_a_module_in_the_state_does_not_hinder() -> None:
    held = state(
        pd="<class 'module'>",
        df="pandas.core.frame.DataFrame",
        D="<class 'type'>",
    )
    assert annotation_lines(["import pandas as pd"], held) == [
        "df: pd.DataFrame"
    ]
    held = state(
        keras="<class 'module'>", m="keras.src.models.sequential.Sequential"
    )
    assert annotation_lines(["from tensorflow import keras"], held) == [
        "import keras",
        "",
        "m: keras.Sequential",
    ]
