"""The target cell run by the notebook's own shell, and what it came to. Called in a copy of the kernel alone.

Knows IPython: magics, syntax errors and what a notebook would show. In a copy of a fresh kernel the cells before the
target run again first, so that their threads are the copy's own: it then holds what the notebook's kernel holds if each
cell came to the same, and so did the probe's look at what the target uses; else the target gets no outcome. Refuses to
know how the copy is kept apart.

Exceptions that the kernel itself might not raise do not count: a copy lacks memory, files to write, connections,
programs, threads, a GPU. When in doubt, it doubts.
"""

from __future__ import annotations

import gc
import sys
import traceback
from types import FrameType
from typing import Any, Callable, Mapping, Sequence

from .. import bounds
from ..bounds import Facts
from .refusals import LEAVES, Refusals

CRASH, THROUGH, UNKNOWN = "crash", "ran through", "unknown"
MOST_MESSAGE, MOST_LINE, MOST_NAME = 2_000, 300, 100
_AWAITS = "the cell awaits, and the kernel's event loop does not run in a copy"
_MODULE = "<module>"
_VOWELS = ("a", "e", "i", "o", "u", "nd")
"""After these sounds people say "an": an int, an ndarray."""
Look = Callable[[Any, Any], Any]
COMPARED = ("variables", "accesses", "absent", "unavailable")
"""Members of a state that say what the target will meet."""
# These say what the name of a file leads to, which is the same in the copy.
_SURE_OS_ERRORS = (
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    FileExistsError,
)
# Raised by Python from the values alone: words such as "memory" in their messages mean nothing.
_SURE = (
    LookupError,
    NameError,
    AttributeError,
    TypeError,
    ZeroDivisionError,
    SyntaxError,
    AssertionError,
)
_TALKERS = (
    "sqlite3 socket ssl http urllib urllib3 requests httpx aiohttp zmq psycopg2 psycopg pymysql MySQLdb sqlalchemy"
    " pymongo redis botocore boto3 google azure paramiko multiprocessing concurrent joblib subprocess ray dask"
    " distributed pyspark py4j duckdb huggingface_hub kaggle wandb mlflow asyncio psutil"
)
"""Packages that talk to a service, or to another process."""
_PARTNERS = frozenset(_TALKERS.split())
# RuntimeError of torch and TensorFlow name what failed in their message alone.
_WORDS = "cuda gpu fork thread memory alloc worker daemon socket connection network permission readonly stdin"
_PHRASES = (
    *_WORDS.split(),
    "timed out",
    "read-only",
    "read only",
    "no space",
    "be opened",
    "not open",
    "to open",
)
_DEEPEST = 20


class _Shown:
    """The first exception that the shell would show; nothing is shown."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __call__(self, exc_tuple: Any = None, *_: Any, **__: Any) -> None:
        error = (
            exc_tuple[1]
            if type(exc_tuple) is tuple and len(exc_tuple) == 3
            else sys.exc_info()[1]
        )
        if self.error is None and isinstance(error, BaseException):
            # Later ones are of the shell: what shows the first may fail itself in a copy without
            # display.
            self.error = error


def told(
    shell: Any, code: str, refusals: Refusals, names: Sequence[str] = ()
) -> Facts:
    """`outcome`, and with a crash `exception`, `message` and `line` (of the cell, from 1); else `why`, if unknown.

    With `names`, which the cell assigns, `result` says what a cell that ran through leaves.
    """
    shown = _prepared(shell, refusals)
    if _awaits(shell, code):
        return {"outcome": UNKNOWN, "why": _AWAITS}
    # Without history, as the shell's database of inputs belongs to the kernel.
    result = shell.run_cell(code, store_history=False, silent=True)
    # Magics such as %%time catch the exception and show it: run_cell then reports none.
    error = result.error_before_exec or result.error_in_exec or shown.error
    # Refusals first: an exception, or none, after one of them says nothing of the real kernel.
    if refusals.reasons:
        return {"outcome": UNKNOWN, "why": refusals.reasons[0]}
    if error is None:
        return _through(shell, result.result, names)
    why = doubt(error)
    return (
        {"outcome": UNKNOWN, "why": bounds.text(why, MOST_LINE)}
        if why
        else _crash(shell, code, error)
    )


def _through(shell: Any, value: Any, names: Sequence[str]) -> Facts:
    """That it ran through; what its last line shows, or the last of its names holds, where that was requested."""
    held = [name for name in names if name in shell.user_ns]
    if value is not None and names:
        return {"outcome": THROUGH, "result": f"the result is {_kind(value)}"}
    if not held:
        return {"outcome": THROUGH}
    words = f"{held[-1]} is {_kind(shell.user_ns[held[-1]])}"
    return {"outcome": THROUGH, "result": bounds.text(words, MOST_LINE)}


def _kind(value: Any) -> str:
    """The class with its size: "a DataFrame of 30 x 4"."""
    name = bounds.text(type(value).__name__, MOST_NAME)
    article = "an" if name.lower().startswith(_VOWELS) else "a"
    try:
        shape: Any = getattr(value, "shape", None)
        is_shape = isinstance(shape, tuple) and len(shape) > 0
        sizes = shape if is_shape else (len(value),)
        return f"{article} {name} of {' x '.join(map(str, sizes))}"
    # A class of the notebook may answer anything; most values have no length.
    except Exception:  # noqa: BLE001 - the class alone is said then
        return f"{article} {name}"


def _prepared(shell: Any, refusals: Refusals) -> _Shown:
    shown = _Shown()
    # The shell shows a syntax error by other methods than the rest.
    shell.showtraceback = shell.showsyntaxerror = shell.showindentationerror = (
        shown
    )
    # A notebook tells of what its callbacks raise, and the cell goes on all the same.
    shell.events.trigger = lambda *_, **__: None
    # quit() and exit() in a cell end the kernel, which is neither crash nor success.
    shell.ask_exit = lambda *_, **__: refusals.note(LEAVES)
    kernel = getattr(shell, "kernel", None)
    if kernel is not None:
        # input() must raise at once: the copy has no front end that could answer it.
        kernel._allow_stdin = False
    return shown


def _awaits(shell: Any, code: str) -> bool:
    """Whether the shell would run the cell in the kernel's event loop."""
    try:
        transformed = shell.transform_cell(code)
        return bool(shell.should_run_async(code, transformed_cell=transformed))
    except Exception:  # noqa: BLE001 - what is not Python is told when it is run
        return False


def _crash(shell: Any, code: str, error: BaseException) -> Facts:
    """The facts of a crash: exception, message, line of the cell and its text."""
    line = _line(shell, code, error)
    lines = code.splitlines()
    here = (
        lines[line - 1].strip()
        if line is not None and 0 < line <= len(lines)
        else ""
    )
    return {
        "outcome": CRASH,
        "exception": bounds.text(type(error).__name__, MOST_NAME),
        "message": _message(error),
        "line": line if here else None,
        "code_line": bounds.text(here, MOST_LINE),
    }


def _message(error: BaseException) -> str:
    try:
        if isinstance(error, SyntaxError):
            return bounds.text(
                error.msg, MOST_MESSAGE
            )  # without the name that the shell gave the cell
        # Bounded: a message can hold a whole array.
        return bounds.text(str(error), MOST_MESSAGE)
    except Exception as failed:  # noqa: BLE001 - the notebook's own __str__, in the copy
        return bounds.why(failed)


def _line(shell: Any, code: str, error: BaseException) -> int | None:
    """The line of the cell, counted from 1, at which it raised."""
    n_blank, n_magic = _before(code)
    if (
        isinstance(error, SyntaxError)
        and not _frames(shell, error)
        and error.lineno is not None
    ):
        # A syntax error has no frame in the cell, only a line number of the text after the magic.
        return error.lineno + n_blank + n_magic
    frames = _frames(shell, error)
    if not frames:
        return None
    # The magic's own frame comes first; the second is the line below it.
    if n_magic and len(frames) > 1:
        return frames[1][1] + n_blank + n_magic
    # A magic such as %%capture runs its lines as a second cell, which is all that its traceback holds.
    is_own = _calls_magic(frames[0][0])
    return frames[0][1] + n_blank + (0 if is_own else n_magic)


def _before(code: str) -> tuple[int, int]:
    """Empty lines at the top, which IPython leaves out, and 1 where a cell magic is in the next."""
    lines = code.splitlines()
    n_blank = next(
        (place for place, line in enumerate(lines) if line.strip()), 0
    )
    return n_blank, int(
        n_blank < len(lines) and lines[n_blank].startswith("%%")
    )


def _frames(shell: Any, error: BaseException) -> list[tuple[FrameType, int]]:
    """Frames of code that is in cells, not in functions, with their lines."""
    # By identity: a function of an imported module has other globals, and its lines are not the
    # cell's.
    spaces = (shell.user_ns, shell.user_global_ns)
    return [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if any(frame.f_globals is space for space in spaces)
        and _is_cell(frame.f_code.co_name)
    ]


def _is_cell(name: str) -> bool:
    # Some releases of IPython 8 name the code of a cell after its line, for tracebacks.
    return name == _MODULE or name.startswith("<cell line")


def _calls_magic(frame: FrameType) -> bool:
    """Whether this is the code that calls a cell magic."""
    return "run_cell_magic" in frame.f_code.co_names


# The cells before it, run again


def seconds_again(request: Mapping[str, Any]) -> float:
    """How long the cells may take; none where they are not run again."""
    again = request.get("again")
    return 0.0 if again is None else float(again["seconds"])


def hindered_again(
    shell: Any, request: Mapping[str, Any], refusals: Refusals, look: Look
) -> str | None:
    """Run the cells that the request asks for. Why they did not lead to the kernel's state, None where they did."""
    again = request.get("again")
    if again is None:
        return None
    # The first time, the cells ran with garbage collection: weak references depend on it.
    gc.enable()
    # Figures are closed by what IPython calls after a cell; for silent requests kernel_requests.py holds it.
    vars(shell.events).pop("trigger", None)
    for cell in again["cells"]:
        why = _differs(shell, cell, refusals)
        if why is not None:
            return why
    state = look(shell.user_ns, again["look"])
    changed = [
        name for name in COMPARED if state.get(name) != again["state"].get(name)
    ]
    if changed:
        names = _changed_names(state, again["state"]) or ", ".join(changed)
        return f"the cells before it, run again in a second kernel, led to another state: {names}"
    return _refused(refusals)


def _differs(
    shell: Any, cell: Mapping[str, Any], refusals: Refusals
) -> str | None:
    """Why a cell is not what it was, None where it is."""
    if _awaits(shell, cell["code"]):
        return _sentence(
            cell, "awaits, and the event loop does not run in a copy"
        )
    # With history, as In, Out and _ are names that the target may use.
    result = shell.run_cell(cell["code"], store_history=True, silent=False)
    error = result.error_before_exec or result.error_in_exec
    raised = None if error is None else type(error).__name__
    if refusals.reasons:
        return _refused(refusals)
    # A cell that raised before must raise again: notebooks go on after a cell that failed.
    if raised != cell["exception"]:
        return _sentence(
            cell,
            f"raised {raised or 'nothing'}, not {cell['exception'] or 'nothing'}",
        )
    return None


def _sentence(cell: Mapping[str, Any], what: str) -> str:
    return bounds.text(
        f"code cell {cell['cell']}, run again in a second kernel, {what}",
        MOST_LINE,
    )


def _refused(refusals: Refusals) -> str | None:
    return (
        f"among the cells before it, run again in a copy: {refusals.reasons[0]}"
        if refusals.reasons
        else None
    )


def _changed_names(
    state: Mapping[str, Any], expected: Mapping[str, Any]
) -> str:
    """Names of variables of which the two states say different things."""
    now, then = state["variables"], expected["variables"]
    return ", ".join(
        name
        for name in sorted({*now, *then})
        if now.get(name) != then.get(name)
    )[:200]


def doubt(error: BaseException) -> str | None:
    """Why the exception may be the copy's alone, None where it cannot be."""
    # Cycles of causes can be made by hand, and `in` would call the notebook's own __eq__.
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while (
        cause is not None
        and len(seen) < _DEEPEST
        and all(cause is not one for one in seen)
    ):
        seen.append(cause)
        # A library wraps the refusal that it met: the doubtful one may be the cause of a KeyError.
        cause = cause.__cause__ or cause.__context__
    return next(
        (reason for reason in map(_doubt, seen) if reason is not None), None
    )


def _doubt(error: BaseException) -> str | None:
    name = type(error).__name__
    # By name: ipykernel is not there in every shell.
    if name == "StdinNotImplementedError":
        return "the cell waits for input"
    why = _lacking(error)
    return None if why is None else f"{name}: {why}"


def _lacking(error: BaseException) -> str | None:
    """What the copy may lack where this is raised."""
    if isinstance(error, MemoryError):
        return "the copy has less memory than the kernel"
    if isinstance(error, KeyboardInterrupt):
        return "the copy was interrupted"
    if isinstance(error, OSError) and not isinstance(error, _SURE_OS_ERRORS):
        return (
            "files, connections and programs of the kernel are not the copy's"
        )
    # EOFError is what reading from a pipe or socket that leads nowhere comes to.
    if isinstance(error, EOFError) or _is_of_a_partner(type(error)):
        return "connections and programs of the kernel are not the copy's"
    if isinstance(error, _SURE):
        return None
    message = _message_in_lower_case(error)
    is_doubtful = any(phrase in message for phrase in _PHRASES)
    return "it may come from the copy's limits" if is_doubtful else None


def _is_of_a_partner(kind: type) -> bool:
    # Subclasses count: a notebook's own exception may inherit from one of requests.
    modules = [one.__module__ for one in kind.__mro__]
    tops = [name.partition(".")[0] for name in modules if type(name) is str]
    return not _PARTNERS.isdisjoint(tops)


def _message_in_lower_case(error: BaseException) -> str:
    try:
        return str(error).lower()
    except Exception:  # noqa: BLE001 - the notebook's own __str__, in the copy
        return ""
