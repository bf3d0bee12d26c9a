"""What a target asks for: names it loads before it defines them, chains, arguments, followed through functions."""

from __future__ import annotations

import builtins
from types import CodeType
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crane_core.runtime.kernel_side.crane_probe.chains.following import (
    chain_text,
)
from crane_core.runtime.kernel_side.crane_probe.chains.relevance import (
    Needs,
    needs,
)
from crane_core.runtime.kernel_side.crane_probe.limits import LookLimits
from crane_core.runtime.kernel_side.crane_probe.syntax.sources import Sources
from tests.examples import examples

BUILTINS = set(dir(__builtins__)) | {
    "print",
    "range",
    "len",
    "list",
    "map",
    "open",
    "enumerate",
    "zip",
    "dict",
    "super",
}


def read(target: str, code: str = "") -> Needs:
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    cell = {"code": code, "notebook_index": 0, "executed": True, "order": 1}
    return needs(target, namespace, Sources([cell]), LookLimits())


def names(target: str, code: str = "") -> list[str]:
    return [name for name in read(target, code).names if name not in BUILTINS]


def chains(target: str, code: str = "") -> list[str]:
    found = read(target, code).chains
    return list(
        dict.fromkeys(
            chain_text(chain.name, chain.steps)
            for chain in found
            if chain.name not in BUILTINS
        )
    )


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("a + b", ["a", "b"]),
        ("x = a\nx + 1", ["a"]),
        ("x = x + 1", ["x"]),
        ("x += 1", ["x"]),
        ("del x", ["x"]),
        ("for i in range(3):\n    t = f(i)\nprint(t, i)", ["f"]),
        ("for i in rows:\n    pass\nelse:\n    last\n", ["rows", "last"]),
        ("[a for a in b if a in c]", ["b", "c"]),
        ("[[x + y for x in row] for row in rows]", ["rows", "y"]),
        ("{k: v for k, v in pairs}", ["pairs"]),
        ("lambda q, *, r=s: q + r + t", ["s", "t"]),
        ("def f(p, q=default):\n    return p + later", ["default"]),
        ("def f(p):\n    return p + later\nf(1)", ["later"]),
        (
            "class C(Base):\n    k = K\n    def m(self):\n        return LATER",
            ["Base", "K"],
        ),
        ("class C:\n    def m(self):\n        return LATER\nC()", ["LATER"]),
        ("with open(f) as h:\n    h.read(n)", ["f", "n"]),
        ("import numpy as np\nnp.zeros(n)", ["n"]),
        ("from m import y\ny(z)", ["z"]),
        ("(n := 10)\nprint(n, m)", ["m"]),
        (
            "try:\n    a\nexcept E as e:\n    print(e)\nfinally:\n    b",
            ["a", "E", "b"],
        ),
        ("if c:\n    z = 1\nprint(z)", ["c", "z"]),
        ("if c:\n    z = 1\nelse:\n    z = 2\nprint(z)", ["c"]),
        (
            "if c:\n    raise SystemExit\nelse:\n    z = 2\nprint(z)",
            ["c", "SystemExit"],
        ),
        ("while go:\n    go = step(go)", ["go", "step"]),
        ("f'{a:>{w}} {b!r}'", ["a", "w", "b"]),
        ("print(*args, **kw)", ["args", "kw"]),
        ("x: int = s\n", ["s", "int"]),
        ("a.b[c].d(e, k=g)[h:i]", ["a", "c", "e", "g", "h", "i"]),
        ("x, y = y, x", ["y", "x"]),
        (
            "match cmd:\n    case [u, *v]:\n        u + w\n    case {'k': kk, **rest}:\n        rest\n",
            ["cmd", "w"],
        ),
        ("assert ok, message", ["ok", "message"]),
        ("async def f():\n    await g()\nawait f()", ["g"]),
        ("def f():\n    global total\n    total = 1\nf()\nprint(total)", []),
        ("xs = [x for x in xs]", ["xs"]),
    ],
)
def test_names_are_those_loaded_before_they_are_defined(
    target: str, expected: list[str]
) -> None:
    known = {name for name in expected if name in BUILTINS}
    assert [
        name for name in read(target).names if name not in BUILTINS - known
    ] == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("frame['a'].str.lower()", ["frame['a'].str.lower()"]),
        ("frame.loc[5:, ['a', 'b']]", ["frame.loc[5:, ['a', 'b']]"]),
        ("model.layers[-1].units", ["model.layers[-1].units"]),
        ("cols = ['a', 'b']\nframe[cols]", ["frame[['a', 'b']]"]),
        ("for c in ['a', 'b']:\n    frame[c]", ["frame['a']", "frame['b']"]),
        (
            "for i, c in enumerate(['a', 'b']):\n    rows[i]\n    frame[c]",
            ["rows[0]", "rows[1]", "frame['a']", "frame['b']"],
        ),
        (
            "for c, d in [('a', 1), ('b', 2)]:\n    frame[c]",
            ["frame['a']", "frame['b']"],
        ),
        (
            "[frame[c].mean() for c in ('a', 'b')]",
            ["frame['a'].mean()", "frame['b'].mean()"],
        ),
        (
            "{c: frame[[c]] for c in ('a', 'b')}",
            ["frame[['a']]", "frame[['b']]"],
        ),
        ("for i in range(3):\n    rows[i]", ["rows[0]", "rows[1]", "rows[2]"]),
        ("for i in range(1000):\n    rows[i]", ["rows[0]", "rows[999]"]),
        ("frame['a' + '_' + 'b']", ["frame['a_b']"]),
        ("name = 'a'\nframe[f'{name}_b']", ["frame['a_b']"]),
        ("rows[2 * 3 - 1]", ["rows[5]"]),
        ("x = frame\nx['a']", ["frame", "frame['a']"]),
        ("x = frame.copy()\nx['a']", ["frame.copy()", "frame.copy()['a']"]),
        ("frame[unknown]", ["frame[unknown]", "unknown"]),
    ],
)
def test_chains_are_followed_to_their_literals(
    target: str, expected: list[str]
) -> None:
    assert chains(target) == expected


def test_subscripts_take_plain_values_of_the_kernel() -> None:
    code = "cols = ['u', 'v']\nN = 7\nclass CFG:\n    y = 'target'\nconf = {'key': 'w'}\nrows = [1, 2, 3]"
    target = "frame[cols + ['x']]; frame[CFG.y]; frame[conf['key']]; rows[N - 1]; rows[len(rows)]"
    assert [
        text
        for text in chains(target, code)
        if text.startswith(("frame", "rows["))
    ] == [
        "frame[['u', 'v', 'x']]",
        "frame['target']",
        "frame['w']",
        "rows[6]",
        "rows[3]",
    ]


def test_a_value_that_the_target_changes_is_not_known() -> None:
    assert "frame[['u']]" not in chains(
        "cols.append('v')\nframe[cols]", "cols = ['u']"
    )
    assert "rows[1]" not in chains("n = n + 1\nrows[n]", "n = 1")


FUNCTIONS = """
scale = 2
def helper(q):
    return q * scale
def train(data, n, *, key="price"):
    local = data[key]
    for i in range(n):
        local = helper(local)
    return local + bias
bias = 1
frame = {"price": 1}
"""


def test_functions_of_the_notebook_are_followed_with_their_arguments() -> None:
    found = read("train(frame, n=3)", FUNCTIONS)
    assert [name for name in found.names if name not in BUILTINS] == [
        "train",
        "frame",
        "helper",
        "scale",
        "bias",
    ]
    assert "frame['price']" not in chains("train(frame, n=3)", FUNCTIONS), (
        "a default is not known to be taken"
    )
    assert "frame['cost']" in chains("train(frame, 3, key='cost')", FUNCTIONS)
    assert dict(found.via) == {
        "helper": ("train",),
        "scale": ("train", "helper"),
        "bias": ("train",),
        "range": ("train",),
    }


def test_what_the_target_defines_first_is_not_asked_of_functions() -> None:
    assert "bias" not in names("bias = 3\ntrain(frame, 1)", FUNCTIONS)


def test_recursion_ends() -> None:
    code = (
        "def down(n):\n    return up(n) + A\ndef up(n):\n    return down(n) + B"
    )
    assert names("down(3)", code) == ["down", "up", "B", "A"]


METHODS = """
OFFSET, WIDTH = 1, 2
class Net:
    def __init__(self, n):
        self.n = n * WIDTH
    def forward(self, x):
        return self.n + x["k"] @ OFFSET
    def helper(self, rows):
        return self.forward(rows)
class Holder:
    pass
net = Net(1)
holder = Holder()
holder.net = net
batch = {}
"""


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("Net(3)", ["Net(…)", "WIDTH", "OFFSET"]),
        ("net(batch)", ["net(…)", "batch", "net.n", "batch['k']", "OFFSET"]),
        (
            "net.helper(batch)",
            [
                "net.helper(…)",
                "batch",
                "net.forward(…)",
                "net.n",
                "batch['k']",
                "OFFSET",
            ],
        ),
        (
            "holder.net.forward(batch)",
            [
                "holder.net.forward(…)",
                "batch",
                "holder.net.n",
                "batch['k']",
                "OFFSET",
            ],
        ),
    ],
)
def test_methods_and_calls_of_objects_are_followed(
    target: str, expected: list[str]
) -> None:
    assert chains(target, METHODS) == expected


def test_a_function_that_is_handed_on_may_be_called() -> None:
    code = "def clean(x):\n    return x + FACTOR"
    found = {
        chain.name: chain.certain
        for chain in read("list(map(clean, rows))", code).chains
    }
    assert found["FACTOR"] is False
    assert found["rows"] is True


def test_wrapped_functions_are_followed() -> None:
    code = (
        "import functools\ndef timed(f):\n    @functools.wraps(f)\n    def inner(*a):\n        return f(*a)\n"
        "    return inner\n@timed\ndef work(rows):\n    return rows[LIMIT]\nLIMIT = 1"
    )
    assert "LIMIT" in names("work(data)", code)


def test_a_function_without_source_is_known_by_its_code() -> None:
    namespace: dict[str, Any] = {"hidden": 1}
    exec("def secret(x):\n    return [x + hidden for _ in x]", namespace)
    found = needs("secret(rows)", namespace, Sources([]), LookLimits())
    assert "hidden" in found.names


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("%timeit -n 3 model.fit(X)", ["model", "X"]),
        ("!ls {path} $other", ["path", "other"]),
        ("files = !ls\nprint(files, k)", ["k"]),
        ("%matplotlib inline\nframe.head()", ["frame"]),
        ("%%time\nframe.head(n)", ["frame", "n"]),
        ("%%bash\necho $x", []),
        ("frame?\nother.thing??\nuse(z)", ["use", "z"]),
        ("x = %time compute(a)\nx", ["compute", "a"]),
        ("if True:\n    !pip install {pkg}\n    y", ["pkg", "y"]),
        (">>> x\n... y", ["x", "y"]),
        (">>> for n in x:\n...     y", ["x", "y"]),
        ("In [3]: x\n   ...: y", ["x", "y"]),
        ("    x\n    y", ["x", "y"]),
        ("  %time x\n  if y:\n      z", ["x", "y", "z"]),
    ],
)
def test_magics_are_tolerated(target: str, expected: list[str]) -> None:
    assert names(target) == expected


def test_a_target_that_is_no_python_says_so() -> None:
    found = read("x = 1\ny = = 2")
    assert found.names == ()
    assert found.syntax_error.startswith("line 2:")


def test_lines_count_in_the_target_also_within_functions() -> None:
    found = read("\n\ntrain(frame, 1)", FUNCTIONS)
    assert {chain.line for chain in found.chains} == {3}


@pytest.mark.parametrize(
    ("target", "name", "certain"),
    [
        ("a", "a", True),
        ("if c:\n    a", "a", False),
        ("c and a", "a", False),
        ("c if a else b", "a", True),
        ("a if c else b", "a", False),
        ("for i in range(3):\n    a", "a", True),
        ("for i in rows:\n    a", "a", False),
        ("try:\n    a\nexcept NameError:\n    pass", "a", False),
        ("try:\n    a\nfinally:\n    pass", "a", True),
        ("if c:\n    raise ValueError\na", "a", False),
        ("lambda: a", "a", False),
        ("if c:\n    a = 1\na", "a", False),
        ("while True:\n    a\n    break", "a", True),
    ],
)
def test_certain_is_what_runs_on_every_way(
    target: str, name: str, *, certain: bool
) -> None:
    assert [
        chain.certain for chain in read(target).chains if chain.name == name
    ] == [certain]


def test_what_the_target_sets_itself_is_marked() -> None:
    found = read(
        "frame['new'] = frame['old']\nframe['new'].sum()\nframe.columns = names\nframe['z']"
    )
    marks = [
        (chain_text(c.name, c.steps), c.stored, c.changed)
        for c in found.chains
        if c.name == "frame"
    ]
    assert marks == [
        ("frame['old']", False, False),
        ("frame['new']", True, False),
        ("frame['new'].sum()", True, False),
        ("frame.columns", True, False),
        ("frame['z']", False, True),
    ]


def test_a_copy_is_changed_apart_from_its_origin() -> None:
    found = read("b = a.copy()\nb['n'] = 1\nb['n']\na['n']").chains
    marks = {
        chain_text(chain.name, chain.steps): chain.stored for chain in found
    }
    assert marks["a.copy()['n']"] is True
    assert marks["a['n']"] is False


def test_a_deeply_nested_target_is_refused_in_words() -> None:
    assert read("x = " + "(" * 60 + "y" + ")" * 60).names == ("y",)
    assert read("x = " + "-" * 5000 + "y").syntax_error


NAMES = "abcde"
NAME = st.sampled_from(NAMES)
EXPRESSION = st.recursive(
    st.one_of(NAME, st.integers(0, 3).map(str)),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "<", "and", "or"]), inner).map(
            lambda parts: "({} {} {})".format(*parts)
        ),
        st.tuples(inner, inner, inner).map(
            lambda parts: "({} if {} else {})".format(*parts)
        ),
        st.tuples(inner, NAME, inner).map(
            lambda parts: "sum([{} for {} in [{}, 1]])".format(*parts)
        ),
        st.tuples(NAME, inner).map(lambda parts: "({} := {})".format(*parts)),
        st.tuples(NAME, inner).map(
            lambda parts: "(lambda {}: {})(1)".format(*parts)
        ),
    ),
    max_leaves=4,
)


def indented(block: str) -> str:
    return "\n".join("    " + line for line in block.split("\n"))


STATEMENT = st.recursive(
    st.one_of(
        EXPRESSION,
        st.tuples(NAME, EXPRESSION).map(lambda parts: "{} = {}".format(*parts)),
        st.tuples(NAME, EXPRESSION).map(
            lambda parts: "{} += {}".format(*parts)
        ),
        st.tuples(NAME, NAME, EXPRESSION).map(
            lambda parts: "{}, {} = {}, 2".format(*parts)
        ),
        NAME.map(lambda name: f"import math as {name}\n{name} = 4"),
    ),
    lambda inner: st.one_of(
        st.tuples(EXPRESSION, inner, inner).map(
            lambda p: f"if {p[0]}:\n{indented(p[1])}\nelse:\n{indented(p[2])}"
        ),
        st.tuples(NAME, EXPRESSION, inner).map(
            lambda p: f"for {p[0]} in [{p[1]}]:\n{indented(p[2])}"
        ),
        st.tuples(inner, inner).map(
            lambda p: (
                f"try:\n{indented(p[0])}\nexcept ValueError:\n{indented(p[1])}"
            )
        ),
        st.tuples(inner, inner).map("\n".join),
        inner.map(lambda block: f"while True:\n{indented(block)}\n    break"),
    ),
    max_leaves=5,
)


class Recording(dict[str, int]):
    """The names of a module: which of the kernel's are loaded before the code has given them a value."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(NAMES, 1))
        self.given: set[str] = set()
        self.loaded: set[str] = set()

    def __getitem__(self, name: str) -> int:
        value = super().__getitem__(name)
        if name not in self.given:
            self.loaded.add(name)
        return value

    def __setitem__(self, name: str, value: int) -> None:
        self.given.add(name)
        super().__setitem__(name, value)


def compiled(code: str) -> CodeType:
    """The code, where Python takes it: a walrus may not stand everywhere."""
    try:
        return compile(code, "target", "exec")
    except SyntaxError:
        assume(False)
        raise


def run(
    code: CodeType, namespace: dict[str, Any], names_held: Recording
) -> None:
    """Runs the code; one that raises, as of a name local to a lambda, is of no use here."""
    try:
        exec(code, namespace, names_held)
    except (NameError, TypeError, AttributeError):
        assume(False)


@examples(400)
@given(code=STATEMENT)
def test_what_running_loads_is_among_the_needs(code: str) -> None:
    names_held = Recording()
    run(
        compiled(code),
        {"__builtins__": builtins.__dict__, **dict.fromkeys(NAMES, 1)},
        names_held,
    )
    found = read(code)
    assert names_held.loaded <= set(found.names), code
    surely = {
        chain.name for chain in found.chains if chain.certain and not chain.via
    } & set(NAMES)
    inner = {name for name in NAMES if "lambda" in code or "[" in code}
    assert surely - inner <= names_held.loaded, code
