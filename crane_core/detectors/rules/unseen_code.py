"""Code of the notebook that runs without being called by name: handlers, callbacks, finalizers, descriptors, threads.

Knows where such code is handed over, and which names it may change. Refuses to know when it runs: what it may change is
not known at any time.
"""

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from crane_core.detectors.rules import bindings
from crane_core.runtime.kernel_side.crane_probe.syntax.names import (
    arguments_of,
    bound_names,
    called_name,
    local_names,
)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_QUIET_DECORATORS_WORDS = (
    "staticmethod classmethod wraps dataclass abstractmethod override overload final no_grad inference_mode njit jit "
    "vectorize_ function tf_function total_ordering"
)
_QUIET_DECORATORS = frozenset(_QUIET_DECORATORS_WORDS.split())
"""Decorators after which a function runs only when it is called by its name, and can be followed as far as before."""
_RUN_AT_ONCE_WORDS = (
    "apply map applymap transform agg aggregate pipe filter groupby sort sort_values assign rename reduce "
    "fromiter apply_along_axis"
)
_RUN_AT_ONCE = frozenset(_RUN_AT_ONCE_WORDS.split())
"""Methods that run what they get before they return, and keep none of it."""
_RUN_AT_ONCE_FUNCTIONS = frozenset(
    [
        "sorted",
        "min",
        "max",
        "print",
        "isinstance",
        "callable",
        "type",
        "repr",
        "id",
    ]
)
_READING_WORDS = (
    "get keys values items copy index count format join split strip lower upper startswith endswith replace head tail "
    "mean sum std min max astype to_numpy to_dict iterrows itertuples tolist reshape view size dim unsqueeze squeeze "
    "float long int to cpu detach numpy item predict transform isin unique nunique any all encode decode"
)
_READING = frozenset(_READING_WORDS.split())
_CHANGING_WORDS = (
    "append extend insert pop remove clear update add discard setdefault popitem appendleft popleft extendleft put "
    "put_nowait sort reverse write writelines __setitem__ __delitem__ fill set"
)
_CHANGING = frozenset(_CHANGING_WORDS.split())
"""Methods that change their object, and may be handed over as they are: `finalize(r, gone.update)`."""
_CHANGING_BUILTINS = ("next", "setattr", "delattr", "iter", "map", "filter")
_QUIET_BASES_WORDS = (
    "object Module Dataset IterableDataset Model Layer Sequence Loss BaseEstimator TransformerMixin ClassifierMixin "
    "RegressorMixin ClusterMixin Enum IntEnum StrEnum ABC Protocol NamedTuple TypedDict Generic dict list tuple set "
    "str int float OrderedDict defaultdict UserDict Counter BaseModel LightningModule"
)
_QUIET_BASES = frozenset(_QUIET_BASES_WORDS.split())
"""Last parts of the names of classes that run methods only for what the target does with their objects by name."""
_DEEPEST = 5
_DOORS = frozenset(
    ["globals", "exec", "eval", "get_ipython", "__main__", "__builtins__"]
)
_DOOR_ATTRIBUTES = frozenset(
    [
        "modules",
        "user_ns",
        "user_global_ns",
        "_getframe",
        "currentframe",
        "f_globals",
        "f_locals",
        "__globals__",
    ]
)
"""What leads to the names of the notebook."""
_CALLED_BY_NAME = frozenset(["globals", "exec", "eval", "get_ipython"])
"""Those of which a direct call in the target is followed as such."""


@dataclass(frozen=True, slots=True)
class UnseenEffects:
    """`names` may stand for something else at any time, `changed` hold something else, and so may objects of `classes`.

    `is_any`: any name may. `doors` are names that lead to the notebook's own.
    """

    names: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    is_any: bool = False

    def touches(self, name: str) -> bool:
        """Whether unseen code may assign the name, or change its object."""
        return name in self.names or name in self.changed


@dataclass(slots=True)
class _CellDefinitions:
    """What the cells define: functions and classes by name, methods by theirs, and what imports name."""

    functions: dict[str, list[ast.AST]] = field(
        default_factory=lambda: defaultdict(list)
    )
    classes: dict[str, list[ast.ClassDef]] = field(
        default_factory=lambda: defaultdict(list)
    )
    imported: set[str] = field(default_factory=set)
    doors: set[str] = field(default_factory=set)


def unseen_effects(
    ran: Sequence[ast.Module], target: ast.Module
) -> UnseenEffects:
    """What code that was handed over in the cells that ran, or is in the target, may change out of sight."""
    trees = [*ran, target]
    # Walked through once: each question below is about all nodes of a cell.
    walked = [list(ast.walk(tree)) for tree in trees]
    notebook = _read(walked)
    kept = [code for nodes in walked for code in _kept(nodes, notebook)]
    names, changed, is_any = _effects_of(kept, notebook)
    for nodes in walked:
        given = (*_methods_handed_over(nodes), *_given_along(nodes, notebook))
        changed.update(name for name in given if _is_variable(name, notebook))
    classes: set[str] = set()
    for definitions in notebook.classes.values():
        for definition in definitions:
            classes.update(_self_changing(definition, notebook))
    return UnseenEffects(
        frozenset(names),
        frozenset(changed),
        frozenset(classes),
        is_any or _opens(target, notebook),
    )


def _read(walked: Iterable[list[ast.AST]]) -> _CellDefinitions:
    found = _CellDefinitions()
    for node in (node for nodes in walked for node in nodes):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.functions[node.name].append(node)
        elif isinstance(node, ast.ClassDef):
            found.classes[node.name].append(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.imported.update(bound_names(node))
            # `import __main__ as here; here.rows = 1` assigns a name of the notebook.
            is_main = any(alias.name == "__main__" for alias in node.names)
            found.doors.update(bound_names(node) if is_main else ())
        elif isinstance(node, ast.Assign):
            _read_assignment(node, found)
    return found


def _read_assignment(node: ast.Assign, found: _CellDefinitions) -> None:
    names = [
        target.id for target in node.targets if isinstance(target, ast.Name)
    ]
    if isinstance(node.value, ast.Lambda):
        for name in names:
            found.functions[name].append(node.value)
    elif _is_door(node.value):
        found.doors.update(names)


def _is_door(node: ast.AST) -> bool:
    """Whether an expression is a way to the notebook's names itself, not what is read from there."""
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        # `vars()` leads to the notebook's names, `vars(box)` to the attributes of an object.
        if name in ("vars", "locals"):
            return not node.args
        # `run = exec` is a way to names, `x = eval('1')` only what was read by one.
        return _is_door(node.func) and name not in ("eval", "exec")
    if isinstance(node, ast.Subscript):
        return (
            isinstance(node.slice, ast.Constant)
            and node.slice.value == "__main__"
        )
    if isinstance(node, ast.Attribute):
        return node.attr in _DOOR_ATTRIBUTES
    return isinstance(node, ast.Name) and node.id in _DOORS


# What is handed over


def _kept(
    nodes: list[ast.AST], notebook: _CellDefinitions
) -> Iterator[ast.AST]:
    """Functions, lambdas and methods that something else may call."""
    harmless = _harmless_mentions(nodes)
    for node in nodes:
        match node:
            # After `@functools.lru_cache` the name leads to a cache, which runs the function.
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if _is_wrapped(node):
                    yield node
            case ast.ClassDef():
                yield from _kept_methods(node, notebook)
            case _ if id(node) in harmless:
                pass
            case ast.Lambda():
                yield node
            # The attribute is a bound method: `timer(beds.water)`.
            case (
                ast.Name(name, ast.Load())
                | ast.Attribute(attr=name, ctx=ast.Load())
            ):
                yield from notebook.functions.get(name, ())


def _harmless_mentions(nodes: list[ast.AST]) -> set[int]:
    """Mentions of functions that hand none of them over, by id: called there, or run before the step is over."""
    found: list[ast.AST] = []
    for node in nodes:
        match node:
            case ast.Call(function):
                found.append(function)
                if _runs_at_once(function):
                    found += arguments_of(node)
            case ast.Attribute(holder):
                found.append(holder)
            case ast.Assign(targets, ast.Lambda() as made):
                # `f = lambda: 0` hands nothing over; each later mention of f
                # does.
                if all(isinstance(target, ast.Name) for target in targets):
                    found.append(made)
            case ast.ClassDef(bases=bases):
                found += bases
    return set(map(id, found))


def _runs_at_once(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        # By the method's name alone: of what type the object is, statements do not say.
        return function.attr in _RUN_AT_ONCE
    return (
        isinstance(function, ast.Name) and function.id in _RUN_AT_ONCE_FUNCTIONS
    )


def _is_wrapped(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
) -> bool:
    return any(
        called_name(decorator) not in _QUIET_DECORATORS
        for decorator in node.decorator_list
    )


def _kept_methods(
    definition: ast.ClassDef, notebook: _CellDefinitions
) -> Iterator[ast.AST]:
    """Methods that Python calls by itself; of a library's class those that the library may call too."""
    # `class Bed(Plant, kind="herb")` hands the class to __init_subclass__ or to
    # a metaclass.
    is_registered = _is_wrapped(definition) or bool(definition.keywords)
    is_of_library = _has_library_base(definition, notebook)
    for node in definition.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            # `beds.sort()` runs `__lt__` and `del bed` runs `__del__`, without naming them.
            is_pythons = node.name.startswith("__") and node.name != "__init__"
            # `log.warning('dry')` calls `emit` of a handler, as its base is of a library.
            if (
                is_pythons
                or is_registered
                or is_of_library
                and node.name != "__init__"
            ):
                yield node


def _has_library_base(
    definition: ast.ClassDef, notebook: _CellDefinitions, depth: int = 0
) -> bool:
    return depth > _DEEPEST or any(
        not _is_quiet_base(base, notebook, depth) for base in definition.bases
    )


def _is_quiet_base(
    base: ast.expr, notebook: _CellDefinitions, depth: int
) -> bool:
    """Whether a base runs no method by itself, judged by the last part of its name."""
    # In `class Bed(Generic[T])` the base stands before the brackets.
    name = called_name(base.value if isinstance(base, ast.Subscript) else base)
    own = notebook.classes.get(name, ())
    if own:
        return not any(
            _has_library_base(definition, notebook, depth + 1)
            for definition in own
        )
    return name in _QUIET_BASES or name.endswith(("Error", "Exception"))


def _methods_handed_over(nodes: list[ast.AST]) -> Iterator[str]:
    """Names of objects of which a method that changes them is given away: `add = rows.append`."""
    harmless = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if (
            not isinstance(node, ast.Attribute)
            or not isinstance(node.ctx, ast.Load)
            or id(node) in harmless
        ):
            continue
        if node.attr in _CHANGING:
            yield from _roots(node)


def _given_along(
    nodes: list[ast.AST], notebook: _CellDefinitions
) -> Iterator[str]:
    """Names of what is handed over together with code, which may get it: `Thread(target=work, args=(beds,))`."""
    for node in nodes:
        if not isinstance(node, ast.Call) or _runs_at_once(node.func):
            continue
        parts = arguments_of(node)
        if any(_is_code_of(part, notebook) for part in parts):
            yield from (
                each.id
                for part in parts
                for each in ast.walk(part)
                if isinstance(each, ast.Name)
            )


def _is_code_of(part: ast.expr, notebook: _CellDefinitions) -> bool:
    """Whether an argument is a function of the notebook, or a method of an object."""
    if isinstance(part, ast.Name):
        return part.id in notebook.functions
    return (
        isinstance(part, ast.Lambda)
        or isinstance(part, ast.Attribute)
        and part.attr in notebook.functions
    )


def _self_changing(
    definition: ast.ClassDef, notebook: _CellDefinitions
) -> Iterator[str]:
    """The class, where code that others call changes its objects."""
    for node in _kept_methods(definition, notebook):
        if _has_library_base(definition, notebook) or _is_wrapped(definition):
            own = (
                next(iter(node.args.args), None)
                if isinstance(node, _FUNCTIONS)
                else None
            )
            # `kept.rows[0]` is there once `emit` has run `self.rows.append(record)`.
            if own is not None and own.arg in set(_changed_roots(node)):
                yield definition.name


# What it may change


def _effects_of(
    kept: Iterable[ast.AST], notebook: _CellDefinitions
) -> tuple[set[str], set[str], bool]:
    names: set[str] = set()
    changed: set[str] = set()
    met: set[int] = set()
    is_any, waiting = False, list(kept)
    while waiting:
        code = waiting.pop()
        # Functions may call one another in a circle.
        if id(code) in met:
            continue
        met.add(id(code))
        is_any = is_any or _opens(code, notebook)
        names.update(bindings.global_names(code))
        own = frozenset[str]()
        if isinstance(code, (ast.FunctionDef, ast.Lambda)):
            own = local_names(code) - names
        changed |= {
            name
            for name in _changed_roots(code)
            if _is_variable(name, notebook) and name not in own
        }
        waiting += _run_by(code, notebook)
    return names, changed, is_any


def _run_by(code: ast.AST, notebook: _CellDefinitions) -> Iterator[ast.AST]:
    """What a piece of code calls runs too: `fill` calls `helper`, which appends."""
    for node in ast.walk(code):
        match node:
            case ast.Name(name):
                yield from notebook.functions.get(name, ())
                for kind in notebook.classes.get(name, ()):
                    yield from kind.body
            case ast.Attribute(attr=name):
                yield from notebook.functions.get(name, ())


def _is_variable(name: str, notebook: _CellDefinitions) -> bool:
    known = (
        name in notebook.functions
        or name in notebook.classes
        or name in notebook.imported
    )
    return not (known or name in vars(builtins))


def _changed_roots(code: ast.AST) -> Iterator[str]:
    """Names whose objects a piece of code may change: by a store, a method, or as what it hands on."""
    for node in ast.walk(code):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(
            node.ctx, ast.Load
        ):
            yield from _roots(node)
        elif isinstance(node, ast.AugAssign):
            yield from _roots(node.target)
        elif isinstance(node, ast.Call):
            yield from _changed_by_call(node)
        elif (
            isinstance(node, (ast.Assign, ast.Return, ast.Yield, ast.NamedExpr))
            and node.value is not None
        ):
            # `other = rows` gives the object a second name, by which it may be changed.
            yield from (
                [node.value.id] if isinstance(node.value, ast.Name) else ()
            )
        elif isinstance(node, ast.For):
            # A loop hands out parts: `for row in rows: row.append(1)` changes what `rows` holds.
            yield from _roots(node.iter)


def _changed_by_call(node: ast.Call) -> Iterator[str]:
    if isinstance(node.func, ast.Attribute) and node.func.attr not in _READING:
        yield from _roots(node.func.value)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    # Builtins change no argument, but these take elements from it or set its attributes.
    if name in vars(builtins) and name not in _CHANGING_BUILTINS:
        return
    for part in arguments_of(node):
        if isinstance(part, (ast.Name, ast.Attribute, ast.Starred)):
            yield from _roots(part)


def _roots(node: ast.AST) -> list[str]:
    root = _root(node)
    return [] if root is None else [root]


def _root(node: ast.AST) -> str | None:
    while isinstance(
        node, (ast.Attribute, ast.Subscript, ast.Starred, ast.Call)
    ):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _opens(code: ast.AST, notebook: _CellDefinitions) -> bool:
    """Whether a piece of code may give the notebook's names values without spelling them."""
    called = {
        id(node.func) for node in ast.walk(code) if isinstance(node, ast.Call)
    }
    is_target = isinstance(code, ast.Module)
    for node in ast.walk(code):
        is_followed = (
            is_target
            and id(node) in called
            and getattr(node, "id", "") in _CALLED_BY_NAME
        )
        if (
            not is_followed
            and _is_way_to_names(node, notebook)
            and not _is_main_test(code, node)
        ):
            return True
    return False


def _is_way_to_names(node: ast.AST, notebook: _CellDefinitions) -> bool:
    match node:
        case ast.Name(name, ast.Load()):
            return name in _DOORS or name in notebook.doors
        case ast.Attribute(_, name):
            # `sys.modules` leads there only by the text '__main__', which is found below.
            return name in _DOOR_ATTRIBUTES - {"modules"}
        case ast.Constant(value):
            return value == "__main__"
        case ast.Import(names) | ast.ImportFrom(names=names):
            return any(each.name == "__main__" for each in names)
    return False


def _is_main_test(code: ast.AST, constant: ast.AST) -> bool:
    """`if __name__ == "__main__":`."""
    tests = [
        node
        for node in ast.walk(code)
        if isinstance(node, ast.Compare) and constant in node.comparators
    ]
    return any(
        isinstance(test.left, ast.Name) and test.left.id == "__name__"
        for test in tests
    )
