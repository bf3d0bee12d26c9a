"""Classes of the notebook: their objects, methods and bases.

Knows class bodies of plain statements. Refuses metaclasses, decorated classes and methods, and results of __getattr__.
"""

import ast
from collections.abc import Iterator
from copy import copy
from difflib import get_close_matches

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.following import follow
from crane_core.detectors.rules.interpreter import Callee, Interpreter, call_of
from crane_core.detectors.rules.operation import Arguments
from crane_core.runtime.kernel_side.crane_probe.syntax.names import bound_names

MODULE_BASES = ("torch.nn.Module", "torch.nn.modules.module.Module")
QUIET_BASES = frozenset(
    [
        *(
            *MODULE_BASES,
            "builtins.object",
            "torch.utils.data.Dataset",
            "torch.utils.data.IterableDataset",
        ),
        *(
            "keras.Model",
            "keras.models.Model",
            "keras.layers.Layer",
            "keras.callbacks.Callback",
        ),
        *(
            "keras.utils.Sequence",
            "keras.losses.Loss",
            "sklearn.base.BaseEstimator",
            "sklearn.base.TransformerMixin",
        ),
    ]
)
"""Classes of libraries whose __init__ keeps what it gets and runs nothing of the notebook."""
# A name that is missing here becomes a false AttributeError on every `nn.Module`.
# A test compares the list with the torch that is installed.
_OF_MODULE_WORDS = (
    "T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches "
    "eval extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict "
    "modules mtia named_buffers named_children named_modules named_parameters parameters register_backward_hook "
    "register_buffer register_forward_hook register_forward_pre_hook register_full_backward_hook "
    "register_full_backward_pre_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook "
    "register_module register_parameter register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ "
    "set_extra_state set_submodule share_memory state_dict to to_empty train training type xpu zero_grad"
)
_OF_MODULE = frozenset(_OF_MODULE_WORDS.split())
_OF_BASES = {
    **dict.fromkeys(MODULE_BASES, _OF_MODULE),
    "torch.utils.data.Dataset": frozenset(
        ("functions", "register_function", "register_datapipe_as_function")
    ),
}
"""Public attributes that classes of libraries have, of those classes whose attributes are all known."""
_NO_INIT = ast.parse("def __init__(self): pass").body[0]
# `__getattr__` makes attributes up, `__setattr__` may store `str(value)` instead of the value,
# and `__new__` may return 5, in which case `__init__` never runs.
_HOOKS = (
    "__getattr__",
    "__getattribute__",
    "__new__",
    "__init_subclass__",
    "__setattr__",
)


def lineage(
    interpreter: Interpreter, definition: ast.ClassDef
) -> tuple[list[ast.ClassDef], list[str] | None]:
    """The notebook's classes that a class inherits from, itself first, and the libraries' bases by path.

    None for the bases where one is not known, or where the order of several is not as simple as it looks.
    """
    classes, paths = [definition], []
    for base in definition.bases:
        value = interpreter.memory.known_name(base)
        if value is None:
            return classes, None
        # After `class Net(Net):` the base has the name of the class itself, which would not end.
        if (
            isinstance(value.definition, ast.ClassDef)
            and value.definition is not definition
        ):
            inner, inner_paths = lineage(interpreter, value.definition)
            if inner_paths is None:
                return classes, None
            classes += inner
            paths += inner_paths
        elif value.path:
            paths.append(value.path)
        else:
            return classes, None
    # A metaclass may make `Seven(rec)` return 7, and a decorator may return another class.
    return (
        classes,
        paths
        if not definition.keywords and not definition.decorator_list
        else None,
    )


def member(
    interpreter: Interpreter, receiver: AbstractValue, name: str
) -> AbstractValue | None:
    """A method or plain attribute that the notebook's classes give an object; None if they give none."""
    definition = receiver.definition
    if not isinstance(definition, ast.ClassDef):
        return None
    is_class = receiver.type in ("type", "abc.ABCMeta")
    for node in members(lineage(interpreter, definition)[0], name):
        # Any code may assign a class attribute again (`Setting.at = 0`), so its value is not known.
        if not isinstance(node, ast.FunctionDef):
            return AbstractValue()
        if node.decorator_list:
            return _decorated(node)
        bound = None if is_class else receiver
        return AbstractValue(
            "function" if is_class else "method",
            definition=node,
            bound_to=bound,
            words=name,
        )
    return None


def _decorated(node: ast.FunctionDef) -> AbstractValue:
    """A static method is as good as plain; of any other decorator nothing is known."""
    [decorator, *others] = node.decorator_list
    if (
        not others
        and isinstance(decorator, ast.Name)
        and decorator.id == "staticmethod"
    ):
        plain = copy(node)
        plain.decorator_list = []
        return AbstractValue("function", definition=plain, words=node.name)
    return AbstractValue()


def members(classes: list[ast.ClassDef], name: str) -> Iterator[ast.stmt]:
    """The last statement of each class that binds a name in it, in the order in which the name is looked for."""
    for definition in classes:
        for statement in reversed(definition.body):
            if name in set(bound_names(statement)):
                yield statement
                break


def is_super(node: ast.AST) -> bool:
    """Whether an expression is a call of `super`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "super"
    )


def has_quiet_bases(interpreter: Interpreter) -> bool:
    """Whether the method that runs is of a class with libraries' bases alone whose __init__ runs nothing."""
    running = interpreter.running[-1] if interpreter.running else None
    if not isinstance(running, ast.FunctionDef) or not running.args.args:
        return False
    owner = interpreter.memory.scope.names.get(running.args.args[0].arg)
    if (
        owner is None
        or not isinstance(owner.definition, ast.ClassDef)
        or running not in owner.definition.body
    ):
        return False
    classes, paths = lineage(interpreter, owner.definition)
    # With a base of the notebook, super() runs that class's `__init__`, which may do anything.
    return len(classes) == 1 and paths is not None and set(paths) <= QUIET_BASES


def has_hooks(classes: list[ast.ClassDef]) -> bool:
    """Whether one of the classes defines a method by which Python makes objects or attributes otherwise."""
    return any(True for hook in _HOOKS for _ in members(classes, hook))


@call_of(Callee.CLASS)
def instance(
    interpreter: Interpreter,
    kind: AbstractValue,
    arguments: Arguments,
    node: ast.AST,
) -> AbstractValue:
    """The result of calling a class of the notebook: an object after its __init__ has run."""
    definition = kind.definition
    interpreter.memory.run_unseen(kind)
    classes, paths = lineage(interpreter, definition)
    # `class Attrs(dict)` with `self.__dict__ = self` has attributes that no statement sets.
    if (
        paths is None
        or has_hooks(classes)
        or any(path.startswith("builtins.") for path in paths)
    ):
        interpreter.memory.havoc(arguments.values)
        return AbstractValue()
    made = AbstractValue(
        f"__main__.{definition.name}",
        definition=definition,
        words=f"a {definition.name}",
    )
    interpreter.made[id(made)] = made
    init = next(members(classes, "__init__"), None if paths else _NO_INIT)
    # The __init__ of a library's base is not followed.
    if init is None:
        interpreter.memory.forget(arguments.values)
        return made
    method = AbstractValue(
        "method", definition=init, bound_to=made, words="__init__"
    )
    if (
        not isinstance(init, ast.FunctionDef)
        or follow(interpreter, method, arguments, node) is None
    ):
        interpreter.memory.havoc([made, *arguments.values])
    return made


def refuse_absent(
    interpreter: Interpreter, receiver: AbstractValue, name: str, node: ast.AST
) -> None:
    """An attribute that no class of an object made here has, and that no code of the notebook sets on anything."""
    # Older objects may have more than the code shows: `vars(attrs).update(width=2)`, or a property
    # that sets `self.rows`. Every object has dunder names, such as `__class__`.
    told = receiver.fact("all_names")
    is_told = isinstance(told, list)
    if (
        id(receiver) not in interpreter.made
        and not is_told
        or name in receiver.attributes
        or name.startswith("__")
    ):
        return
    may_be_there = (
        name in told
        if is_told
        else _may_be_inherited(interpreter, receiver.definition, name)
    )
    if may_be_there or interpreter.initial.may_give_attribute(name):
        return
    names = told if is_told else receiver.attributes
    own = [held for held in names if not held.startswith("_")]
    there = get_close_matches(name, own, 1)
    why = f"{receiver.named('the object')} has no attribute {name}"
    fact = f"neither the class {receiver.class_name} nor other code sets it"
    fact += f"; it has {', '.join(own[:6])}" if own else ""
    remedy = (
        f"Write {there[0]} instead of {name}."
        if there
        else f"Set self.{name} in __init__."
    )
    interpreter.crash(node, "AttributeError", why, fact=fact, remedy=remedy)


def _may_be_inherited(
    interpreter: Interpreter, definition: ast.ClassDef, name: str
) -> bool:
    """Whether a class or its bases may have an attribute of this name, or make one up."""
    classes, paths = lineage(interpreter, definition)
    if (
        paths is None
        or has_hooks(classes)
        or any(True for _ in members(classes, name))
    ):
        return True
    # A base that is not listed may bring any attribute, so its objects are never refused one.
    return not all(
        _is_known_base(path) and name not in _OF_BASES.get(path, ())
        for path in paths
    )


def _is_known_base(path: str) -> bool:
    return path in _OF_BASES or path == "builtins.object"


def called_object(
    interpreter: Interpreter, receiver: AbstractValue
) -> AbstractValue | None:
    """The function that a call of an object runs: its __call__, of a torch module its forward."""
    definition = receiver.definition
    if not isinstance(definition, ast.ClassDef):
        return None
    own = member(interpreter, receiver, "__call__")
    if own is not None:
        return own
    if any(
        path in MODULE_BASES
        for path in lineage(interpreter, definition)[1] or ()
    ):
        # `layer.forward = lambda x, y: x` on the object hides the method of the class.
        return receiver.attributes.get("forward") or member(
            interpreter, receiver, "forward"
        )
    return None
