"""Where code comes from: installed with Python or its packages, or written by the notebook's author.

Knows file names of code objects. Refuses to call what it looks at, or to believe names that a notebook may give.
"""

from __future__ import annotations

import functools
import os
import sys
import types
from typing import Any, Iterator

from ..anatomy import (
    class_dict,
    instance_dict,
    is_genuine,
    is_kind,
    module_dict,
    module_of,
    mro_of,
    name_of,
)
from ..kinds import Kinds

# Decorators on decorators: deeper than this, it counts as unknown.
_DEEPEST = 6
# Debian's own packages lie in the second.
_INSTALLED = ("site-packages", "dist-packages")
_STANDARD = os.path.dirname(os.__file__)  # noqa: PTH120 - pathlib may not be loaded here
_METHOD = types.MethodType
_FUNCTION = types.FunctionType
_PYTHON_CODE = Kinds(_FUNCTION, _METHOD)
# Only these can be run by what takes them: data among the arguments runs nothing.
_CALLED_LATER = Kinds(_FUNCTION, _METHOD, functools.partial)
_HOLDERS_OF_FUNCTIONS = Kinds(types.ModuleType, type(None))
"""What a builtin function of a module says it is bound to."""


def functions_of(value: Any, depth: int = 0) -> Iterator[Any]:
    """The Python functions that a call of `value` runs, as far as they are known; None for each that cannot."""
    if depth > _DEEPEST:
        yield None
    elif type(value) is _FUNCTION:
        yield value
        yield from _wrapped(value, depth)
    elif type(value) is _METHOD:
        yield from functions_of(value.__func__, depth + 1)
    elif is_kind(value, functools.partial):
        for part in parts_of_partial(value):
            yield from functions_of(part, depth + 1)
    elif type(value) is types.BuiltinFunctionType:
        # `rows.append` is a builtin, too, and changes what the notebook holds.
        # `re.compile` is bound to its module and changes nothing of the notebook.
        if type(value.__self__) not in _HOLDERS_OF_FUNCTIONS:
            yield None
    elif is_kind(value, type):
        yield from _of_class(value)
    else:
        yield from _of_object(value, depth)


def _wrapped(value: Any, depth: int) -> Iterator[Any]:
    """What a decorator put into a function, which the function calls."""
    for cell in value.__closure__ or ():
        try:
            held = cell.cell_contents
        except ValueError:  # it has not been given a value yet
            continue
        if type(held) in _PYTHON_CODE:
            yield from functions_of(held, depth + 1)


def parts_of_partial(value: Any) -> list[Any]:
    """The function that a partial calls, and those of its arguments that can be called."""
    members = vars(functools.partial)
    # Members of the class, because a subclass may hide `func` and `args` by its own.
    called: Any = members["func"]
    given: Any = members["args"]
    parts = [called.__get__(value), *given.__get__(value)]
    return [
        parts[0],
        *(part for part in parts[1:] if type(part) in _CALLED_LATER),
    ]


def _of_class(kind: type) -> Iterator[Any]:
    """The methods that the notebook's own classes give, without those of Python and its packages."""
    for parent in mro_of(kind):
        if is_own_class(parent):
            yield None


def _of_object(value: Any, depth: int) -> Iterator[Any]:
    for parent in mro_of(type(value)):
        called = class_dict(parent).get("__call__")
        if called is not None:
            # A `__call__` that is not a function of Python is C code of a library.
            yield from (
                functions_of(called, depth + 1)
                if type(called) is _FUNCTION
                else ()
            )
            return


def is_own(value: Any) -> bool:
    """Whether calling this may run code of the notebook, or of a file beside it."""
    return any(
        function is None or is_own_function(function)
        for function in functions_of(value)
    )


def is_own_class(kind: type) -> bool:
    """Whether some method of the class is code of the notebook, or of a file beside it."""
    for part in class_dict(kind).values():
        how = type(part)
        # A staticmethod holds the function whose file tells; other descriptors are taken as they
        # are.
        held = (
            part.__func__ if how is staticmethod or how is classmethod else part
        )
        if type(held) is _FUNCTION and is_own_function(held):
            return True
    return False


def is_of_own_class(value: Any) -> bool:
    """Whether an object is of a class that the notebook wrote, or derives from one."""
    return any(is_own_class(kind) for kind in mro_of(type(value)))


def is_own_function(function: Any) -> bool:
    """False for code of Python's own files, of installed packages, and of this probe."""
    name: str = function.__code__.co_filename
    # The probe's modules have no files: they came as text.
    if name.startswith(("<crane_", "<frozen ")):
        return False
    if not name.startswith("<"):
        # Names in angle brackets are cells ("<ipython-input-...>") and generated code.
        return not is_installed(name)
    # Made at run time: by `exec` of the notebook, or by a library such as attrs, in whose names it stands.
    stands_in = str(function.__globals__.get("__name__")).partition(".")[0]
    module = module_dict(sys.modules.get(stands_in))
    path = module.get("__file__")
    # The notebook's own `__main__` has no file, and is not built in.
    return not (
        is_installed(path)
        if type(path) is str
        else stands_in in sys.builtin_module_names
    )


def is_installed(path: str) -> bool:
    """Whether a file lies among those of Python and its installed packages."""
    # crane_core may be installed in place, so that no part of its path says site-packages.
    ours = module_dict(sys.modules.get("crane_core")).get("__file__")
    return _lies_installed(path, ours if type(ours) is str else None)


# Each look asks about the files of a thousand modules, which are the same ones as the last time.
@functools.lru_cache(maxsize=8192)
def _lies_installed(path: str, ours: str | None) -> bool:
    if path.startswith(_STANDARD):
        return True
    if ours is not None and path.startswith(os.path.dirname(ours)):  # noqa: PTH120
        return True
    return any(
        part in _INSTALLED for part in path.replace(os.sep, "/").split("/")
    )


def sources(*, with_installed: bool) -> Iterator[tuple[str, Any, str]]:
    """Name, module and source file of each loaded module; those that are not installed are of the author."""
    for name, module in list(sys.modules.items()):
        path: Any = module_dict(module).get("__file__")
        is_source = (
            type(name) is str and type(path) is str and path.endswith(".py")
        )
        if (
            is_source
            # The notebook itself has no file that was imported; multiprocessing gives it a second
            # name.
            and name not in ("__main__", "__mp_main__")
            and (with_installed or not is_installed(path))
        ):
            yield name, module, path


def module_of_code(function: Any) -> str:
    """The module in which a function was written; empty where its names are not those of a loaded module."""
    name = function.__globals__.get("__name__")
    if type(name) is not str:
        return ""
    # A notebook may set `__name__` to that of a library: only the module's own dict counts.
    return (
        name
        if module_dict(sys.modules.get(name)) is function.__globals__
        else ""
    )


def is_of(kind: type, packages: frozenset[str]) -> bool:
    """Whether a class is one that a package of these defines: its module holds it under its name."""
    return module_of(kind).partition(".")[0] in packages and is_genuine(kind)


def called(value: Any) -> str:
    """The name of a function or object: its name, else that of its class."""
    if type(value) is _METHOD:
        return called(value.__func__)
    if type(value) is _FUNCTION:
        name: str = value.__name__
        return name
    if is_kind(value, functools.partial):
        return called(
            instance_dict(value).get("func", parts_of_partial(value)[0])
        )
    if is_kind(value, type):
        return name_of(value)
    if type(value) is types.BuiltinFunctionType:
        return value.__name__
    return name_of(type(value))
