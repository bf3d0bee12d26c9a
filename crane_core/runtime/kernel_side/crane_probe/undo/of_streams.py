"""Generators, files and random numbers of Python: what has a position, which can hardly or only just be put back."""

from __future__ import annotations

import io
import pickle
import random
import types
from typing import Any

from .kinds import NotComparableError, Parts, StateKind


def _random_parts(value: Any) -> Parts:
    return pickle.dumps(value.getstate(), 4), []


def _restore_random(value: Any, plain: Any, _: list[Any]) -> None:
    value.setstate(pickle.loads(plain))  # noqa: S301 - from the kernel's own copy


def _generator_parts(value: Any) -> Parts:
    frame = getattr(value, "gi_frame", None) or getattr(value, "cr_frame", None)
    if frame is None:
        return -1, []
    return frame.f_lasti, [*frame.f_locals.values()]


def _file_parts(value: Any) -> Parts:
    if value.closed:
        return (True, 0), []
    if not value.seekable():
        return (False, -1), []
    # A text file cannot tell its place within `for line in file`; one that is written to would write its buffer.
    if value.writable():
        raise NotComparableError("a file that is open for writing")
    try:
        return (False, value.tell()), []
    except (OSError, ValueError):
        raise NotComparableError("a file between its lines") from None


def _restore_file(value: Any, plain: Any, _: list[Any]) -> None:
    is_closed, place = plain
    if value.closed and not is_closed:
        raise ValueError("it was closed")
    if not is_closed and place >= 0:
        value.seek(place)


def _string_file_parts(value: Any) -> Parts:
    if value.closed:
        return None, []
    return (value.getvalue(), value.tell()), []


def _restore_string_file(value: Any, plain: Any, _: list[Any]) -> None:
    if plain is None:
        value.close()
        return
    value.seek(0)
    value.truncate()
    value.write(plain[0])
    value.seek(plain[1])


_FILE = StateKind("file", _file_parts, _restore_file, has_state=False)
_IN_MEMORY = StateKind("stream", _string_file_parts, _restore_string_file)
# What runs cannot be run back.
_RUNNING = StateKind("running", _generator_parts)
KINDS: dict[type, StateKind] = {
    random.Random: StateKind("random", _random_parts, _restore_random),
    io.StringIO: _IN_MEMORY,
    io.BytesIO: _IN_MEMORY,
    io.TextIOWrapper: _FILE,
    io.BufferedReader: _FILE,
    io.BufferedWriter: _FILE,
    io.BufferedRandom: _FILE,
    io.FileIO: _FILE,
    types.GeneratorType: _RUNNING,
    types.CoroutineType: _RUNNING,
    types.AsyncGeneratorType: _RUNNING,
}
"""By class, as in of_containers.py."""
