"""The rules as a detector: what its predictions hold, and which settings it answers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from crane_core.detectors import rules_detector
from crane_core.detectors.registry import local_detector
from crane_core.detectors.rules.family import Family, Registered, all_rules
from crane_core.domain import (
    Cell,
    CellRole,
    KernelState,
    Setting,
    VariableState,
)
from crane_core.errors import DetectorError

STATE = KernelState(
    "test",
    "test_1_reproduced",
    Setting.RUNTIME,
    "test",
    {
        "numbers": VariableState("<class 'list'>", {"length": 3}),
        "name": VariableState("str", values={"value": "x"}),
    },
)


def cells(target: str, *executed: str) -> list[Cell]:
    done = [
        Cell("test", "i", "o", at, CellRole.EXECUTED, code)
        for at, code in enumerate(executed)
    ]
    return [*done, Cell("test", "i", "o", len(done), CellRole.TARGET, target)]


def predict(target: str, *executed: str, setting: Setting = Setting.RUNTIME):
    return rules_detector.predict(cells(target, *executed), STATE, setting)


def test_a_crash_is_told_with_line_exception_fact_and_remedy():
    prediction = predict("x = 1\nnumbers[7]", "numbers = [1, 2, 3]")
    assert prediction.crashes
    assert prediction.reasoning is not None
    for part in (
        "Line 2",
        "`numbers[7]`",
        "IndexError",
        "has 3 elements",
        "-3 to 2",
    ):
        assert part in prediction.reasoning
    [found] = json.loads(prediction.diagnostics or "")
    assert found["code_line"] == "2: numbers[7]"
    assert (found["exception"], found["family"]) == (
        "IndexError",
        "python: items",
    )


def test_nothing_is_said_of_a_target_that_may_run():
    prediction = predict("numbers[2]", "numbers = [1, 2, 3]")
    assert prediction == (False, None, "[]")


@pytest.mark.parametrize(
    "setting",
    [
        Setting.RUNTIME_WITHOUT_S,
        Setting.RUNTIME_WITHOUT_R,
        Setting.RUNTIME_WITHOUT_V,
    ],
)
def test_a_state_with_a_part_withheld_is_refused(setting):
    with pytest.raises(DetectorError, match="withheld"):
        predict("numbers[7]", setting=setting)


def test_without_state_only_the_code_speaks():
    assert predict("x = [1]\nx[1]", setting=Setting.CODE).crashes
    assert predict(
        "numbers[7]", "numbers = [1, 2, 3]", setting=Setting.CODE
    ).crashes
    assert not predict(
        "numbers[7]",
        "numbers = sorted(open('numbers.txt'))",
        setting=Setting.CODE,
    ).crashes
    assert predict("undefined", setting=Setting.CODE).crashes


def test_a_published_state_calls_a_name_undefined_only_when_no_cell_can_define_it():
    assert predict("other", "numbers = [1]").crashes
    assert predict("del_me", "del_me = 1", "del del_me").crashes
    for executed in (
        "other = 1",
        "from module import *",
        "%run other.ipynb",
        "exec(code)",
        "def f():\n    global other\n    other = 1\nf()",
        "for other in numbers: pass",
        "try:\n    import other\nexcept ImportError: pass",
        "with open('x') as other: pass",
        "[other := 1 for x in numbers]",
        "class A:\n    pass\nglobals()['other'] = 1",
        "%%some_magic\nanything",
        "import other.thing",
    ):
        assert not predict("other", executed).crashes, executed


def test_a_line_that_ipython_alone_understands_is_no_syntax_error():
    for target in (
        "!pip list",
        "%matplotlib inline\nx = 1",
        "files = !ls",
        "pip install x",
        "ls -l",
        "numbers?",
        "%%time\nx = 1",
        "await x",
    ):
        assert not predict(target, "x = None").crashes, target
    for target in ("x = (1,\ny = 2", "x = = 1", "return 5", "if x:\n    break"):
        assert "SyntaxError" in (predict(target).reasoning or ""), target
    for newer in ('f"{a["b"]}"', "type X = int", "def f[T](x: T): pass"):
        assert not predict(newer).crashes, newer


def test_a_rule_that_fails_says_nothing_and_is_counted(monkeypatch):
    family = Family("failing")

    @family.item("*")
    def failing(operation):
        raise RuntimeError("a mistake in the rule")

    rules, [key] = dict(all_rules()), list(family.rules)
    monkeypatch.setattr(
        "crane_core.detectors.rules.family.all_rules",
        lambda: {**rules, key: (Registered("failing", failing),)},
    )
    prediction = predict("numbers[7]")
    assert not prediction.crashes
    [error] = json.loads(prediction.diagnostics or "")
    assert error["rule_error"] == {
        "family": "failing",
        "rule": "failing",
        "error": "RuntimeError: a mistake in the rule",
    }


def test_it_is_found_by_its_name_and_tells_its_families():
    assert local_detector("rules") is rules_detector
    options = rules_detector.options()
    assert {"names", "absences", "python: items"} <= set(options["families"])
    assert options["asked"][0]["numpy"] == np.__version__


@pytest.mark.parametrize(
    "target",
    [
        "while True:\n    x = 1",
        "def f(n): return f(n + 1)\nf(0)",
        "x = " + "[" * 80 + "]" * 80,
        "x = " + "+".join(["1"] * 3000),
        "x = 'a' * 10**9",
        "x = 10**10**10",
        "x = [0] * 10**9",
        "for a in range(50):\n  for b in range(50):\n    for c in range(50):\n      x = a + b + c",
        "x = []\nx.append(x)\nprint(x, x[0] + x)",
        "f'{1:>99999999999}'",
        "'{:>999999999}'.format(1)",
        "'a'.ljust(10**12)",
        "range(10**18)[5]",
        "'%999999999d' % 1",
        "1 << 10**12",
        "int('9' * 100000)",
    ],
)
def test_targets_that_would_take_for_ever_are_left_undecided_at_once(target):
    assert not predict(target).crashes
