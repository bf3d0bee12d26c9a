"""What names hold, described deeply by public means, to be compared: nothing of the code that restores is used.

Runs in the kernel that is measured: standard library alone, and what the notebook has loaded. Two descriptions of a
name are equal where the values are equal in content and type, share the same parts, and have the same other names.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import random
import sys
import types
import warnings
from typing import Any

DEEPEST = 30
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
    by_identity: dict[int, list[str]] = {}
    for name, value in own.items():
        if not isinstance(value, _ATOMS):
            by_identity.setdefault(id(value), []).append(name)
    found = {}
    for name, value in own.items():
        try:
            found[name] = repr(_Description(by_identity).of(value, 0))
        except Exception as error:  # noqa: BLE001 - a broken object is unlike the one before
            found[name] = f"broken: {error!r}"
    for part, text in _session().items():
        found[f"session: {part}"] = text
    return {name: _digest(text) for name, text in found.items()}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def different(one: dict[str, str], other: dict[str, str]) -> frozenset[str]:
    """Names whose descriptions differ, or that one of both lacks."""
    return frozenset(name for name, _ in one.items() ^ other.items())


class _Description:
    """Of one name: objects are numbered as they are met, so that the same ones twice are seen as such."""

    def __init__(self, names: dict[int, list[str]]) -> None:
        self._names = names
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []

    def of(self, value: Any, depth: int) -> Any:
        if isinstance(value, _ATOMS) and type(value) in _ATOMS:
            return (type(value).__name__, repr(value))
        # As for atoms, nobody can tell one such tuple from its equal.
        if type(value) is tuple and all(type(one) in _ATOMS for one in value):
            return ("tuple", repr(value))
        if id(value) in self._numbers:
            return ("again", self._numbers[id(value)])
        if depth > DEEPEST:
            return ("deep", type(value).__name__)
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        kind = type(value)
        head = (f"{kind.__module__}.{kind.__qualname__}",)
        names = tuple(sorted(self._names.get(id(value), ())))
        return head, names, self._content(value, depth + 1)

    def _many(self, values: Any, depth: int) -> list[Any]:
        return [self.of(value, depth) for value in values]

    def _pairs(self, held: dict[Any, Any], depth: int) -> list[Any]:
        return self._many([*held, *held.values()], depth)

    def _content(self, value: Any, depth: int) -> Any:
        top = type(value).__module__.partition(".")[0]
        reader = getattr(self, f"_of_{top}", None)
        told = reader(value, depth) if reader else None
        return self._general(value, depth) if told is None else told

    def _of_numpy(self, value: Any, depth: int) -> Any:
        numpy = sys.modules["numpy"]
        if isinstance(value, numpy.ndarray):
            is_part = isinstance(value.base, numpy.ndarray)
            owner = self.of(value.base, depth) if is_part else None
            content = (
                self._many(value.ravel().tolist(), depth)
                if value.dtype == object
                else hashlib.sha256(value.tobytes()).hexdigest()
            )
            form = (repr(value.dtype), value.shape, value.flags.writeable)
            return form, content, owner
        if isinstance(value, numpy.random.Generator):
            return repr(value.bit_generator.state)
        if isinstance(value, numpy.random.RandomState):
            return repr(value.get_state())
        return None

    def _of_pandas(self, value: Any, depth: int) -> Any:
        pandas = sys.modules["pandas"]
        if isinstance(value, pandas.DataFrame):
            columns = [list(column) for _, column in value.items()]
            kinds = [str(kind) for kind in value.dtypes]
            parts = [value.columns, value.index, *columns, value.attrs]
            return kinds, self._many(parts, depth)
        if isinstance(value, pandas.Series | pandas.Index):
            is_column = isinstance(value, pandas.Series)
            labels = self.of(value.index, depth) if is_column else None
            items = self._many(value.tolist(), depth)
            return str(value.dtype), repr(value.name), labels, items
        if isinstance(value, pandas.api.extensions.ExtensionArray):
            return str(value.dtype), self._many(value.tolist(), depth)
        return None

    def _of_torch(self, value: Any, depth: int) -> Any:
        torch = sys.modules["torch"]
        if isinstance(value, torch.Tensor):
            content = repr(value.detach().cpu().tolist())
            gradient = self.of(value.grad, depth) if value.is_leaf else None
            return str(value.dtype), value.requires_grad, content, gradient
        if isinstance(value, torch.Generator):
            return repr(value.get_state().tolist())
        return None

    def _of_matplotlib(self, value: Any, depth: int) -> Any:
        figures = sys.modules["matplotlib.figure"]
        axes = sys.modules["matplotlib.axes"]
        if isinstance(value, figures.Figure):
            return self._many(value.axes, depth)
        if isinstance(value, axes.Axes):
            lines = [repr(line.get_xydata().tolist()) for line in value.lines]
            words = value.get_title(), value.get_xlabel(), value.get_xlim()
            return lines, repr(words), len(value.patches)
        # Lines, ticks and transforms are told by the axes.
        return "part of a figure"

    def _general(self, value: Any, depth: int) -> Any:
        if isinstance(value, types.ModuleType):
            return value.__name__
        if isinstance(value, types.FunctionType):
            return self._function(value, depth)
        if isinstance(value, type):
            return self._class(value, depth)
        if isinstance(value, types.GeneratorType):
            frame = value.gi_frame
            return (
                None if frame is None else (frame.f_lasti, len(frame.f_locals))
            )
        parts: list[Any] = []
        if isinstance(value, dict):
            parts.append(self._pairs(value, depth))
        elif isinstance(value, set | frozenset):
            parts.append(sorted(repr(self.of(one, depth)) for one in value))
        elif isinstance(value, list | tuple):
            parts.append(self._many(value, depth))
        elif hasattr(value, "seekable") and hasattr(value, "closed"):
            place = None if value.closed or value.writable() else value.tell()
            return value.closed, place, getattr(value, "name", "")
        if held := _attributes(value):
            parts.append(self._pairs(held, depth))
        return parts or _pickled(value)

    def _function(self, value: Any, depth: int) -> Any:
        cells = [
            cell.cell_contents if cell.cell_contents is not value else "itself"
            for cell in value.__closure__ or ()
        ]
        code = value.__code__
        own = value.__module__ == "__main__"
        return (
            code.co_code if own else "",
            code.co_names if own else "",
            [
                repr(one)
                for one in code.co_consts
                if not hasattr(one, "co_code")
            ],
            self.of(value.__defaults__, depth),
            self._many(cells, depth) if own else None,
            self.of(vars(value), depth) if own else None,
        )

    def _class(self, value: Any, depth: int) -> Any:
        if value.__module__ != "__main__":
            return value.__qualname__
        held = {
            name: item
            for name, item in vars(value).items()
            if not name.startswith("__") and name not in _CACHES
        }
        return self._pairs(held, depth)


def _attributes(value: Any) -> dict[str, Any]:
    """What its `__dict__` and its slots hold, whatever the class itself would keep."""
    held = object.__getstate__(value)
    groups = held if isinstance(held, tuple) else (held,)
    return {
        name: item
        for group in groups
        for name, item in (group or {}).items()
        if name not in _CACHES
    }


def _pickled(value: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return hashlib.sha256(pickle.dumps(value, 4)).hexdigest()
        except Exception:  # noqa: BLE001 - nothing public tells more of it
            return type(value).__name__


def _session() -> dict[str, str]:
    found = {
        "random": random.getstate(),
        "folder": os.getcwd(),  # noqa: PTH109 - a string is wanted
        "environment": sorted(os.environ.items()),
        "path": sys.path,
        "filters": warnings.filters,
        "recursion": sys.getrecursionlimit(),
    }
    if numpy := sys.modules.get("numpy"):
        state = numpy.random.get_state()
        found["numpy.random"] = (state[1].tolist(), state[2:])
        found["numpy.options"] = (numpy.get_printoptions(), numpy.geterr())
    if pandas := sys.modules.get("pandas"):
        options = ("display.max_rows", "display.precision")
        found["pandas.options"] = [*map(pandas.get_option, options)]
    if torch := sys.modules.get("torch"):
        found["torch.random"] = torch.get_rng_state().tolist()
    return {name: repr(value) for name, value in found.items()}
