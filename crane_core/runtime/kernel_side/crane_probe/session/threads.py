"""Threads that may act while the target runs: those of the notebook, and pools that have work.

Knows the threads of Jupyter's kernels, of debuggers and of a few packages that only watch or report, each by the code
that it runs: a name says nothing, as a notebook may name its threads as it likes.
"""

from __future__ import annotations

import _queue
import sys
import threading
import types
from typing import Any, Iterator

from ..anatomy import instance_dict, mro_of, name_of
from ..kinds import Kinds
from .origins import functions_of, is_of, module_of_code

# ipykernel's own threads hold the sockets and the heartbeat, and touch no variables.
_KERNEL = "ipykernel IPython zmq jupyter_client traitlets debugpy pydevd _pydevd_bundle _pydev_bundle crane_core"
_WATCHING = "tqdm wandb comet_ml neptune sentry_sdk posthog tensorboard execnet pytest_rerunfailures"
"""Packages whose threads report what they are given, and test runners that hold a shell: none touches variables."""
_QUIET = frozenset([*_KERNEL.split(), *_WATCHING.split()])
_QUIET_TARGETS = (
    "multiprocessing.queues",
    "joblib.externals.loky.backend.queues",
    "torch.utils.data._utils.pin_memory",
)
"""Modules of the standard library and of torch whose threads pass on what they get."""
_PLAIN_THREADS = Kinds(threading.Thread, threading.Timer)
# Read once from the class: a wrapper that a notebook puts there later is another code.
_FIRST_CODE = threading.Thread._bootstrap.__code__  # type: ignore[attr-defined]
"""What a thread of `threading` is in from its first moment to its last."""
# The innermost function of IPython that holds a cell's code.
_RUNS_CELLS = ("IPython.core.interactiveshell", "run_code")


def threads() -> list[str]:
    """What may act beside this thread, by name."""
    own = threading.get_ident()
    frames = sys._current_frames()
    # Our own frame among its variables would be a cycle, and keep what was looked at until the next collection.
    frames.pop(own, None)
    # `_active` and `_limbo` without their lock: a thread that holds it may be the one interrupted.
    starting = _starting()
    known = {**starting, **threading._active}  # type: ignore[attr-defined]
    # A thread leaves the active ones as its last act; on a busy machine it may be found there.
    ended = {
        ident
        for ident, frame in frames.items()
        if ident not in known and _is_of_threading(frame)
    }
    if None in starting:
        ended = set()  # One begins that does not know its number yet: it may be any of them.
    idle = idle_pools(known.values())
    return [
        _named(known.get(ident), frame)
        for ident, frame in sorted(frames.items())
        if ident not in ended and _may_act(known.get(ident), frame, idle)
    ]


def _starting() -> dict[int | None, Any]:
    """By number the threads that run and are not yet among the active ones."""
    starting = list(threading._limbo)  # type: ignore[attr-defined]
    return {instance_dict(thread).get("_ident"): thread for thread in starting}


def _is_of_threading(frame: types.FrameType) -> bool:
    return _outermost(frame).f_code is _FIRST_CODE


def _may_act(thread: Any, frame: types.FrameType, idle: set[int]) -> bool:
    # First of all: a thread of ipykernel's that runs a cell does act.
    if _runs_a_cell(frame):
        return True
    # Started by C code, or not by `threading`: all that is known of it is its first frame.
    if thread is None or type(thread) is threading._DummyThread:
        first = _outermost(frame)
        return (
            str(first.f_globals.get("__name__")).partition(".")[0] not in _QUIET
        )
    if thread is threading.main_thread() or id(thread) in idle:
        return False
    if is_of(type(thread), _QUIET):
        # A replaced `run` on the object itself hides what its class promises.
        return "run" in instance_dict(thread)
    # A class of the notebook, or of a library that is not known, may do anything.
    if type(thread) not in _PLAIN_THREADS:
        return True
    held = instance_dict(thread)
    # Timer keeps what it will call under another name.
    started = held.get(
        "function" if type(thread) is threading.Timer else "_target"
    )
    # A thread lets go of its target when that has come to its end.
    return started is not None and not _is_quiet(started)


def _is_quiet(started: Any) -> bool:
    """Whether all that a thread was started with is code of the packages above."""
    functions = list(functions_of(started))
    modules = [
        module_of_code(function) if function is not None else ""
        for function in functions
    ]
    return bool(modules) and all(
        name.partition(".")[0] in _QUIET or name in _QUIET_TARGETS
        for name in modules
    )


def _runs_a_cell(frame: types.FrameType) -> bool:
    """Whether a cell is run there: JupyterLab's subshells run beside the main thread."""
    return any(
        (each.f_globals.get("__name__"), each.f_code.co_name) == _RUNS_CELLS
        for each in _stack(frame)
    )


def _stack(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _outermost(frame: types.FrameType) -> types.FrameType:
    # The outermost frame names who started the thread; the innermost is wherever it waits.
    *_, first = _stack(frame)
    return first


def _named(thread: Any, frame: types.FrameType) -> str:
    """Its name as the notebook or Python gave it, with what it runs."""
    name = instance_dict(thread).get("_name") if thread is not None else None
    if type(name) is str:
        return name
    return f"thread of {_outermost(frame).f_code.co_name}"


def idle_pools(known: Any) -> set[int]:
    """By id the threads of pools that have nothing to do."""
    return {id(thread) for thread in known if _is_idle(thread)}


def _is_idle(thread: Any) -> bool:
    held = instance_dict(thread)
    kinds = [name_of(kind) for kind in mro_of(type(thread))]
    if (
        "_ExecutorManagerThread" in kinds
    ):  # of concurrent.futures, and of joblib's loky
        # The manager only passes results on; a task that was not handed out yet would act.
        waiting = held.get("pending_work_items")
        return type(waiting) is dict and not waiting
    target = held.get("_target")
    function = (
        getattr(target, "__func__", target)
        if type(target) is types.MethodType
        else target
    )
    if type(function) is not types.FunctionType:
        return False
    module, given = module_of_code(function), held.get("_args", ())
    # Pools are recognised by the function that their threads run, as their names can be chosen.
    if (module, function.__name__) == ("concurrent.futures.thread", "_worker"):
        return not _has_waiting_work(given) and _waits_for_work(
            thread, function
        )
    if module == "multiprocessing.pool":
        return (
            # Helpers of a Pool loop for ever; only its cache of results says whether work is out.
            _has_idle_cache(given)
            if function.__name__ != "worker"
            else _waits_for_work(thread, function)
        )
    return False


def _has_waiting_work(given: Any) -> bool:
    """Whether work was submitted that no worker has taken yet."""
    queues = _given(given, _queue.SimpleQueue)
    return not queues or any(queue.qsize() for queue in queues)


def _waits_for_work(thread: Any, worker: Any) -> bool:
    """Whether a worker's own code is what it is at, or the queue that it reads, with no work in its hands."""
    frame = sys._current_frames().get(thread.ident)
    for each in _stack(frame):
        if each.f_code is worker.__code__:
            # concurrent.futures names its work `work_item`, multiprocessing names it `task`.
            return (
                each.f_locals.get("work_item") is None
                and each.f_locals.get("task") is None
            )
        name = str(each.f_globals.get("__name__"))
        # Any other module on the way down means that a task's function is being run.
        if name.partition(".")[0] not in (
            "threading",
            "queue",
            "multiprocessing",
            "_queue",
        ):
            return False
    return False


def _has_idle_cache(given: Any) -> bool:
    """The helpers of multiprocessing's Pool hold, by task, what has not come back."""
    # The cache of a Pool is a subclass of dict: its own __len__ is not called.
    caches = (
        [part for part in given if isinstance(part, dict)]
        if type(given) is tuple
        else []
    )
    return bool(caches) and all(not dict.__len__(cache) for cache in caches)


def worker_processes() -> set[int]:
    """Process numbers of the workers of idle pools."""
    found: set[int] = set()
    # Taken as a list first: threads come and go meanwhile.
    for thread in list(threading._active.values()):  # type: ignore[attr-defined]
        if not _is_idle(thread):
            continue
        held = instance_dict(thread)
        processes = held.get("processes")
        # concurrent.futures keeps workers by number, multiprocessing as a list of Process objects.
        if type(processes) is dict:
            found.update(number for number in processes if type(number) is int)
        for workers in _given(held.get("_args", ()), list):
            found.update(filter(None, map(_number_of, workers)))
    return found


def _given(arguments: Any, kind: type) -> list[Any]:
    """The arguments of a thread that are of this very type."""
    parts = arguments if type(arguments) is tuple else ()
    return [part for part in parts if type(part) is kind]


def _number_of(process: Any) -> int | None:
    popen = instance_dict(process).get("_popen")
    number = instance_dict(popen).get("pid") if popen is not None else None
    return number if type(number) is int else None
