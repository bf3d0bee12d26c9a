"""Running code of the notebook in place, where the process cannot be copied: random states are put back after it.

Knows the global generators of random, numpy and torch, and a clock that interrupts. What the code changes besides
(its own counter, a file's position) stays changed: forked.py is the better way wherever it is there.
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

from .forked import Facts, Work

# Rings again, as `except BaseException: pass` in the notebook would swallow one ring.
_AGAIN_S = 0.05


class _LateError(BaseException):
    """The time is up. Not an Exception, so that the notebook's own handlers let it pass."""


def is_possible() -> bool:
    """True where a clock can interrupt: on the main thread of a system with alarms."""
    # Python runs signal handlers on the main thread alone; Windows has no such alarm.
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
    )


def facts_of(work: Work, seconds: float) -> Facts:
    """What `work` tells until it is done or the time is up; `unfinished` says why it was not done."""
    facts: Facts = {}
    with random_states(), _silence():
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
def random_states() -> Iterator[None]:
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
        found.append((torch.cuda.get_rng_state_all, torch.cuda.set_rng_state_all))
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
