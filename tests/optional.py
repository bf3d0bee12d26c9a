"""Libraries that `make test` does without: a test that needs one asks here, and is skipped where it is missing.

Nothing is imported to learn what is installed: one import of torch takes as long as a hundred tests. Files of tests
import such a library in their tests and fixtures, or by `later`, so that collecting them imports none.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])

LIBRARIES = (
    "crowdkit",
    "keras",
    "lightgbm",
    "seaborn",
    "tensorflow",
    "torch",
    "torchvision",
)
"""Import names of what `make ml` adds to the environment of the checks; Keras comes with TensorFlow."""


def needs(*libraries: str, **majors: int) -> list[pytest.MarkDecorator]:
    """Marks of all tests of a file, as its `pytestmark`, or of one set of parameters that need these libraries.

    majors: libraries that are needed in this major version: `keras=3`.
    """
    missing = [
        library
        for library in (*libraries, *majors)
        if find_spec(library) is None
    ]
    reason = f"{', '.join(missing)} is not installed: make ml"
    if not missing:
        other = [
            library
            for library, major in majors.items()
            if version(library).split(".")[0] != str(major)
        ]
        missing, reason = (
            other,
            f"of {', '.join(other)} another release is installed",
        )
    return [
        pytest.mark.needs_ml,
        pytest.mark.skipif(bool(missing), reason=reason),
    ]


def needing(*libraries: str) -> Callable[[Test], Test]:
    """A decorator of one test that needs these libraries."""

    def marked(test: Test) -> Test:
        for mark in needs(*libraries):
            test = mark(test)
        return test

    return marked


def each(names: Iterable[str]) -> list[Any]:
    """Libraries, or names in them, as parameters of a test: those of an optional one with its marks."""
    packages = {name: name.partition(".")[0] for name in names}
    return [
        pytest.param(name, marks=needs(of) if of in LIBRARIES else ())
        for name, of in packages.items()
    ]


def mark_by_parameters(item: pytest.Item) -> None:
    """Mark a test whose parameters are code that imports optional libraries."""
    parameters = getattr(getattr(item, "callspec", None), "params", {}).values()
    codes = [
        value
        for value in parameters
        if isinstance(value, str) and "import" in value
    ]
    libraries = optional_imports(*codes)
    if libraries:
        for mark in needs(*libraries):
            item.add_marker(mark)


class later:  # noqa: N801 - it stands where an import would
    """A module that is imported when something of it is first asked for: `torch = later("torch")`."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        # pytest asks every object that it collects for `__test__` and `_mock_name`: this must import nothing.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


def need(*libraries: str) -> None:
    """Skip the test, or at the top of a file all of its tests, unless these optional libraries are installed."""
    for library in libraries:
        if find_spec(library) is None:
            pytest.skip(
                f"{library} is not installed: make ml", allow_module_level=True
            )


def need_imports_of(*codes: str) -> None:
    """Skip the test unless the optional libraries that these pieces of Python import are installed."""
    need(*optional_imports(*codes))


def optional_imports(*codes: str) -> list[str]:
    """Optional libraries that these pieces of Python import."""
    return sorted(set().union(*map(imported, codes)) & set(LIBRARIES))


@cache
def imported(code: str) -> frozenset[str]:
    """Top-level packages that code imports; none where it is not Python. One set-up stands before many targets."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return frozenset()
    nodes = list(ast.walk(tree))
    names = [
        alias.name
        for node in nodes
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    names += [
        node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
    ]
    return frozenset(name.partition(".")[0] for name in names)
