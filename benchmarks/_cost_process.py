"""One scene in its own process: what our look and the peer's extraction take there, in time or in memory.

python -m benchmarks._cost_process SCENE PROBE_FOLDER PEER_FOLDER times|ours|peer

Prints one line of JSON. Both are tried on a small scene first, so that what they import counts for neither.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks._cost_scenes import SCENES, Scene
from benchmarks._peer_look import collector

ROUNDS = 15
LONG_S = 20.0
"""Runs of something that take longer than this together are enough, however few they are."""

Look = Callable[[Scene], Any]


def our_look(probe_folder: str) -> Look:
    sys.path.insert(0, probe_folder)
    from crane_probe.look import look

    return lambda scene: look(scene.namespace, {"target": scene.target, "cells": []})


def peer_look(peer_folder: str) -> Look:
    collect = collector(peer_folder)
    return lambda scene: collect(shell=SimpleNamespace(user_ns=scene.namespace), target_code=scene.target)


def clocked(look: Look, scene: Scene) -> tuple[float, float]:
    """Seconds by the clock, and of processor: what it takes where nothing else runs."""
    gc.collect()
    began, used = time.perf_counter(), time.process_time()
    look(scene)
    return time.perf_counter() - began, time.process_time() - used


def times(scene: Scene, ours: Look, peer: Look) -> dict[str, Any]:
    """Seconds of both, taken in turns, and of our look at each variable that the target needs by itself."""
    seconds: dict[str, list[tuple[float, float]]] = {"ours": [], "peer": []}
    while len(seconds["peer"]) < ROUNDS and sum(pair[0] for pair in seconds["peer"]) < LONG_S:
        for name, look in (("ours", ours), ("peer", peer)):
            seconds[name].append(clocked(look, scene))
    needed = [name for name in scene.namespace if re.search(rf"\b{name}\b", scene.target)]
    alone = {name: clocked(ours, scene._replace(target=name))[0] for name in needed}
    largest = max(alone, key=lambda name: alone[name])
    return {"seconds": seconds, "largest": [largest, alone[largest]]}


def memory(scene: Scene, look: Look) -> dict[str, Any]:
    """Bytes by which the process grew at most, of the bytes of what it looked at."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # The high-water mark starts again at what is resident now.
    before = _resident("VmHWM")
    look(scene)
    return {"extra": _resident("VmHWM") - before, "of": scene.n_bytes}


def _resident(field: str) -> int:
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    if found is None:
        raise OSError(f"/proc/self/status has no {field}")
    return int(found[1]) * 1024


def main(name: str, probe_folder: str, peer_folder: str, what: str) -> None:
    looks = {"ours": our_look(probe_folder), "peer": peer_look(peer_folder)}
    build = SCENES[name][1]
    for look in looks.values() if what == "times" else [looks[what]]:
        look(build(small=True))
    scene = build(small=False)
    print(json.dumps(times(scene, **looks) if what == "times" else memory(scene, looks[what])))


if __name__ == "__main__":
    main(*sys.argv[1:])
