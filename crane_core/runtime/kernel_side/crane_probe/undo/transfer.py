"""Objects sent from the copy to the kernel: by reference where they live on there, else by value.

Knows `pickle`. In the kernel no code of the notebook's classes runs unless one of its objects has to be made again.
"""

from __future__ import annotations

import builtins
import functools
import io
import pickle
import sys
import types
from typing import Any, Mapping

from ..anatomy import class_dict, type_name
from ..kinds import Kinds
from . import attributes
from .kinds import ATOMS, StateKind
from .of_code import CLASS, FUNCTION
from .parts import BY_NAME, Anatomist, restore, state_of

_NATIVE = Kinds(list, dict, set, frozenset, tuple, bytearray, slice)
KEPT, BUILDER, MODULE = "kept", "builder", "module"


class LostObject:
    """Takes the place of something that cannot be made again."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __repr__(self) -> str:
        return f"<not brought back: {self.what}>"


# Called in the kernel


def built(name: str, cls: type, plain: Any, children: list[Any]) -> Any:
    """An object made of its parts."""
    build = BY_NAME[name].build
    assert build is not None
    return build(cls, plain, children)


def blank(name: str, cls: type, plain: Any) -> Any:
    """An empty object, to be filled: it may contain itself."""
    make = BY_NAME[name].blank
    assert make is not None
    return make(cls, plain)


def new_class(meta: Any, name: str, bases: Any, slots: Any) -> Any:
    """A class without a body; `slots` is None where it names none."""
    body = {} if slots is None else {"__slots__": slots}
    return meta(name, bases, {"__module__": "__main__", **body})


def fill(value: Any, state: Any) -> None:
    """Give an object what it held; its kind comes with the state."""
    restore(value, BY_NAME[state[0]], state[1])


def equipped(value: Any, state: Any) -> None:
    """Give an object that is built its attributes."""
    attributes.write(value, *state)


def lost(what: str) -> Any:
    """A mark where something cannot be made again."""
    return LostObject(what)


BUILDERS: dict[str, Any] = {
    made.__name__: made
    for made in (built, blank, new_class, fill, equipped, lost)
}


def function(names: Any, made: Any) -> Any:
    """A function of the notebook, whose globals are its names."""
    code, defaults, keywords, *cells = made
    closure = tuple(cells) or None
    found = types.FunctionType(code, names, code.co_name, defaults, closure)
    found.__kwdefaults__ = keywords
    return found


class StatePickler(pickle.Pickler):
    """Pickles in the copy. `lost` tells what could not be sent."""

    def __init__(
        self, to: Any, kept: Mapping[int, Any], anatomist: Anatomist
    ) -> None:
        """`kept` has the addresses of what lives on in the kernel."""
        super().__init__(to, 5)
        self._kept = kept
        self._anatomist = anatomist
        self._builders = {id(made): name for name, made in BUILDERS.items()}
        self._builders[id(function)] = "function"
        self.lost: list[str] = []
        # Addresses are compared, so what is made on the way must not be freed before the end.
        self._made: list[Any] = []

    def persistent_id(self, value: Any) -> Any:
        """How the kernel finds it without its content; None where it needs the content."""
        if type(value) in ATOMS:
            return None
        if id(value) in self._kept:
            return (KEPT, id(value))
        if id(value) in self._builders:
            return (BUILDER, self._builders[id(value)])
        if type(value) is types.ModuleType:
            return (MODULE, value.__name__)
        return None

    def reducer_override(self, value: Any) -> Any:
        """By the tables, where they know more than `pickle`."""
        cls = type(value)
        if cls in _NATIVE:
            return NotImplemented
        kind = self._anatomist.kind(value)
        try:
            if kind is CLASS:
                return self._class(value)
            if issubclass(cls, type):
                return NotImplemented
            if kind is FUNCTION and value.__globals__ is self._anatomist.names:
                return self._function(value)
            if kind.build is None and kind.blank is None:
                # Asked here, as an error on the way would end the whole.
                value.__reduce_ex__(4)
                return NotImplemented
            return self._by_kind(value, kind)
        except Exception as error:  # noqa: BLE001 - told as lost
            what = f"{type_name(cls)} ({type(error).__name__})"
            self.lost.append(what)
            return lost, (what,)

    def _by_kind(self, value: Any, kind: StateKind) -> Any:
        cls = type(value)
        taken = self._anatomist.take(value)
        state = state_of(taken)
        self._made += [taken, state]
        plain, own, keys, items = state
        if kind.build is not None:
            rest: Any = (keys, items) if keys else None
            made = (kind.name, _findable(cls), plain, own)
            return built, made, rest, None, None, equipped
        name = (kind.name, _findable(cls), plain if kind.n_fixed else None)
        return blank, name, (kind.name, state), None, None, fill

    def _class(self, value: Any) -> Any:
        """A class of the notebook of which nothing lives on: made again, with what its body defined."""
        state = state_of(self._anatomist.take(value))
        self._made.append(state)
        slots = class_dict(value).get("__slots__")
        made = (type(value), value.__name__, value.__bases__, slots)
        return new_class, made, (CLASS.name, state), None, None, fill

    def _function(self, value: Any) -> Any:
        taken = self._anatomist.take(value)
        state = state_of(taken)
        plain, own, keys, items = state
        self._made += [taken, state]
        # Later, as a function may contain itself by its closure.
        return (
            function,
            (own,),
            ("function", (plain, own, keys, items)),
            None,
            None,
            fill,
        )


def _findable(cls: type) -> Any:
    """The class, or None for one of Python's that has no name in a module: its kind makes it without."""
    if cls.__module__ != "builtins":
        return cls
    return cls if getattr(builtins, cls.__name__, None) is cls else None


class StateUnpickler(pickle.Unpickler):
    """Unpickles in the kernel."""

    def __init__(
        self, content: bytes, kept: Mapping[int, Any], names: dict[str, Any]
    ) -> None:
        """`kept` has the kernel's objects by their addresses."""
        super().__init__(io.BytesIO(content))
        self._kept = kept
        self._names = names

    def persistent_load(self, told: Any) -> Any:
        """The kernel's own object."""
        sort, what = told
        if sort == KEPT:
            return self._kept[what]
        if sort == MODULE:
            return sys.modules[what]
        if what == "function":
            return functools.partial(function, self._names)
        return BUILDERS[what]
