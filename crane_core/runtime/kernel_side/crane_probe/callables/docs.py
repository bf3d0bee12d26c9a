"""What a callable says of itself: signature, public attributes of its object, and the warnings in its docstring.

Knows functions, methods, classes and builtins as they are stored, and three styles of docstring. Refuses to evaluate an
annotation, to print a default of an unknown class, and to ask an object for `__doc__` or `__signature__`.

What the target calls are chains of attributes that end in a call. Nothing is called.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any, NamedTuple

from ..anatomy import (
    MISSING,
    Names,
    class_dict,
    instance_dict,
    is_genuine,
    is_kind,
    mro_of,
    name_of,
    static_attribute,
    type_name,
)
from ..bounds import Facts, listed, stated, text, why
from ..chains.following import chain_text, stored_callable
from ..kinds import Kinds
from ..syntax.asked import Chain
from .signature_text import MAX_SIGNATURE, sections_of, signature_text

MAX_ATTRIBUTES = 60
"""Public attributes that are named; more are counted."""
MAX_NAME = 80
MAX_DOC = 200_000
"""Characters of a docstring that are read."""
_MAX_WRAPPERS = 10
# A prompt has room for no more, and each costs time.
_MOST = 60
_BUILTINS = Kinds(
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)
# They hold their owner themselves.
_BOUND_IN_C = Kinds(types.BuiltinFunctionType, types.MethodWrapperType)
_TAKES_SELF = Kinds(
    types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType
)
_STORED_IN_C = Kinds(types.GetSetDescriptorType, types.MemberDescriptorType)
# A descriptor of scikit-learn that hides `predict_proba` where the estimator has none.
_AVAILABLE_IF = "sklearn.utils._available_if._AvailableIfDescriptor"
_REAL_CALLS = ("forward", "call")
"""Where torch and Keras keep the call that `__call__(*args, **kwargs)` only passes on to."""


def documented(
    chains: tuple[Chain, ...], namespace: Names, unavailable: dict[str, str]
) -> dict[str, Facts]:
    """Docs of the callables that the target itself calls, by the text of the chain that leads to them.

    A chain that cannot be followed is listed in `unavailable`.
    """
    docs: dict[str, dict[str, Any]] = {}
    for chain in chains:
        # What functions of the notebook call is theirs; the paper documents calls of the target.
        if chain.via or len(docs) >= _MOST:
            continue
        try:
            called = stored_callable(chain, namespace, chain.first_call)
            name = chain_text(chain.name, chain.steps[: chain.first_call])
            if called is not None and name not in docs:
                docs[name] = docs_of(called.value, called.owner)
        except Exception as error:  # noqa: BLE001 - whatever following meets becomes the reason
            unavailable[chain_text(chain.name, chain.steps)] = why(error)
    return {text: found for text, found in docs.items() if found}


class _Plain(NamedTuple):
    """A callable without what binds and wraps it. `skip` counts the parameters that are given already."""

    value: Any
    skip: int
    owner: Any
    given: str = ""


def docs_of(value: Any, owner: Any = MISSING) -> Facts:
    """{"signature": text, "public_attributes": [names], "sections": {"Notes" | "Important" | "Warnings": text}}.

    A part that there is not is left out; one that cannot be had is under "unavailable" with the reason. `owner` is
    the object whose class holds `value`, for a method that is not bound.
    """
    docs: Facts = {}
    try:
        plain = _unbound(value, owner)
        doc = _doc(plain.value)
        docs["signature"] = (
            text(_signature(plain, doc), MAX_SIGNATURE) + plain.given
        )
    # Only these: anything else is a mistake here, and must be seen.
    except (ValueError, TypeError, RecursionError) as error:
        docs["unavailable"] = {"signature": why(error)}
        plain, doc = _Plain(value, 0, owner), _doc(value)
    names, sections = _public_attributes(plain.owner), sections_of(doc)
    return dict(docs, **stated(public_attributes=names, sections=sections))


def _unbound(value: Any, owner: Any) -> _Plain:
    kind = type(value)
    if kind is types.MethodType:
        return _unbound(value.__func__, value.__self__)
    if kind is classmethod:
        return _Plain(_unwrapped(value.__func__), 1, MISSING)
    if kind is staticmethod:
        return _Plain(_unwrapped(value.__func__), 0, owner)
    if kind is functools.partial:
        return _of_partial(value)
    # By name and genuine: a class of the notebook with that name may hold anything.
    if type_name(kind) == _AVAILABLE_IF and is_genuine(kind):
        return _unbound(instance_dict(value).get("fn"), owner)
    if kind in _BOUND_IN_C:
        # Functions of C modules hold their module, which does not own them.
        held, of_module = (
            value.__self__,
            is_kind(value.__self__, types.ModuleType),
        )
        return _Plain(value, 0, MISSING if held is None or of_module else held)
    plain = _unwrapped(value)
    if type(plain) in _TAKES_SELF:
        return _Plain(plain, int(owner is not MISSING), owner)
    return _Plain(plain, 0, MISSING if is_kind(plain, type) else plain)


def _of_partial(value: Any) -> _Plain:
    inner = _unbound(value.func, MISSING)
    given = [f"the first {len(value.args)}"] if value.args else []
    # A keyword of partial may be any text, or come from a dict with other keys.
    given += sorted(name for name in value.keywords if type(name) is str)
    return inner._replace(
        given=f" of which given: {', '.join(given)}" if given else inner.given
    )


def _unwrapped(value: Any) -> Any:
    """The function behind decorators that kept a trace of it (functools.wraps), without asking an unknown object."""
    for _ in range(_MAX_WRAPPERS):
        held = value.__dict__ if type(value) is types.FunctionType else {}
        if type(value) is not types.FunctionType and not is_kind(value, type):
            held = instance_dict(value)
        inner = held.get("__wrapped__", MISSING)
        # A signature that a decorator sets itself is what it wants to show.
        if (
            inner is MISSING
            or type(held.get("__signature__")) is inspect.Signature
        ):
            return value
        value = inner
    return value


def _signature(plain: _Plain, doc: str) -> str:
    try:
        return signature_text(_inspected(plain.value), plain.skip)
    # numpy's C functions have none, but their docstrings begin with it.
    except (ValueError, TypeError):
        stated = _stated_in(doc, plain.value)
        if stated:
            return stated
        raise


def _inspected(value: Any) -> inspect.Signature:
    """Raises ValueError if a callable publishes no signature."""
    kind = type(value)
    if kind is types.FunctionType:
        return _of_function(value)
    # Their signature is text in the library; no annotation of it is evaluated.
    if kind in _BUILTINS:
        return inspect.signature(value)
    if is_kind(value, type):
        # inspect.signature of a class would run its metaclass's properties.
        return _without_first(_of_function(_constructor(value)))
    held = instance_dict(value).get("__signature__")
    if type(held) is inspect.Signature:
        return held
    return _of_instance(value)


def _of_function(function: Any) -> inspect.Signature:
    held = function.__dict__.get("__signature__")
    if type(held) is inspect.Signature:
        return held
    # A property or callable as __signature__ is code.
    if held is not None:
        raise ValueError("its signature is made by code")
    # Python 3.14 evaluates annotations when they are read: asked as text, they are not.
    if sys.version_info >= (3, 14):
        import annotationlib

        return inspect.signature(
            function,
            follow_wrapped=False,
            annotation_format=annotationlib.Format.STRING,
        )
    return inspect.signature(function, follow_wrapped=False)


def _constructor(kind: type) -> Any:
    """The `__init__` or `__new__` that is lowest among the parents and is written in Python."""
    for parent in mro_of(kind):
        # __init__ first, as most classes document their parameters there.
        for name in ("__init__", "__new__"):
            found = class_dict(parent).get(name)
            found = _unwrapped(
                found.__func__ if type(found) is staticmethod else found
            )
            if type(found) is types.FunctionType:
                return found
            # `object.__init__` takes nothing, and says nothing of a class made in C.
            if found is not None and parent is not object:
                raise ValueError(
                    f"{type_name(kind)} is made by compiled code that publishes no signature"
                )
    raise ValueError(f"{type_name(kind)} takes nothing")


def _of_instance(value: Any) -> inspect.Signature:
    found = static_attribute(value, "__call__")
    function = (
        _unwrapped(found.value)
        if found is not None and found.where == "class"
        else None
    )
    if type(function) is not types.FunctionType:
        raise ValueError(
            f"an object of {type_name(type(value))} publishes no signature"
        )
    signature = _of_function(function)
    # torch's Module.__call__(*args, **kwargs) says nothing; forward does.
    if _passes_on(signature):
        for name in _REAL_CALLS:
            real = static_attribute(value, name)
            if real is not None and type(real.value) is types.FunctionType:
                return _without_first(_of_function(_unwrapped(real.value)))
    return _without_first(signature)


def _passes_on(signature: inspect.Signature) -> bool:
    kinds = [parameter.kind for parameter in signature.parameters.values()][1:]
    return bool(kinds) and set(kinds) <= {
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    }


def _without_first(signature: inspect.Signature) -> inspect.Signature:
    parameters = list(signature.parameters.values())
    # A constructor without a named self takes it among *args.
    taken = (
        bool(parameters)
        and parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL
    )
    return signature.replace(parameters=parameters[1:] if taken else parameters)


def _doc(value: Any) -> str:
    """The docstring where it is stored as text; "" elsewhere."""
    kind = type(value)
    if kind is types.FunctionType or kind in _BUILTINS:
        # The classes of these cannot be derived from, so reading is harmless.
        found = value.__doc__
    elif is_kind(value, type):
        found = class_dict(value).get("__doc__")
    else:
        found = _stored_doc(value)
    return found[:MAX_DOC] if type(found) is str else ""


def _stored_doc(value: Any) -> Any:
    found = static_attribute(value, "__doc__")
    if found is None:
        return None
    # Stored in C and read by C: no code of Python runs.
    if type(found.value) in _STORED_IN_C:
        return found.value.__get__(value)
    return found.value


def _stated_in(doc: str, value: Any) -> str | None:
    """Compiled functions often begin their docstring with their signature."""
    first = next(
        (line.strip() for line in doc.splitlines() if line.strip()), ""
    )
    name, bracket, rest = first.partition("(")
    own = _own_name(value)
    # The name must be its own: other docstrings begin with a sentence that has brackets.
    if (
        bracket
        and own is not None
        and name.rpartition(".")[2] == own
        and ")" in rest
    ):
        return "(" + rest
    return None


def _own_name(value: Any) -> str | None:
    kind = type(value)
    if kind in _BUILTINS:
        return str(value.__name__)
    if is_kind(value, type):
        return name_of(value)
    found = static_attribute(value, "__name__")
    if found is not None and type(found.value) in _STORED_IN_C:
        found = found._replace(value=found.value.__get__(value))
    return (
        found.value if found is not None and type(found.value) is str else None
    )


def _public_attributes(owner: Any) -> list[str]:
    # Attributes of modules and classes are functions, which docs of a method do not need.
    is_object = owner is not MISSING and owner is not None
    if (
        not is_object
        or is_kind(owner, type)
        or is_kind(owner, types.ModuleType)
    ):
        return []
    names = sorted(
        name
        for name in instance_dict(owner)
        if type(name) is str and not name.startswith("_")
    )
    return listed(
        [text(name, MAX_NAME) for name in names[:MAX_ATTRIBUTES]], len(names)
    )
