"""What the target needs of the kernel: names, what it asks of each, followed through the notebook's own functions.

Knows the target's code and which objects of the kernel are functions, classes and objects of the notebook. Refuses to
say what the values are.
"""

from __future__ import annotations

import ast
import re
from types import FunctionType
from typing import Any, Iterator, Mapping, NamedTuple

from ..anatomy import (
    MISSING,
    Names,
    class_dict,
    instance_dict,
    is_kind,
    mro_of,
    static_attribute,
    stored_on,
)
from ..kinds import CONTAINERS
from ..limits import LookLimits
from ..syntax import magics
from ..syntax.asked import ATTRIBUTE, ITEM, AskedName, Chain, ChainStep, Steps
from ..syntax.evaluation import Evaluation, Import
from ..syntax.expressions import CalledFunction
from ..syntax.sources import Sources
from .following import chain_text, followed

_CALLED_FOR = ("__call__", "forward", "call")
"""Methods that run when an object itself is called: Python's own, that of torch modules, that of Keras layers."""


# Each decorator with functools.wraps adds one.
_MOST_WRAPPERS = 8
# A comment of its line, or one at the end of a line, without quotes, as a text may hold a number sign.
_COMMENT = re.compile(r"^[ \t]*#.*$|#[^'\"\n]*$", re.MULTILINE)
_BRINGS_MODULES = re.compile(
    r"\b(?:sys|subprocess|site|importlib|runpy|pip|conda|get_ipython|system|popen|Popen|exec|eval|open|write\w*|"
    r"urlretrieve|extract\w*|unpack\w*|copy\w*|move|clone\w*|download\w*|install\w*|__import__)\b"
)
"""Words of code that installs, writes, fetches or unpacks modules, or changes where they are looked for."""
_DEFINES_ANY = re.compile(
    r"(?<![.\w])(?:exec|eval|globals|locals|vars)\s*\(|\b(?:get_ipython|run_cell|register_\w+_accessor)\b|^\s*%run\b",
    re.MULTILINE,
)
"""Code that assigns names which stand nowhere in it."""
# `!pip install x`, `out = !ls`, `%cd`: none of them is Python.
_SHELL = re.compile(r"^\s*(\w+\s*=\s*)?[!%]", re.MULTILINE)


class Needs(NamedTuple):
    """What the target needs.

    `names` are in the order of evaluation; `via` holds those that are needed only within functions of the notebook,
    with the names of these functions. `syntax_error` says why the target cannot be read, where it cannot.
    `mentioned` are the texts that the target spells or takes from plain variables; `may_bring_files` is True where it
    runs a shell or a magic, or changes the working folder; `may_bring_modules` where it could make a module importable
    by these or other means; `may_define_any` where it could give any name or object a value.
    """

    names: tuple[str, ...] = ()
    asked: Mapping[str, AskedName] = {}
    chains: tuple[Chain, ...] = ()
    via: Mapping[str, tuple[str, ...]] = {}
    imports: tuple[Import, ...] = ()
    syntax_error: str = ""
    mentioned: frozenset[str] = frozenset()
    may_bring_files: bool = False
    may_bring_modules: bool = False
    may_define_any: bool = False
    target: str = ""


def needs(
    target: str, namespace: Names, sources: Sources, limits: LookLimits
) -> Needs:
    """What the target asks for, chains in the order of evaluation."""
    # What cannot be parsed as it is may be Python with magics: they are taken out first.
    parsed = magics.parsed(target)
    if parsed.error:
        return Needs(syntax_error=f"line {parsed.line}: {parsed.error}")
    finder = _Finder(namespace, sources)
    reading = Evaluation(
        lambda name: namespace.get(name, MISSING), finder.callee, limits.follow
    )
    try:
        # A generated cell may be nested deeper than Python's stack.
        reading.body(parsed.tree.body)
    except RecursionError:
        return Needs(syntax_error="the code is nested too deeply")
    # After chdir, every relative path means another file.
    brings_files = bool(_SHELL.search(target)) or any(
        "chdir" in chain.attributes for chain in reading.chains
    )
    # A function of the notebook may have been written to install or import.
    runs_functions = any(chain.via for chain in reading.chains)
    # `# install it first` installs nothing, and the lines stay where they are.
    code = _COMMENT.sub("", target)
    return _collected(reading.chains, reading.imports)._replace(
        mentioned=_mentioned(parsed.tree, reading.chains),
        may_bring_files=brings_files,
        may_bring_modules=brings_files
        or runs_functions
        or bool(_BRINGS_MODULES.search(code)),
        may_define_any=bool(_DEFINES_ANY.search(code)),
        target=code,
    )


def _collected(chains: list[Chain], imports: list[Import]) -> Needs:
    by_name: dict[str, list[Chain]] = {}
    for chain in chains:
        by_name.setdefault(chain.name, []).append(chain)
    # One direct use is enough: then it is needed where the cell runs, not only within a function.
    within = {
        name: found[0].via
        for name, found in by_name.items()
        if all(chain.via for chain in found)
    }
    return Needs(
        names=tuple(by_name),
        asked={
            name: AskedName(name, tuple(found))
            for name, found in by_name.items()
        },
        chains=tuple(chains),
        via=within,
        imports=tuple(imports),
    )


def _mentioned(tree: ast.Module, chains: list[Chain]) -> frozenset[str]:
    """Texts in the target, and those that stand in subscripts and arguments by way of a variable."""
    spelled = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) is str
    }
    used = {
        text
        for chain in chains
        for step in chain.steps
        if step.kind != ATTRIBUTE
        for text in _texts(step.value)
    }
    return frozenset({*spelled, *used})


def _texts(value: Any) -> Iterator[str]:
    if type(value) is str:
        yield value
    elif type(value) in CONTAINERS:
        for item in value:
            yield from _texts(item)


class _Finder:
    """Finds the notebook's functions that a chain leads to."""

    def __init__(self, namespace: Names, sources: Sources) -> None:
        self._namespace = namespace
        self._sources = sources

    def callee(self, name: str, steps: Steps) -> CalledFunction | None:
        """The function that is run when what the chain leads to is called; None if it is not the notebook's."""
        value = self._namespace.get(name, MISSING)
        for number, step in enumerate(steps):
            # After a call on the way the object is not in the kernel.
            if value is MISSING or step.kind not in (ATTRIBUTE, ITEM):
                return None
            if step.kind == ITEM:
                value = _held(value, step)
                continue
            # Only the last attribute is called; those before it are objects.
            is_last = number == len(steps) - 1
            method = self._method(value, step.value) if is_last else None
            if method is not None:
                return self._as_callee(
                    method, step.value, n_given=1, n_held=number
                )
            found = static_attribute(value, step.value)
            value = found.value if found is not None else MISSING
        shown = chain_text(name, steps)
        return (
            None
            if value is MISSING
            else self._of_value(value, shown, len(steps))
        )

    def _of_value(
        self, value: Any, name: str, n_steps: int
    ) -> CalledFunction | None:
        if self.own_function(value) is not None:
            return self._as_callee(value, name)
        if is_kind(value, type):
            return self._of_class(value, name)
        # An object is called by its class: a torch module runs `forward`.
        for method in (self._method(value, special) for special in _CALLED_FOR):
            if method is not None:
                return self._as_callee(method, name, n_given=1, n_held=n_steps)
        return None

    def _of_class(self, kind: type, name: str) -> CalledFunction | None:
        stored = {
            attribute: value
            # From `object` upwards, so that the class itself has the last word, as in attribute look-up.
            for parent in reversed(mro_of(kind))
            for attribute, value in class_dict(parent).items()
        }
        functions = {
            key: self.own_function(value) for key, value in stored.items()
        }
        trees = {
            key: self._sources.function(function)
            for key, function in functions.items()
            if function is not None
        }
        if not trees:
            return None
        # A class without its own __init__ makes its objects by that of a library.
        first = trees.pop("__init__", None) or _nothing()
        return CalledFunction(
            first,
            name,
            n_given=1,
            others=tuple(tree for tree in trees.values() if tree is not None),
            certain=self._makes_plainly(kind, stored.get("__new__")),
        )

    def _makes_plainly(self, kind: type, new: Any) -> bool:
        """False where the notebook says how objects are made: it may return anything, so that no method need run."""
        makes = [
            class_dict(meta).get("__call__") for meta in mro_of(type(kind))
        ]
        makes.append(new.__func__ if type(new) is staticmethod else new)
        return not any(map(self.own_function, makes))

    def _method(self, value: Any, name: str) -> FunctionType | None:
        # A class that is called is handled by its constructor.
        if is_kind(value, type):
            return None
        # A function that is stored on the object hides the class's method, and gets no self.
        is_hidden = name in instance_dict(value)
        return (
            None
            if is_hidden
            else self.own_function(stored_on(type(value), name))
        )

    def own_function(self, value: Any) -> Any:
        """The function where it was defined in the notebook, the innermost of what functools.wraps put around it."""
        found = None
        for _ in range(_MOST_WRAPPERS):
            if type(value) is not FunctionType:
                break
            # By globals: a function of an imported module has other ones, and reads no name of the
            # notebook.
            found = value if value.__globals__ is self._namespace else found
            value = value.__dict__.get("__wrapped__")
        return found

    def _as_callee(
        self,
        function: Any,
        name: str,
        n_given: int = 0,
        n_held: int | None = None,
    ) -> CalledFunction | None:
        own = self.own_function(function)
        node = self._sources.function(own)
        # Without its source (exec, another cell's history) the code object still names its globals.
        node = node if node is not None else _from_code(own)
        return CalledFunction(
            node, name, n_given, n_held, closed=own.__code__.co_freevars
        )


def _held(value: Any, step: ChainStep) -> Any:
    """What a container of Python's own holds there; what a library's holds is not an object of the notebook."""
    is_own = any(is_kind(value, kind) for kind in (dict, list, tuple))
    return (
        followed(value, (step,)).values.get(1, MISSING) if is_own else MISSING
    )


def _from_code(function: FunctionType) -> ast.FunctionDef:
    """A function whose source is not in the notebook: one that loads the global names of its code, perhaps."""
    loaded: list[ast.stmt] = [
        ast.Expr(ast.Name(name, ast.Load()))
        for name in global_names(function.__code__)
    ]
    # Under a condition, as it is unknown which of the names a call really loads.
    guarded = ast.If(ast.Constant(value=True), loaded or [ast.Pass()], [])
    return ast.FunctionDef(function.__name__, _nothing().args, [guarded], [])


def global_names(code: Any) -> list[str]:
    """The global names that the code of a function loads, with the functions in it."""
    import dis

    names = [
        str(step.argval)
        for step in dis.get_instructions(code)
        # Names of a class body are loaded by the second.
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    ]
    # Nested functions and comprehensions are constants of the code.
    inner = [
        name
        for part in code.co_consts
        if hasattr(part, "co_code")
        for name in global_names(part)
    ]
    return list(dict.fromkeys([*names, *inner]))


def _nothing() -> ast.FunctionDef:
    """A function that does nothing."""
    arguments = ast.arguments(
        posonlyargs=[],
        args=[],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
        vararg=None,
        kwarg=None,
    )
    return ast.FunctionDef("", arguments, [ast.Pass()], [])
