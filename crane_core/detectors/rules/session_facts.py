"""What the state says of the session beside its variables: who else may act while the target runs, and what was edited.

Knows which of these facts leave the rules nothing to say. Refuses to guess what other code will do.
"""

import builtins
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from crane_core.domain import KernelState

_BESIDE = {
    "threads": "a thread of the notebook is running",
    "tasks": "a task of the event loop is pending",
}
_OF_LIBRARIES = {
    "settings": "settings of libraries are changed",
    "replaced": "a module of your own has changed functions of libraries",
}
_MOST_NAMED = 3
# Without a percent sign too: IPython runs `time x` as a magic (automagic).
_IN_MAGICS = r"%{{1,2}}{name}\b|^\s*{name}\b"


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """`is_restless`: names and values may change at any moment, and nothing is known of them.

    `is_transformed`: what will run is not what the target says. `are_files_changing`: another program may write files.
    `handled` are exceptions that the session handles, by class name. `unsure` says each of these for people.
    `changed` are libraries whose settings or functions are not their own: nothing is known of what they do.
    """

    is_restless: bool = False
    is_transformed: bool = False
    are_files_changing: bool = False
    are_builtins_own: bool = False
    handled: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    changed: frozenset[str] = frozenset()

    def handles(self, exception: str) -> bool:
        """Whether an exception of this class may be handled before it is one of the cell."""
        kind = vars(builtins).get(exception)
        if not isinstance(kind, type):
            return bool(
                self.handled
            )  # a library's class, whose parents are not known here
        # A handler of Exception gets a KeyError, too.
        return any(parent.__name__ in self.handled for parent in kind.__mro__)


def session_facts(state: KernelState | None, target: str) -> SessionFacts:
    """What the captured state tells of its session; nothing of a state that is not captured."""
    told: Mapping[str, Any] = (
        state.captured.get("session", {}) if state is not None else {}
    )
    if not told:
        return SessionFacts()
    hooks = [(str(what), str(name)) for what, name in told.get("hooks", ())]
    edited = list(told.get("edited", ()))
    magics = [name for name in _named(hooks, "magic") if _uses(target, name)]
    handled = _named(hooks, "exception handler")
    # `%autocall` makes a call of `f 1`, so a line that Python refuses may run.
    if _named(hooks, "autocall"):
        handled.append("SyntaxError")
    return SessionFacts(
        is_restless=_is_restless(told, hooks, edited),
        # A magic of the notebook may hide one of IPython's, and do anything else with its line or cell.
        is_transformed=bool(_named(hooks, "transformer") or magics),
        are_files_changing=bool(told.get("processes")),
        are_builtins_own=bool(_named(hooks, "builtin")),
        handled=tuple(handled),
        unsure=tuple(_sentences(told, hooks, edited, magics)),
        changed=frozenset(
            library
            for group in _OF_LIBRARIES
            for library, _ in told.get(group, ())
        ),
    )


def _is_restless(
    told: Mapping[str, Any],
    hooks: list[tuple[str, str]],
    edited: list[Mapping[str, Any]],
) -> bool:
    """Whether other code may act beside the target, or before it."""
    beside = [name for group in _BESIDE for name in told.get(group, ())]
    reloaded = [each for each in edited if each.get("reloads")]
    # A `pre_run_cell` callback runs before the target, and may assign anything.
    callbacks = _named(hooks, "callback")
    return bool(beside or callbacks or reloaded or told.get("unknown"))


def _named(hooks: Iterable[tuple[str, str]], wanted: str) -> list[str]:
    return [name for what, name in hooks if what == wanted]


def _uses(target: str, magic: str) -> bool:
    return (
        re.search(
            _IN_MAGICS.format(name=re.escape(magic)), target, re.MULTILINE
        )
        is not None
    )


def _sentences(
    told: Mapping[str, Any],
    hooks: list[tuple[str, str]],
    edited: list[Mapping[str, Any]],
    magics: list[str],
) -> list[str]:
    said = [
        f"{sentence} ({_listed(told[group])})"
        for group, sentence in _BESIDE.items()
        if group in told
    ]
    if "processes" in told:
        said.append(
            f"another program is running, which may change files ({_listed(told['processes'])})"
        )
    by_kind = [
        (
            _named(hooks, "transformer"),
            "the session changes each cell before it runs",
        ),
        (
            _named(hooks, "callback"),
            "the session calls code of the notebook by itself",
        ),
        (
            _named(hooks, "builtin"),
            "the notebook has replaced or added built-in names",
        ),
        (
            _named(hooks, "exception handler"),
            "the session handles exceptions itself",
        ),
        (magics, "the cell uses a magic of the notebook"),
    ]
    said += [
        f"{sentence} ({_listed(names)})" for names, sentence in by_kind if names
    ]
    for each in edited:
        how = (
            "%autoreload loads it again before the cell"
            if each.get("reloads")
            else "it was not loaded again"
        )
        said.append(
            f"stale module: {each['file']} was edited after {each['module']} was imported, and {how}"
        )
    for group, sentence in _OF_LIBRARIES.items():
        if pairs := told.get(group):
            named = (f"{library}: {name}" for library, name in pairs)
            said.append(f"{sentence} ({_listed(named)})")
    if told.get("unknown"):
        said.append(
            f"what else runs in the session could not be told ({_listed(told['unknown'])})"
        )
    return said


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = (
        f" and {len(every) - _MOST_NAMED} more"
        if len(every) > _MOST_NAMED
        else ""
    )
    return ", ".join(every[:_MOST_NAMED]) + more
