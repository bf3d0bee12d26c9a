"""Cells that change a notebook's state half way and crash: made from a seed, of parts that notebooks are made of."""

from __future__ import annotations

import random
from typing import NamedTuple


class Ingredient(NamedTuple):
    """Objects of a notebook, and statements that change them; each holds on its own line or lines."""

    setup: str
    changes: tuple[str, ...]
    library: str = ""
    """What must be installed."""


class CrashingCell(NamedTuple):
    """A notebook of two cells: the second crashes."""

    setup: str
    cell: str


PLAIN = (
    Ingredient(
        "totals = [1, 2]\nsame_totals = totals\nnested = {'totals': totals, "
        "'more': [[0]]}",
        (
            "totals.append(7)",
            "totals[0] = 'first'",
            "nested['new'] = totals\nnested['more'][0].append(len(nested))",
            "del nested['totals']",
            "totals = totals + [5]",
            "del same_totals",
            "nested['more'].clear()",
        ),
    ),
    Ingredient(
        "seen = {1, 'two', (3, 4)}\nfixed = frozenset(seen)\nfrom "
        "collections import deque, Counter, defaultdict,"
        " OrderedDict\nqueue = deque([1, 2, 3], maxlen=5)\ncounts = "
        "Counter('abca')\ngroups = defaultdict(list)\n"
        "groups['a'].append(1)\nordered = OrderedDict(a=1, b=2)",
        (
            "seen.add('five')",
            "seen.discard(1)",
            "queue.rotate(1)\nqueue.append('late')",
            "counts.update('xyz')",
            "groups['b'].append(totally) if False else groups['b'].append(2)",
            "ordered.move_to_end('a')",
            "queue = counts = None",
        ),
    ),
    Ingredient(
        "class Account:\n    rate = 0.5\n    def __init__(self, "
        "owner):\n    "
        "    self.owner = owner\n"
        "        self.history = []\n    def pay(self, amount):\n        "
        "self.history.append(amount)\n"
        "        return sum(self.history)\naccount = "
        "Account('Ada')\nbook = "
        "{'Ada': account}",
        (
            "account.pay(5)",
            "account.extra = book",
            "Account.rate = 9",
            "class Account:\n    rate = 'other'",
            "Account.pay = lambda self, amount: 0",
            "del account.owner",
            "del account",
            "book['Bob'] = Account('Bob')",
        ),
    ),
    Ingredient(
        "class Point:\n    __slots__ = ('x', 'y')\n    def "
        "__init__(self, x, y):\n"
        "        self.x, self.y = x, y\n"
        "point = Point(1, [2])\nloop = []\nloop.append(loop)\npair = "
        "(loop, point)",
        (
            "point.x = 'moved'",
            "point.y.append(3)",
            "del point.y",
            "loop.append(point)",
            "pair = None",
            "del loop, pair",
        ),
    ),
    Ingredient(
        "def counter():\n    n = 0\n    def more():\n        "
        "nonlocal n\n    "
        "    n += 1\n"
        "        return n\n    return more\n"
        "more = counter()\ndef add(x, into=[]):\n    into.append(x)\n    "
        "return into\nlevel = 0\n"
        "def rise():\n    global level\n    level += 1",
        (
            "more()",
            "add(4)",
            "rise()",
            "def add(x):\n    return x",
            "more = None",
            "add.note = 'changed'",
            "del counter",
            "rise.__defaults__ = (1,)",
        ),
    ),
    Ingredient(
        "import datetime, decimal, functools, itertools, random, os, "
        "warnings\nday = datetime.date(2024, 2, 3)\n"
        "price = decimal.Decimal('1.10')\nat_least = "
        "functools.partial(max, "
        "3)\nitems = iter([1, 2, 3, 4])\n"
        "own_random = random.Random(4)\ndata = bytearray(b'abc')",
        (
            "day = day.replace(year=1999)",
            "price += 1",
            "next(items)",
            "own_random.random()",
            "random.random()",
            "os.environ['CRANE_UNDO_TEST'] = 'set'",
            "data += b'def'",
            "warnings.simplefilter('ignore')",
            "at_least = None",
            "decimal.getcontext().prec = 5",
        ),
    ),
)
WITH_LIBRARIES = (
    Ingredient(
        "import numpy as np\ngrid = np.arange(12.0).reshape(3, 4)\nrow = "
        "grid[1]\nflags = np.zeros(5, dtype=bool)\n"
        "objects = np.array([None, [1], 'a'], dtype=object)\ngenerator = "
        "np.random.default_rng(5)",
        (
            "grid[0] = -1",
            "grid *= 2",
            "row[:] = np.nan",
            "row = grid[2].copy()",
            "flags[::2] = True",
            "objects[1].append('more')\nobjects[0] = objects[1]",
            "generator.normal(size=3)",
            "np.random.rand(2)",
            "np.set_printoptions(precision=2)",
            "grid = grid.T @ grid",
            "del grid",
            "flags.flags.writeable = False",
            "grid.sort(axis=0)",
        ),
        "numpy",
    ),
    Ingredient(
        "import pandas as pd\nbeds = pd.DataFrame({'ward': ['n', "
        "'s', 'n'], "
        "'free': [3, 1, 2],"
        " 'day': pd.date_range('2024-01-01', periods=3), 'kind': "
        "pd.Categorical(['u', 'v', 'u'])})\n"
        "free = beds['free']\npart = beds[beds['free'] > 1]\nby_ward = "
        "beds.set_index('ward')",
        (
            "beds['rate'] = beds['free'] / 2",
            "beds.loc[0, 'free'] = 99",
            "beds.columns = ['a', 'b', 'c', 'd']",
            "beds = beds.rename(columns={'free': 'open'})",
            "del beds['day']",
            "free.iloc[0] = -5",
            "beds.index = ['x', 'y', 'z']",
            "by_ward.loc['w'] = by_ward.iloc[0]",
            "part.insert(0, 'n', 1)",
            "beds.attrs['source'] = 'cell'",
            "pd.set_option('display.max_rows', 7)",
            "beds.index.name = 'place'",
            "del beds, part",
            "for name in list(beds.columns):\n    beds[name.upper()] = "
            "beds.pop(name)",
            "beds['kind'] = beds['kind'].cat.add_categories('w')",
            "beds.sort_values('free', inplace=True)",
        ),
        "pandas",
    ),
    Ingredient(
        "from sklearn.linear_model import LinearRegression\nfrom "
        "sklearn.tree import DecisionTreeClassifier\n"
        "from sklearn.preprocessing import StandardScaler\nimport "
        "numpy as np\n"
        "X = np.arange(20.0).reshape(10, 2) % 7\n"
        "y = np.arange(10) % 2\nmodel = LinearRegression().fit(X, y)\n"
        "tree = DecisionTreeClassifier(random_state=0).fit(X, y)\n"
        "scaler = StandardScaler()",
        (
            "model.fit(X, -y)",
            "tree.fit(X, 1 - y)",
            "scaler.fit(X)",
            "scaler.partial_fit(X)",
            "X[:, 0] = 0",
            "model.coef_[0] = 8",
            "model = DecisionTreeClassifier().fit(X, y)",
            "tree.set_params(max_depth=1)",
            "del tree, scaler",
        ),
        "sklearn",
    ),
    Ingredient(
        "import torch\nimport torch.nn as nn\ntorch.manual_seed(1)\n"
        "net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4),"
        " nn.Dropout(), nn.Linear(4, 1))\noptimizer = "
        "torch.optim.Adam(net.parameters())\n"
        "inputs = torch.randn(8, 3)\n"
        "targets = torch.randn(8, 1)\nwindow = inputs[2:5]\ndef "
        "epoch():\n   "
        " optimizer.zero_grad()\n"
        "    loss = ((net(inputs) - targets) ** 2).mean()\n    "
        "loss.backward()\n"
        "    optimizer.step()\n    return loss.item()\n"
        "epoch()",
        (
            "epoch()",
            "for _ in range(2):\n    epoch()",
            "inputs[0] = 100",
            "window *= 2",
            "net.eval()",
            "net[0].weight.requires_grad_(False)",
            "net[3] = nn.Linear(4, 2)",
            "targets = targets.double()",
            "optimizer.param_groups[0]['lr'] = 1.0",
            "del optimizer",
            "torch.randn(2)",
            "net.zero_grad()",
        ),
        "torch",
    ),
)
# None of these is certain from the code alone, so that the guard does not stop the cell before it runs.
CRASHES = (
    "int(open.__name__)",
    "raise RuntimeError('half way')",
    "__import__('json').loads('{')",
    "assert not len('x')",
    "[].pop(len('ab'))",
    "raise KeyboardInterrupt",
)


def crashing_cells(
    n_cells: int, seed: int, libraries: frozenset[str]
) -> list[CrashingCell]:
    """So many cells that end in an exception; `libraries` are installed."""
    draw = random.Random(seed)
    known = [
        *PLAIN,
        *(one for one in WITH_LIBRARIES if one.library in libraries),
    ]
    return [_one(draw, known) for _ in range(n_cells)]


def _one(draw: random.Random, known: list[Ingredient]) -> CrashingCell:
    chosen = draw.sample(known, draw.randint(1, 3))
    changes = [
        change
        for one in chosen
        for change in draw.sample(one.changes, draw.randint(1, 4))
    ]
    draw.shuffle(changes)
    statements = [_shaped(draw, change) for change in changes]
    statements.insert(draw.randint(1, len(statements)), "fresh = ['new name']")
    crash = draw.choice(CRASHES)
    if draw.random() < 0.3:
        # A loop that changes something, then fails in its second round.
        crash = (
            f"for step in range(3):\n    made = step\n    if step == "
            f"1:\n       "
            f" {crash}"
        )
    return CrashingCell(
        "\n".join(one.setup for one in chosen), "\n".join([*statements, crash])
    )


def _shaped(draw: random.Random, change: str) -> str:
    """A change as it stands, or one that may fail earlier and is caught, as notebooks do."""
    if draw.random() < 0.7:
        return (
            f"try:\n{_indented(change)}\nexcept Exception as "
            f"error:\n    failed "
            f"= repr(error)"
        )
    return change


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" for line in code.splitlines())
