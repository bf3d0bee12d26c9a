"""No code of the probe asks a class of the notebook for `__eq__` or `__hash__`: types are told apart by identity."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

from crane_core.runtime.kernel_side import crane_probe
from crane_core.runtime.kernel_side.crane_probe.callables.docs import docs_of
from crane_core.runtime.kernel_side.crane_probe.kinds import Kinds, counted

FOLDER = Path(str(crane_probe.__file__)).parent
MODULES = sorted(
    ".".join(path.relative_to(FOLDER).with_suffix("").parts)
    for path in FOLDER.rglob("*.py")
    if path.stem != "__init__"
)
MADE_INSIDE = {("summarizers.pandas.columns", "others")}


def touched(*_: Any) -> Any:
    raise SystemExit("a metaclass was asked")


class Meta(type):
    __eq__ = __ne__ = __hash__ = __call__ = touched  # type: ignore[assignment]


Cold = type.__new__(
    Meta, "Cold", (object,), {"__call__": lambda self, a, b=1: a}
)


def test_types_are_counted_and_told_apart_without_asking_them() -> None:
    cold = object.__new__(Cold)
    kinds = Kinds(int, Cold)
    assert type(cold) in kinds
    assert str not in kinds
    assert [count for _, count in counted(lambda: [1, cold, 2, cold])] == [2, 2]


def test_a_callable_of_a_metaclass_tells_its_signature() -> None:
    assert docs_of(object.__new__(Cold))["signature"] == "(a, b=1)"


def test_a_default_of_a_metaclass_is_its_name() -> None:
    cold = object.__new__(Cold)

    def f(a: Any = cold, b: Any = Cold, *, c: Any = (cold, 1)) -> None: ...

    assert docs_of(f)["signature"].count("Cold") == 3


@pytest.mark.parametrize("name", MODULES)
def test_membership_of_types_is_asked_of_kinds_alone(name: str) -> None:
    """Of a constant of the module; what a function makes for itself is named in MADE_INSIDE."""
    module = importlib.import_module(f"{crane_probe.__name__}.{name}")
    asked = [
        compare
        for compare in ast.walk(ast.parse(inspect.getsource(module)))
        if _asks_a_type(compare)
    ]
    for compare in asked:
        held = compare.comparators[0]
        assert isinstance(held, ast.Name), ast.unparse(compare)
        if (name, held.id) not in MADE_INSIDE:
            assert isinstance(vars(module)[held.id], Kinds), ast.unparse(
                compare
            )


def _asks_a_type(node: ast.AST) -> Any:
    if not isinstance(node, ast.Compare) or not isinstance(
        node.ops[0], ast.In | ast.NotIn | ast.Eq | ast.NotEq
    ):
        return False
    left = node.left
    return (
        isinstance(left, ast.Call)
        and isinstance(left.func, ast.Name)
        and left.func.id == "type"
    )
