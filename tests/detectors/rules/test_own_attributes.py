"""Attributes that classes of libraries have not: certain where no code could have given them one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.optional import needing

from .conftest import Predict


@needing("torch")
def test_all_public_attributes_of_a_module_are_known() -> None:
    from torch import nn

    from crane_core.detectors.rules.interpret_classes import _OF_MODULE

    # What notebooks give the class, such as those of other tests, is not torch's own.
    own = {
        name
        for name in dir(nn.Module())
        if getattr(getattr(nn.Module, name, 0), "__module__", "") != "__main__"
    }
    assert {name for name in own if not name.startswith("_")} <= _OF_MODULE


TABLE = "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})\nfrom sklearn.linear_model import Ridge\nmodel = Ridge()"
EXTENDS = "import pandas as pd\npd.DataFrame.iplot = pd.Series.iplot = lambda self: 1\n"


@pytest.mark.parametrize(
    ("setup", "target"),
    [
        (f"{TABLE}\nimport plots", "df.groupby('a').mean().iplot()"),
        pytest.param(
            f"{TABLE}\nfrom plots import pd as pd",
            "df['a'].head().iplot()",
            marks=pytest.mark.slow,
        ),
        pytest.param(TABLE, "import plots\ndf.iplot()", marks=pytest.mark.slow),
        pytest.param(
            f"{TABLE}\nfrom tqdm import tqdm",
            "tqdm.pandas()\ndf['a'].progress_apply(abs)",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            TABLE,
            "from tqdm import tqdm\ntqdm.pandas()\ndf['a'].progress_apply(abs)",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            TABLE,
            "import sklearn.base\nsklearn.base.BaseEstimator.told = 1\nmodel.told",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_other_packages_and_the_target_give_a_class_of_a_library_is_there(
    predict_in_kernel: Predict, tmp_path: Path, setup: str, target: str
) -> None:
    (tmp_path / "plots.py").write_text(EXTENDS)
    assert predict_in_kernel(setup, target).findings == ()


@pytest.mark.parametrize(
    "target", ["df.groupby('a').mean().iplot()", "df.iplot()", "model.told"]
)
def test_what_nobody_gives_it_is_missing(
    predict_here: Predict, target: str
) -> None:
    assert (
        predict_here(f"{TABLE}\nimport tqdm", target).exception
        == "AttributeError"
    )
