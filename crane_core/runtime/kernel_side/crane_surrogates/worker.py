"""Asks libraries: one JSON line per operation on a socket, one JSON line as the answer.

{"step", "of", "name", "operands", "keywords"} becomes {"raised", "message"} where every fill raised the same, {"gave":
facts} where every fill gave the same schema (and "left": facts of a first operand that is changed), else {"unknown":
why}. {"load": packages} loads libraries in advance.

Each answer says in "spent_s" what processor time it took; one that takes too much of it is ended and is unknown. Runs
only what operations.py lists. Knows no notebook. Its caller bounds its time and may kill it at any moment.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import json
import operator
import os
import re
import resource
import signal
import socket
import sys
import time
import warnings
from functools import reduce
from typing import Any, Callable, Iterator, Mapping, Sequence

from . import members, operations, parameters, signatures, tables
from .made import (
    FILLS,
    LAST_FILL,
    NotMadeError,
    library_of,
    made,
    refusal,
    seen,
)

_FULL = 0.75
"""Share of its memory beyond which the process ends itself: libraries fill it, and then all answers are unknown."""
_FILE_BYTES = 2**16
"""torch tries whether it can write a temporary file when it is loaded."""
_OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift,
    "|": operator.or_, "^": operator.xor, "&": operator.and_, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge, "-x": operator.neg, "+x": operator.pos,
    "~x": operator.invert, "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv,
    "//=": operator.ifloordiv, "%=": operator.imod, "**=": operator.ipow, "@=": operator.imatmul, "|=": operator.ior,
    "&=": operator.iand, "^=": operator.ixor, "<<=": operator.ilshift, ">>=": operator.irshift,
}  # fmt: skip
_STEPS: dict[str, Callable[..., Any]] = {
    "item": operator.getitem,
    "set_item": operator.setitem,
    "del_item": operator.delitem,
    "truth": bool,
    "element": lambda held: next(iter(held)),
    "format": format,
}
_NEVER = (
    MemoryError,
    RecursionError,
    NotImplementedError,
    ImportError,
    OSError,
    SystemError,
    AssertionError,
    NameError,
    StopIteration,
)
"""What says something about this process or its names, a bug of a library, or the end of a loop: no refusal."""
_OF_PROCESS = re.compile(
    r"(?i)alloc|\bmemory\b|\boom\b|new thread|temporarily unavailable|too many open|\berrno\b|find device"
)
"""Messages of libraries that speak of what this process may use, whatever they raise: torch a RuntimeError, for one."""
_FOR_DTYPE = "not implemented for '"
"""What torch says of a dtype, and of nothing else."""
_ANYTHING = {"type": ""}
_MOST_PARTS = 100
"""Parts of a list or tuple that are stated."""
_MOST_SPENT_S = 1.5
"""Processor time of one answer: on a busy machine as much work is done in it as on an idle one."""
_TOO_LONG = "it takes too long"
_PLAIN = (int, float, bool, str, complex, type(None))


class TooMuchWork(BaseException):
    """An answer took too much processor time. No Exception, because libraries catch those."""


def main(path: str, memory_bytes: str) -> None:
    """Serve the socket at `path` until it is closed."""
    for limit, most in (
        (resource.RLIMIT_DATA, int(memory_bytes)),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
    ):
        # Hard limits as well, so that a library cannot lift them.
        resource.setrlimit(limit, (most, most))
    warnings.simplefilter("ignore")
    # A print of a library would mix with the answers, or fill a pipe that is not read.
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - what libraries print is nobody's matter
    _is_loaded("numpy")  # what all others need, before somebody waits for it
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        with connection.makefile("rwb") as stream:
            for line in stream:
                said = timed_answer(line)
                stream.write(json.dumps(said).encode() + b"\n")
                stream.flush()
                # Ended between two answers, so that no question is lost; another begins, with the libraries that are
                # asked then. A library that was ended in its work may be left in any mode.
                is_full = _data_bytes() > _FULL * int(memory_bytes)
                if is_full and "loaded" not in said:
                    return
                if said.get("unknown") == _TOO_LONG:
                    return


def _data_bytes() -> int:
    """What of RLIMIT_DATA is used; 0 where the system does not tell."""
    try:
        # Field 5 is data and stack, which is what RLIMIT_DATA counts.
        with open("/proc/self/statm") as told:  # noqa: PTH123
            return int(told.read().split()[5]) * resource.getpagesize()
    except OSError:
        return 0


def timed_answer(line: bytes, most_s: float = _MOST_SPENT_S) -> dict[str, Any]:
    """The answer, with `spent_s`. Loading a library takes as long as it does."""
    began, is_over = time.process_time(), False

    def end(_number: int, _frame: Any) -> None:
        nonlocal is_over
        is_over = True
        raise TooMuchWork

    signal.signal(signal.SIGPROF, end)
    if b'"load"' not in line[:10]:
        signal.setitimer(signal.ITIMER_PROF, most_s)
    try:
        said = answer(line)
        signal.setitimer(signal.ITIMER_PROF, 0)
    except TooMuchWork:
        said = {}
    # A library that went on after it was ended may say anything.
    if is_over:
        said = {"unknown": _TOO_LONG}
    return {**said, "spent_s": time.process_time() - began}


def answer(line: bytes) -> dict[str, Any]:
    """What the libraries say to one line."""
    try:
        order = json.loads(line)
        if "load" in order:
            return {
                "loaded": [
                    package for package in order["load"] if _is_loaded(package)
                ]
            }
        return _learnt(order) if order["step"] == "learns" else _asked(order)
    except NotMadeError as lack:
        return {"unknown": f"no surrogate: {lack}"}
    # A mistake here must never count as one of the notebook.
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here says nothing of the notebook
        return {"unknown": type(error).__name__}


def _is_loaded(package: str) -> bool:
    try:
        if package in operations.BOUND:
            importlib.import_module(package)
        library_of(package)
    except (NotMadeError, ImportError):
        return False
    return True


def _asked(order: Mapping[str, Any]) -> dict[str, Any]:
    step, of, name = order["step"], order["of"], order["name"]
    if step in _WITHOUT_SURROGATES:
        return _WITHOUT_SURROGATES[step](order)
    # Checked here as well as by the sender: this process runs what it is told.
    if not operations.is_asked(order):
        return {"unknown": "not on the list"}
    if "made" in (*order["operands"], {})[0]:
        return _of_result(order)
    if step == "attribute" and members.is_routine(of, name):
        return {"gave": {"type": "method", "of": f"{of}.{name}"}}
    return _agreed(_operation(step, of, name), order)


def _of_result(order: Mapping[str, Any]) -> dict[str, Any]:
    """What is certain of a step on the result of another: if all of it is known, or its class hides no labels."""
    step, name = order["step"], order["name"]
    first = order["operands"][0]
    # One class with every fill, else the values decide.
    kind, *others = {type(_operand(first, fill)) for fill in FILLS}
    if others or not operations.is_followed(kind, first):
        return {"unknown": "its class is not followed"}
    path = f"{kind.__module__}.{kind.__qualname__}"
    if step == "attribute" and members.is_routine(path, name):
        return {"gave": {"type": "method", "of": f"{path}.{name}"}}
    if step == "method" and name not in operations.of_results(kind):
        return _bound_to(path, order)
    said = _agreed(_operation(step, path, name), order)
    if step == "method" and "unknown" in said:
        return _bound_to(path, order)
    if step == "attribute" and not _is_slip(said, name, kind):
        return {"unknown": "it may be there"}
    return said


def _is_slip(said: Mapping[str, Any], name: str, kind: type) -> bool:
    """Whether an attribute is refused of which the name was meant for another: packages add methods."""
    is_lack = said.get("raised") == "AttributeError"
    return is_lack and members.is_like_one_of(name, kind)


def _bound_to(path: str, order: Mapping[str, Any]) -> dict[str, Any]:
    """What a method says of the number and names of its arguments, where it cannot be tried itself."""
    return signatures.bound(
        f"{path}.{order['name']}",
        len(order["operands"]) - 1,
        list(order["keywords"]),
        kind="method",
    )


def _operand(told: Mapping[str, Any], fill: int) -> Any:
    """An operand, or the result of another step."""
    if "made" not in told:
        return made(told, fill)
    order = told["made"]
    operands = [_operand(each, fill) for each in order["operands"]]
    keywords = {
        key: made(each, fill) for key, each in order["keywords"].items()
    }
    return _operation(order["step"], order["of"], order["name"])(
        *operands, **keywords
    )


def _agreed(
    operation: Callable[..., Any], order: Mapping[str, Any]
) -> dict[str, Any]:
    """What an operation does with every fill of its operands."""
    agreed: dict[str, Any] = {}
    for fill in FILLS:
        # Made again in each turn: a step may change its operands.
        operands = [_operand(told, fill) for told in order["operands"]]
        keywords = {
            key: made(told, fill) for key, told in order["keywords"].items()
        }
        with _modes(fill, order):
            outcome = _tried(
                operation,
                operands,
                keywords,
                is_measured=operations.is_measured(order),
            )
        if "gave" in outcome and tables.changes_first(order):
            outcome["left"] = schema(operands[0])
        agreed = _common(agreed, outcome) if agreed else outcome
        # One fill that differs is enough: nothing is certain then.
        if not agreed:
            return {"unknown": "it depends on values"}
    # The same message with all fills may still be about values that all of them have.
    if "raised" in agreed and not operations.tells_refusal(
        order, agreed["raised"], agreed["message"]
    ):
        return {"unknown": "it may depend on values"}
    return agreed


def _of_wrapped(path: str, order: Mapping[str, Any]) -> dict[str, Any]:
    """{"raised", "message"} where a wrapped function neither says that it takes these arguments nor takes them."""
    if not signatures.is_doubtful(
        path, len(order["operands"]), list(order["keywords"])
    ):
        return {"unknown": "it may be bound"}
    said = _agreed(signatures.found(path), order)
    # Its own words about its arguments, not those of a function further down.
    own = re.compile(
        re.escape(path.rpartition(".")[2]) + r"\(\) (?:got|missing|takes)"
    )
    if said.get("raised") == "TypeError" and own.match(said["message"]):
        return said
    return {"unknown": "not for its arguments"}


def _learnt(order: Mapping[str, Any]) -> dict[str, Any]:
    """What scikit-learn refuses for one reason with every fill; else its result with those that it takes."""
    learning = library_of("sklearn")
    found = list(learning.outcomes(order))
    if len(found) > 1 and all("raised" in each for each in found):
        return _one_refusal(found, learning.OF_MISSING)
    given = [{"gave": schema(each["gave"])} for each in found if "gave" in each]
    if len(given) < 2:
        return {"unknown": "it depends on values"}
    return reduce(_common, given)


def _one_refusal(
    found: list[dict[str, Any]], of_missing: int
) -> dict[str, Any]:
    """The refusal that all fills have in common, by its reason: the message may hold a number that differs."""
    # What may be missing is refused in one fill; the others say what is refused where nothing is.
    reasons = [each for each in found if each["about"] != of_missing] or found
    classes = {each["raised"] for each in found}
    if len(classes) > 1 or len({each["about"] for each in reasons}) > 1:
        return {"unknown": "it depends on values"}
    # The first fill has nothing that is not certain. Of the last, texts are invented: a table of 25 numbers with one
    # NaN was said to hold the text 'a'.
    said = found[0] if found[0]["fill"] == 0 else reasons[0]
    if said["fill"] == LAST_FILL:
        return {"unknown": "its words would be of invented values"}
    return {"raised": said["raised"], "message": said["message"]}


@contextlib.contextmanager
def _modes(fill: int, order: Mapping[str, Any]) -> Iterator[None]:
    """The modes of the libraries that are loaded: where it is unknown which is on, the fills differ in it."""
    with contextlib.ExitStack() as stack:
        for name in ("torch", "keras", "matplotlib"):
            if name in sys.modules and (
                name == "torch" or order["of"].startswith(name)
            ):
                given = (fill, order) if name == "torch" else (fill,)
                stack.enter_context(library_of(name).mode(*given))
        yield


def _common(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """What two fills have in common: the same refusal, or the facts that are the same; empty for no such."""
    if "gave" not in left or "gave" not in right:
        return left if left == right else {}
    both = {part: _shared(facts, right[part]) for part, facts in left.items()}
    return both if any(both.values()) else {}


def _shared(
    facts: Mapping[str, Any], others: Mapping[str, Any]
) -> dict[str, Any]:
    """The facts that are the same of both, also of what both hold; none of objects of two types."""
    # Two types: nothing of the two can be compared.
    if facts.get("type") != others.get("type"):
        return {}
    # A fact that differs depends on values, so it is left out.
    told_twice = [name for name in facts if name in others]
    same = {
        name: facts[name] for name in told_twice if facts[name] == others[name]
    }
    same |= _shared_of_tables(facts, others)
    if same.get("length") is not None and "items" in facts:
        same["items"] = {
            at: _shared(part, others["items"][at]) or _ANYTHING
            for at, part in facts["items"].items()
        }
    return same


def _shared_of_tables(
    facts: Mapping[str, Any], others: Mapping[str, Any]
) -> dict[str, Any]:
    """The parts of shapes and dtypes that two tables with the same columns have in common."""
    same: dict[str, Any] = {}
    if facts.get("columns") != others.get("columns"):
        return same
    for name in ("shape", "dtypes"):
        if parts := _shared_parts(facts.get(name), others.get(name)):
            same[name] = parts
    return same


def _shared_parts(
    parts: Sequence[Any] | None, others: Sequence[Any] | None
) -> list[Any]:
    """Lengths of axes or dtypes of columns one by one: (3, None) is still known to have two axes."""
    if not parts or not others or len(parts) != len(others):
        return []
    return [one if one == other else None for one, other in zip(parts, others)]


def _operation(step: str, of: str, name: str) -> Callable[..., Any]:
    if step == "call":
        if of == "builtins":
            of_python: Callable[..., Any] = vars(builtins)[name]
            return of_python
        # By attributes: the name was checked against the list.
        function: Callable[..., Any] = reduce(
            getattr, name.split("."), library_of(of).PACKAGE
        )
        return function
    if name == "__call__":
        # getattr(held, "__call__") would not be what `held()` does.
        return lambda held, *given, **named: held(*given, **named)
    if step == "method":
        return lambda held, *given, **named: getattr(held, name)(
            *given, **named
        )
    if step == "attribute":
        return lambda held: getattr(held, name)
    if step == "located":
        return lambda held, key: getattr(held, name)[key]
    return _OPERATORS[name] if step == "operator" else _STEPS[step]


def _tried(
    operation: Callable[..., Any],
    operands: list[Any],
    keywords: dict[str, Any],
    *,
    is_measured: bool = False,
) -> dict[str, Any]:
    """What happens, in a form that can be compared with what happens with another fill."""
    try:
        result = operation(*operands, **keywords)
    except _NEVER as error:
        # torch says so of a dtype on the processor, whatever the values.
        is_about_dtype = isinstance(
            error, NotImplementedError
        ) and _FOR_DTYPE in str(error)
        if not is_about_dtype and not _is_checked_by_torch(error):
            return {"unknown": type(error).__name__}
        return refusal(error)
    except Exception as error:  # noqa: BLE001 - what it raises is the answer
        # The worker's own limits must not be told as a refusal.
        if _OF_PROCESS.search(str(error)):
            return {"unknown": type(error).__name__}
        return refusal(error)
    return {"gave": schema(result, is_measured=is_measured)}


def _is_checked_by_torch(error: Exception) -> bool:
    """Whether torch itself asserts something of what it is given, and says what."""
    # The innermost frame says who asserts: torch, or a function that was handed to it.
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = (
        trace.tb_frame.f_globals.get("__name__", "")
        if trace is not None
        else ""
    )
    return (
        isinstance(error, AssertionError)
        and bool(str(error))
        and name.startswith(("torch.", "torchvision."))
    )


def schema(value: Any, *, is_measured: bool = False) -> dict[str, Any]:
    """Facts about what an operation gave that do not depend on values; empty where there are none to tell.

    `is_measured`: its integers are lengths and counts of dimensions.
    """
    kind = type(value)
    if kind in _PLAIN:
        # Other numbers depend on values.
        length = {"value": value} if is_measured and kind is int else {}
        return {"type": kind.__name__, **length}
    if isinstance(value, (list, tuple)) and len(value) <= _MOST_PARTS:
        return _schema_of_parts(value, is_measured=is_measured)
    package = (kind.__module__ or "").partition(".")[0]
    try:
        read: dict[str, Any] = library_of(package).read(value)
    except NotMadeError:
        return {}
    # Integers of a tensor that are lengths bound what they may index.
    if is_measured and "value_range" in (told := seen(value)):
        read["value_range"] = told["value_range"]
    return read


def _schema_of_parts(value: Any, *, is_measured: bool) -> dict[str, Any]:
    kind = type(value)
    # Named tuples of libraries (torch.return_types) are told by their class.
    is_own = kind not in (list, tuple)
    path = f"{kind.__module__}.{kind.__qualname__}" if is_own else kind.__name__
    parts = {
        str(at): schema(part, is_measured=is_measured) or _ANYTHING
        for at, part in enumerate(value)
    }
    return {"type": path, "length": len(value), "items": parts}


_WITHOUT_SURROGATES: Mapping[
    str, Callable[[Mapping[str, Any]], dict[str, Any]]
] = {
    "binds": lambda order: signatures.bound(
        order["of"], order["operands"], order["keywords"], kind=order["name"]
    ),
    "parameters": lambda order: parameters.refused(
        order["of"], order["name"], order["given"]
    ),
    "member": lambda order: members.of_module(order["of"], order["name"]),
    "of method": lambda order: members.of_method(order["of"], order["name"]),
    "of object": lambda order: members.of_object(
        order["of"],
        order["name"],
        is_made=order["is_made"],
        is_label=order["is_label"],
    ),
    "wrapped": lambda order: _of_wrapped(order["of"], order),
}
"""Questions by their step, in which nothing is listed: what signatures and classes say by themselves."""
