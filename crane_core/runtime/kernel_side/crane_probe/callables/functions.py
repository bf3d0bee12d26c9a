"""Functions, methods, modules: signature, the names from outside that a function uses, version of a module.

Knows code objects. Refuses to call, and to read a default value's repr.
"""

from __future__ import annotations

import functools
import types
from typing import Any, Sequence

from ..anatomy import (
    MISSING,
    module_dict,
    owner_of,
    package_of,
    static_attribute,
)
from ..bounds import Facts, stated
from ..chains.relevance import global_names
from .docs import docs_of

_SHOWN = 40


def signature_of(value: Any, owner: Any = MISSING) -> Facts:
    """{"signature": text}, or nothing if it is not published."""
    return stated(signature=docs_of(value, owner).get("signature"))


def signature_of_method(
    value: Any, name: str, libraries: Sequence[str]
) -> Facts:
    """{name: signature} of a method of a class outside the libraries; nothing for theirs, which is documented."""
    owner, found = owner_of(type(value), name), static_attribute(value, name)
    if owner is None or found is None or package_of(owner) in libraries:
        return {}
    return stated(**{name: signature_of(found.value, value).get("signature")})


def function(value: types.FunctionType, look: Any) -> Facts:
    """Signature, place, and the names from outside that it uses."""
    facts = dict(
        signature_of(value),
        # A notebook may set __module__ to anything.
        module=look.text(
            value.__module__ if type(value.__module__) is str else ""
        ),
    )
    # Only the notebook's own functions: names that a library's function uses are the library's.
    is_own = value.__module__ == "__main__"
    code = value.__code__
    free = [*code.co_freevars, *global_names(code)] if is_own else []
    # Built-in names are known to every reader.
    known = [
        name for name in dict.fromkeys(free) if name not in _builtins_of(value)
    ]
    values = stated(free_variables=known[:_SHOWN])
    return {"plus": {"representation": facts, "values": values}}


def _builtins_of(value: types.FunctionType) -> Any:
    held = value.__globals__.get("__builtins__")
    return held if type(held) is dict else module_dict(held)


def method(value: types.MethodType, look: Any) -> Facts:
    """A bound method: its function, and what it is bound to by type."""
    inner = look.inside([("bound_to", value.__self__)])["representation"].get(
        "bound_to", {}
    )
    facts = dict(signature_of(value), bound_to=inner.get("type"))
    return {"plus": {"representation": facts}}


def builtin(value: Any, look: Any) -> Facts:
    """A function or method in C: its signature, where it publishes one."""
    return {"plus": {"representation": signature_of(value)}}


def partial(value: Any, look: Any) -> Facts:
    """A partial: which function, with what filled in."""
    # The class's own descriptors, because a subclass may hide `func` by a property.
    parts = vars(functools.partial)
    filled = [
        *enumerate(parts["args"].__get__(value)),
        *parts["keywords"].__get__(value).items(),
    ]
    items = ((look.label(key), item) for key, item in filled)
    return {
        "plus": look.inside_as(
            "parts", [("of", parts["func"].__get__(value)), *items]
        )
    }


def module(value: Any, look: Any) -> Facts:
    """A module's name and version, from what it has loaded; nothing lazy is woken."""
    held = module_dict(value)
    name, version = held.get("__name__"), held.get("__version__")
    plus: Facts = {
        "representation": {"module": look.text(name)}
        if type(name) is str
        else {}
    }
    if type(version) is str:
        # A version that is an object of the library is not written as text.
        plus["values"] = {"version": look.text(version)}
    return {"plus": plus}


SUMMARIZERS = {
    "function": function,
    "method": method,
    **dict.fromkeys(
        (
            "builtin_function_or_method",
            "method_descriptor",
            "wrapper_descriptor",
            "method-wrapper",
            "classmethod_descriptor",
        ),
        builtin,
    ),
    "module": module,
}
