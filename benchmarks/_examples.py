"""The examples in the docstrings of the installed libraries as targets: what is predicted of them, and what they do.

Knows where the examples are and how one is tried in this process: what stands before it runs, the probe looks, the
target really runs, and the rules say what they predict of that look. Nothing of an example is kept.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import inspect
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks._minibench import JudgedTarget, judged, judged_target
from benchmarks._targets_run import TargetTooLongError, came_of, prepared
from crane_core.runtime.kernel_side.crane_probe.look import look

# At the top of the file stand the words, so that what is left is a table for each library.
_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_AWAY: Sequence[str] = _TABLE.pop("leave")
MODULES: dict[str, Sequence[str]] = {
    library: held["modules"] for library, held in _TABLE.items()
}
"""Library to the modules whose docstrings have examples."""
LONGEST_S = 4
_MOST_STATEMENTS = 40


class Text(NamedTuple):
    """The statements of one docstring, in order, and the code that its library expects to have run before."""

    name: str
    preamble: str
    statements: tuple[str, ...]

    def before(self, at: int) -> str:
        return "\n".join([self.preamble, *self.statements[:at]])


# Where the examples are


def texts(library: str) -> Iterator[Text]:
    """The docstrings with examples of a library's public functions, classes and methods, each once."""
    preamble = _TABLE[library].get("preamble", "")
    seen: set[str] = set()
    for path in MODULES[library]:
        with contextlib.suppress(ImportError):
            for name, held in _documented(importlib.import_module(path)):
                doc = inspect.cleandoc(held) if isinstance(held, str) else ""
                if doc in seen or any(word in doc for word in _AWAY):
                    continue
                seen.add(doc)
                if statements := _statements(doc):
                    yield Text(f"{path}.{name}", preamble, statements)


def _documented(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Names of what may have a docstring, beside it; a text of a module's may be documentation itself."""
    yield "", module.__doc__
    for name, held in _members(module):
        if not inspect.ismodule(held):
            doc = getattr(held, "__doc__", None)
            yield name, held if isinstance(held, str) else doc
        if inspect.isclass(held):
            for inner, method in _members(held):
                yield f"{name}.{inner}", getattr(method, "__doc__", None)


def _members(holder: Any) -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(holder)):
        if not name.startswith("_"):
            with warnings.catch_warnings(), contextlib.suppress(Exception):
                warnings.simplefilter("ignore")
                yield name, getattr(holder, name)


def _statements(doc: str) -> tuple[str, ...]:
    try:
        examples = doctest.DocTestParser().get_examples(doc)
    except ValueError:
        return ()
    sources = [
        each.source for each in examples if not each.options.get(doctest.SKIP)
    ]
    return tuple(filter(_is_python, sources[:_MOST_STATEMENTS]))


def _is_python(source: str) -> bool:
    try:
        return bool(ast.parse(source).body)
    except SyntaxError:
        return False


# Trying one


def each_statement(text: Text) -> Iterator[JudgedTarget]:
    """Every statement as the target of what stands before it, one namespace for all of the text."""
    namespace = _started(text.preamble)
    for at, source in enumerate(text.statements):
        done = _tried(text, "statement", text.before(at), source, namespace)
        yield from done
        if not done:
            return


def rest_of(text: Text, at: int) -> Iterator[JudgedTarget]:
    """All that follows a statement as one target, up to what really raises."""
    rest = "\n".join(text.statements[at:])
    yield from in_new_room(text, "rest", text.before(at), rest)


def in_new_room(
    text: Text, change: str, setup: str, target: str
) -> list[JudgedTarget]:
    """The target where its setup alone ran; none if that is not possible."""
    return _tried(text, change, setup, target, _started(setup))


def _started(setup: str) -> dict[str, Any] | None:
    """The namespace in which it ran; None if it raises or takes too long."""
    try:
        return prepared(setup, LONGEST_S)
    except (Exception, SystemExit, TargetTooLongError):  # noqa: BLE001 - then there is no target
        return None


def _tried(
    text: Text,
    change: str,
    setup: str,
    target: str,
    namespace: dict[str, Any] | None,
) -> list[JudgedTarget]:
    """The target where its setup ran; none if it took too long."""
    if namespace is None:
        return []
    came = came_of(namespace, setup, target, look, LONGEST_S)
    if "failed" in came:
        return []
    report = judged_target(setup, target, came["state"])
    place = f"{text.name} ({change}): {target.strip()!r}"
    return [judged(place, report, came["raised"])]
