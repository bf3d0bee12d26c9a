"""Cells as syntax trees of plain Python: a magic or shell line is replaced by what it does to the namespace.

Knows which magics run Python, give a name a value, or may do anything. Refuses to run them. Line numbers stay.

What is not plain Python is read by IPython's own transformer, loaded only for such cells: magics, shell lines and help
become calls of get_ipython().
"""

import ast
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from crane_core.detectors.rules import bindings
from crane_core.runtime.kernel_side.crane_probe.syntax.magics import (
    without_options,
)
from crane_core.runtime.kernel_side.crane_probe.syntax.names import bound_names

# `memit` and `mprun` are of memory_profiler, `lprun` is of line_profiler.
_TIMED = ("time", "prun", "memit", "lprun", "mprun", "timeit")
_REPEATED = "timeit"
"""The magic that runs its code many times, in its own function."""
_PYTHON_CELLS = (*_TIMED, "capture")
# They run in another process or show a text. Only `%%bash --out row` gives a name a value.
_OTHER_CELLS_WORDS = (
    "bash sh script ! sx system perl ruby cmd python python2 python3 pypy "
    "html HTML javascript js latex markdown svg writefile file"
)
_OTHER_CELLS = frozenset(_OTHER_CELLS_WORDS.split())
_STORES = re.compile(r"(?:^|\s)--(?:out|err|proc)\b")
# They run files, restore or delete names, or load modules again.
_ANYTHING_WORDS = (
    "run load loadpy pylab store reset reset_selective xdel recall rep rerun macro sc "
    "ed edit paste cpaste autoreload"
)
_ANYTHING = frozenset(_ANYTHING_WORDS.split())
_MAGICS_WORDS = """
alias alias_magic autoawait autocall automagic autosave bookmark cat cd clear code_wrap colors conda config
connect_info cp debug dhist dirs doctest_mode ed edit env gui hist history killbgscripts ldir less lf lk ll load
load_ext loadpy logoff logon logstart logstate logstop ls lsmagic lx macro magic mamba man matplotlib micromamba mkdir
more mv notebook page pastebin pdb pdef pdoc pfile pinfo pinfo2 pip popd pprint precision prun psearch psource pushd
pwd pycat pylab qtconsole quickref recall rehashx reload_ext rep rerun reset reset_selective rm rmdir run save sc
set_env store subshell sx system tb time timeit unalias unload_ext uv who who_ls whos xdel xmode
"""
MAGICS = frozenset(_MAGICS_WORDS.split())
"""The line magics of a kernel of ipykernel, and `store`, which older ones have from the start."""
_QUIET = (
    MAGICS | frozenset(["tensorboard", "tensorflow_version", "watermark"])
) - _ANYTHING
_LOADING = ("load_ext", "reload_ext")
_QUIET_EXTENSIONS_WORDS = (
    "autoreload crane_core line_profiler memory_profiler tensorboard watermark"
)
_QUIET_EXTENSIONS = frozenset(_QUIET_EXTENSIONS_WORDS.split())
"""Extensions that bring magics and no names."""
_MARKED = re.compile(r"^\s*[%!?]", re.MULTILINE)
"""Lines of which IPython makes something else, where it comes to that."""
_MISPLACED = (
    "'return' outside function",
    "'break' outside loop",
    "'continue' not properly in loop",
)
# Half a surrogate is a ValueError to the parser, 50,000 signs in a row a
# MemoryError.
_NOT_READ = (SyntaxError, ValueError, RecursionError, MemoryError)
_MOST_TRANSFORMS = 500
"""IPython's own limit."""
_FIRST_WORD = re.compile(r"([\w.]+)\s*(.?)")


class CellMagic(NamedTuple):
    """`body` is what follows the line of the magic, with empty lines for those before it."""

    name: str
    arguments: str
    body: str


class CellCode(NamedTuple):
    """The tree of a cell; `error` says why there is none, `line` where.

    `is_no_python` is True where every Python says so, not only that our own cannot read it. `automagic` is the word
    that is the name of a magic here unless a variable has it, and `tree` is what the variable makes of it.
    `exception` is the class of the refusal, such as IndentationError.
    """

    tree: ast.Module
    error: str = ""
    line: int = 0
    is_no_python: bool = False
    automagic: str = ""
    exception: str = "SyntaxError"


def read_cell(code: str) -> CellCode:
    """The tree of a cell in which magics are replaced by their effects; with an `error` if it cannot be read."""
    word = automagic(code)
    try:
        tree = ast.parse(code)
    except _NOT_READ as error:
        return as_magic(code) if word else _without_magics(code, error)
    # Notebooks that were saved as scripts hold `get_ipython().run_line_magic(...)`.
    if "get_ipython" in code:
        tree = _Effects().visit(tree)
    return _placed(CellCode(tree, automagic=word))


def as_magic(code: str) -> CellCode:
    """A cell of one line whose first word is the name of a magic."""
    start = len(code) - len(code.lstrip())
    return read_cell(f"{code[:start]}%{code[start:]}")


def _placed(read: CellCode) -> CellCode:
    """A `return` or `break` where none may stand is noticed only when the tree is compiled."""
    if not any(
        isinstance(node, (ast.Return, ast.Break, ast.Continue))
        for node in ast.walk(read.tree)
    ):
        return read
    try:
        # IPython runs `await x` at the top level of a cell, which plain Python refuses.
        compile(
            read.tree,
            "<cell>",
            "exec",
            ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
            dont_inherit=True,
        )
    except SyntaxError as error:
        if error.msg.startswith(_MISPLACED):
            return CellCode(
                ast.Module([], []),
                error.msg,
                error.lineno or 0,
                is_no_python=True,
            )
    return read


def _without_magics(code: str, refused: BaseException) -> CellCode:
    python: str | CellMagic = code
    try:
        python = python_of(code)
        if isinstance(python, CellMagic):
            return _of_cell_magic(python)
        return CellCode(_Effects().visit(ast.parse(python)))
    except _NOT_READ as error:
        line = getattr(error, "lineno", None) or 0
        message = (
            str(getattr(error, "msg", "") or error) or type(error).__name__
        )
        # IPython runs cells with `!ls` or `%time`, which Python cannot read.
        is_plain = (
            isinstance(python, str)
            and python.rstrip("\n") == code.rstrip("\n")
            and not _MARKED.search(code)
        )
        # The kernel may have a newer Python, which reads what ours refuses.
        is_sure = (
            is_plain
            and isinstance(refused, SyntaxError)
            and not _is_newer(message, code, line)
        )
        return CellCode(
            ast.Module([], []),
            message,
            line,
            is_sure,
            exception=type(refused).__name__,
        )


def _is_newer(message: str, code: str, line: int) -> bool:
    """Whether a later Python may read what ours cannot: f-strings, `type` statements, type parameters."""
    lines = code.split("\n")
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    # `f"{a["b"]}"` and `type X = int` are Python 3.12, which the kernel may have and we may not.
    # `except A, B:` is Python 3.14, and `def f[T]()` is Python 3.12.
    begins = text.startswith(("type ", "except", "def ", "class "))
    return begins or "f-string" in message or "f'" in text or 'f"' in text


def _of_cell_magic(magic: CellMagic) -> CellCode:
    if magic.name in _OTHER_CELLS and not _STORES.search(magic.arguments):
        return CellCode(ast.Module([ast.Pass(lineno=1, col_offset=0)], []))
    # `%%timeit x = 1` has set-up code on its first line, which runs before the cell.
    if (
        magic.name not in _PYTHON_CELLS
        or magic.name == _REPEATED
        and without_options(magic.arguments)
    ):
        return CellCode(ast.Module([_anything(1)], []))
    read = read_cell(magic.body)
    body = read.tree.body
    if magic.name == _REPEATED:
        body = _repeated(body, 1)
    # `%%capture out` stores what the cell printed in the variable out.
    elif magic.name == "capture":
        body = [
            *body,
            *(
                _unknown(name, 1)
                for name in magic.arguments.split()
                if name.isidentifier()
            ),
        ]
    return read._replace(
        tree=ast.Module(body, []), is_no_python=False, automagic=""
    )


class _Effects(ast.NodeTransformer):
    """Puts in the place of IPython's calls what they do to the namespace."""

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        """A magic that is a statement, as the statements that have its effect."""
        called = _called(node.value)
        done: list[ast.stmt] = (
            [node] if called is None else _done(*called, node.lineno)
        )
        return done if done else [ast.Pass(lineno=node.lineno, col_offset=0)]

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """A magic whose result is assigned, as an assignment of what is known of the result."""
        called = _called(node.value)
        if called is not None:
            node.value = _given(*called, node.lineno)
        return node


def _called(node: ast.AST) -> tuple[str, str] | None:
    """Name and arguments of the magic that a call of get_ipython() runs, "system" for a shell command; else None."""
    match node:
        case ast.Call(ast.Attribute(holder, how), [*arguments], []):
            texts = [
                each.value
                for each in arguments
                if isinstance(each, ast.Constant)
            ]
        case _:
            return None
    # An argument may be a variable, as in `get_ipython().run_line_magic('run', path)`.
    if len(texts) < len(arguments) or ast.unparse(holder) != "get_ipython()":
        return None
    match how, texts:
        case "system" | "getoutput", [str(text), *_]:
            return "system", text
        case "run_line_magic", [str(name), str(rest)]:
            return name, rest
        case "magic", [str(text), *_]:
            name, _, rest = text.partition(" ")
            return name.lstrip("%"), rest
    return None


def _is_quiet(name: str, arguments: str) -> bool:
    """Whether a magic leaves the names as they are. An extension may bring any, and a magic of any name."""
    if name in _LOADING:
        return arguments.strip() in _QUIET_EXTENSIONS
    return name in _QUIET


def _done(name: str, arguments: str, line: int) -> list[ast.stmt]:
    """What a magic on its own line does."""
    if name not in _TIMED:
        return [] if _is_quiet(name, arguments) else [_anything(line)]
    body = [] if (tree := _tree_of(arguments, line)) is None else tree.body
    # `%timeit rows.append(2)` appends thousands of times: no length is known behind it.
    return _repeated(body, line) if name == _REPEATED else body


def _given(name: str, arguments: str, line: int) -> ast.expr:
    """The result of a magic. Timing returns that of the expression."""
    tree = _tree_of(arguments, line) if name == "time" else None
    match tree.body if tree is not None else []:
        case [ast.Expr(value=value)]:
            return value
    return _name(
        bindings.UNKNOWN_VALUE
        if _is_quiet(name, arguments)
        else bindings.UNKNOWN_EFFECT,
        line,
    )


def _tree_of(arguments: str, line: int) -> ast.Module | None:
    try:
        tree = ast.parse(without_options(arguments))
    except _NOT_READ:
        return None
    return ast.increment_lineno(tree, line - 1)


def _repeated(body: Sequence[ast.stmt], line: int) -> list[ast.stmt]:
    """Statements that run an unknown number of times, with their own names: what those were before is not known."""
    names = dict.fromkeys(bound_names(*body))
    loop = ast.For(
        _stored(bindings.UNKNOWN_VALUE, line),
        _name(bindings.UNKNOWN_VALUE, line),
        list(body),
        [],
        lineno=line,
        col_offset=0,
    )
    return [
        *body,
        *([loop] if body else []),
        *(_unknown(name, line) for name in names),
    ]


def _anything(line: int) -> ast.stmt:
    return ast.Expr(
        _name(bindings.UNKNOWN_EFFECT, line), lineno=line, col_offset=0
    )


def _unknown(name: str, line: int) -> ast.stmt:
    return ast.Assign(
        [_stored(name, line)],
        _name(bindings.UNKNOWN_VALUE, line),
        lineno=line,
        col_offset=0,
    )


def _name(name: str, line: int) -> ast.expr:
    return ast.Name(name, ast.Load(), lineno=line, col_offset=0)


def _stored(name: str, line: int) -> ast.expr:
    return ast.Name(name, ast.Store(), lineno=line, col_offset=0)


def python_of(code: str) -> str | CellMagic:
    """The cell as Python, as far as it is, or the magic that gets the whole of it."""
    from IPython.core.inputtransformer2 import TransformerManager

    manager: Any = TransformerManager()  # type: ignore[no-untyped-call]
    whole = f"{code}\n".splitlines(keepends=True)
    lines = whole
    # IPython also reads cells with prompts (`>>> rows[1]`) and cells that are indented as a whole.
    for transform in manager.cleanup_transforms:
        lines = transform(lines)
    n_before = len(whole) - len(lines)
    # `%%time?` asks for help and runs nothing.
    if (
        lines
        and lines[0].startswith("%%")
        and not re.match(r"%%\w+\?", lines[0])
    ):
        name, _, arguments = lines[0][2:].strip().partition(" ")
        return CellMagic(
            name, arguments.strip(), "\n" * (n_before + 1) + "".join(lines[1:])
        )
    lines = ["\n"] * n_before + lines
    for _ in range(_MOST_TRANSFORMS):
        is_changed, made = manager.do_one_token_transform(lines)
        if not is_changed:
            break
        lines = _as_long(made, lines)
    return "".join(lines)


def _as_long(made: Sequence[str], before: Sequence[str]) -> list[str]:
    """The lines with empty ones behind a line that took the place of several."""
    changed = next(
        (
            at
            for at, (new, old) in enumerate(zip(made, before, strict=False))
            if new != old
        ),
        len(made) - 1,
    )
    return [
        *made[: changed + 1],
        *["\n"] * (len(before) - len(made)),
        *made[changed + 1 :],
    ]


def automagic(code: str) -> str:
    """The first word of a cell of one line that IPython takes for a magic's name unless a variable has it; else ""."""
    line = code.strip()
    found = _FIRST_WORD.match(line)
    # `hist = rows` and `reset, f = 3, 1` assign variables that have the names of magics.
    if (
        found is None
        or "\n" in line
        or found[1] not in MAGICS
        or found[2] in ("=", ",")
    ):
        return ""
    return found[1]
