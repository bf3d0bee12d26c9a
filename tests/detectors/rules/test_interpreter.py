"""Targets of plain Python, each run for real beside what is predicted: on every way that is certain, on no other."""

from __future__ import annotations

import pytest

SETUP = """
import math
from collections import defaultdict
numbers, words, empty, nothing = [3, 1, 2], ["a", "b"], [], None
table = {"a": 1, "b": [1, 2], 7: "pair"}
counts = defaultdict(int)
text, ratio, flag = "one,two", 0.5, True
records = [{"id": 1}, {"id": 2}]
long = list(range(500))

def add(x, y=1, *, z=0):
    return x + y + z

def needs_global(x):
    return x * MISSING

def early(x):
    if x in long:
        return 1
    raise KeyError(x)

def raises():
    raise ValueError("always")

def recursive(n):
    return recursive(n - 1) if n else UNDEFINED

def decorated(function):
    return lambda *given: 1

@decorated
def replaced():
    raise ValueError

class Point:
    size = 2
    def __init__(self, x):
        self.x = x
    def move(self, by):
        self.x = self.x + by
        return self
    @property
    def twice(self):
        return self.x * 2
    @staticmethod
    def fixed(a):
        return a

class Child(Point):
    def other(self):
        return self.move("text")

class Open:
    def __getattr__(self, name):
        return name
    def __enter__(self):
        return self
    def __exit__(self, *given):
        return True

point = Point(1)
number = int(math.sqrt(16))
"""

CRASHES = [
    "undefined_name",
    "numbers[3]",
    "numbers['a']",
    "numbers[0.5]",
    "numbers[1:'a']",
    "empty[0]",
    "empty.pop()",
    "table['c']",
    "table[[1]]",
    "words[0][4]",
    "nothing[0]",
    "nothing.strip()",
    "nothing + 1",
    "len(nothing)",
    "len(5)",
    "for x in 5: pass",
    "for x in nothing: pass",
    "text + 1",
    "1 + text",
    "numbers - words",
    "numbers + (1,)",
    "ratio(2)",
    "text()",
    "numbers()",
    "math()",
    "1 / 0",
    "number % 0",
    "int('x1')",
    "float('1,5')",
    "int(numbers)",
    "range(1.5)",
    "range(len(numbers) / 2)",
    "a, b = numbers",
    "a, b, c, d = numbers",
    "a, *b, c, d, e = numbers",
    "a, b = 5",
    "for a, b in numbers: pass",
    "for a, b, c in table.items(): pass",
    "(1, 2)[0] = 3",
    "text[0] = 'x'",
    "numbers.shape",
    "numbers.push(1)",
    "text.append('x')",
    "numbers.append(1, 2)",
    "','.join(numbers)",
    "','.join([1])",
    "'{} {}'.format(1)",
    "'%d' % 'x'",
    "f'{text:.2f}'",
    "f'{numbers:.2f}'",
    "f'{nothing:d}'",
    "{[1]: 2}",
    "{1, []}",
    "sorted([1, 'a'])",
    "max([])",
    "min(empty)",
    "1 < 'a'",
    "nothing < 1",
    "1 in 5",
    "math.sqrt(-1)",
    "math.sqrt('4')",
    "add()",
    "add(1, 2, 3)",
    "add(1, w=2)",
    "add(1, x=2)",
    "add('a')",
    "needs_global(2)",
    "raises()",
    "recursive(0)",
    "point.move()",
    "point.move('a')",
    "point.missing",
    "Point()",
    "Point(1, 2)",
    "Child(1).other()",
    "Point.fixed()",
    "raise RuntimeError('x')",
    "assert len(numbers) == 2",
    "del numbers\nnumbers",
    "x = 1\ndel x\nprint(x)",
    "def f():\n    print(local)\n    local = 1\nf()",
    "def f(a): return g(a)\nf(1)",
    "if len(numbers) == 3:\n    undefined_name",
    "if number > 3:\n    table['zzz']\nelse:\n    table['yyy']",
    "while True:\n    undefined_name",
    "for i in range(5):\n    numbers[i]",
    "for i in range(3):\n    if i == 2:\n        raise ValueError\n",
    "for i, word in enumerate(words):\n    word + i",
    "for name, value in table.items():\n    value.missing",
    "for a, b in zip(numbers, words):\n    a + b",
    "for record in records:\n    record['name']",
    "for i in range(10):\n    if i > 3:\n        break\nelse:\n    pass\nundefined_name",
    "[x['name'] for x in records]",
    "[x + 'a' for x in numbers if x > 2]",
    "{word: word + 1 for word in words}",
    "sum(x.missing for x in numbers)",
    "[y for x in numbers for y in x]",
    "try:\n    undefined_name\nfinally:\n    print('done')",
    "with open('no_such_file.txt') as f:\n    pass",
    "x = nothing\nx.y",
    "numbers.append(4)\nnumbers[4]",
    "numbers.clear()\nnumbers[0]",
    "table['c'] = 1\ntable['d']",
    "other = table\nother['c'] = 1\ntable.pop('c')\ntable['c']",
    "x = numbers if flag else words\nx['a']",
    "nothing and nothing.x or nothing.y",
    "(lambda a: a.missing)(numbers)",
    "f = lambda a, b: a\nf(1)",
    "(n := 5) + 'a'",
    "from math import no_such_thing",
    "numbers[0].x = 1",
    "text.index('z')",
    "long[500]",
    "long.shape",
    "'a'.decode()",
    "print(1, 2, sep=3, what=4)",
    "isinstance(1)",
    "class A:\n    x = undefined_name",
    "class A(undefined_name): pass",
    "class A:\n    def __init__(self, n): self.n = n + 'a'\nA(1)",
    "class A:\n    def f(self): return self.g()\n    def g(self): return [][0]\nA().f()",
    "del table['nope']",
    "words += 5",
    "x = []\nx += [1]\nx[1]",
    "x = {}\nfor i in range(3): x[i] = i\nx[3]",
    "def f(*args): return args[2]\nf(1, 2)",
    "def f(**named): return named['b']\nf(a=1)",
    "def outer():\n    v = 1\n    def inner(): return v + 'a'\n    return inner()\nouter()",
    "add(*[1, 2, 3])",
    "add(**{'x': 1, 'q': 2})",
    "next = 5\nnext(iter(numbers))",
    "list = [1]\nlist(numbers)",
    "print = 3\nprint('x')",
    "table.get('zzz').strip()",
    "text.split(',')[2]",
    "int(text.split(',')[0])",
    "a, b, c = text.split(',')",
]

FINE = [
    "numbers[2], numbers[-3], numbers[5:9], words[0][0]",
    "table['a'] + 1; table[7]",
    "counts['new'] + 1",
    "len(text), len(table), len(range(3))",
    "text * 2, ratio * 2, numbers * 2, flag + 1",
    "1 / ratio, 5 // 2, number % 3",
    "int('12'), float(' 1.5 '), int(2.7), float('nan')",
    "a, b, c = numbers",
    "a, *b = numbers",
    "(a, b), c = (1, 2), 3",
    "try:\n    undefined_name\nexcept NameError:\n    pass",
    "try:\n    table['zzz']\nexcept Exception as error:\n    str(error)",
    "try:\n    numbers[9]\nexcept (ValueError, IndexError):\n    x = 1\nelse:\n    y = 2\nx",
    "from contextlib import suppress\nwith suppress(NameError):\n    undefined_name",
    "with Open() as o:\n    undefined_name",
    "if number > 100:\n    undefined_name",
    "if len(numbers) > 3:\n    numbers[3]",
    "x = numbers[3] if len(numbers) > 3 else None",
    "nothing is not None and nothing.strip()",
    "nothing is None or nothing.strip()",
    "for i in []:\n    undefined_name",
    "for i in range(0):\n    undefined_name",
    "for i in range(5):\n    if i == 3:\n        break\n    numbers[i]",
    "for i in range(6):\n    if i > 2:\n        continue\n    numbers[i]",
    "while False:\n    undefined_name",
    "i = 0\nwhile i < len(numbers):\n    numbers[i]\n    i += 1",
    "while True:\n    break\n",
    "def f():\n    undefined_name\n",
    "def f():\n    yield undefined_name\nf()",
    "g = (undefined_name for x in numbers)",
    "async def f():\n    undefined_name\nf().close()",
    "lambda: undefined_name",
    "early(3)",
    "replaced()",
    "Open().anything, Open().other.upper()",
    "point.move(2).move(3).x",
    "point.twice, Point.size, Point.fixed(1), point.size",
    "point.new = 1\npoint.new",
    "Child(3).move(1)",
    "add(1), add(1, 2), add(1, z=3), add(x=1)",
    "numbers.append('a')\nnumbers[3]",
    "numbers.extend([4, 5])\nnumbers[4]",
    "table['c'] = 5\ntable['c']",
    "table.update(c=5)\ntable['c']",
    "table.setdefault('c', 5)\ntable['c']",
    "other = numbers\nother.append(1)\nnumbers[3]",
    "def grow(): numbers.append(0)\ngrow()\nnumbers[3]",
    "def define():\n    global later\n    later = 1\ndefine()\nlater",
    "exec('made_by_exec = 1')\nmade_by_exec",
    "globals()['made'] = 1\nmade",
    "from math import *\nsqrt(4) + pi",
    "import os.path\nos.path.join('a', 'b')",
    "for x in long:\n    last = x\nlast + 1",
    "total = 0\nfor x in long:\n    total += x\ntotal / 2",
    "found = None\nfor x in long:\n    if x == 3:\n        found = 'x'\nfound.upper()",
    "x = 1\nfor _ in long:\n    x = str(x)\nx.upper()",
    "result = []\nfor x in long:\n    result.append(x)\nresult[100]",
    "rows = {}\nfor x in long:\n    rows[x] = 1\nrows[400]",
    "x = [y for y in long if y > 100]\nx[10]",
    "{x: x for x in long}[400]",
    "[x for x in numbers if x > 5 and x.missing]",
    "any(x == 3 or x.missing for x in numbers)",
    "z = zip(numbers, words)\nlist(z)\nlist(z)",
    "e = enumerate(words)\nnext(e)\nlist(e)[0]",
    "f'{ratio:.2f} {text:>10} {number:03d} {nothing}'",
    "'%s %d' % ('a', 1)",
    "'{0} {name}'.format(1, name=2)",
    "f'{1 + 2j:.2f}'",
    "1 in numbers, 'a' in table, 'o' in text",
    "numbers == words, nothing == 1, nothing is None",
    "[1] < [2], (1, 'a') < (2, 3)",
    "sorted(words, key=lambda w: -len(w)), max(numbers), min('ab'), sum([], start=0)",
    "max([], default=1)",
    "{**table, 'c': 1}['c']",
    "[*numbers, *words][4]",
    "add(*[1, 2]), add(**{'x': 1})",
    "print('x', end='', flush=True)",
    "(lambda *a, **k: a)(1, 2, b=3)",
    "def f(a, b=[], /, c=None, *, d): return d\nf(1, d=2)",
    "def f(n):\n    return 1 if n <= 0 else n * f(n - 1)\nf(4)",
    "def f():\n    for x in long:\n        if x == 5:\n            return x\n    raise ValueError\nf()",
    "def f():\n    while True:\n        return 1\nf() + 1",
    "def f(x):\n    try:\n        return x['a']\n    except TypeError:\n        return 0\nf(5)",
    "def f():\n    try:\n        raise ValueError\n    finally:\n        pass\ntry:\n    f()\nexcept ValueError: pass",
    "class A:\n    n = 0\n    def f(self):\n        A.n += 1\n        return A.n\nA().f() + 1",
    "class A:\n    def __len__(self): return 3\n    def __getitem__(self, i): return i\nA()[5], len(A())",
    "class A(dict):\n    def __missing__(self, key): return 1\nA()['x']",
    "class A(Exception): pass\ntry:\n    raise A\nexcept A: pass",
    "class A:\n    x: int = 1\n    y: 'undefined_name' = 2\nA.x + A.y",
    "x: int\nx = 5\nx + 1",
    "x: 'anything' = 1",
    "match number:\n    case 4: pass\n    case _: undefined_name",
    "match table:\n    case {'a': value}: value + 1\n    case _: undefined_name",
    "del table['a']\n'a' in table",
    "assert numbers and words, undefined_name",
    "long[499], long[-500]",
    "if text.startswith('one') or undefined_name: pass",
    "text.split(',')[1].upper()",
    "d = dict(a=1)\nd['a']\nd.get('b', 0) + 1",
    "s = set(words)\ns.add('c')\ns.discard('z')\ns.remove('c')",
    "list(map(str, numbers))[2].upper()",
    "x = numbers.sort()\nnumbers[0]",
    "numbers.remove(3)\nlen(numbers) == 2",
    "import random\nrandom.shuffle(numbers)\nnumbers.index(3)",
]


@pytest.mark.parametrize("target", CRASHES)
def test_a_certain_crash_is_predicted_with_its_class(check, target):
    seen = check(SETUP, target)
    assert seen.raised


@pytest.mark.parametrize("target", FINE)
def test_what_python_accepts_is_not_called_a_crash(check, target):
    assert check(SETUP, target).raised is None


RUN_BACK = """
import functools, json, re
import numpy as np, pandas as pd
numbers = [1, 2]
def helper():
    numbers.append(1)
def fill(row):
    helper()
class Counter:
    def __init__(self):
        self.seen = [1, 2]
    def count(self, row):
        self.seen.append(row)
        return 1
counter = Counter()
class Base:
    def grow(self):
        self.rows.append(1)
class Other:
    pass
class Grown(Base, Other):
    def __init__(self):
        self.rows = [1, 2]
    def third(self):
        super().grow()
        return self.rows[2]
def rows_of(rows):
    rows.append(1)
    yield 1
def kept(function):
    numbers.append(function)
    return function
def plus_one(number, by=0):
    return number + 1
"""


@pytest.mark.parametrize(
    "target",
    [
        "sorted([1], key=fill)\nnumbers[2]",
        "list(map(fill, [1]))\nnumbers[2]",
        "for row in map(fill, [1]):\n    pass\nnumbers[2]",
        "max([1, 2], key=lambda row: numbers.append(1) or 1)\nnumbers[2]",
        "functools.reduce(lambda left, right: helper(), [1, 2])\nnumbers[2]",
        "re.sub('a', lambda found: helper() or '', 'a')\nnumbers[2]",
        "[1].sort(key=fill)\nnumbers[2]",
        "pd.Series([1]).apply(fill)\nnumbers[2]",
        "pd.DataFrame({'a': [1]}).agg({'a': counter.count})\ncounter.seen[2]",
        "np.apply_along_axis(fill, 0, np.zeros(2))\nnumbers[2]",
        "any(fill(row) for row in [1])\nnumbers[2]",
        "rows = (fill(row) for row in [1])\nlist(rows)\nnumbers[2]",
        "for row in rows_of(numbers):\n    pass\nnumbers[2]",
        "sorted([1], key=counter.count)\ncounter.seen[2]",
        "list(map(counter.count, [1]))\ncounter.seen[2]",
        "Grown().third()",
        "@kept\ndef more():\n    pass\nnumbers[2]",
        "plus_one(*[1 for name in dir() if name == 'counter'], 2)",
    ],
)
def test_code_of_the_notebook_that_others_run_may_change_what_it_mentions(
    predict_here, predict_by_code, target
):
    for predicted in (
        predict_here(RUN_BACK, target),
        predict_by_code(RUN_BACK, target),
    ):
        assert predicted.raised is None
        assert predicted.findings == ()


@pytest.mark.parametrize(
    "change",
    [
        "made = [*some(), rows]\nmade[-1].append(3)",
        "made = [rows for _ in some()]\nmade[0].append(3)",
        "made = {key: rows for key in some()}\nmade[0].append(3)",
        "made = {str(random.random()): 1, 'a': rows}\nmade['a'].append(3)",
        "grow(*some(), rows)",
        "made = []\nfor _ in some():\n    made.append(rows)\nmade[0].append(3)",
        "made = (rows,) * len(some())\nmade[0].append(3)",
        "made = list(zip([rows], some()))\nmade[0][0].append(3)",
        "made = {'a': rows}\nmade.update({str(random.random()): 1})\nmade['a'].append(3)",
        "made = [rows] + some()\nmade[0].append(3)",
        "made = [[1], rows][len(some()) > 0]\nmade.append(3)",
        "made = some() and rows\nmade.append(3)",
        "made = {'a': rows}\nmade.get(random.choice('a')).append(3)",
        "first, *made = [0, *some(), rows]\nmade[-1].append(3)",
        "made = [rows]\nmade.extend(some())\nmade[0].append(3)",
        "made = [rows]\nfor part in made[: len(some())]:\n    part.append(3)",
    ],
)
def test_what_is_held_where_nobody_knows_may_be_changed_there(
    predict_here, predict_by_code, change
):
    setup = (
        "import random\ndef some():\n    return [0] * random.choice([1, 2])\n"
        "def grow(*given):\n    given[-1].append(3)"
    )
    target = f"rows = [1, 2]\n{change}\nrows[2]"
    for predicted in (
        predict_here(setup, target),
        predict_by_code(setup, target),
    ):
        assert predicted.raised is None
        assert predicted.findings == ()
