"""Which arguments functions, classes and methods of libraries take, by their signatures; nothing is called.

Knows Python functions as they are written. What a wrapper makes of its arguments is not known, but for a few wrappers
that hand on what they get. Functions that are not written in Python have no signature to trust: these few get objects
that are good for nothing, and only what they say of the number and names of arguments counts.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
import types
from functools import lru_cache
from typing import Any, Sequence

from . import operations
from .asked import of_python

_HAND_ON = (
    "sklearn/utils/_param_validation.py",
    "sklearn/base.py",
    "sklearn/utils/_set_output.py",
    "pandas/core/strings/accessor.py",
    "tensorflow/python/util/traceback_utils.py",
    "tensorflow/python/ops/weak_tensor_ops.py",
    "keras/src/utils/traceback_utils.py",
)
"""Files whose wrappers bind the arguments to the signature of what they wrap, or hand all of them on."""
# `KMeans.fit(X)` is a frequent slip: the class in place of an object.
_OF_ESTIMATORS = ("sklearn/base.py",)
_HAND_ON_SIGNED = ("pandas/util/_decorators.py",)
"""Files of which those wrappers do so that show another signature, which takes less by position than is taken yet."""
_ELSEWHERE = {
    each: f"pandas.core.groupby.{each}"
    for each in ("DataFrameGroupBy", "SeriesGroupBy")
}
"""Where classes of pandas are of which only the name is stated."""
# numpy and pandas have functions of 50 parameters.
_MOST_NAMES = 30
_MODULES = "torch.nn.modules."
_MAKES_PLAINLY = ("keras/src/layers/layer.py", "keras/src/models/sequential.py")
"""Files of a `__new__` that takes all arguments and leaves it to `__init__` to refuse them."""
# What runs tests or programs, not what is read.
_REFUSED = ("test", "_test", "conftest", "__main__")
_NOT_PYTHON = ("numpy", "pandas", "torch", *of_python.MODULES)
"""Packages whose functions that are not written in Python are called with objects that are good for nothing."""
_NOT_CALLED = ("_", "set", "init", "fork", "sync", "wait")
"""How names begin of what may change this process before it looks at its arguments."""
_DESCRIBED = ("method_descriptor", "cython_function_or_method")
_COMPILED = (
    *_DESCRIBED,
    "builtin_function_or_method",
    "ufunc",
    "method",
    "_ArrayFunctionDispatcher",
)
# Made of little, so that most classes can be made at all.
_SAMPLES: Sequence[Sequence[Any]] = ((2,), (), ("2020",))
# Python's and Cython's own words; anything else may be about the objects.
_OF_COUNT = re.compile(
    r"takes (?:at most|at least|exactly|from|no|\d+|\d or \d) |expected (?:at most|at least|\d+) "
    r"|missing (?:\d+ )?required |unexpected keyword argument|invalid keyword argument|needs an argument"
    r"|got multiple values for|exactly \w+ arguments expected"
)


class _Unusable:
    """Good for nothing: a function that asks it for anything is refused."""

    __slots__ = ()


def bound(
    path: str, n_positional: int, keywords: Sequence[str], *, kind: str
) -> dict[str, Any]:
    """{"raised", "message"} where a call with so many arguments, and others by these names, cannot be bound.

    `kind`: a "call", a "call of data" whose first argument is an array, table or list, a "method" of an object, or a
    "method of made" on the result of calling its class.
    """
    path = _full_path(path)
    if not _may_be_bound(path):
        return {"unknown": "not on the list"}
    holder, name = _holder(path)
    is_method = kind.startswith("method")
    # Another class may take other arguments in a method of the same name.
    if kind == "method of made" and not is_made_of_anything(holder):
        return {"unknown": "an object of another class"}
    # Compiled functions first, as they have no signature to be trusted.
    refused = _refused_by_compiled(
        holder, path, n_positional, keywords, is_method=is_method
    )
    if refused is None and not is_method:
        refused = _refused_first(getattr(holder, name, None), holder, kind)
    if refused is not None:
        return refused
    # Module.__call__ takes anything and hands it to forward, where no hook changes it.
    if is_method and name == "__call__" and path.startswith(_MODULES):
        name = "forward"
    signature, takes_self = _signature(holder, name, is_method=is_method)
    if signature is None:
        return {"unknown": "no signature that tells"}
    try:
        # None for each argument: binding looks at their number and names alone.
        signature.bind(
            *[None] * (n_positional + takes_self), **dict.fromkeys(keywords)
        )
    except TypeError as error:
        return {
            "raised": "TypeError",
            "message": f"{name}(): {error}",
            "takes": _names(signature),
        }
    return {"unknown": "it can be bound"}


def _full_path(path: str) -> str:
    """The path with the module of a class of which pandas tells only the name."""
    package, _, rest = path.partition(".")
    owner, dot, own = rest.partition(".")
    if package == "pandas" and owner in _ELSEWHERE:
        return f"{_ELSEWHERE[owner]}{dot}{own}"
    return path


def _may_be_bound(path: str) -> bool:
    parts = path.split(".")
    is_listed = parts[0] in operations.BOUND | of_python.MODULES
    return is_listed and not any(part.startswith(_REFUSED) for part in parts)


def _signature(
    holder: Any, name: str, *, is_method: bool
) -> tuple[inspect.Signature | None, bool]:
    """The signature of what is called, and whether its first argument is an object that the caller does not write."""
    if is_method:
        return _of_function(_method(holder, name)), True
    function = getattr(holder, name, None)
    if isinstance(function, type):
        return _of_class(function), True
    return _of_function(function), False


def _refused_first(
    function: Any, holder: Any, kind: str
) -> dict[str, Any] | None:
    """What is said of a call before its arguments matter; None for nothing."""
    if isinstance(function, types.ModuleType):
        return {
            "raised": "TypeError",
            "message": "'module' object is not callable",
        }
    if isinstance(holder, type) and hasattr(
        function, "__wrapped__"
    ):  # a wrapper may look at the object first
        return (
            _without_object(function)
            if kind == "call of data"
            else {"unknown": "without its object"}
        )
    return None


def _without_object(method: Any) -> dict[str, Any]:
    """`KMeans.fit(X)`: what scikit-learn's wrapper of a method asks of the data that stand where its object should."""
    if not _is_of(method, _OF_ESTIMATORS):
        return {"unknown": "another wrapper"}
    try:
        method(_Unusable())
    except Exception as error:  # noqa: BLE001 - the wrapper looks at the object first, or nothing is said
        # `error.obj` is ours: the wrapper asked the data for an attribute of an estimator.
        if isinstance(error, AttributeError) and type(error.obj) is _Unusable:
            return {
                "raised": "AttributeError",
                "message": f"the data has no attribute '{error.name}'",
            }
    return {"unknown": "without its object"}


def _refused_by_compiled(
    holder: Any,
    path: str,
    n_positional: int,
    keywords: Sequence[str],
    *,
    is_method: bool,
) -> dict[str, Any] | None:
    """What a function that is not written in Python says of the number and names of its arguments."""
    function = _compiled(holder, path, is_method=is_method)
    if function is None:
        return None
    said = ""
    # torch takes sizes as separate integers, which a useless object cannot be.
    for each in (
        (_Unusable(), 1) if path.startswith("torch.") else (_Unusable(),)
    ):  # torch takes sizes one by one
        try:
            function(*[each] * n_positional, **dict.fromkeys(keywords, each))
        except TypeError as error:
            said = str(error)
        # It accepted the number of arguments, and refused what they are.
        except Exception:  # noqa: BLE001 - whatever else it says is about the objects that it got
            return None
        else:
            return None
        if not _OF_COUNT.search(said) or _Unusable.__name__ in said:
            return None
    return {"raised": "TypeError", "message": said}


def _compiled(holder: Any, path: str, *, is_method: bool) -> Any:
    """The function of a path if it is not written in Python and may be called with anything; a method has an object."""
    name = path.rpartition(".")[2]
    if not _may_be_called(path, name):
        return None
    if is_method:
        # A method needs an object, and only of these kinds it looks at arguments before it.
        is_described = _kind(_method(holder, name)) in _DESCRIBED
        return getattr(_sample(holder), name, None) if is_described else None
    function = getattr(holder, name, None)
    if isinstance(function, type):
        return function if _is_compiled_class(function) else None
    # Functions of Cython in a class check the class of their object first.
    kind = _kind(function)
    if kind == "cython_function_or_method" and isinstance(holder, type):
        return None
    return (
        function if kind in _COMPILED and not _is_of_python(function) else None
    )


def _method(holder: Any, name: str) -> Any:
    """What a class holds by a name, not bound to anything; None of anything but a class."""
    is_class = isinstance(holder, type)
    return inspect.getattr_static(holder, name, None) if is_class else None


def _may_be_called(path: str, name: str) -> bool:
    """Whether a call with useless objects certainly does nothing else than look at them."""
    package, _, rest = path.partition(".")
    # Names that begin so may start threads, wait, or change settings of the process.
    if name in operations.NEVER or name.startswith(_NOT_CALLED):
        return False
    if package == "builtins":
        return rest.partition(".")[0] in of_python.ONLY_LOOKING
    return package in _NOT_PYTHON


def _is_compiled_class(kind: type) -> bool:
    makers = [
        inspect.getattr_static(kind, name) for name in ("__new__", "__init__")
    ]
    functions = [getattr(each, "__func__", each) for each in makers]
    is_written = any(isinstance(each, types.FunctionType) for each in functions)
    # A metaclass may look at the arguments first.
    return type(kind) is type and not is_written


def _is_of_python(function: Any) -> bool:
    """Whether what is called in the end is a function of Python, under wrappers or bound to a class."""
    bound_to_class = getattr(function, "__func__", None)
    innermost = inspect.unwrap(function)
    return any(
        isinstance(each, types.FunctionType)
        for each in (innermost, bound_to_class)
    )


def _kind(function: Any) -> str:
    return type(function).__name__


def _sample(kind: type) -> Any:
    """Some object of a class; None if it cannot be made of next to nothing."""
    for given in _SAMPLES:
        with contextlib.suppress(Exception):  # the next may do
            return kind(*given)
    return None


def _names(signature: inspect.Signature) -> str:
    """What it takes, in words."""
    names = [
        str(each).partition(":")[0].partition("=")[0].strip()
        for each in signature.parameters.values()
    ]
    # `self` is not something that a caller gives.
    names = [name for name in names if name != "self"]
    return (
        ", ".join(names[:_MOST_NAMES])
        + " and others" * (len(names) > _MOST_NAMES)
        or "no arguments"
    )


def is_doubtful(path: str, n_positional: int, keywords: Sequence[str]) -> bool:
    """Whether a wrapped function says that it does not take these arguments; what its wrapper does is to be tried."""
    if path.partition(".")[0] not in operations.TRIED:
        return False
    holder, name = _holder(path)
    function = getattr(holder, name, None)
    if not isinstance(function, types.FunctionType) or not hasattr(
        function, "__wrapped__"
    ):
        return False
    # A wrapper may take what the wrapped function does not: it is tried for real.
    try:
        inspect.signature(function).bind(
            *[None] * n_positional, **dict.fromkeys(keywords)
        )
    except TypeError:
        return True
    return False


def found(path: str) -> Any:
    """What a dotted name refers to; None if there is no such."""
    holder, name = _holder(path)
    return getattr(holder, name, None)


@lru_cache(maxsize=None)
def _holder(path: str) -> tuple[Any, str]:
    """The module or class that holds what a dotted name refers to, None if there is no such, and the last name."""
    *parts, name = path.split(".")
    holder: Any = importlib.import_module(parts[0])
    for at, part in enumerate(parts[1:], 2):
        if not hasattr(holder, part) and isinstance(holder, types.ModuleType):
            try:
                importlib.import_module(".".join(parts[:at]))
            # A path may name a module that this release has not got.
            except ImportError:
                return None, name
        holder = getattr(holder, part, None)
    return holder, name


def _of_class(kind: type) -> inspect.Signature | None:
    """Of a class that is made by its __init__ alone."""
    return (
        _of_function(inspect.getattr_static(kind, "__init__", None))
        if is_made_plainly(kind)
        else None
    )


def is_made_of_anything(kind: Any) -> bool:
    """Whether this is a class whose call returns an object of this very class, whatever its parameters are."""
    if not isinstance(kind, type) or not is_made_plainly(kind):
        return False
    return any(base.__name__ == "BaseEstimator" for base in kind.__mro__)


def is_made_plainly(kind: type) -> bool:
    """Whether a call of a class returns an object of this very class, made by its __init__."""
    # Its own `__new__` may return an object of another class.
    made_by = inspect.getattr_static(kind, "__new__")
    makes_plainly = made_by is vars(object)["__new__"] or _is_of(
        getattr(made_by, "__func__", None), _MAKES_PLAINLY
    )
    return type(kind).__call__ is type.__call__ and makes_plainly


def _of_function(function: Any) -> inspect.Signature | None:
    if type(function).__name__ == "_ArrayFunctionDispatcher":
        # NumPy's dispatchers hold the Python function that they stand for.
        function = inspect.unwrap(function)
    while isinstance(function, types.FunctionType) and hasattr(
        function, "__wrapped__"
    ):
        is_signed = "__signature__" in vars(function)
        # Any other wrapper may change its arguments.
        if not _is_of(function, _HAND_ON) and not (
            is_signed and _is_of(function, _HAND_ON_SIGNED)
        ):
            return None
        function = function.__wrapped__
    if not isinstance(function, types.FunctionType) or hasattr(
        function, "__signature__"
    ):
        return None  # a signature that was put on it is for its reader; what it takes is another matter
    return inspect.Signature.from_callable(function)


def _is_of(function: Any, files: tuple[str, ...]) -> bool:
    """Whether a function of Python is written in one of these files of a library."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.replace("\\", "/").endswith(
        files
    )
