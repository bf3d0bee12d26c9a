"""Functions, classes and modules of the notebook, and what connects them: methods, closures, references."""

from __future__ import annotations

import marshal
import types
import weakref
from typing import Any

from ..anatomy import class_dict
from ..kinds import Kinds
from .kinds import Parts, StateKind

_SLOTS = Kinds(types.GetSetDescriptorType, types.MemberDescriptorType)
_MADE_BY_PYTHON = frozenset(
    (
        "__dict__",
        "__weakref__",
        "__doc__",
        "__module__",
        "_abc_impl",
        "__annotations_cache__",
    )
)


def _function_parts(value: Any) -> Parts:
    names = (value.__name__, value.__qualname__, value.__module__)
    cells = list(value.__closure__ or ())
    fixed = [value.__code__, value.__defaults__, value.__kwdefaults__]
    return names, fixed + cells


def _restore_function(value: Any, plain: Any, children: list[Any]) -> None:
    value.__code__, value.__defaults__, value.__kwdefaults__ = children[:3]
    value.__name__, value.__qualname__, value.__module__ = plain


def _cell_parts(value: Any) -> Parts:
    try:
        return True, [value.cell_contents]
    except ValueError:
        return False, []


def _restore_cell(value: Any, plain: Any, children: list[Any]) -> None:
    if plain:
        value.cell_contents = children[0]
    else:
        del value.cell_contents


def _built_in_method_parts(value: Any) -> Parts:
    return value.__name__, [value.__self__]


def _property_parts(value: Any) -> Parts:
    return None, [value.fget, value.fset, value.fdel]


def _wrapper_parts(value: Any) -> Parts:
    return None, [value.__func__]


def _weak_parts(value: Any) -> Parts:
    target = weakref.ref.__call__(value)
    return target is not None, [target]


def _exception_parts(value: Any) -> Parts:
    return None, [value.args]


def _restore_exception(value: Any, _: Any, children: list[Any]) -> None:
    value.args = children[0]


def _class_parts(cls: Any) -> Parts:
    held = _body(cls)
    return tuple(held), [*held.values(), *cls.__bases__]


def _body(cls: type) -> dict[str, Any]:
    """What the body of a class defined, and what was set on it since."""
    return {
        name: item
        for name, item in class_dict(cls).items()
        if name not in _MADE_BY_PYTHON and type(item) not in _SLOTS
    }


def _restore_class(cls: Any, names: Any, children: list[Any]) -> None:
    held = _body(cls)
    wanted = dict(zip(names, children))
    for name in held:
        if name not in wanted:
            type.__delattr__(cls, name)
    for name, item in wanted.items():
        if name not in held or held[name] is not item:
            type.__setattr__(cls, name, item)


def _module_parts(module: Any) -> Parts:
    held = {
        name: item
        for name, item in vars(module).items()
        if type(name) is str and not name.startswith("__")
    }
    return tuple(held), [*held.values()]


def _restore_module(module: Any, names: Any, children: list[Any]) -> None:
    held = vars(module)
    wanted = dict(zip(names, children))
    for name in _module_parts(module)[0]:
        if name not in wanted:
            del held[name]
    held.update(wanted)


CLASS = StateKind("class", _class_parts, _restore_class, has_state=False)
"""Of classes of the notebook; transfer.py makes a new one."""
MODULE = StateKind("module", _module_parts, _restore_module, has_state=False)
"""Of modules that are files beside the notebook."""
FUNCTION = StateKind("function", _function_parts, _restore_function)
"""Of functions of the notebook: transfer.py builds one, as that takes the notebook's names."""
KINDS: dict[type, StateKind] = {
    types.CodeType: StateKind(
        "code",
        lambda value: (marshal.dumps(value, 2), []),
        build=lambda _, plain, __: marshal.loads(plain),  # noqa: S302 - from the kernel's own copy
    ),
    types.CellType: StateKind(
        "cell",
        _cell_parts,
        _restore_cell,
        blank=lambda _, __: types.CellType(),
    ),
    types.MethodType: StateKind(
        "method",
        lambda value: (None, [value.__func__, value.__self__]),
        build=lambda _, __, children: types.MethodType(*children),
    ),
    types.BuiltinMethodType: StateKind(
        "built-in method",
        _built_in_method_parts,
        build=lambda _, plain, children: getattr(children[0], plain),
    ),
    property: StateKind(
        "property",
        _property_parts,
        build=lambda kind, _, children: kind(*children),
    ),
    staticmethod: StateKind(
        "static method",
        _wrapper_parts,
        build=lambda kind, _, children: kind(*children),
    ),
    classmethod: StateKind(
        "class method",
        _wrapper_parts,
        build=lambda kind, _, children: kind(*children),
    ),
    weakref.ref: StateKind(
        "weak reference",
        _weak_parts,
        build=lambda _, plain, children: weakref.ref(children[0]),
    ),
    BaseException: StateKind("exception", _exception_parts, _restore_exception),
}
"""By class, as in of_containers.py."""
