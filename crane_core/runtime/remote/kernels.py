"""The kernels of a Jupyter server: listed, and one of them chosen.

Knows the server's JSON about kernels, sessions and saved notebooks, and believes none of it: every text is bounded.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from crane_core.errors import KernelEndedError, KernelStartError, NotebookError
from crane_core.runtime.endings import short
from crane_core.runtime.remote.address import ChoiceOfKernelsError
from crane_core.runtime.remote.server import JupyterServer, RefusedError
from crane_core.runtime.remote.websocket import WebSocketShell
from crane_core.runtime.shell_channel import busy

_ID = re.compile(r"[\w-]{1,100}")
"""What Jupyter itself routes as the id of a kernel."""
_MOST_KERNELS = 1_000


@dataclass(frozen=True)
class RemoteKernel:
    """A kernel as its server lists it. `path` is the notebook's below the server's folder, None where it is unknown.

    `state` is `idle`, `busy`, `starting`, `dead` or the like; `connections` counts front ends, None where unknown.
    """

    server: JupyterServer
    id: str
    spec: str
    path: str | None
    state: str
    last_activity: str
    connections: int | None

    @property
    def name(self) -> str:
        """What people call it: the notebook, else its id."""
        return self.id if self.path is None else PurePosixPath(self.path).name

    @property
    def notebook(self) -> Path | None:
        """None: no file of this machine."""
        return None

    def shell(self) -> WebSocketShell:
        """Its shell channel, not yet open. Raises KernelError if it is busy or has ended."""
        # Before connecting: a server drops what it keeps of a running cell for a front end that left.
        if self.state == "busy":
            raise busy(self.name)
        if self.state == "dead":
            raise KernelEndedError(
                f"The kernel {self.name} has ended.",
                remedy="Restart it and run the notebook again.",
            )
        return WebSocketShell(self.server, self.id, self.name)

    def write_notebook(self, folder: Path) -> Path:
        """Copy the saved notebook from the server into a folder of this machine. Raises NotebookError."""
        if self.path is None:
            raise NotebookError(
                f"The server does not say which notebook the kernel {self.id} belongs to.",
                remedy="Name the notebook's file too: check NOTEBOOK --attach URL.",
            )
        model = self.server.get(
            f"api/contents/{quote(self.path)}?type=notebook&content=1"
        )
        content = model.get("content") if isinstance(model, dict) else None
        if not isinstance(content, dict):
            raise NotebookError(
                f"The server has no saved notebook {short(self.path)}.",
                remedy="Save it there, or name a copy of this machine: check NOTEBOOK --attach URL.",
            )
        # The name is another's: letters of it that no folder minds.
        name = re.sub(r"[^\w.-]", "_", PurePosixPath(self.path).stem)[:100]
        copy = folder / f"{name}.ipynb"
        copy.write_text(json.dumps(content), "utf-8")
        return copy

    def to_json(self) -> dict[str, Any]:
        """What a list of kernels shows."""
        return {
            "id": self.id,
            "kernel": self.spec,
            "notebook": self.path,
            "last_activity": self.last_activity,
            "state": self.state,
        }


def chosen_kernel(server: JupyterServer) -> RemoteKernel:
    """The kernel that the address names, or the only one. Raises KernelStartError."""
    wanted = server.address.kernel
    paths = _notebooks(server)
    # By its id first: a gateway tells of one kernel, and lists none unless it is set so.
    if _ID.fullmatch(wanted):
        model = server.get(f"api/kernels/{wanted}")
        if (found := _read(server, model, paths)) is not None:
            return found
    try:
        models = server.get("api/kernels")
    except RefusedError as error:
        raise KernelStartError(
            f"{server.address.base} does not list its kernels.",
            remedy="Name one by its whole id: check NOTEBOOK --attach 'URL#ID'.",
        ) from error
    listed = models if isinstance(models, list) else []
    kernels = [
        kernel
        for model in listed[:_MOST_KERNELS]
        if (kernel := _read(server, model, paths)) is not None
    ]
    return _only(server, kernels, wanted)


def _only(
    server: JupyterServer, kernels: list[RemoteKernel], wanted: str
) -> RemoteKernel:
    base = server.address.base
    if not kernels:
        raise KernelStartError(
            f"No kernel runs at {base}.",
            remedy="Open the notebook there and run a cell, then check again.",
        )
    found = [kernel for kernel in kernels if kernel.path == wanted]
    # Beginnings and names without folders only where nothing is named exactly.
    if not found:
        found = [
            kernel
            for kernel in kernels
            if kernel.id.startswith(wanted) or kernel.name == wanted
        ]
    if len(found) == 1:
        return found[0]
    called = f" are known as {short(wanted)!r}" if wanted else " run"
    what = (
        f"{len(found):,} kernels{called} at {base}."
        if found
        else f"No kernel at {base} is known as {short(wanted)!r}."
    )
    raise ChoiceOfKernelsError(
        what, [kernel.to_json() for kernel in found or kernels]
    )


def _notebooks(server: JupyterServer) -> dict[str, str]:
    """The path of the notebook by its kernel's id; empty where the server tells no sessions."""
    try:
        sessions = server.get("api/sessions")
    # A gateway may hide them; the kernel can be named by its id.
    except RefusedError:
        return {}
    told = {}
    for session in sessions if isinstance(sessions, list) else []:
        if not isinstance(session, dict):
            continue
        kernel, path = session.get("kernel"), session.get("path")
        # A console of the same notebook has a session too.
        is_notebook = bool(path) and session.get("type") == "notebook"
        if is_notebook and isinstance(kernel, dict):
            told[str(kernel.get("id"))] = str(path).strip("/")
    return told


def _read(
    server: JupyterServer, model: Any, paths: dict[str, str]
) -> RemoteKernel | None:
    """None for what is not a kernel, and where the server has none."""
    id_ = model.get("id") if isinstance(model, dict) else None
    if not isinstance(id_, str) or not _ID.fullmatch(id_):
        return None
    connections = model.get("connections")
    return RemoteKernel(
        server,
        id_,
        short(str(model.get("name"))),
        paths.get(id_),
        short(str(model.get("execution_state"))),
        short(str(model.get("last_activity"))),
        connections if isinstance(connections, int) else None,
    )
