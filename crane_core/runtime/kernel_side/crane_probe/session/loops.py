"""What the event loops will run as soon as the target yields to them: tasks, scheduled calls, watched files.

Knows asyncio's loops and tornado's around them, and the kernel's own part in both, by the code that would run.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import Any, Iterable, Iterator

from ..anatomy import instance_dict, is_kind, module_of, type_name
from ..kinds import Kinds
from .origins import called, functions_of, module_of_code, parts_of_partial

# asyncio is among those that read sockets, for the loop wakes itself through one.
_READS = frozenset(["ipykernel", "IPython", "zmq", "jupyter_client", "asyncio"])
"""Packages of the kernel that read sockets; a server of tornado's in the notebook reads its own."""
_KERNEL = _READS | {"tornado", "selectors", "anyio"}
_CODE = Kinds(types.FunctionType, types.MethodType, types.BuiltinFunctionType)
_COROUTINES = Kinds(
    types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType
)
_DEEPEST = 4


def pending() -> list[str]:
    """What waits in the loops and is not the kernel's own, by name."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return []
    # get_running_loop raises where none runs, and get_event_loop may make one.
    loop = asyncio._get_running_loop()
    held = instance_dict(loop) if loop is not None else {}
    handles = [*_listed(held.get("_ready")), *_listed(held.get("_scheduled"))]
    found = [
        *map(_name_of_task, _tasks(asyncio, loop)),
        *map(_name_of_handle, handles),
        *_watched(held),
    ]
    return [name for name in found if name]


def _listed(handles: Any) -> list[Any]:
    return list(handles) if handles is not None else []


def _tasks(asyncio: Any, loop: Any) -> list[Any]:
    """All tasks that are not done: of this loop, and of others, which the target may run."""
    tasks = sys.modules["asyncio.tasks"]
    known: dict[int, Any] = {}
    # Python 3.12 has the first and the third, releases before it the second.
    for registered in ("_scheduled_tasks", "_all_tasks", "_eager_tasks"):
        known.update(
            (id(task), task) for task in list(vars(tasks).get(registered) or ())
        )
    if loop is not None:
        known.update((id(task), task) for task in asyncio.all_tasks(loop))
        # The task in which this very look runs.
        known.pop(id(asyncio.current_task(loop)), None)
    return [task for task in known.values() if not _is_done(task)]


def _is_done(task: Any) -> bool:
    """A class of tasks that is not asyncio's own is left alone."""
    # done() of a class of the notebook would be its code.
    return module_of(type(task)) in ("_asyncio", "asyncio.tasks") and bool(
        task.done()
    )


def _name_of_task(task: Any) -> str:
    """Empty for a task of the kernel's, and for one that has nothing left to run."""
    # A class of tasks that the notebook wrote need not have a coroutine.
    if module_of(type(task)) not in ("_asyncio", "asyncio.tasks"):
        return f"task {type_name(type(task))}"
    coroutine = task.get_coro()
    if type(coroutine) not in _COROUTINES:
        return f"task {type_name(type(coroutine))}"
    frames = (getattr(coroutine, part, None) for part in _FRAMES)
    frame = next(filter(None, frames), None)
    if frame is None:
        return ""  # It has come to its end, in another thread, whose loop has not noted that yet.
    top = str(frame.f_globals.get("__name__")).partition(".")[0]
    # asyncio's own coroutines (wait_for, gather) act for those that called them.
    is_kernels = top in _KERNEL - {"asyncio"} and not _awaits_foreign(coroutine)
    return "" if is_kernels else f"task {coroutine.__name__}"


_FRAMES = ("cr_frame", "gi_frame", "ag_frame")


def _awaits_foreign(coroutine: Any) -> bool:
    """Whether a coroutine of the kernel waits for one that is not: a cell that was interrupted by a look."""
    # ipykernel awaits the cell: its own coroutine would hide the cell's.
    for _ in range(_DEEPEST):
        coroutine = (
            getattr(coroutine, "cr_await", None)
            if type(coroutine) is types.CoroutineType
            else None
        )
        if (
            type(coroutine) is not types.CoroutineType
            or coroutine.cr_frame is None
        ):
            return False
        module = str(coroutine.cr_frame.f_globals.get("__name__"))
        if module.partition(".")[0] not in _KERNEL:
            return True
    return False


def _name_of_handle(handle: Any) -> str:
    """Empty for a call of the kernel's, one that was cancelled, and a step of a task, which is stated as such."""
    held = instance_dict(handle)
    callback = held.get("_callback")
    if callback is None or held.get("_cancelled") is True:
        return ""
    return (
        ""
        if _is_known([callback, *held.get("_args", ())], _KERNEL)
        else f"scheduled call of {called(callback)}"
    )


def _is_known(
    parts: Iterable[Any], packages: frozenset[str], depth: int = 0
) -> bool:
    """Whether all code among the parts of a call is of these packages."""
    return all(_is_known_part(part, packages, depth) for part in parts)


def _is_known_part(part: Any, packages: frozenset[str], depth: int) -> bool:
    # Arguments that are data run nothing.
    if _wakes_a_task(part) or not _is_code(part):
        return True
    # functools.partial hides what it calls: tornado schedules through it.
    if is_kind(part, functools.partial):
        inner = parts_of_partial(part)
        return depth < _DEEPEST and _is_known(inner, packages, depth + 1)
    for function in functions_of(part):
        module = module_of_code(function) if function is not None else ""
        if module.partition(".")[0] not in packages:
            return False
    # A PeriodicCallback is tornado's own code around a function of anyone.
    owner = part.__self__ if type(part) is types.MethodType else None
    is_periodic = type_name(type(owner)) == _PERIODIC
    repeated = instance_dict(owner).get("callback") if is_periodic else None
    if repeated is None:
        return True
    return depth < _DEEPEST and _is_known([repeated], packages, depth + 1)


def _wakes_a_task(part: Any) -> bool:
    """Tasks are named among the tasks."""
    is_of_c = type(part) is types.BuiltinFunctionType
    return module_of(type(part.__self__ if is_of_c else part)) in _OF_TASKS


_PERIODIC = "tornado.ioloop.PeriodicCallback"
_OF_TASKS = (
    "_asyncio",
    "asyncio.futures",
    "asyncio.tasks",
    "asyncio.locks",
    "_contextvars",
)


def _is_code(part: Any) -> bool:
    return type(part) in _CODE or is_kind(part, functools.partial)


def _watched(held: dict[str, Any]) -> Iterator[str]:
    """Files and sockets whose readiness runs code that is not the kernel's."""
    # A loop that is not built on selectors (uvloop, Windows) shows no files.
    selector = (
        instance_dict(held["_selector"])
        if held.get("_selector") is not None
        else {}
    )
    for key in list((selector.get("_fd_to_key") or {}).values()):
        for handle in key.data if type(key.data) is tuple else ():
            callback = (
                instance_dict(handle).get("_callback")
                if handle is not None
                else None
            )
            if callback is not None and not _reads_for_the_kernel(
                callback, key.fd
            ):
                yield f"watched file of {called(callback)}"


def _reads_for_the_kernel(callback: Any, number: int) -> bool:
    # tornado registers one method for all its files, and keeps by number what each calls.
    owner = callback.__self__ if type(callback) is types.MethodType else None
    handlers = (
        instance_dict(owner).get("handlers") if owner is not None else None
    )
    if (
        type(handlers) is dict and number in handlers
    ):  # tornado's loop, which tells its own handlers
        return _is_known([handlers[number][1]], _READS)
    # The kernel's other sockets are tornado's; those of asyncio's own transports and servers are the notebook's.
    return called(callback) == "_read_from_self" and _is_known(
        [callback], _READS
    )
