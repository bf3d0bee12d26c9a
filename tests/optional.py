"""Libraries that `make test` does without: a test that needs one asks here, and is skipped where it is missing."""

from __future__ import annotations

import ast
from importlib.util import find_spec

import pytest

LIBRARIES = ("keras", "lightgbm", "seaborn", "tensorflow", "torch", "torchvision")
"""Import names of what `make ml` adds to the environment of the checks; Keras comes with TensorFlow."""


def needs(*libraries: str) -> list[pytest.MarkDecorator]:
    """Marks of a test or, as `pytestmark`, of all tests of a file that need these optional libraries.

    Nothing is imported to learn what is installed: one import of torch takes as long as a hundred tests.
    """
    missing = [library for library in libraries if find_spec(library) is None]
    reason = f"{', '.join(missing)} is not installed: make ml"
    return [pytest.mark.needs_ml, pytest.mark.skipif(bool(missing), reason=reason)]


def need(*libraries: str) -> None:
    """Skip the test, or at the top of a file all of its tests, unless these optional libraries are installed."""
    for library in libraries:
        if find_spec(library) is None:
            pytest.skip(f"{library} is not installed: make ml", allow_module_level=True)


def need_imports_of(*codes: str) -> None:
    """Skip the test unless the optional libraries that these pieces of Python import are installed."""
    need(*sorted(set().union(*map(imported, codes)) & set(LIBRARIES)))


def imported(code: str) -> set[str]:
    """Top-level packages that code imports; none where it is not Python."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return set()
    nodes = list(ast.walk(tree))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names}
