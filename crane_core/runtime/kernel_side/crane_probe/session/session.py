"""The facts about a session that a look tells beside the variables; only those that say something.

Knows IPython's shells. Elsewhere it is unknown who else runs in the process, and nothing is stated.

Modules whose source was edited are listed by the times that %autoreload keeps, and those in bytecode files; where there
is neither, nothing is stated.
"""

from __future__ import annotations

import importlib.util
import os
from typing import Any, Callable, Mapping

from .. import bounds
from ..anatomy import instance_dict, is_kind, name_of
from ..bounds import Facts, stated
from . import hooks, loops, processes, settings, threads
from .origins import sources
from .replaced import replaced
from .shells import setting, shell_of

_LONGEST = 80
_MOST = 20
_FLAGS_AT, _TIME_AT, _SIZE_AT, _END_AT = 4, 8, 12, 16
# Python's bytecode files keep times and sizes in 32 bits.
_WHOLE = 0xFFFFFFFF


def facts(namespace: Mapping[str, Any], unavailable: dict[str, str]) -> Facts:
    """{"session": {"threads", "tasks", "processes": names, "hooks": [[what, name]], "edited": modules, ...}}, if any.

    `settings` and `replaced` are [library, name] of settings that were changed and of functions that have other code.

    What is unknown is named in `unknown`, and counts as something that may act.
    """
    # Without a shell there are no cells, and so no session that others could act in.
    shell = shell_of(namespace)
    if shell is None:
        return {}
    told: Facts = {}
    for name in _ASKED:
        _tell(name, shell, told, unavailable)
    return stated(session=stated(**told))


def _tell(
    name: str, shell: Any, told: Facts, unavailable: dict[str, str]
) -> None:
    try:
        told[name] = _ASKED[name](shell)
    except Exception as error:  # noqa: BLE001 - the rest is told all the same
        unavailable[f"the session's {name}"] = bounds.why(error)
        # Said as unknown, not as empty: rules then trust no value that others could change.
        told.setdefault("unknown", []).append(name)


def _short(names: list[str]) -> list[str]:
    return [bounds.text(name, _LONGEST) for name in names[:_MOST]]


_ASKED: dict[str, Callable[[Any], list[Any]]] = {
    "threads": lambda shell: _short(threads.threads()),
    "tasks": lambda shell: _short(loops.pending()),
    "processes": lambda shell: _short(processes.processes()),
    "hooks": lambda shell: [
        [hook.what, bounds.text(hook.name, _LONGEST)]
        for hook in hooks.hooks(shell)[:_MOST]
    ],
    "edited": lambda shell: edited(shell)[:_MOST],
    "settings": lambda shell: settings.changed(),
    "replaced": lambda shell: replaced(),
}


def edited(shell: Any) -> list[Facts]:
    """`{"module", "file", "reloads"}` for each; `reloads` where %autoreload loads it again before the next cell."""
    reloader = _reloader(shell)
    times = reloader.get("modules_mtimes", {})
    found = []
    # Installed packages are read only if %autoreload would reload them: stat of thousands is slow.
    for name, module, path in sorted(sources(with_installed=bool(reloader))):
        written = _time_of(path)
        if written is None:
            continue
        # %autoreload keeps the time that the file had as it was loaded: newer is edited since.
        is_newer = name in times and written > times[name]
        reloads = is_newer and _is_watched(name, reloader)
        # Where %autoreload is off, an edited file still matters: it is not what the kernel runs.
        if is_newer or _differs_from_bytecode(module, path):
            file = os.path.basename(path)  # noqa: PTH119
            found.append({"module": name, "file": file, "reloads": reloads})
    return found


def _reloader(shell: Any) -> Facts:
    """What %autoreload knows and has to do; empty where it is not loaded or is off."""
    manager = setting(shell, "magics_manager")
    registry: Any = (
        setting(manager, "registry") if manager is not None else None
    )
    for owner in dict.values(registry) if is_kind(registry, dict) else ():
        # By name, as the class is in an extension that may never have been loaded.
        if name_of(type(owner)) == "AutoreloadMagics":
            held = instance_dict(instance_dict(owner).get("_reloader"))
            return held if held.get("enabled") is True else {}
    return {}


def _is_watched(name: str, reloader: Mapping[str, Any]) -> bool:
    is_chosen = reloader.get("check_all") is True or name in reloader.get(
        "modules", ()
    )
    return is_chosen and name not in reloader.get("skip_modules", ())


def _time_of(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime  # noqa: PTH116 - pathlib may not be loaded here
    # A file that is gone (an unmounted folder) is not edited.
    except OSError:
        return None


def _differs_from_bytecode(module: Any, path: str) -> bool:
    """Whether the file is not the one whose bytecode Python loaded, or wrote as it loaded the module."""
    try:
        with open(importlib.util.cache_from_source(path), "rb") as file:  # noqa: PTH123 - as above
            head = file.read(_END_AT)
        told = os.stat(path)  # noqa: PTH116 - as above
    except (OSError, NotImplementedError):
        return False
    is_dated = (
        # Bytecode by hash (flags that are not 0) holds no time, and another Python's says nothing.
        len(head) == _END_AT
        and head[:_FLAGS_AT] == importlib.util.MAGIC_NUMBER
        and not any(head[4:8])
    )
    written = int.from_bytes(head[_TIME_AT:_SIZE_AT], "little")
    size = int.from_bytes(head[_SIZE_AT:_END_AT], "little")
    return is_dated and (written, size) != (
        int(told.st_mtime) & _WHOLE,
        told.st_size & _WHOLE,
    )
