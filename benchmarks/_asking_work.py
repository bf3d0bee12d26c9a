"""What every contender of llm_concurrency is asked, and how it is measured. Needs nothing but psutil."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import psutil

LOOK_S = 0.05


def prompt(number: int, n_chars: int) -> str:
    """A separate text for each question, about as long as an input of the study."""
    line = f"x_{number} = frame.groupby('key')['value'].mean()\n"
    return (line * (n_chars // len(line) + 1))[:n_chars]


def measured(work: Callable[[], int]) -> dict[str, Any]:
    """`work` gives the number of its answers. Bytes are resident memory."""
    process = psutil.Process()
    seen: list[tuple[float, int]] = []
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(LOOK_S):
            seen.append((time.perf_counter(), process.memory_info().rss))

    watch = threading.Thread(target=look)
    before = process.memory_info().rss
    cpu = time.process_time()
    start = time.perf_counter()
    watch.start()
    n_answered = work()
    seconds = time.perf_counter() - start
    cpu_s = time.process_time() - cpu
    is_over.set()
    watch.join()
    after = process.memory_info().rss
    half = next((rss for at, rss in seen if at >= start + seconds / 2), after)
    most = max([rss for _, rss in seen] + [before, after])
    return {
        "n_answered": n_answered,
        "seconds": seconds,
        "cpu_s": cpu_s,
        "memory": {"start": before, "half": half, "end": after, "most": most},
    }
