"""Which arguments functions, classes and methods of libraries take, by their signatures; nothing is called.

Knows Python functions as they are written. What a wrapper makes of its arguments is not known, but for a few wrappers
that hand on what they get.
"""

from __future__ import annotations

import importlib
import inspect
import types
from typing import Any, Sequence

from . import operations

_HAND_ON = (
    "sklearn/utils/_param_validation.py",
    "sklearn/base.py",
    "pandas/core/strings/accessor.py",
    "tensorflow/python/util/traceback_utils.py",
    "tensorflow/python/ops/weak_tensor_ops.py",
    "keras/src/utils/traceback_utils.py",
)
"""Files whose wrappers bind the arguments to the signature of what they wrap, or hand all of them on."""
_HAND_ON_SIGNED = ("pandas/util/_decorators.py",)
"""Files of which those wrappers do so that show another signature, which takes less by position than is taken yet."""
_ELSEWHERE = {each: f"pandas.core.groupby.{each}" for each in ("DataFrameGroupBy", "SeriesGroupBy")}
"""Where classes of pandas are that are told by their name alone."""
_MOST_NAMES = 30
_MODULES = "torch.nn.modules."
_MAKES_PLAINLY = ("keras/src/layers/layer.py", "keras/src/models/sequential.py")
"""Files of a `__new__` that takes all arguments and leaves it to `__init__` to refuse them."""
_REFUSED = ("test", "_test", "conftest", "__main__")


def bound(path: str, n_positional: int, keywords: Sequence[str], *, is_method: bool) -> dict[str, Any]:
    """{"raised", "message"} where a call with so many arguments, and others by these names, cannot be bound."""
    package, _, rest = path.partition(".")
    kind, dot, own = rest.partition(".")
    path = f"{_ELSEWHERE[kind]}{dot}{own}" if package == "pandas" and kind in _ELSEWHERE else path
    if package not in operations.BOUND or any(part.startswith(_REFUSED) for part in path.split(".")):
        return {"unknown": "not on the list"}
    holder, name = _holder(path)
    signature = None
    if is_method and isinstance(holder, type):
        if name == "__call__" and path.startswith(_MODULES):
            name = "forward"  # what a call hands on to, where no hook changes it
        signature = _of_function(inspect.getattr_static(holder, name, None))
    elif not is_method and holder is not None:
        found = getattr(holder, name, None)
        if isinstance(holder, type) and hasattr(found, "__wrapped__"):
            return {"unknown": "a wrapped method without its object"}  # a wrapper may look at the object first
        signature = _of_class(found) if isinstance(found, type) else _of_function(found)
        is_method = isinstance(found, type)
    if signature is None:
        return {"unknown": "no signature that tells"}
    try:
        signature.bind(*[None] * (n_positional + is_method), **dict.fromkeys(keywords))
    except TypeError as error:
        return {"raised": "TypeError", "message": f"{name}(): {error}", "takes": _names(signature)}
    return {"unknown": "it can be bound"}


def _names(signature: inspect.Signature) -> str:
    """What it takes, in words."""
    names = [str(each).partition(":")[0].partition("=")[0].strip() for each in signature.parameters.values()]
    names = [name for name in names if name != "self"]
    return ", ".join(names[:_MOST_NAMES]) + " and others" * (len(names) > _MOST_NAMES) or "no arguments"


def is_doubtful(path: str, n_positional: int, keywords: Sequence[str]) -> bool:
    """Whether a wrapped function says that it does not take these arguments; what its wrapper does is to be tried."""
    if path.partition(".")[0] not in operations.TRIED:
        return False
    holder, name = _holder(path)
    function = getattr(holder, name, None)
    if not isinstance(function, types.FunctionType) or not hasattr(function, "__wrapped__"):
        return False
    try:
        inspect.signature(function).bind(*[None] * n_positional, **dict.fromkeys(keywords))
    except TypeError:
        return True
    return False


def found(path: str) -> Any:
    """What a dotted name stands for; None if there is no such."""
    holder, name = _holder(path)
    return getattr(holder, name, None)


def _holder(path: str) -> tuple[Any, str]:
    """The module or class that holds what a dotted name stands for, None if there is no such, and the last name."""
    *parts, name = path.split(".")
    holder: Any = importlib.import_module(parts[0])
    for at, part in enumerate(parts[1:], 2):
        if not hasattr(holder, part) and isinstance(holder, types.ModuleType):
            try:
                importlib.import_module(".".join(parts[:at]))
            except ImportError:
                return None, name
        holder = getattr(holder, part, None)
    return holder, name


def _of_class(kind: type) -> inspect.Signature | None:
    """Of a class that is made by its __init__ alone."""
    made_by = inspect.getattr_static(kind, "__new__")
    makes_plainly = made_by is vars(object)["__new__"] or _is_of(getattr(made_by, "__func__", None), _MAKES_PLAINLY)
    is_plain = type(kind).__call__ is type.__call__ and makes_plainly
    return _of_function(inspect.getattr_static(kind, "__init__", None)) if is_plain else None


def _of_function(function: Any) -> inspect.Signature | None:
    if type(function).__name__ == "_ArrayFunctionDispatcher":
        function = inspect.unwrap(function)
    while isinstance(function, types.FunctionType) and hasattr(function, "__wrapped__"):
        is_signed = "__signature__" in vars(function)
        if not _is_of(function, _HAND_ON) and not (is_signed and _is_of(function, _HAND_ON_SIGNED)):
            return None
        function = function.__wrapped__
    if not isinstance(function, types.FunctionType) or hasattr(function, "__signature__"):
        return None  # a signature that was put on it is for its reader; what it takes is another matter
    return inspect.Signature.from_callable(function)


def _is_of(function: Any, files: tuple[str, ...]) -> bool:
    """Whether a function of Python is written in one of these files of a library."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.replace("\\", "/").endswith(files)
