"""What the button of JupyterLab asks a kernel: the verdict on a cell, a rehearsal, and fixes of a crash, as JSON.

The front end evaluates `answer(source)`, `rehearsal(source)` and `fixes(source)` silently, so that neither names nor
the history of inputs change. Uses the session of `%load_ext crane_core` where that is loaded, else one that ends with
the kernel.
"""

from collections.abc import Callable
from typing import Any

from crane_core.errors import CraneError
from crane_core.live.magics import USUAL_REHEARSED_S, loaded
from crane_core.live.session import Session

_OWN: list[Session] = []


class ButtonAnswer:
    """JSON for the front end."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content

    def _repr_json_(self) -> dict[str, Any]:
        return self._content


PROGRESS = "application/vnd.crane.asking+json"
"""Of this type is what the front end is sent while a library is waited for."""


def answer(source: str) -> ButtonAnswer:
    """`title`, `rows` of name and text, and `predicted` where there is a verdict.

    `leaves_open` says that a rehearsal of the cell can say more.
    """

    def judged(session: Session, shell: Any) -> dict[str, Any]:
        verdict = session.verdict(
            source, on_progress=lambda library: _tell_progress(shell, library)
        )
        return {
            "title": verdict.title,
            "rows": verdict.rows,
            "predicted": verdict.predicted,
            "leaves_open": bool(verdict.offer) and not verdict.crashes,
        }

    return _answered(judged, "No verdict")


def rehearsal(source: str) -> ButtonAnswer:
    """What the cell comes to in a copy of the kernel: `title`, `rows`, and `crashed`."""

    def rehearsed(session: Session, _shell: Any) -> dict[str, Any]:
        outcome = session.rehearsal(source, USUAL_REHEARSED_S)
        return {
            "title": outcome.title,
            "rows": outcome.rows,
            "crashed": outcome.exception is not None,
        }

    return _answered(rehearsed, "Not rehearsed")


def fixes(source: str) -> ButtonAnswer:
    """Fixes that ran through in a copy: `fixes`, each with `title`, `outcome`, `diff` and `source`, and `title`."""

    def found(session: Session, _shell: Any) -> dict[str, Any]:
        told = session.fixes(source, USUAL_REHEARSED_S)
        return {"title": told.rest, "fixes": told.entries}

    return _answered(found, "No fix")


def _answered(
    ask: Callable[[Session, Any], dict[str, Any]], failed: str
) -> ButtonAnswer:
    """The answer of this kernel's session; `failed` is the title where it can give none."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    magics = loaded(shell)
    if magics is None and not _OWN:
        _OWN.append(Session(shell))
    try:
        return ButtonAnswer(ask(magics.session if magics else _OWN[0], shell))
    except CraneError as error:
        rows = [["reason", str(error.args[0])], ["remedy", error.remedy]]
        return ButtonAnswer({"title": failed, "rows": rows})


def _tell_progress(shell: Any, library: str) -> None:
    shell.display_pub.publish({PROGRESS: {"asking": library}})
