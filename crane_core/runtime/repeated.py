"""A rehearsal in a second kernel, for a target whose first copy lacked threads: its copy runs the same cells itself.

Knows how the second kernel is used. What it must come to before it may answer is in kernel_copy/repeated.py
of crane_probe.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crane_core.errors import KernelStartError
from crane_core.runtime import probe_source
from crane_core.runtime.kernel import EndedError, ExpressionError, fresh_kernel
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.program import Program
from crane_core.runtime.rehearsal import Rehearsal, rehearsal_of

_NO_ANSWER = "and a second kernel gave no answer"


def rehearsed_again(
    first: Rehearsal,
    asked: Mapping[str, Any],
    program: Program,
    folder: Path,
    limits: KernelLimits,
    stop: threading.Event | None,
) -> Rehearsal:
    """What the second kernel says, started as the first was; that there was no answer leaves the first's reason.

    Raises KernelError when it has to stop.
    """
    # The cells run inside this one request, so their time is added to that of a look.
    more_s = float(asked["again"]["seconds"]) + float(asked["seconds"])
    try:
        with fresh_kernel(program, folder, limits, stop) as kernel:
            magic = json.loads(kernel.evaluate(probe_source.greet()))["magic"]
            told = json.loads(
                kernel.evaluate(probe_source.rehearse(dict(asked), magic), more_s)
            )
    # A failure of the second kernel leaves the question where it was: unknown.
    except (EndedError, ExpressionError, KernelStartError, ValueError, RecursionError):
        return first._replace(why=f"{first.why}, {_NO_ANSWER}")
    return rehearsal_of(told)._replace(ran_again=True, lacks_threads=False)
