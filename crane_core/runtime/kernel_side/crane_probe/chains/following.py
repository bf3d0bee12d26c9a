"""Following a chain from an object of the kernel, step by step, by what is stored: what is not there is Missing.

Knows attributes as classes and instances store them. What items, columns and methods of a library mean is in the
FOLLOW of `for_<package>.py`: FOLLOW(value, steps) -> Resolution or None, used before the general rule. Refuses to run
anything: where only running would tell, the chain ends.

Names that a module of a known package provides by code (`__getattr__`) are had by its own lists, where they are
complete; any other module that answers by code stays undecided.
"""

from __future__ import annotations

import importlib.machinery
import types
from itertools import islice
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Sequence

from ..anatomy import (
    MISSING,
    class_dict,
    instance_dict,
    is_kind,
    may_hold_more,
    module_dict,
    module_of,
    mro_of,
    name_of,
    owner_of,
    package_of,
    static_attribute,
    type_name,
)
from ..bounds import Facts
from ..dispatch import hook_of
from ..kinds import CONTAINERS, Kinds
from ..syntax.asked import ATTRIBUTE, CALL, Chain, ChainStep, Steps, Unknown
from . import spelling

# Frames of ten thousand columns: comparing the spelling of all would take the look's time.
_CANDIDATES = 600
_LOOKED_THROUGH = 20_000
_SIMILAR = 3

# They tell a caller why nothing is known, and are shown in place of a value.
METHOD = "method"
PROPERTY = "computed by code that is not run"
NOT_STORED = "not stored; only running code would tell"
_LOOKS_ELSEWHERE = (
    "builtins.super",
    "builtins.instancemethod",
    "builtins.fortran",
    "decimal.Context",
)
"""Types written in C that pass attributes on to something else, f2py's routines by a slot that their class hides."""
_LOOK_WHERE_STORED = (
    *(
        "builtins",
        "_asyncio",
        "_collections",
        "_contextvars",
        "_io",
        "_pickle",
        "_socket",
        "_struct",
        "array",
        "ast",
    ),
    *(
        "collections",
        "datetime",
        "decimal",
        "functools",
        "itertools",
        "mmap",
        "numpy",
        "operator",
        "select",
        "xml",
    ),
    "zoneinfo",
)
"""Packages of types written in C whose `__getattribute__` looks only where static_attribute has looked."""
# Found on a class, these are bound and not computed.
_METHODS = Kinds(
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    classmethod,
    staticmethod,
)
_LISTED = (
    "numpy",
    "scipy",
    "sklearn",
    "pandas",
    "matplotlib",
    "seaborn",
    "statsmodels",
    "skimage",
    "PIL",
)
_LISTS = ("__all__", "_submodules", "submodules")
_STILL_GIVEN = (
    "__deprecated_attrs__",
    "_deprecated_attrs",
    "__numpy_submodules__",
    "_lazy_submodules",
)


class Missing(NamedTuple):
    """Something needed and not there. `group` is attributes, columns or keys; `fact` tells it in JSON.

    `may_come` is True for an attribute that the object might be given by a call.
    """

    group: str
    fact: Facts
    may_come: bool = False


class Resolution(NamedTuple):
    """Where some steps lead: the next value (MISSING if only running would tell), what is missing, how many were taken.

    `note` says why there is no value. `follow` takes the place of the package's FOLLOW for the next value, which may
    then be no object of the kernel.
    """

    value: Any = MISSING
    missing: tuple[Missing, ...] = ()
    n_steps: int = 1
    note: str = ""
    follow: Callable[[Any, Steps], Resolution | None] | None = None


def lacking(group: str, n_steps: int = 1, **fact: Any) -> Resolution:
    """Something needed that is not there, with these facts."""
    return Resolution(missing=(Missing(group, fact),), n_steps=n_steps)


def without(value: Any, method: str) -> Resolution:
    """A special method that the object's class has not: calling or indexing it raises."""
    return lacking("attributes", type=type_name(type(value)), attribute=method)


class Followed(NamedTuple):
    """A chain followed to its end or to where only running would tell.

    `missing` come with the number of steps before them. `values` holds what each number of steps led to, from 0 on,
    `notes` why there is no value after the last.
    """

    missing: tuple[tuple[int, Missing], ...]
    values: dict[int, Any]
    notes: tuple[tuple[int, str], ...]


def followed(value: Any, steps: Steps) -> Followed:
    """Follows the steps as far as what is stored tells."""
    missing: list[tuple[int, Missing]] = []
    values = {0: value}
    notes: list[tuple[int, str]] = []
    at, follow = 0, None
    while at < len(steps) and value is not MISSING:
        resolution = _resolve(value, steps[at:], follow)
        missing.extend((at, each) for each in resolution.missing)
        # A step that only running would tell ends the chain: what comes after has no object.
        at, value, follow = (
            at + resolution.n_steps,
            resolution.value,
            resolution.follow,
        )
        # With `follow`, the value stands for one that is not in the kernel (a result of pandas).
        if value is not MISSING and follow is None:
            values[at] = value
        if resolution.note:
            notes.append((at, resolution.note))
    return Followed(tuple(missing), values, tuple(notes))


class StoredCallable(NamedTuple):
    """What a call calls, as it is stored. `owner` is the object whose class stores it, MISSING of any other."""

    value: Any
    owner: Any = MISSING


def stored_callable(
    chain: Chain, namespace: Mapping[str, Any], at: int | None
) -> StoredCallable | None:
    """What the call at a step calls; None where only running would tell, as after an item or a call on the way."""
    if at is None or chain.name not in namespace or chain.n_attributes < at:
        return None
    value = namespace[chain.name]
    if not at:
        return StoredCallable(value)
    # Found without calling __getattr__ or a descriptor of the notebook.
    owner = followed(value, chain.steps[: at - 1]).values.get(at - 1, MISSING)
    found = (
        static_attribute(owner, chain.steps[at - 1].value)
        if owner is not MISSING
        else None
    )
    if found is None:
        return None
    # A function that is stored on the object itself is not given `self`.
    is_bound = found.where == "class" and not is_kind(owner, type)
    return StoredCallable(found.value, owner if is_bound else MISSING)


def _resolve(value: Any, steps: Steps, follow: Any) -> Resolution:
    # The library's rule first: `frame.price` is a column, which no class stores.
    special = follow or hook_of(value, "FOLLOW")
    resolution: Resolution | None = (
        special(value, steps) if special is not None else None
    )
    if resolution is not None:
        return resolution
    return (
        resolve_attribute(value, steps[0].value)
        # Items and calls have no general rule: __getitem__ and __call__ are code.
        if steps[0].kind == ATTRIBUTE and follow is None
        else Resolution()
    )


def resolve_attribute(value: Any, name: str) -> Resolution:
    """The attribute as stored; a Missing where nothing is stored and nothing could make one up."""
    found = static_attribute(value, name)
    if found is None:
        there = exists(value, name)
        if there is False:
            return Resolution(missing=(_no_attribute(value, name),))
        return Resolution(note="" if there else NOT_STORED)
    # What the instance stores is never asked for __get__, unlike what the class stores.
    is_data = (
        found.where == "instance"
        or owner_of(type(found.value), "__get__") is None
    )
    if is_data:
        return Resolution(found.value)
    return Resolution(
        note=METHOD if type(found.value) in _METHODS else PROPERTY
    )


def exists(value: Any, name: str) -> bool | None:
    """Whether an attribute that is not stored would be found all the same; None where only running would tell."""
    hook = hook_of(value, "HAS_ATTRIBUTE")
    answer = hook(value, name) if hook is not None else None
    if answer is not None:
        return bool(answer)
    # A module with __getattr__ may give names that it does not store.
    if is_kind(value, types.ModuleType):
        return gives(value, name)
    if type(value) is types.MethodType:
        # A method passes attributes on to its function.
        return exists(value.__func__, name)
    # C code may store attributes where no dict shows them.
    is_undecided = may_hold_more(value) or any(
        map(_computes_attributes, mro_of(type(value)))
    )
    return None if is_undecided else False


def _computes_attributes(kind: type) -> bool:
    defined = class_dict(kind)
    # Any __getattr__ may make up the name.
    if (
        "__getattr__" in defined
        or f"{module_of(kind)}.{name_of(kind)}" in _LOOKS_ELSEWHERE
    ):
        return True
    # SimpleNamespace is of C, and finds in its dict alone.
    if "__getattribute__" not in defined or kind is types.SimpleNamespace:
        return False
    # A __getattribute__ of Python is code of a class; that of C is one of those listed, or unknown.
    is_of_c = type(defined["__getattribute__"]) is types.WrapperDescriptorType
    return not (is_of_c and package_of(kind) in _LOOK_WHERE_STORED)


def _no_attribute(value: Any, name: str) -> Missing:
    fact = {
        "type": type_name(type(value)),
        "attribute": name,
        "similar": similar(name, attribute_names(value)),
    }
    module_name = module_dict(value).get("__name__")
    # A module gets names from its submodules as they are imported, not by calls on it.
    if type(module_name) is str:
        return Missing("attributes", dict(fact, module=module_name))
    return Missing(
        "attributes", fact, may_come=may_gain_attributes(type(value))
    )


def may_gain_attributes(kind: type) -> bool:
    """True for objects that keep their own attributes, but for data of pandas and numpy."""
    # Data of these is given columns and elements, seldom attributes.
    keeps_own = owner_of(kind, "__dict__") is not None
    return keeps_own and package_of(kind) not in ("pandas", "numpy")


def attribute_names(value: Any) -> list[str]:
    """The public names that the object and its classes store."""
    if is_kind(value, types.ModuleType):
        names: Iterable[Any] = module_dict(value)
    else:
        classes = mro_of(value) if is_kind(value, type) else mro_of(type(value))
        names = [
            *instance_dict(value),
            *(name for kind in classes for name in class_dict(kind)),
        ]
    return [
        name for name in names if type(name) is str and not name.startswith("_")
    ]


def similar(asked: Any, there: Iterable[Any]) -> list[str]:
    """Names that may have been meant: equal but for case and blanks first, then close in spelling."""
    if type(asked) is not str:
        return []
    names = [
        name for name in islice(there, _LOOKED_THROUGH) if type(name) is str
    ]
    # "Price " for "price" is what most missing columns are, so no other name is offered beside it.
    same = [name for name in names if _folded(name) == _folded(asked)]
    close = (
        spelling.closest(asked, names[:_CANDIDATES], _SIMILAR)
        if not same
        else []
    )
    return list(dict.fromkeys([*same, *close]))[:_SIMILAR]


def _folded(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def fault_of_index(parts: tuple[Any, ...], shape: Sequence[int]) -> str:
    """Why numbers and slices do not index an array of this shape; empty where they do."""
    taken = [
        part for part in parts if part is not None and part is not Ellipsis
    ]
    if len(taken) > len(shape):
        return "too many indices"
    # With an ellipsis the parts count from both ends.
    sizes = zip(taken, shape) if Ellipsis not in parts else ()
    numbers = ((part, size) for part, size in sizes if type(part) is int)
    is_beyond = any(not -size <= part < size for part, size in numbers)
    return "out of bounds" if is_beyond else ""


def chain_text(name: str, steps: Iterable[ChainStep]) -> str:
    """The chain as source code, short."""
    text = name
    for step in steps:
        if step.kind == ATTRIBUTE:
            text += f".{step.value}"
        elif step.kind == CALL:
            text += "(\u2026)" if any(step.value) else "()"
        else:
            text += f"[{value_text(step.value)}]"
    return text


def value_text(value: Any) -> str:
    """A subscript as source code, short."""
    if type(value) is Unknown:
        return value.text
    if type(value) is slice:
        parts = [value.start, value.stop] + (
            [value.step] if value.step is not None else []
        )
        return ":".join(
            "" if part is None else value_text(part) for part in parts
        )
    if type(value) is tuple:
        return ", ".join(value_text(part) for part in value)
    text = (
        "[" + ", ".join(map(value_text, value)) + "]"
        if type(value) is list
        else repr(value)
    )
    # A list of a thousand labels in a subscript is one line of a verdict.
    return text if len(text) <= 60 else text[:59] + "\u2026"


def gives(module: Any, name: str) -> bool | None:
    """Whether `module.name` would be given though it is not stored; None where only running would tell."""
    names = module_dict(module)
    # A subclass of module (of six, or of TensorFlow) answers in its own way.
    if type(module) is not types.ModuleType:
        return None
    if "__getattr__" not in names:
        return False
    own = names.get("__name__")
    if type(own) is not str or own.partition(".")[0] not in _LISTED:
        return None
    # numpy keeps removed names in a list, to explain them; scipy's lists hold modules not loaded
    # yet.
    if any(
        name in _listed(names.get(each)) for each in (*_LISTS, *_STILL_GIVEN)
    ):
        return True
    # A submodule that was never imported is a file below the package.
    path = names.get("__path__")
    is_file = (
        type(path) is list
        and importlib.machinery.PathFinder.find_spec(f"{own}.{name}", path)
        is not None
    )
    # Without __all__ the lists may be incomplete: not found is then unknown.
    return is_file or None if "__all__" not in names else is_file


def _listed(names: Any) -> Any:
    return names if type(names) in CONTAINERS else ()
