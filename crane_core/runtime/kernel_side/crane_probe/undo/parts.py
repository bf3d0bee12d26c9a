"""Any object taken apart: which kind it is, the parts of that kind, and its attributes; and put together again.

What is not in the tables is an object of attributes alone, or is taken apart by its library (reduced.py). Classes of
the notebook never have code called by this.
"""

from __future__ import annotations

import types
from typing import Any, NamedTuple

from ..anatomy import module_of, mro_of, package_of
from ..session.origins import is_installed, is_own_class, is_own_function
from . import (
    attributes,
    of_code,
    of_containers,
    of_numpy,
    of_pandas,
    of_streams,
    of_torch,
)
from .kinds import INSTANCE, LEAF, OPAQUE, StateKind
from .of_code import CLASS, FUNCTION, MODULE
from .reduced import REDUCED, reduces

OF_PYTHON: dict[type, StateKind] = {
    **of_containers.KINDS,
    **of_code.KINDS,
    **of_streams.KINDS,
}
OF_LIBRARIES: dict[tuple[str, str], StateKind] = {
    **of_numpy.KINDS,
    **of_pandas.KINDS,
    **of_torch.KINDS,
}
BY_NAME: dict[str, StateKind] = {
    kind.name: kind
    for kind in (
        *OF_PYTHON.values(),
        *OF_LIBRARIES.values(),
        *(FUNCTION, CLASS, MODULE, INSTANCE, LEAF, OPAQUE, REDUCED),
    )
}
# Their objects serve the session; a cell's own state is not in them.
_MACHINERY = frozenset(
    (
        "IPython",
        "ipykernel",
        "traitlets",
        "zmq",
        "tornado",
        "jupyter_client",
        "crane_core",
        "crane_probe",
        "logging",
    )
)
_WORD, _HEADER = 8, object.__basicsize__


class TakenApart(NamedTuple):
    """An object taken apart: `children` are those of its kind, then the values of its attributes."""

    kind: StateKind
    plain: Any
    children: list[Any]
    keys: Any
    """Names of the attributes, as attributes.py reads them."""
    n_own: int
    """How many of the children belong to the kind."""


class Anatomist:
    """Takes objects apart; remembers the kinds of classes for the length of one walk."""

    def __init__(self, names: Any) -> None:
        """`names` is the notebook's namespace."""
        self.names = names
        self._kinds: dict[type, StateKind] = {}
        self._own: dict[type, bool] = {}
        self._slots: dict[type, tuple[str, ...]] = {}

    def take(self, value: Any) -> TakenApart:
        """The parts. Raises NotComparableError, and what a library raises."""
        kind = self.kind(value)
        plain, children = kind.parts(value)
        n_own = len(children)
        if not kind.has_state:
            return TakenApart(kind, plain, children, None, n_own)
        cls = type(value)
        if cls not in self._slots:
            self._slots[cls] = attributes.slots_of(cls)
        keys, items = attributes.read(value, self._slots[cls])
        return TakenApart(kind, plain, children + items, keys, n_own)

    def kind(self, value: Any) -> StateKind:
        """The entry of a table that says how an object is read."""
        cls = type(value)
        if cls is types.FunctionType:
            # What a library wraps around the notebook's functions has them in its closure.
            is_walked = is_own_function(value) or value.__closure__
            return FUNCTION if is_walked else LEAF
        if issubclass(cls, type):
            return CLASS if self.is_of_own_class(value) else LEAF
        if issubclass(cls, types.ModuleType):
            return MODULE if _is_own_module(value) else LEAF
        if cls is types.BuiltinMethodType and (
            value.__self__ is None or type(value.__self__) is types.ModuleType
        ):
            return LEAF
        found = self._kinds.get(cls)
        if found is None:
            found = self._kinds[cls] = _kind_of(cls)
        return found

    def is_of_own_class(self, cls: type) -> bool:
        """Whether the notebook wrote the class."""
        found = self._own.get(cls)
        if found is None:
            found = module_of(cls) == "__main__" or is_own_class(cls)
            self._own[cls] = found
        return found


def _kind_of(cls: type) -> StateKind:
    if package_of(cls) in _MACHINERY:
        return LEAF
    for parent in mro_of(cls):
        listed = OF_PYTHON.get(parent) or OF_LIBRARIES.get(
            (package_of(parent), parent.__name__)
        )
        if listed is not None:
            return listed
    if _has_attributes_alone(cls):
        return INSTANCE
    if reduces(cls):
        return REDUCED
    # Descriptors of classes, and others of Python's own that hold nothing which a cell could change.
    return LEAF if module_of(cls) == "builtins" else OPAQUE


def _has_attributes_alone(cls: type) -> bool:
    """Whether an object holds nothing but a header and attributes."""
    n_links = (cls.__dictoffset__ > 0) + (cls.__weakrefoffset__ > 0)
    size = _HEADER + _WORD * (len(attributes.slots_of(cls)) + n_links)
    return cls.__basicsize__ == size and not cls.__itemsize__


def _is_own_module(module: Any) -> bool:
    path = vars(module).get("__file__")
    return type(path) is str and not is_installed(path)


def state_of(taken: TakenApart) -> Any:
    """What `restore` takes, in new containers, so that each is sent by value."""
    plain = taken.plain
    if type(plain) is tuple and plain and type(plain[-1]) is memoryview:
        plain = (*plain[:-1], bytes(plain[-1]))
    own = list(taken.children[: taken.n_own])
    return plain, own, taken.keys, list(taken.children[taken.n_own :])


def restore(value: Any, kind: StateKind, state: Any) -> None:
    """Give an object its parts: `state` as state_of makes it. Raises ValueError if it cannot be changed."""
    plain, own, keys, items = state
    if kind.restore is not None:
        kind.restore(value, plain, own)
    elif not keys:
        raise ValueError("it cannot be changed")
    if keys:
        attributes.write(value, keys, items)
