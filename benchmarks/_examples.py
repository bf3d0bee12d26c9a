"""The examples in the docstrings of the installed libraries as targets: what is predicted of them, and what they do.

Knows where the examples are and how one is tried in this process: what stands before it runs, the probe looks, the
rules and perhaps the peer's checker say what they predict, and the target really runs. Nothing of an example is kept.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import json
import signal
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks._follow_ups import NAME, follow_ups
from benchmarks._minibench import judged_target
from crane_core.detectors.rules.predict import Report
from crane_core.runtime.kernel_side.crane_probe.look import look

# At the top of the file stand the words, so that what is left is a table for each library.
_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_AWAY: Sequence[str] = _TABLE.pop("leave")
MODULES: dict[str, Sequence[str]] = {
    library: held["modules"] for library, held in _TABLE.items()
}
"""Library to the modules whose docstrings have examples."""
LONGEST_S = 4.0
THEN = "value, then crash"
"""The kind of a target of two statements, of which the second breaks on what the first gives."""
_MOST_STATEMENTS = 40


class Text(NamedTuple):
    """The statements of one docstring, in order, and the code that its library expects to have run before."""

    library: str
    name: str
    preamble: str
    statements: tuple[str, ...]

    def before(self, at: int) -> str:
        return "\n".join([self.preamble, *self.statements[:at]])


class Trial(NamedTuple):
    """What was predicted of a target, and what it raised: classes of exceptions, None if nothing."""

    library: str
    name: str
    kind: str
    setup: str
    target: str
    raised: str | None
    ours: str | None
    theirs: str | None
    why: str = ""
    errors: tuple[str, ...] = ()


class TooLongError(BaseException):
    """The code took more than its time."""


Peer = Callable[[str, dict[str, Any]], str | None]
"""The class of the exception that the peer predicts of a target in a namespace."""


# Where the examples are


def texts(library: str, *, most: int = sys.maxsize) -> Iterator[Text]:
    """The docstrings with examples of a library's public functions, classes and methods, each once."""
    seen: set[str] = set()
    for path in MODULES[library]:
        with contextlib.suppress(ImportError):
            for name, doc in _documented(importlib.import_module(path)):
                if doc in seen or any(word in doc for word in _AWAY):
                    continue
                seen.add(doc)
                if statements := _statements(doc):
                    yield Text(
                        library,
                        f"{path}.{name}",
                        _TABLE[library].get("preamble", ""),
                        statements,
                    )
                    most -= 1
                    if most <= 0:
                        return


def _documented(module: ModuleType) -> Iterator[tuple[str, str]]:
    if doc := inspect.getdoc(module):
        yield "", doc
    for name, held in _members(module):
        if isinstance(held, str) and ">>>" in held:
            yield name, inspect.cleandoc(held)
        if inspect.ismodule(held):
            continue
        if doc := _doc(held):
            yield name, doc
        if inspect.isclass(held):
            for inner, method in _members(held):
                if doc := _doc(method):
                    yield f"{name}.{inner}", doc


def _members(holder: Any) -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(holder)):
        if not name.startswith("_"):
            with warnings.catch_warnings(), contextlib.suppress(Exception):
                warnings.simplefilter("ignore")
                yield name, getattr(holder, name)


def _doc(held: Any) -> str | None:
    doc = getattr(held, "__doc__", None)
    return (
        inspect.cleandoc(doc) if isinstance(doc, str) and ">>>" in doc else None
    )


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


def each_statement(text: Text, peer: Peer | None = None) -> Iterator[Trial]:
    """Every statement as the target of what stands before it, one namespace for all of the text."""
    namespace = room()
    if ran(text.preamble, namespace) is not None:
        return
    for at, source in enumerate(text.statements):
        trial = tried(
            text, "statement", text.before(at), source, namespace, peer
        )
        if trial is None:
            return
        yield trial


def rest_of(text: Text, at: int, peer: Peer | None = None) -> Iterator[Trial]:
    """All that follows a statement as one target, up to what really raises."""
    if at >= len(text.statements):
        return
    yield from in_new_room(
        text, "rest", text.before(at), "\n".join(text.statements[at:]), peer
    )


def in_new_room(
    text: Text, kind: str, setup: str, target: str, peer: Peer | None
) -> Iterator[Trial]:
    namespace = room()
    try:
        failed = ran(setup, namespace)
    except TooLongError:
        return
    if (
        failed is None
        and (trial := tried(text, kind, setup, target, namespace, peer))
        is not None
    ):
        yield trial


def followed(
    text: Text, at: int, seed: int, peer: Peer | None
) -> Iterator[Trial]:
    """A statement that gives a value, and behind it one of several that this value does not allow, as one target."""
    code = _kept(text.statements[at])
    namespace = room()
    if (
        code is None
        or ran(text.before(at), namespace) is not None
        or ran(code, namespace) is not None
    ):
        return
    for second in list(follow_ups(namespace[NAME], seed + at)):
        yield from in_new_room(
            text, THEN, text.before(at), f"{code}\n{second}", peer
        )


def _kept(source: str) -> str | None:
    """A statement that gives its value the name of follow-ups; None if it gives none, or unpacks it."""
    [*others, last] = ast.parse(source).body
    match last:
        case ast.Expr(value=value):
            kept = f"{NAME} = {ast.unparse(value)}"
        case ast.Assign(targets=[ast.Name()], value=value):
            kept = (
                f"{NAME} = {ast.unparse(last.targets[0])} = "
                f"{ast.unparse(value)}"
            )
        case _:
            return None
    return None if others else kept


def tried(
    text: Text,
    kind: str,
    setup: str,
    target: str,
    namespace: dict[str, Any],
    peer: Peer | None,
) -> Trial | None:
    """The target tried where its setup ran; None if it took too long."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            report = predicted(setup, target, namespace)
            theirs = within(lambda: peer(target, namespace)) if peer else None
            raised = ran(target, namespace)
        except TooLongError:
            return None
    found = report.findings[0] if report.findings else None
    return Trial(
        text.library,
        text.name,
        kind,
        setup,
        target,
        raised=type(raised).__name__ if raised is not None else None,
        ours=found.exception if found else None,
        theirs=theirs,
        why=f"{found.family}: {found.expression}: {found.why}" if found else "",
        errors=tuple(
            f"{each.family}.{each.rule}: {each.error}" for each in report.errors
        ),
    )


def room() -> dict[str, Any]:
    return {"__name__": "__main__", "__builtins__": __builtins__}


def predicted(setup: str, target: str, namespace: dict[str, Any]) -> Report:
    """What the rules say of a target in a namespace in which its setup ran."""
    cells = [{"code": setup, "notebook_index": 0, "executed": True, "order": 1}]
    told = within(
        lambda: look(
            namespace, {"target": target, "cells": cells, "limits": {}}
        )
    )
    return judged_target(setup, target, json.loads(told))


def ran(code: str, namespace: dict[str, Any]) -> BaseException | None:
    """What the code raises. Raises TooLongError if it does not come to its end in time."""
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            within(
                lambda: exec(
                    compile(code, "<example>", "exec", dont_inherit=True),
                    namespace,
                )
            )
    except (Exception, SystemExit) as error:  # noqa: BLE001 - what it raises is what is asked
        return error
    return None


def within(work: Callable[[], Any]) -> Any:
    """What `work` gives, in the main thread of a process alone."""
    before = signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _too_long(signum: int, frame: object) -> None:
    raise TooLongError


def is_false_alarm(trial: Trial) -> bool:
    return trial.ours is not None and trial.raised is None


def is_wrong_class(trial: Trial) -> bool:
    return (
        trial.ours is not None
        and trial.raised is not None
        and trial.ours != trial.raised
    )
