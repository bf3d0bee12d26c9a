"""What executed cells leave behind: what really crashes is predicted from code alone, near misses that run are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core.detectors.rules.initial_state import InitialState
from crane_core.detectors.rules.past import MOST_STEPS, Past, past_of
from crane_core.detectors.rules.predict import findings
from crane_core.domain import Cell, CellRole, KernelState, Setting, VariableState
from crane_core.importers.captured_states import state_of
from crane_core.prompts.shown import shown
from tests.detectors.rules.conftest import Predict

NUMPY = "import numpy as np\n"
PANDAS = "import pandas as pd\n"
TORCH = "import torch\nfrom torch import nn\n"
FRAME = PANDAS + "frame = pd.DataFrame({'a': [1, 2, 3], 'b': [4.0, 5.0, 6.0]})\n"
NET = (
    TORCH
    + """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.first = nn.Linear(n, 4)
        self.second = nn.Linear(5, 2)
    def forward(self, x):
        return self.second(self.first(x))
# %%
net = Net(3)
"""
)

CRASHES = [
    # literals
    ("rows = [1, 2, 3]", "rows[3]"),
    ("rows = [1, 2, 3]\n# %%\nrows.pop()", "rows[2]"),
    ("sizes = {'a': 1}\n# %%\nsizes['b'] = 2", "sizes['c']"),
    ("one = two = [1]\n# %%\ntwo.append(2)", "one[2]"),
    ("n = 0\n# %%\nn += 3", "[1, 2, 3][n]"),
    ("def pick(rows, at=5):\n    return rows[at]\n# %%\nrows = [1, 2]", "pick(rows)"),
    ("x = 1\n# %%\nx = 'text'", "x + 1"),
    ("import math\nfound = []\nfor at in range(3):\n    found.append(at)", "found[3]"),
    (
        "import os\nrows = [1]\n# %%\nfor name in os.environ:\n    if name == '':\n        print(name)\n# %%\nprint()",
        "rows[1]",
    ),
    # arrays
    (NUMPY + "grid = np.zeros((3, 4))", "grid.reshape(5, 2)"),
    (
        NUMPY + "grid = np.zeros((3, 4))\n# %%\ngrid = grid.reshape(2, 6)",
        "grid @ np.ones(4)",
    ),
    (NUMPY + "grid = np.arange(12).reshape(3, 4)\n# %%\nrow = grid[0]", "row[4]"),
    # frames
    (FRAME, "frame['c']"),
    (FRAME + "# %%\nframe = frame.drop(columns='b')", "frame['b']"),
    (FRAME + "# %%\nframe['c'] = 1", "frame[['c', 'd']]"),
    (FRAME, "frame['c'] = [1, 2]"),
    # estimators
    (
        "from sklearn.linear_model import LinearRegression\n# %%\nmodel = LinearRegression()",
        "model.predict([[1, 2]])",
    ),
    (
        "import numpy as np\nfrom sklearn.model_selection import train_test_split\nX = np.zeros((10, 2))\n"
        "y = np.zeros(10)\n# %%\nX_fit, X_check, y_fit, y_check = train_test_split(X, y, test_size=0.2)\n"
        "from sklearn.linear_model import LinearRegression\nmodel = LinearRegression()",
        "model.fit(X_fit, y_check)",
    ),
    # torch
    (
        NET + "import os\nfor name in os.environ:\n    print(net.training)",
        "net(torch.zeros(2, 3))",
    ),
    (NET, "net(torch.zeros(2, 3))"),
    (NET.replace("(5, 2)", "(4, 2)"), "net(torch.zeros(2, 6))"),
    (
        NET.replace("(5, 2)", "(4, 2)") + "net.load_state_dict(net.state_dict())",
        "net(torch.zeros(2, 6))",
    ),
    (
        TORCH + "layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))",
        "layers(torch.ones(2, 5))",
    ),
]

RUNS = [
    # literals
    ("rows = [1, 2, 3]", "rows[2]"),
    ("rows = []\nimport os\n# %%\nfor name in os.environ:\n    rows.append(name)", "rows[0]"),
    ("rows = []\ndef fill():\n    rows.append(1)\n# %%\nfill()", "rows[0]"),
    ("rows = []\nfillers = [rows.append]\n# %%\nfillers[0](1)", "rows[0]"),
    ("rows = []\ndef fill():\n    global rows\n    rows = [1]\n# %%\nlist(map(lambda _: fill(), [1]))", "rows[0]"),
    ("rows = []\nimport functools\nfill = functools.partial(rows.append, 1)\n# %%\nfill()", "rows[0]"),
    ("import copyreg\nrows = []\nheld = {'rows': rows}\n# %%\nheld['rows'].append(1)", "rows[0]"),
    ("rows = []\nclass Keeper:\n    def __init__(self, kept):\n        self.kept = kept\n# %%\n"
     "keeper = Keeper(rows)\nkeeper.kept.append(1)", "rows[0]"),
    ("def counter():\n    n = []\n    def count():\n        n.append(1)\n        return n\n    return count\n# %%\n"
     "count = counter()\nlist(map(lambda _: count(), range(3)))", "count()[2]"),
    ("rows = []\n# %%\nlist(map(rows.append, [1]))", "rows[0]"),
    ("rows = [[]]\n# %%\nlist(map(lambda row: row.append(1), rows))", "rows[0][0]"),
    ("n = 3\n# %%\nexec('n = 1')", "[1, 2][n]"),
    ("try:\n    n = int('many')\nexcept ValueError:\n    n = 1", "[1, 2][n]"),
    ("class Setting:\n    at = 5\ndef change():\n    Setting.at = 0\n# %%\nlist(map(lambda _: change(), [1]))",
     "[1, 2][Setting.at]"),
    # arrays
    ("import os\ndef say(text):\n    return 1\n# %%\nfor name in os.environ:\n    say = len", "[1, 2, 3][say([1, 2])]"),
    (NUMPY + "grid = np.zeros((3, 4))\n# %%\ngrid.resize((2, 6))", "grid.reshape(3, 2, 2) @ np.ones(2)"),
    (NUMPY + "grid = np.zeros((3, 4))\ngrid.shape = (4, 3)", "grid @ np.ones(3)"),
    # frames
    (FRAME + "# %%\nframe['c'] = 1", "frame['c']"),
    (FRAME + "# %%\nother = frame\nother['c'] = 1", "frame['c']"),
    (FRAME + "# %%\ndef grow(given):\n    given['c'] = 1\ngrow(frame)", "frame['c']"),
    (FRAME + "# %%\nfor name in ('c', 'd'):\n    frame[name] = 0", "frame['d']"),
    (FRAME + "# %%\nframe.insert(0, 'c', 1)", "frame['c']"),
    (FRAME + "# %%\nframe.columns = ['x', 'y']", "frame['x']"),
    (FRAME + "# %%\nimport builtins\nsetattr(frame, 'columns', ['x', 'y'])", "frame['x']"),
    # torch
    (NET.replace("(5, 2)", "(4, 2)"), "net(torch.zeros(2, 3))"),
    (NET + "net.second = nn.Linear(4, 2)", "net(torch.zeros(2, 3))"),
    (NET + "setattr(net, 'second', nn.Linear(4, 2))", "net(torch.zeros(2, 3))"),
    (NET + "def repair(some):\n    some.second = nn.Linear(4, 2)\nrepair(net)", "net(torch.zeros(2, 3))"),
    (NET + "net._modules['second'] = nn.Linear(4, 2)", "net(torch.zeros(2, 3))"),
    (NET + "for name, part in list(net.named_children())[1:]:\n    setattr(net, name, nn.Linear(4, 2))",
     "net(torch.zeros(2, 3))"),
    (TORCH + "layers = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 1))\n# %%\nlayers[1] = nn.Linear(4, 1)",
     "layers(torch.ones(2, 3))"),
    (TORCH + "parts = [nn.Linear(3, 4)]\nparts.append(nn.Linear(4, 1))\nlayers = nn.Sequential(*parts)",
     "layers(torch.ones(2, 3))"),
]  # fmt: skip


@pytest.mark.parametrize(("setup", "target"), CRASHES)
def test_what_crashes_is_predicted_from_the_code_of_the_cells(
    predict_by_code: Predict, setup: str, target: str
) -> None:
    seen = predict_by_code(setup, target)
    assert seen.raised is not None and not seen.errors and not seen.contradictions
    assert seen.exception == seen.raised


@pytest.mark.parametrize(("setup", "target"), RUNS)
def test_nothing_is_predicted_of_what_runs(
    predict_by_code: Predict, setup: str, target: str
) -> None:
    seen = predict_by_code(setup, target)
    assert seen.raised is None, seen.error
    assert not seen.findings and not seen.errors and not seen.contradictions


def cells(*codes: str) -> list[Cell]:
    *executed, target = codes
    roles = [
        *((code, CellRole.EXECUTED) for code in executed),
        (target, CellRole.TARGET),
    ]
    return [
        Cell("b", "x", "notebook", place, role, code)
        for place, (code, role) in enumerate(roles)
    ]


def left_by(*codes: str) -> Past:
    return past_of(InitialState(cells(*codes, "pass"), None))


def test_a_crash_in_a_cell_that_ran_gives_up_what_was_known_and_is_counted() -> None:
    past = left_by("rows = [1]\nother = [2]", "rows[5]", "later = [3]")
    assert [found.cell for found in past.contradictions] == [1]
    assert not past.names["rows"].is_literal and not past.names["other"].is_literal
    assert past.names["later"].literal == [3]


def test_after_several_contradictions_nothing_is_taken_from_the_cells() -> None:
    past = left_by("rows = [1]", "rows[5]", "rows = [1]\nrows[6]", "later = [3]")
    assert len(past.contradictions) == 2 and past.names == {}


def test_after_a_line_that_may_do_anything_no_mutable_thing_is_known() -> None:
    past = left_by("rows = [1]\nimport numpy as np", "%run other.ipynb", "n = 1")
    assert not past.names["rows"].is_literal
    assert past.names["np"].path == "numpy" and past.names["n"].literal == 1


def test_a_cell_that_cannot_be_read_leaves_nothing_known_of_what_came_before() -> None:
    past = left_by("rows = [1]", "rows = = 2", "n = 1")
    assert not past.names["rows"].is_literal and past.names["n"].literal == 1


def test_a_name_that_is_deleted_later_is_no_longer_there() -> None:
    assert "rows" not in left_by("rows = [1]", "del rows").names


def test_cells_count_in_the_order_in_which_they_ran() -> None:
    made = [
        Cell("b", "x", "notebook", 9 - place, CellRole.EXECUTED, f"n = {place}")
        for place in range(3)
    ]
    target = Cell("b", "x", "notebook", 10, CellRole.TARGET, "pass")
    assert past_of(InitialState([*made, target], None)).names["n"].literal == 0


def test_where_the_steps_end_later_names_are_not_known() -> None:
    turns = "\n".join(
        f"{'    ' * depth}for i{depth} in range(50):" for depth in range(4)
    )
    past = left_by(
        "n = 1\nrows = [1]", f"{turns}\n{'    ' * 4}rows", "later = 3\nn = 5"
    )
    assert past.n_steps > MOST_STEPS
    assert not any(
        past.names[name].is_literal
        for name in ("rows", "later", "n")
        if name in past.names
    )


STATES = Path(__file__).resolve().parents[3] / "data" / "minibench" / "states"


def state(name: str, variable: VariableState) -> KernelState:
    known = shown(
        state_of(json.loads((STATES / "pandas_1_reproduced.json").read_text("utf-8"))),
        Setting.RUNTIME,
    )
    return KernelState.from_json(
        {**known.to_json(), "variables": {name: variable.to_json()}},
        benchmark="b", instance_id="x", setting=Setting.RUNTIME, origin="test",
    )  # fmt: skip


@pytest.mark.parametrize("length", [1, 3])
def test_a_state_that_contradicts_the_cells_is_right(length: int) -> None:
    known = state("rows", VariableState("<class 'list'>", structure={"length": length}))
    report = findings(
        cells("rows = [1]\nother = [1]", "rows[1], other[1]"), known, Setting.RUNTIME
    )
    assert bool(report.findings) is (length == 1)
    assert bool(report.contradictions) is (length == 3)


def test_what_a_state_tells_less_of_is_filled_from_the_cells() -> None:
    known = state("table", VariableState("<class 'dict'>", structure={"length": 2}))
    assert findings(
        cells("table = {'a': 1, 'b': 2}", "table['c']"), known, Setting.RUNTIME
    ).findings
    assert not findings(
        cells("table = {'a': 1, 'b': 2}", "table['b']"), known, Setting.RUNTIME
    ).findings
