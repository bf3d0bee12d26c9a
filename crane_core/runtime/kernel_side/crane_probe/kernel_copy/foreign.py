"""Facts that only code of the notebook can give: how long a dataset is, what its samples are, what collating makes.

Knows which way of running it there is. Everywhere else in the probe nothing of the notebook is run: here the paper does
it too (section 3.1), and here it is bounded in time, silent, and leaves no trace.
"""

from __future__ import annotations

import random
from typing import Any

from . import forked, gpus, held
from .forked import Facts, Tell, Work

_SHARE_OF_TIME = 2 / 3
"""Share of the variable's remaining budget; the rest is for its other facts."""

_LEAST_S = 0.005
"""Too little to begin with; a clock set to nothing would never ring."""


def facts_of(work: Work, look: Any) -> Facts:
    """What `work(tell)` tells by `tell(name, JSON)`; with `unfinished`, the reason, when it did not come to its end."""
    # Prompts need these facts as the paper's do; `check` and the magics run no code of the
    # notebook.
    if not look.limits.foreign:
        return {"unfinished": "needs code of the notebook"}
    seconds = look.seconds_left * _SHARE_OF_TIME
    if seconds < _LEAST_S:
        return {"unfinished": "no time is left for it"}
    # In a copy first: `held` cannot take back a counter or a file's position that the code moves.
    if leaves_no_trace():
        return forked.facts_of(_with_random_state(work), seconds)
    if held.is_possible():
        return held.facts_of(work, seconds)
    return {"unfinished": "needs code of the notebook, which this system cannot bound"}


def leaves_no_trace() -> bool:
    """True where it runs in a copy of the process, so that it may do what cannot be put back."""
    # A process forked from one that uses CUDA cannot use it, and torch raises at the first tensor.
    return forked.is_possible() and not gpus.torch_uses_one()


def _with_random_state(work: Work) -> Work:
    """Python seeds `random` again in a copy of the process; the samples must be those that the kernel would give."""
    state = random.getstate()

    def seeded(tell: Tell) -> None:
        random.setstate(state)
        work(tell)

    return seeded
