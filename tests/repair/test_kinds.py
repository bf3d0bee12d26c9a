"""Each kind of remedy on a crash that Python or the library raises here: the fix, and that it then runs through."""

from __future__ import annotations

import ast

import pytest

from crane_core.repair.proposals import all_kinds, proposals
from tests.optional import needing

from .sites import crash_of, namespace_after, site_of

FRAME = "import pandas as pd\ndf = pd.DataFrame({'yield_kg ': [1.0, 3.0, 2.0], 'crop': ['a', 'b', 'a']})"
LEFT = f"{FRAME}\nleft = df[df['yield_kg '] > 1.5]"
FITTED = (
    "import numpy as np\nfrom sklearn.linear_model import LinearRegression\n"
    "x = np.arange(4.0)\nX = x.reshape(-1, 1)\ny = 2 * x\nmodel = LinearRegression().fit(X, y)\n"
    "wide = LinearRegression().fit(np.eye(4), y)"
)
NUMPY = "import numpy as np\nrows = np.arange(6.0)"

FIXED = {
    "a name": ("total = 3", "print(totl)", "print(total)"),
    "a function of Python": (
        "rows = [1]",
        "pritn(len(rows))",
        "print(len(rows))",
    ),
    "an import": (
        "rows = [1]",
        "m = np.mean(rows)",
        "import numpy as np\nm = np.mean(rows)",
    ),
    "a module of Python": (
        "x = 2",
        "# root\nr = math.sqrt(x)",
        "# root\nimport math\nr = math.sqrt(x)",
    ),
    "a column": (
        FRAME,
        'm = df["yield_kg"].mean()',
        'm = df["yield_kg "].mean()',
    ),
    "a column after groupby": (
        FRAME,
        "m = df.groupby('crop')['yield_kg'].sum()",
        "m = df.groupby('crop')['yield_kg '].sum()",
    ),
    "two columns of a list": (
        FRAME,
        "part = df[['yield_kg', 'corp']]",
        "part = df[['yield_kg ', 'crop']]",
    ),
    "a column in two lines": (
        FRAME,
        "low = df['Crop'].min()\nhigh = df['Crop'].max()\nwords = 'Crop'",
        "low = df['crop'].min()\nhigh = df['crop'].max()\nwords = 'Crop'",
    ),
    "a letter of two bytes before it": (
        FRAME,
        "ä = 'ü'; m = df['corp'].min()",
        "ä = 'ü'; m = df['crop'].min()",
    ),
    "a key": (
        "ages = {'north': 3, 'south': 4}",
        "n = ages['North']",
        "n = ages['north']",
    ),
    "an attribute": (FRAME, "m = df.crop.uniqe()", "m = df.crop.unique()"),
    "a name that NumPy removed": (
        NUMPY,
        "x = rows.astype(np.float)\ny = np.product(rows)",
        "x = rows.astype(float)\ny = np.product(rows)",
    ),
    "a method that pandas removed": (
        FRAME,
        "names = [name for name, _ in df.iteritems()]",
        "names = [name for name, _ in df.items()]",
    ),
    "a row that a filter took": (
        LEFT,
        "first = left.loc[0]['crop']",
        "first = left.iloc[0]['crop']",
    ),
    "a cell that a filter took": (
        LEFT,
        "first = left.loc[0, 'crop']",
        "first = left.reset_index(drop=True).loc[0, 'crop']",
    ),
    "a row of numbers to fit": (
        FITTED,
        "model.fit(x, y)",
        "model.fit(x.reshape(-1, 1), y)",
    ),
    "a table and its values exchanged": (
        FITTED,
        "model.fit(y, X)",
        "model.fit(X, y)",
    ),
    "a column to fit": (
        f"{FRAME}\n{FITTED}",
        "model.fit(df['yield_kg '], df['yield_kg '])",
        "model.fit(df[['yield_kg ']], df['yield_kg '])",
    ),
    "another name for an argument": (
        "def scaled(rows, factor=1): return [r * factor for r in rows]",
        "part = scaled([1], factr=2)",
        "part = scaled([1], factor=2)",
    ),
    "an argument that was left out": (
        "rows, scale = [1], 2\ndef scaled(rows, scale): return [r * scale for r in rows]",
        "part = scaled(rows)",
        "part = scaled(rows, scale=scale)",
    ),
    "a type before the value": (
        "x = 3",
        "is_number = isinstance(int, x)",
        "is_number = isinstance(x, int)",
    ),
    "a list before its separator": (
        "words = ['a', 'b']",
        "line = words.join(', ')",
        "line = ', '.join(words)",
    ),
    "a hidden function": (
        "max = 36.4\nrows = [1, 2]",
        "top = max(rows)",
        "import builtins\ntop = builtins.max(rows)",
    ),
    "a number joined to a text": (
        "n = 3",
        "line = 'n = ' + n + ' beds'",
        "line = 'n = ' + str(n) + ' beds'",
    ),
    "a quotient as an index": (
        "rows = [1, 2, 3]",
        "middle = rows[len(rows) / 2]",
        "middle = rows[len(rows) // 2]",
    ),
    "columns of text in a mean": (
        FRAME,
        "m = df.mean()",
        "m = df.mean(numeric_only=True)",
    ),
    "one panel": (
        "from matplotlib import pyplot as plt\nsites = ['a']",
        "fig, axes = plt.subplots(1, len(sites))\nfor ax, site in zip(axes, sites):\n    ax.set_title(site)",
        "fig, axes = plt.subplots(1, len(sites), squeeze=False)\nfor ax, site in zip(axes.flat, sites):\n"
        "    ax.set_title(site)",
    ),
    "a model that was only cross-validated": (
        f"{FITTED}\nfrom sklearn.model_selection import cross_val_score\nnew = LinearRegression()\n"
        "scores = cross_val_score(new, X, y, cv=2)",
        "for row in [X]:\n    p = new.predict(row)",
        "for row in [X]:\n    new.fit(X, y)\n    p = new.predict(row)",
    ),
    "print of Python 2": (
        "n = 3",
        "print 'beds', n  # all\nprint n",
        "print('beds', n)  # all\nprint(n)",
    ),
    "a missing colon": (
        "rows = [1]",
        "for row in rows\n    print(row)",
        "for row in rows:\n    print(row)",
    ),
}
"""A set-up, a target that crashes after it, and the target with the first fix."""

STILL_CRASHES = ("a name that NumPy removed",)
"""Its second line is another crash, which another step of the search is about."""


@pytest.mark.parametrize("what", FIXED)
def test_the_fix_runs_through(what: str) -> None:
    setup, target, wanted = FIXED[what]
    found = proposals(site_of(setup, target))
    assert [fix.source for fix in found.fixes][:1] == [wanted]
    assert found.refused == ()
    if what not in STILL_CRASHES:
        assert crash_of(wanted, namespace_after(setup)) is None


NOT_FIXED = {
    "another number is another column": (
        "import pandas as pd\ndf = pd.DataFrame({'x_1': [1]})",
        "df['x_2']",
    ),
    "a short word is another word": (
        "import pandas as pd\ndf = pd.DataFrame({'max_t': [1]})",
        "df['min_t']",
    ),
    "two could be meant": ("ages = {'north': 3, 'North': 4}", "ages['NORTH']"),
    "the cell makes the label itself": (
        FRAME,
        "df['Crop'] = df['Crop'] + 'x'",
    ),
    "the cell assigns the name later": ("total = 3", "print(totl)\ntotl = 1"),
    "a variable with the name of a module": ("x = 2", "print(code)"),
    "a variable like a function of Python": ("x = 2", "y = filer"),
    "a digit in quotes": ("n = 3", "m = n + '3'"),
    "a division by zero": ("n = 0", "1 / n"),
    "an index with a meaning": (
        "import pandas as pd\ndf = pd.DataFrame({'id': [5, 7, 9], 'a': [1, 2, 3]}).set_index('id')"
        "\nleft = df[df.a > 1]",
        "left.loc[0]",
    ),
    "rows in another order": (
        f"{FRAME}\nleft = df.sort_values('crop')[df.crop == 'b']",
        "left.loc[0]",
    ),
    "arrays of other shapes": (
        "import numpy as np\na, b = np.ones((4, 3)), np.ones(4)",
        "a - b",
    ),
    "a number that is missing": ("ages = {1: 'a'}", "ages[2]"),
    "a model without data to fit it": (
        f"{FITTED}\nnew = LinearRegression()",
        "new.predict(X)",
    ),
    "two objects lack the name": (
        "a, b = [1], [2]",
        "a.apend(b.apend(1))\n",
    ),
}


@pytest.mark.parametrize("what", NOT_FIXED)
def test_what_is_not_certain_is_not_proposed(what: str) -> None:
    assert proposals(site_of(*NOT_FIXED[what])).fixes == ()


def test_a_cell_that_did_not_run_comes_first() -> None:
    site = site_of("x = 1", "y = scaled(x)", ["def scaled(x): return 2 * x"])
    [fix] = proposals(site).fixes
    assert fix.sentence == "Run code cell 1 first: it defines scaled."
    assert (fix.source, crash_of(fix.code, namespace_after("x = 1"))) == (
        site.source,
        None,
    )


def test_of_two_cells_that_define_a_name_none_is_chosen() -> None:
    assert proposals(site_of("x = 1", "y = z", ["z = 1", "z = 2"])).fixes == ()


@needing("seaborn")
def test_a_column_of_a_seaborn_chart() -> None:
    setup = f"{FRAME}\nimport seaborn as sns"
    [fix] = proposals(
        site_of(setup, "ax = sns.boxplot(data=df, x='corp')")
    ).fixes
    assert fix.source == "ax = sns.boxplot(data=df, x='crop')"
    places = "ax = sns.stripplot(df['crop'], df['yield_kg '])"
    [fix] = proposals(site_of(setup, places)).fixes
    assert fix.source == "ax = sns.stripplot(x=df['crop'], y=df['yield_kg '])"


TORCH = (
    "import torch\nfrom torch import nn\nnet, loss = nn.Linear(2, 3), nn.CrossEntropyLoss()\n"
    "x = torch.ones(4, 2, dtype=torch.float64)\ny = torch.zeros(4, dtype=torch.int8)\n"
    "out = net(x.float())\nconv, photos = nn.Conv2d(3, 4, 5), torch.ones(2, 20, 20, 3)"
)


@needing("torch")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ("made = net(x)", "made = net(x.float())"),
        ("cost = loss(out, y)", "cost = loss(out, y.long())"),
        ("a = out.numpy()", "a = out.detach().numpy()"),
        ("b = conv(photos)", "b = conv(photos.permute(0, 3, 1, 2))"),
    ],
)
def test_a_dtype_that_torch_names(target: str, wanted: str) -> None:
    [fix] = proposals(site_of(TORCH, target)).fixes
    assert fix.source == wanted
    assert crash_of(wanted, namespace_after(TORCH)) is None


def test_every_kind_is_shown_here() -> None:
    """A kind without a crash that it fixes would be dead code."""
    sites = [site_of(setup, target) for setup, target, _ in FIXED.values()]
    silent = {
        name
        for name, propose in all_kinds().items()
        if not any(list(propose(site)) for site in sites)
    }
    assert silent == {"cell_order", "torch_inputs"}


def test_places_below_magics_are_those_of_the_source() -> None:
    site = site_of("ages = {'north': 3}", "n = ages['North']")
    source = f"%%time\n%matplotlib inline\n{site.source}"
    crash = site.crash._replace(line=3)
    moved = type(site)(source, crash, site.state, site.cells, site.index)
    [fix] = proposals(moved).fixes
    assert fix.source == "%%time\n%matplotlib inline\nn = ages['north']"
    # IPython takes prompts away before Python reads the cell, so its places are other ones.
    prompts = type(site)(f">>> {site.source}", crash, site.state)
    assert proposals(prompts).fixes == ()
    assert isinstance(site.tree, ast.Module)
