"""Files that are closed: nothing can be read from them or written to them any more.

Knows the file objects of Python's `open`, as the state tells them.
"""

from __future__ import annotations

from typing import Final, NoReturn

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.python_values import words_of
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("python: files")
_ASK_IT: Final = "read readline readlines write writelines seek tell truncate flush fileno isatty __enter__ __next__"
_READERS: Final = ("json.load", "pickle.load", "builtins.next")
_WRITERS: Final = ("json.dump", "pickle.dump")


@RULES.element("_io.*")
def element(operation: Operation) -> Answer:
    _refuse_closed(operation, operation.receiver)
    return UNKNOWN


@RULES.method("_io.*", *_ASK_IT.split())
def asked(operation: Operation) -> Answer:
    _refuse_closed(operation, operation.receiver)
    return UNKNOWN


@RULES.function(*_READERS)
def read(operation: Operation) -> Answer:
    _refuse_closed(operation, operation.first)
    return UNKNOWN


@RULES.function(*_WRITERS)
def written(operation: Operation) -> Answer:
    """The file is the second argument. What cannot be written may be refused before the file is asked."""
    if len(operation.arguments.positional) > 1 and operation.arguments.positional[0].is_literal:
        _refuse_closed(operation, operation.arguments.positional[1])
    return UNKNOWN


def _refuse_closed(operation: Operation, value: AbstractValue | None) -> None:
    if value is not None and value.package == "_io" and value.fact("closed") is True:
        _closed(operation, value)


def _closed(operation: Operation, value: AbstractValue) -> NoReturn:
    operation.crash(
        "ValueError",
        "I/O operation on closed file",
        fact=f"{words_of(value, 'the file')} is closed",
        remedy="Open it again, and use it inside its `with` block.",
    )
