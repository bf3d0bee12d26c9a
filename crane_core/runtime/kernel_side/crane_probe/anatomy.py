"""Classes, attribute dicts and names of objects, read below everything that Python lets a class override.

Knows the descriptors of `type`, `object` and modules. Refuses to look up an attribute on an object or on its class: a
metaclass, `__getattribute__`, `__getattr__`, a property or a false `__class__` would run code of the notebook.
"""

from __future__ import annotations

import functools
import gc
import sys
import types
from typing import Any, Iterator, Mapping, NamedTuple

from .kinds import Kinds

Names = Mapping[str, Any]
"""Values by their names, as a namespace or an object holds them."""

MISSING: Any = object()
"""What is answered where nothing is; None may be there."""

# Taken from `type` itself: `kind.__mro__` may be answered by a property of the metaclass.
_MRO = type.__dict__["__mro__"]
_CLASS_DICT = type.__dict__["__dict__"]
_MODULE = type.__dict__["__module__"]
_NAME = type.__dict__["__name__"]
_QUALNAME = type.__dict__["__qualname__"]
_FLAGS = type.__dict__["__flags__"]
_DICT_OFFSET: Any = type.__dict__["__dictoffset__"]
_KEYWORDS: Any = vars(functools.partial)["keywords"]
# Py_TPFLAGS_HEAPTYPE: set for every class that a `class` statement made.
_ON_HEAP = 1 << 9
_MODULE_DICT: Any = vars(types.ModuleType)["__dict__"]
# The first for most classes, the second where a class names `__dict__` among its slots.
_READS_DICT = Kinds(types.GetSetDescriptorType, types.MemberDescriptorType)
_SLOT = types.MemberDescriptorType
_TEXT = Kinds(str)
_EMPTY: Mapping[str, Any] = types.MappingProxyType({})


def mro_of(kind: type) -> tuple[type, ...]:
    """The classes of which `kind` inherits, itself first."""
    mro: tuple[type, ...] = _MRO.__get__(kind)
    return mro


def class_dict(kind: type) -> Mapping[str, Any]:
    """What the body of the class defined."""
    defined: Mapping[str, Any] = _CLASS_DICT.__get__(kind)
    return defined


def module_of(kind: type) -> str:
    """The module that the class names as its own, empty if it names none."""
    try:
        module = _MODULE.__get__(kind)
    # A class made in C may have a `__module__` that raises, or none.
    except AttributeError:
        return ""
    return module if type(module) is str else ""


def package_of(kind: type) -> str:
    """The top-level package of the class."""
    return module_of(kind).partition(".")[0]


def name_of(kind: type) -> str:
    """The class's own name, without its module; a property of a metaclass is not used."""
    name: str = _NAME.__get__(kind)
    return name


def type_name(kind: type) -> str:
    """`pandas.DataFrame`; a built-in class has no module before it."""
    module, qualname = module_of(kind), _QUALNAME.__get__(kind)
    return qualname if module in ("builtins", "") else f"{module}.{qualname}"


def owner_of(kind: type, name: str) -> type | None:
    """The nearest of the class and its parents whose body defines the name; None if there is none."""
    return next(
        (each for each in mro_of(kind) if name in class_dict(each)), None
    )


def stored_on(kind: type, name: str) -> Any:
    """What the class or the nearest of its parents stores under the name; MISSING if none does."""
    owner = owner_of(kind, name)
    return MISSING if owner is None else class_dict(owner)[name]


def is_kind(value: Any, kind: type) -> bool:
    """isinstance by the real class alone: a false `__class__` and `__instancecheck__` are not used."""
    exact = type(value)
    # Most often it is the class itself, and its parents need not be walked.
    return exact is kind or any(parent is kind for parent in mro_of(exact))


def is_genuine(kind: type) -> bool:
    """True when the module that the class names holds this very class under its name, so that the name is not a lie.

    A class that is not on the heap was written in C, where names are not made up.
    """
    if not _FLAGS.__get__(kind) & _ON_HEAP:
        return True
    # A class of the notebook that calls itself pandas.DataFrame must not be read as one.
    module = sys.modules.get(module_of(kind))
    if module is None:
        return False
    # Along the qualified name, as nested classes are held by their outer ones.
    names = _QUALNAME.__get__(kind).split(".")
    found = module_dict(module).get(names[0], MISSING)
    for name in names[1:]:
        found = (
            class_dict(found).get(name, MISSING)
            if is_kind(found, type)
            else MISSING
        )
    return found is kind


def module_dict(module: Any) -> dict[str, Any]:
    """The names of a module; empty for what only pretends to be one."""
    # A notebook may put any object into sys.modules.
    if not is_kind(module, types.ModuleType):
        return {}
    names: dict[str, Any] = _MODULE_DICT.__get__(module)
    return names


def instance_dict(value: Any) -> dict[str, Any]:
    """The attributes that the object itself holds, slots included; empty if it holds none, and for a class."""
    # A class's own attributes are told by class_dict.
    if is_kind(value, type):
        return {}
    held: dict[str, Any] = {}
    # From `object` upwards, so that the class itself has the last word.
    for kind in reversed(mro_of(type(value))):
        for name, descriptor in class_dict(kind).items():
            # `__weakref__` and `__dict__` are slots that hold no attribute.
            if type(descriptor) is _SLOT and not name.startswith("__"):
                held.update(_slot(value, name, descriptor))
    own = _dict_of(value)
    if own is not MISSING:
        # `__dict__` may be given keys that are not text: no attribute look-up finds them.
        held.update(
            (name, item) for name, item in dict.items(own) if type(name) is str
        )
    return held


def own_dict(value: Any) -> Mapping[str, Any]:
    """The attributes that the object itself holds, read-only; slots are left out.

    As instance_dict, without a copy: for layers, of which a model has hundreds.
    """
    for kind in mro_of(type(value)):
        descriptor = class_dict(kind).get("__dict__")
        # A slot named `__dict__`, or a property, is left to instance_dict.
        if type(descriptor) is types.GetSetDescriptorType:
            held: dict[str, Any] = descriptor.__get__(value)
            return held if type(held) is dict else _EMPTY
    return _EMPTY


def may_hold_more(value: Any) -> bool:
    """True where the object may hold attributes that instance_dict does not tell.

    Its dict is hidden, or has keys that are not plain text: only comparing them would tell what they equal.
    """
    if is_kind(value, type):
        return False
    own = _dict_of(value)
    return own is MISSING or not _TEXT.hold_all(dict.keys(own))


def _dict_of(value: Any) -> Any:
    """The dict of the object's attributes, which may be of a class derived from dict, such as the object itself.

    Empty if it has none; MISSING where it has one that its classes hide (their own `__dict__`), or is laid out
    by another class, as wrapt's proxies are that also inherit from one of Python's.
    """
    known = [
        class_dict(kind)["__dict__"]
        for kind in mro_of(type(value))
        if "__dict__" in class_dict(kind)
    ]
    readers = [each for each in known if type(each) in _READS_DICT]
    # A class in C may keep a dict and show it to nobody.
    if not readers:
        return MISSING if _DICT_OFFSET.__get__(type(value)) else {}
    if not _has_own_dict(value):
        return {}
    try:
        read = readers[0].__get__(value)
    # A descriptor of another class does not read this object.
    except TypeError:
        return MISSING
    # Something else than a dict there is code: of a proxy, or a lazy object.
    return read if is_kind(read, dict) else MISSING


def _has_own_dict(value: Any) -> bool:
    """False for an object made in C that would be given an empty dict by asking for it.

    NumPy's dispatchers hold one from the start and do not tell the collector of it.
    """
    kind = type(value)
    if (
        type_name(kind) == "numpy._ArrayFunctionDispatcher"
        or kind is types.SimpleNamespace
    ):
        return True
    # C classes of these two modules are on the heap as well in newer releases of Python.
    if _FLAGS.__get__(kind) & _ON_HEAP and package_of(kind) not in (
        "_io",
        "functools",
    ):
        return True
    # A partial's keywords are a dict, too, but hold no attributes.
    keywords = (
        _KEYWORDS.__get__(value) if is_kind(value, functools.partial) else None
    )
    return any(
        is_kind(held, dict) and held is not keywords
        for held in gc.get_referents(value)
    )


def _slot(value: Any, name: str, descriptor: Any) -> dict[str, Any]:
    try:
        return {name: descriptor.__get__(value)}
    # A slot that was never given a value.
    except AttributeError:
        return {}


class FoundAttribute(NamedTuple):
    """Where an attribute is: "instance", "class" or "metaclass", and what is there, not bound to anything."""

    where: str
    value: Any


def static_attribute(value: Any, name: str) -> FoundAttribute | None:
    """The attribute as it is stored, without running a descriptor; None if nothing of the name is stored."""
    # A module's own names before its class: modules have no descriptors.
    if is_kind(value, types.ModuleType) and name in module_dict(value):
        return FoundAttribute("instance", module_dict(value)[name])
    if is_kind(value, type):
        return _found_on(value, name, "class") or _found_on(
            type(value), name, "metaclass"
        )
    held, found = instance_dict(value), _found_on(type(value), name, "class")
    # A data descriptor wins over the object's dict: that is Python's own order.
    if name in held and not (found is not None and _comes_first(found.value)):
        return FoundAttribute("instance", held[name])
    # `method.attribute` is asked of the function that it binds.
    if found is None and type(value) is types.MethodType:
        return static_attribute(value.__func__, name)
    return found


def _comes_first(stored: Any) -> bool:
    """True for a property or the like, which is used though the object holds something of the name; no slot."""
    # A slot has __set__ as well, but its value is stored on the object.
    is_slot = type(stored) is types.MemberDescriptorType
    return not is_slot and owner_of(type(stored), "__set__") is not None


def _found_on(kind: type, name: str, where: str) -> FoundAttribute | None:
    stored = stored_on(kind, name)
    return None if stored is MISSING else FoundAttribute(where, stored)


def overriders(value: Any, name: str) -> Iterator[type]:
    """The classes of the object that define `name`, `object` and `type` left out."""
    for kind in mro_of(type(value)):
        if kind is not object and kind is not type and name in class_dict(kind):
            yield kind
