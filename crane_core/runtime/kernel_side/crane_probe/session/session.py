"""The facts about a session that a look tells beside the variables; only those that say something.

Knows IPython's shells. Elsewhere it is unknown who else runs in the process, and nothing is stated.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping

from .. import bounds
from ..bounds import Facts, stated
from . import edited, hooks, loops, processes, threads
from .shells import shell_of

_LONGEST = 80
_MOST = 20


def facts(namespace: Mapping[str, Any], unavailable: dict[str, str]) -> Facts:
    """{"session": {"threads", "tasks", "processes": names, "hooks": [[what, name]], "edited": modules}}, or nothing.

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
    "edited": lambda shell: edited.edited(shell)[:_MOST],
}
