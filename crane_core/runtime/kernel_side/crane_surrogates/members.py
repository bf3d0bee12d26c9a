"""Which names modules, classes and their methods have, by looking at them; no such code runs.

Knows that libraries write attributes into objects of their classes: a name that is anywhere in a library's code is
never said to be missing, nor one that is not like a name that is there, which other packages may add.
"""

from __future__ import annotations

import difflib
import dis
import gc
import importlib.util
import inspect
import re
import sys
import types
from functools import lru_cache
from typing import Any

from . import operations, signatures
from .asked.places import words
from .made import library_of, refusal

_LIKE = 0.8
"""So much of a name is another: `means` is `mean`; `add_columns`, which pyjanitor adds to tables, is not `columns`."""
_ROUTINES = (
    "function",
    "method_descriptor",
    "wrapper_descriptor",
    "cython_function_or_method",
    "method",
)
_LOOKING_PLAINLY = (object, int, float, complex, str, bytes, tuple, list, dict)
# Their attributes are their columns as well, which the schema knows.
_LABELLED = ("DataFrame", "Series")
"""Classes whose objects look among their labels for what is not there, and nowhere else."""
_OF_METHODS = ("numpy", "pandas", "scipy", "sklearn")
_OF_NAMES = (*_OF_METHODS, "lightgbm", "statsmodels", "torch")
"""Packages whose objects, and those whose methods too, get no names that the packages' own functions do not write."""
_STORES = ("STORE_ATTR",)
_WAS_THERE = re.compile("was removed|deprecated alias")
_REMOVED = words(
    "append applymap as_blocks as_matrix blocks clip_lower clip_upper compress convert_objects from_csv from_items "
    "ftype ftypes get_dtype_counts get_ftype_counts get_ftypes get_value get_values icol iget irow iteritems ix lookup "
    "mad nonzero order reindex_axis select set_value slice_shift sort sortlevel to_dense to_panel to_sparse tshift"
)
"""What tables and columns of pandas had by name in older releases."""


def of_module(path: str, name: str) -> dict[str, Any]:
    """Whether a name was written for one that a module has."""
    package, *inner = path.split(".")
    # A name of a device or accelerator may be there on another machine.
    if package not in operations.LAZY or operations.is_elsewhere(name):
        return {"unknown": "not on the list"}
    # Private modules change with each release.
    is_private = any(part.startswith("_") for part in inner)
    holder = None if is_private else library_of(package).PACKAGE
    for part in inner:
        holder = getattr(holder, part, None)
    if not isinstance(holder, types.ModuleType):
        return {"unknown": "not a module"}
    try:
        # Asked for real: modules answer with hints such as "was removed in NumPy 2".
        getattr(holder, name)
    except AttributeError as error:
        # A name that is like no other may be added by another package.
        if not _WAS_THERE.search(str(error)) and not is_like_one_of(
            name, holder
        ):
            return {"unknown": "it is like no other"}
        # Only importing a module would tell, and could run anything.
        if _is_module(holder, name):
            return {"unknown": "a module that is not loaded"}
        return refusal(error)
    return {"unknown": "it is there"}


def _is_module(holder: types.ModuleType, name: str) -> bool:
    if not hasattr(holder, "__path__"):
        return False
    return importlib.util.find_spec(f"{holder.__name__}.{name}") is not None


def of_method(path: str, name: str) -> dict[str, Any]:
    """Whether a method lacks a name that is read of it, as if it had been called."""
    holder, _, own = path.rpartition(".")
    if not is_routine(holder, own) or hasattr(
        getattr(signatures.found(holder), own), name
    ):
        return {"unknown": "it may be there"}
    return {
        "raised": "AttributeError",
        "message": f"'{own}' is a method, which has no attribute '{name}'",
    }


def is_routine(path: str, name: str) -> bool:
    """Whether every object of a class has this method."""
    holder = signatures.found(path)
    return (
        # getattr_static, as a property must not run.
        isinstance(holder, type)
        and type(inspect.getattr_static(holder, name, None)).__name__
        in _ROUTINES
    )


def of_object(
    path: str, name: str, *, is_made: bool, is_label: bool
) -> dict[str, Any]:
    """What every object of a class has by a name: a method; or that none has such, and a name that it is like.

    `is_made`: the object comes from calling the class. `is_label`: it may be one of the object's labels.
    """
    package = path.partition(".")[0]
    kind = signatures.found(path) if package in _OF_NAMES else None
    # Names with underscores at an end are internal, or learnt by fit.
    if not isinstance(kind, type) or "_" in (name[:1], name[-1:]):
        return {"unknown": "not a class, or not a public name"}
    if is_made and not signatures.is_made_of_anything(kind):
        return {"unknown": "its call may give an object of another class"}
    if package in _OF_METHODS and _has_method(path, name):
        return {"gave": {"type": "method", "of": f"{path}.{name}"}}
    may_be_label = kind.__name__ not in _LABELLED or is_label
    if may_be_label and not _tells_names(kind):
        return {"unknown": "it may be there"}
    if not _is_slip(kind, name):
        return {
            "unknown": "it is there, is like no other, or something writes it"
        }
    return {
        "raised": "AttributeError",
        "message": f"'{kind.__name__}' object has no attribute '{name}'",
    }


def _has_method(path: str, name: str) -> bool:
    """Whether every object has a method that no attribute of the object covers."""
    return is_routine(path, name) and name not in _stored_by(
        signatures.found(path)
    )


def _is_slip(kind: type, name: str) -> bool:
    """Whether no object of a class has a name, which was meant for one that is there."""
    if hasattr(kind, name) or not is_like_one_of(name, kind):
        return False
    if _was_there(name, kind):
        return True
    # Parents of other packages may write the name as well.
    packages = {each.__module__.partition(".")[0] for each in kind.__mro__}
    n_modules = len(sys.modules)
    return not any(
        name in _written_in(package, n_modules)
        for package in packages - {"builtins"}
    )


def is_like_one_of(name: str, holder: Any) -> bool:
    """Whether a name may have been written for one that an object has, or had."""
    return _was_there(name, holder) or bool(
        difflib.get_close_matches(name, dir(holder), 1, _LIKE)
    )


def _was_there(name: str, holder: Any) -> bool:
    return name in _REMOVED and getattr(holder, "__name__", "") in (
        "DataFrame",
        "Series",
    )


def _tells_names(kind: type) -> bool:
    """Whether attributes are looked for in the object and its classes alone."""
    # __objclass__ tells which class's look-up in C is used.
    looks = getattr(kind.__getattribute__, "__objclass__", None)
    return looks in _LOOKING_PLAINLY and not hasattr(kind, "__getattr__")


@lru_cache(maxsize=None)
def _stored_by(kind: type) -> frozenset[str]:
    """Names that methods of a class give to objects."""
    functions = [
        each
        for base in kind.__mro__
        for each in vars(base).values()
        if isinstance(each, types.FunctionType)
    ]
    codes = [
        code
        for each in functions
        if (code := getattr(inspect.unwrap(each), "__code__", None)) is not None
    ]
    return frozenset(
        step.argval
        for code in codes
        for step in dis.get_instructions(code)
        if step.opname in _STORES
    )


@lru_cache(maxsize=None)
def _written_in(package: str, _n_modules: int) -> frozenset[str]:
    """Every name and string in the functions of a package, as far as it is loaded."""
    # All functions that are loaded: lambdas and nested ones too, which no module lists.
    names: set[str] = set()
    for each in gc.get_objects():
        # str(), as a function's __module__ may be anything.
        if (
            type(each) is types.FunctionType
            and str(each.__module__).partition(".")[0] == package
        ):
            _collect(each.__code__, names)
    return frozenset(names)


def _collect(code: types.CodeType, names: set[str]) -> None:
    names.update(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _collect(constant, names)
        else:
            names.update(
                part
                for part in (
                    constant if type(constant) is tuple else [constant]
                )
                if type(part) is str
            )
