"""Arguments of a call that a function does not take, and missing ones that it needs.

Knows functions written in Python, by their code objects. Refuses to judge a function that another one wraps: the
wrapper may take what the wrapped one does not.
"""

from __future__ import annotations

import types
from typing import Any, Iterator, NamedTuple

from ..anatomy import MISSING, Names, class_dict, is_kind, mro_of
from ..bounds import Facts
from ..chains.following import chain_text, similar, stored_callable
from ..syntax.asked import Chain

# Flags of code objects: the function has *args, or **kwargs.
_TAKES_REST = 0x04
_TAKES_NAMED_REST = 0x08
_UNSURE = ("*", "**")


class Plain(NamedTuple):
    """A function that runs as it is; `n_given` parameters are given by what it is bound to."""

    function: types.FunctionType
    n_given: int


class Parameters(NamedTuple):
    """The parameters that a caller sets."""

    positional: tuple[str, ...]
    n_by_position_only: int
    by_name_only: tuple[str, ...]
    needed: frozenset[str]
    takes_rest: bool
    takes_named_rest: bool


def argument_mismatches(chain: Chain, namespace: Names) -> Iterator[Facts]:
    """What does not fit in the first call of a chain."""
    at = chain.first_call
    called = stored_callable(chain, namespace, at)
    if at is None or called is None:
        return
    plain = _of(called.value, is_method=called.owner is not MISSING)
    positional, named = chain.steps[at].value
    names = [name for name, _ in named]
    # `f(*args)` and `f(**options)` give a number of arguments that only running would tell.
    is_open = any(map(_is_spread, positional)) or not set(names).isdisjoint(
        _UNSURE
    )
    if plain is None or is_open:
        return
    text = chain_text(chain.name, chain.steps[:at])
    for fact in _unfit(parameters_of(plain), len(positional), names):
        yield dict({"of": text}, **fact)


def _is_spread(value: Any) -> bool:
    # The text alone says so: a starred argument has no value of its own here.
    text = getattr(value, "text", "")
    return type(text) is str and (text.startswith("*") or text == "Starred")


_CHECKED_BY_SKLEARN = "_skl_parameter_constraints"
"""Mark of a function whose wrapper binds the arguments to the parameters of the function inside."""


def _of(value: Any, *, is_method: bool) -> Plain | None:
    if type(value) is staticmethod:
        return _of(value.__func__, is_method=False)
    if type(value) is classmethod or type(value) is types.MethodType:
        return _of(value.__func__, is_method=True)
    if type(value) is types.FunctionType:
        # functools.wraps sets the first; the second is set to show other parameters than there are.
        if (
            "__wrapped__" not in value.__dict__
            and "__signature__" not in value.__dict__
        ):
            return Plain(value, int(is_method))
        inner: Any = value.__dict__.get("__wrapped__")
        # scikit-learn wraps functions to check values (since 1.2); it binds arguments as they are.
        is_checked = (
            type(inner) is types.FunctionType
            and _CHECKED_BY_SKLEARN in value.__dict__
        )
        return Plain(inner, int(is_method)) if is_checked else None
    return _of_class(value) if is_kind(value, type) else None


def _of_class(kind: type) -> Plain | None:
    """The constructor of a class that is made in the usual way."""
    # A metaclass with its own __call__ (that of Enum) may take anything.
    if any(
        "__call__" in class_dict(meta)
        for meta in mro_of(type(kind))
        if meta is not type and meta is not object
    ):
        return None
    # `object` is left out: it takes no arguments, and the classes before it decide.
    for parent in mro_of(kind)[:-1]:
        # __new__ takes the arguments first, and may pass others on.
        if "__new__" in class_dict(parent):
            return None
        if "__init__" in class_dict(parent):
            made = class_dict(parent)["__init__"]
            return (
                _of(made, is_method=True)
                if type(made) is types.FunctionType
                else None
            )
    return None


def parameters_of(plain: Plain) -> Parameters:
    """The parameters of a function, without those that it is bound to."""
    function: Any = plain.function
    code = function.__code__
    names = code.co_varnames[plain.n_given : code.co_argcount]
    by_name = code.co_varnames[
        code.co_argcount : code.co_argcount + code.co_kwonlyargcount
    ]
    defaults = function.__defaults__ or ()
    # Defaults belong to the last parameters.
    with_default = (
        {*names[max(0, len(names) - len(defaults)) :]} if defaults else set()
    )
    with_default |= set(function.__kwdefaults__ or {})
    return Parameters(
        positional=names,
        n_by_position_only=max(0, code.co_posonlyargcount - plain.n_given),
        by_name_only=by_name,
        needed=frozenset({*names, *by_name} - with_default),
        takes_rest=bool(code.co_flags & _TAKES_REST),
        takes_named_rest=bool(code.co_flags & _TAKES_NAMED_REST),
    )


def _unfit(
    parameters: Parameters, n_positional: int, named: list[str]
) -> Iterator[Facts]:
    # Parameters by position fill from the left, after those that a bound method has.
    filled = set(parameters.positional[:n_positional])
    by_name = (
        *parameters.positional[parameters.n_by_position_only :],
        *parameters.by_name_only,
    )
    if n_positional > len(parameters.positional) and not parameters.takes_rest:
        yield {
            "why": "too many arguments by position",
            "given": n_positional,
            "taken": len(parameters.positional),
        }
    for name in named:
        # **kwargs takes any name, which the function may still refuse itself: unknown.
        if name not in by_name and not parameters.takes_named_rest:
            yield {
                "argument": name,
                "why": "no such argument",
                "similar": similar(name, by_name),
            }
        # A parameter that is only by position may be given again by name to **kwargs.
        elif name in filled and name in by_name:
            yield {"argument": name, "why": "given twice"}
    for name in sorted(parameters.needed - filled - set(named)):
        yield {"argument": name, "why": "needed and not given"}
