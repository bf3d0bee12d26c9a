"""Facts that only code of the notebook can give: how long a dataset is, what its samples are, what collating makes.

Knows which way of running it there is. Everywhere else in the probe nothing of the notebook is run: here the paper does
it too (section 3.1), and here it is bounded in time, silent, and leaves no trace. Where the process cannot be copied
(forked.py), the code runs in place: the global generators of random, numpy and torch are put back after it, a clock
interrupts it, and what else it changes (its own counter, a file's position) stays changed.
"""

from __future__ import annotations

import contextlib
import io
import random
import signal
import sys
import threading
import warnings
from typing import Any, Callable, Iterator

from ..bounds import Facts
from . import forked, processors
from .forked import Tell, Work

_SHARE_OF_TIME = 2 / 3
"""Share of the variable's remaining budget; the rest is for its other facts."""

_LEAST_S = 0.005
"""Too little to begin with; a clock set to nothing would never ring."""
# Rings again, as `except BaseException: pass` in the notebook would swallow one ring.
_AGAIN_S = 0.05


def facts_of(work: Work, look: Any) -> Facts:
    """What `work(tell)` tells by `tell(name, JSON)`; with `unfinished`, the reason, when it did not come to its end."""
    # Prompts need these facts as the paper's do; `check` and the magics run no code of the
    # notebook.
    if not look.limits.foreign:
        return {"unfinished": "needs code of the notebook"}
    seconds = look.seconds_left * _SHARE_OF_TIME
    if seconds < _LEAST_S:
        return {"unfinished": "no time is left for it"}
    # In a copy first: running it in place cannot take back a counter or a file's position that the code moves.
    if leaves_no_trace():
        return forked.facts_of(_with_random_state(work), seconds)
    if _can_interrupt():
        return facts_in_place(work, seconds)
    return {
        "unfinished": "needs code of the notebook, which this system cannot bound"
    }


def leaves_no_trace() -> bool:
    """True where it runs in a copy of the process, so that it may do what cannot be put back."""
    # A process forked from one that uses CUDA cannot use it, and torch raises at the first tensor.
    return forked.is_possible() and not processors.torch_uses_gpu()


def _with_random_state(work: Work) -> Work:
    """Python seeds `random` again in a copy of the process; the samples must be those that the kernel would give."""
    state = random.getstate()

    def seeded(tell: Tell) -> None:
        random.setstate(state)
        work(tell)

    return seeded


# In place


class _LateError(BaseException):
    """The time is up. Not an Exception, so that the notebook's own handlers let it pass."""


def _can_interrupt() -> bool:
    """True where a clock can interrupt: on the main thread of a system with alarms."""
    # Python runs signal handlers on the main thread alone; Windows has no such alarm.
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
    )


def facts_in_place(work: Work, seconds: float) -> Facts:
    """What `work` tells until it is done or the time is up; `unfinished` says why it was not done."""
    facts: Facts = {}
    with _random_states(), _silence():
        try:
            with _alarm(seconds):
                work(facts.__setitem__)
        except _LateError:
            facts["unfinished"] = f"took more than {seconds:.1g} s"
        # exit() in a __len__ of the notebook would end the kernel.
        except SystemExit:
            facts["unfinished"] = "it ended the process"
    return facts


@contextlib.contextmanager
def _random_states() -> Iterator[None]:
    """The states of the global generators that are loaded, put back at the end."""
    # All are read before the code runs: reading one may itself fail, and then nothing is set.
    put_back = [(setter, getter()) for getter, setter in _generators()]
    try:
        yield
    finally:
        for setter, state in put_back:
            setter(state)


def generator_states() -> list[Any]:
    """The states of the global generators of the processor, to be compared."""
    return [_plain(read()) for read, _ in _of_processor()]


def _plain(state: Any) -> Any:
    """A state without arrays and tensors, which do not compare as a whole."""
    if type(state) is tuple:
        return tuple(map(_plain, state))
    # By its methods: numpy or torch may not be loaded, and are not loaded for this.
    return state.tolist() if hasattr(state, "tolist") else state


def _generators() -> list[tuple[Callable[[], Any], Callable[[Any], Any]]]:
    """How the state of each generator is read and set."""
    found, torch = _of_processor(), sys.modules.get("torch")
    # Asking for CUDA's state initialises CUDA, which takes memory and forbids later forks.
    if torch is not None and torch.cuda.is_initialized():
        found.append(
            (torch.cuda.get_rng_state_all, torch.cuda.set_rng_state_all)
        )
    return found


def _of_processor() -> list[tuple[Callable[[], Any], Callable[[Any], Any]]]:
    found: list[Any] = [(random.getstate, random.setstate)]
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        found.append((numpy_random.get_state, numpy_random.set_state))
    torch = sys.modules.get("torch")
    if torch is not None:
        found.append((torch.get_rng_state, torch.set_rng_state))
    return found


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(
        nowhere
    ), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raises _LateError again and again from when the time is up; the notebook's own alarm is set again at the end."""

    def ring(*_: Any) -> None:
        raise _LateError

    before = signal.signal(signal.SIGALRM, ring)
    theirs = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_S)
    try:
        yield
    finally:
        # Stopped before the handler changes: a late ring would meet the notebook's own handler.
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *theirs)
