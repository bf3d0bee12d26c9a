"""What names hold, described deeply by public means, to be compared: nothing of the code that restores is used.

Runs in the kernel that is measured: standard library alone, and what the notebook has loaded. Two descriptions of a
name are equal where the values are equal in content and type, share the same parts, and have the same other names.
`pickle` walks through the objects and numbers them as they are met; nothing is read back.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import random
import sys
import types
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

DEEPEST = 5_000
_ATOMS = (type(None), bool, int, float, complex, str, bytes)
# What a library remembers to be faster, or numbers again; the rest decides it.
_CACHES = {"_cache", "_item_cache", "_id", "stale_callback", "_abc_impl"}
SKIPPED = {"In", "Out", "get_ipython", "exit", "quit", "open"}


def described(names: dict[str, Any]) -> dict[str, str]:
    """For each name of a notebook the digest of what it holds; session state under `session: ...`."""
    own = {
        name: value
        for name, value in names.items()
        if not name.startswith("_") and name not in SKIPPED
    }
    names_of = defaultdict(list)
    for name in sorted(own):
        names_of[id(own[name])].append(name)
    session = {f"session: {part}": held for part, held in _session().items()}
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(DEEPEST)
    try:
        return {
            name: _digest(value, names_of)
            for name, value in (own | session).items()
        }
    finally:
        sys.setrecursionlimit(limit)


def different(one: dict[str, str], other: dict[str, str]) -> frozenset[str]:
    """Names whose descriptions differ, or that one of both lacks."""
    return frozenset(name for name, _ in one.items() ^ other.items())


def _digest(value: Any, names_of: dict[int, list[str]]) -> str:
    told = io.BytesIO()
    description = _Description(told, names_of)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            description.dump(value)
    except Exception as error:  # noqa: BLE001 - a broken object is unlike the one before
        return f"broken: {error!r}"
    told.write(repr(description.met).encode("utf-8", "replace"))
    return hashlib.sha256(told.getbuffer()).hexdigest()


class _Description(pickle.Pickler):
    """Of one value; `met` are the names of the objects in it."""

    def __init__(
        self, told: io.BytesIO, names_of: dict[int, list[str]]
    ) -> None:
        super().__init__(told, 4)
        self._names_of = names_of
        self.met: list[list[str]] = []

    def persistent_id(self, value: Any) -> str | None:
        """What a line tells, None for what is taken apart."""
        kind = type(value)
        # Nobody can tell an atom, or a tuple of them, from its equal.
        if kind in _ATOMS or (
            kind is tuple and all(type(one) in _ATOMS for one in value)
        ):
            return f"{kind.__name__} {value!r}"
        if names := self._names_of.get(id(value)):
            self.met.append(names)
        if isinstance(value, set | frozenset):
            held = sorted(_digest(one, self._names_of) for one in value)
            return f"{kind.__qualname__} {held}"
        is_code = isinstance(value, type | types.FunctionType)
        if is_code and value.__module__ != "__main__":
            return f"{value.__module__}.{value.__qualname__}"
        if isinstance(value, types.ModuleType):
            return value.__name__
        return None

    def reducer_override(self, value: Any) -> Any:
        """Its parts are told behind its number, so that it may be a part of itself."""
        kind = type(value)
        read = _LIBRARIES.get(kind.__module__.partition(".")[0], _general)
        told = f"{kind.__module__}.{kind.__qualname__}", read(value)
        return object, (), told


def _general(value: Any) -> Any:
    match value:
        case types.FunctionType():
            closure = [cell.cell_contents for cell in value.__closure__ or ()]
            own = value.__defaults__, vars(value)
            return value.__code__, closure, own
        case types.CodeType():
            return value.co_code, value.co_names, value.co_consts
        case types.GeneratorType():
            frame = value.gi_frame
            return frame and (frame.f_lasti, len(frame.f_locals))
        case type():
            shown = [name for name in vars(value) if not name.startswith("__")]
            return _without_caches({name: vars(value)[name] for name in shown})
    parts: list[Any] = []
    if isinstance(value, dict):
        parts.append([*value, *value.values()])
    elif isinstance(value, list | tuple):
        parts.append(list(value))
    elif hasattr(value, "seekable") and hasattr(value, "closed"):
        place = None if value.closed or value.writable() else value.tell()
        return value.closed, place, getattr(value, "name", "")
    # What its `__dict__` and its slots hold, whatever the class would keep.
    held = object.__getstate__(value)
    groups = held if isinstance(held, tuple) else (held,)
    parts += [_without_caches(group) for group in groups if group]
    return parts or _reduced(value)


def _without_caches(held: dict[str, Any]) -> dict[str, Any]:
    return {name: held[name] for name in held if name not in _CACHES}


def _reduced(value: Any) -> Any:
    """What it tells of itself for a copy."""
    try:
        told = value.__reduce_ex__(4)
    except Exception:  # noqa: BLE001 - nothing public tells more of it
        return None
    if isinstance(told, str):
        return told
    return [*told[1:3], *(list(each or ()) for each in told[3:5])]


def _of_numpy(value: Any) -> Any:
    array = sys.modules["numpy"].ndarray
    if not isinstance(value, array):
        return _general(value)
    owner = value.base if isinstance(value.base, array) else None
    content = (
        value.ravel().tolist()
        if value.dtype == object
        else hashlib.sha256(value.tobytes()).hexdigest()
    )
    form = repr(value.dtype), value.shape, value.flags.writeable
    return form, content, owner


def _of_pandas(value: Any) -> Any:
    pandas = sys.modules["pandas"]
    if isinstance(value, pandas.DataFrame):
        columns = [column for _, column in value.items()]
        content = [(str(one.dtype), list(one)) for one in columns]
        return value.columns, value.index, content, value.attrs
    if not hasattr(value, "tolist"):
        return _general(value)
    form = str(value.dtype), repr(getattr(value, "name", ""))
    return form, getattr(value, "index", None), value.tolist()


def _of_torch(value: Any) -> Any:
    torch = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        content = repr(value.detach().cpu().tolist())
        gradient = value.grad if value.is_leaf else None
        return str(value.dtype), value.requires_grad, content, gradient
    if isinstance(value, torch.Generator):
        return value.get_state()
    return _general(value)


def _of_matplotlib(value: Any) -> Any:
    if isinstance(value, sys.modules["matplotlib.figure"].Figure):
        return value.axes
    if isinstance(value, sys.modules["matplotlib.axes"].Axes):
        lines = [line.get_xydata() for line in value.lines]
        words = value.get_title(), value.get_xlabel(), value.get_xlim()
        return lines, repr(words), len(value.patches)
    # Lines, ticks and transforms are told by the axes.
    return None


_LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "numpy": _of_numpy,
    "pandas": _of_pandas,
    "torch": _of_torch,
    "matplotlib": _of_matplotlib,
}


def _session() -> dict[str, Any]:
    found = {
        "random": random.getstate(),
        "folder": os.getcwd(),  # noqa: PTH109 - a string is wanted
        "environment": sorted(os.environ.items()),
        "path": sys.path,
        "filters": warnings.filters,
        "recursion": sys.getrecursionlimit(),
    }
    if numpy := sys.modules.get("numpy"):
        found["numpy.random"] = numpy.random.get_state()
        found["numpy.options"] = numpy.get_printoptions(), numpy.geterr()
    if pandas := sys.modules.get("pandas"):
        options = ("display.max_rows", "display.precision")
        found["pandas.options"] = [*map(pandas.get_option, options)]
    if torch := sys.modules.get("torch"):
        found["torch.random"] = torch.get_rng_state()
    return found
