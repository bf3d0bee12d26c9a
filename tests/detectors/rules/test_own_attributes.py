"""Attributes that objects of the notebook's classes have not: certain where no code could have given them one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.optional import needing

from .conftest import Predict

SETUP = """
class Base:
    unit = "m"

    def __init__(self, size):
        self.size = size

    def twice(self):
        return 2 * self.size

    def scaled(self):
        return self.scale * self.size

class Named(Base):
    def __init__(self, size, name):
        super().__init__(size)
        self.name = name

    def told(self):
        return f"{self.nme} {self.twice()} {self.unit}"

class Open:
    def __getattr__(self, name):
        return name
"""

GIVEN = """
class Attrs(dict):
    def __init__(self, **named):
        super().__init__(**named)
        self.__dict__ = self

attrs = Attrs(size=2)

class Lazy:
    @property
    def table(self):
        self.rows = [1]
        return self.rows

    def __enter__(self):
        self.start = 1
        return self

    def __exit__(self, *error):
        self.seconds = 2

lazy = Lazy()
"""

RAISES = [
    "Base(2).scaled()",
    "made = Named(2, 'a')\nfor _ in range(3):\n    print(made.told())",
    "Named(2, 'a').sise",
    "def use(thing):\n    return thing.width\nuse(Base(1))",
]
RUNS = [
    "Named(2, 'a').twice()\nNamed(2, 'a').unit",
    "made = Base(2)\nmade.scale = 3\nmade.scaled()",
    "Base.scale = 3\nBase(2).scaled()",
    "made = Base(2)\nsetattr(made, 'sca' + 'le', 3)\nmade.scaled()",
    "made = Base(2)\nmade.__dict__.update(scale=3)\nmade.scaled()",
    "def fill(thing, **more):\n    for name, value in more.items():\n        object.__setattr__(thing, name, value)\n"
    "made = Base(2)\nfill(made, scale=3)\nmade.scaled()",
    "made = Base(2)\nif hasattr(made, 'sca' + 'le'):\n    made.scaled()",
    "try:\n    Base(2).scaled()\nexcept AttributeError:\n    pass",
    "Open().anything",
    "Base(2).__class__.__name__",
]


RUNS_WITH_GIVEN = [
    "attrs.size",
    "Attrs(width=2).width",
    "attrs['width'] = 2\nattrs.width",
    "vars(attrs).update(width=2)\nattrs.width",
    "lazy.table\nlazy.rows",
    "with lazy:\n    lazy.start\nlazy.seconds",
]
PROPERTY = """class Own:
    @property
    def kept(self):
        return self._kept
    @kept.setter
    def kept(self, value):
        self._kept = str(value)
made = Own()
"""
HOOK = """class Own:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, str(value))
made = Own()
"""
DESCRIPTOR = """class Text:
    def __get__(self, owner, kind):
        return "text"
    def __set__(self, owner, value):
        pass
class Own:
    kept = Text()
made = Own()
"""
TURNED = [
    (
        "import threading\nthread = threading.Thread()",
        "thread.name = 3\nthread.name + 'x'",
    ),
    (
        "import threading\nclass Own(threading.Thread):\n    pass\nthread = Own()",
        "thread.name = 3\nthread.name + 'x'",
    ),
    (PROPERTY, "made.kept = 3\nmade.kept + 'x'"),
    (HOOK, "made.kept = 3\nmade.kept + 'x'"),
    (DESCRIPTOR, "made.kept = 3\nmade.kept + 'x'"),
    (
        "class Own(Exception):\n    pass\nmade = Own()",
        "made.args = [1]\nmade.args + (2,)",
    ),
    (
        "import numpy as np\nrow = np.ma.array([0, 1.0])",
        "row.fill_value = None\nrow.fill_value + 1",
    ),
]
"""Attributes that give another value than they were set to."""


@pytest.mark.parametrize("target", RAISES, ids=RAISES)
def test_what_nothing_gives_is_missing(check: Predict, target: str) -> None:
    assert check(SETUP, target).raised == "AttributeError"


@pytest.mark.parametrize("target", RUNS, ids=RUNS)
def test_what_something_may_give_is_let_pass(check: Predict, target: str) -> None:
    assert check(SETUP, target).raised is None


@pytest.mark.parametrize("target", RUNS_WITH_GIVEN, ids=RUNS_WITH_GIVEN)
def test_what_a_dict_or_a_property_gives_is_let_pass(
    check: Predict, predict_by_code: Predict, target: str
) -> None:
    assert check(GIVEN, target).raised is None
    assert predict_by_code(GIVEN, target).findings == ()


@pytest.mark.parametrize(
    ("setup", "target"), TURNED, ids=[target for _, target in TURNED]
)
def test_an_attribute_may_turn_what_it_gets(
    check: Predict, predict_by_code: Predict, setup: str, target: str
) -> None:
    assert check(setup, target).raised is None
    assert predict_by_code(setup, target).findings == ()


def test_a_method_of_a_base_may_change_the_object(
    check: Predict, predict_by_code: Predict
) -> None:
    setup = (
        "class Base:\n    def __init__(self):\n        self.rows = [1, 2]\n"
        "    def grow(self):\n        self.rows.append(3)\n"
        "class Own(Base):\n    def third(self):\n        super().grow()\n        return self.rows[2]\nmade = Own()"
    )
    assert check(setup, "made.third()").raised is None
    assert predict_by_code(setup, "made.third()").findings == ()


@needing("torch")
def test_modules_of_torch_have_their_own(check: Predict) -> None:
    setup = (
        "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.fc = nn.Linear(4, 3)\n        self.drop = nn.Dropout()\n"
        "    def forward(self, x):\n        return self.dropout(self.fc(x))\n"
    )
    assert (
        check(setup, "net = Net()\nnet.train()\nnet(torch.zeros(2, 4))").raised
        == "AttributeError"
    )
    assert (
        check(
            setup,
            "net = Net().eval()\nnet.requires_grad_(False)\nnet.training\nnet.state_dict()",
        ).raised
        is None
    )


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
        (TABLE, "import plots\ndf.iplot()"),
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
        (TABLE, "import sklearn.base\nsklearn.base.BaseEstimator.told = 1\nmodel.told"),
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
def test_what_nobody_gives_it_is_missing(predict_here: Predict, target: str) -> None:
    assert predict_here(f"{TABLE}\nimport tqdm", target).exception == "AttributeError"


TABLES = "import pandas as pd\nframe = pd.DataFrame({'a': [1]})\ntables = [frame, frame.copy()]\n"
LAYER = (
    "import torch\nlayer = torch.nn.Linear(3, 2)\nchain = torch.nn.Sequential(layer)\n"
)
OBJECTS = """import numpy as np
rows = np.array([np.ones(2), np.ones(3)], dtype=object)
matrix = np.matrix([[1, 2], [3, 4]])
"""
FIELDS = "import numpy as np\nrecords = np.zeros(3, dtype=[('x', 'f8'), ('y', 'i4', (2,))])\n"


@pytest.mark.parametrize(
    ("setup", "target"),
    [
        (TABLES, "for table in tables:\n    table['z'] = 1\ntables[1].z.max()"),
        (
            TABLES,
            "for _, table in enumerate(tables):\n    table['z'] = 1\ntables[0]['z']",
        ),
        (TABLES, "frame['z'] = 1\ntables[0].z.max()"),
        (
            TABLES.replace("frame, ", ""),
            "table, = tables\ntable['z'] = 1\ntables[0]['z']",
        ),
        (
            TABLES.replace("frame, ", ""),
            "table = tables[0]\ntable['z'] = 1\ntables[0].z.max()",
        ),
        (LAYER, "layer.forward = lambda x, y: x\nlayer(torch.ones(7), 3)"),
        (LAYER, "layer.forward = lambda x: x\nchain(torch.ones(7))"),
        (OBJECTS, "np.concatenate(rows)"),
        (OBJECTS, "matrix[0].T.shape[1]"),
        (FIELDS, "records['y'].shape[1]"),
        (FIELDS, "records['y'] @ np.ones(2)"),
        (
            "from sklearn.datasets import make_classification\n",
            "make_classification(20, 5)",
        ),
    ],
)
def test_what_parts_become_is_let_pass(check: Predict, setup: str, target: str) -> None:
    assert check(setup, target).exception is None
