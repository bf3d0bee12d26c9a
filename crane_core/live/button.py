"""What the button of JupyterLab asks a kernel: the verdict on a cell that has not run, as JSON.

The front end evaluates `answer(source)` silently, so that neither names nor the history of inputs change. Uses the
session of `%load_ext crane_core` where that is loaded, else one that ends with the kernel.
"""

from __future__ import annotations

from typing import Any

from crane_core.errors import CraneError
from crane_core.live.magics import loaded
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
    """`title`, `rows` of name and text, and `predicted` where there is a verdict."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    magics = loaded(shell)
    if magics is None and not _OWN:
        _OWN.append(Session(shell))
    try:
        session = magics.session if magics else _OWN[0]
        verdict = session.verdict(
            source, on_progress=lambda library: _tell_progress(shell, library)
        )
    except CraneError as error:
        return ButtonAnswer(
            {
                "title": "No verdict",
                "rows": [
                    ["reason", str(error.args[0])],
                    ["remedy", error.remedy],
                ],
            }
        )
    return ButtonAnswer(
        {
            "title": verdict.title,
            "rows": verdict.rows,
            "predicted": verdict.predicted,
        }
    )


def _tell_progress(shell: Any, library: str) -> None:
    shell.display_pub.publish({PROGRESS: {"asking": library}})
