"""Will the next cell of a notebook that is open on a Jupyter server elsewhere crash?

Knows where the secret of the server comes from: the pasted address, a file, the environment, a person.
Refuses to store it.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crane_core.errors import NotebookError
from crane_core.given_path import read_given
from crane_core.pipeline.own_notebooks.attach import attached
from crane_core.pipeline.own_notebooks.check import CheckedNotebook
from crane_core.runtime.remote.address import ServerAddress, read_address

_MOST_SECRET = 10_000
"""Bytes of a file with a token."""


@dataclass(frozen=True)
class ServerAccess:
    """How a server is reached: a file with its token or password, authorities beside the known ones, or any at all.

    `ask` gets the secret of the server with an address from the person at the terminal, None without a terminal.
    `tell` says what the person should know meanwhile.
    """

    tell: Callable[[str], None]
    ask: Callable[[str], str] | None = None
    token_file: Path | None = None
    ca_file: Path | None = None
    is_insecure: bool = False


def attached_elsewhere(
    pasted: str,
    access: ServerAccess,
    notebook: Path | None = None,
    target: int | None = None,
    **options: Any,
) -> CheckedNotebook:
    """As `attached` (which has the `options`), of a kernel that a pasted address names.

    Without `notebook` the saved one is read from the server. Raises NotebookError or KernelError;
    ModuleNotFoundError without the extra `remote`.
    """
    # Late, as its libraries belong to an extra; this one first, because `models` has the other one too.
    import websockets  # noqa: F401

    from crane_core.runtime.remote.kernels import chosen_kernel
    from crane_core.runtime.remote.server import JupyterServer, tls

    address = read_address(pasted)
    secret = _secret(address, access.token_file, os.environ)
    if not address.is_encrypted and not address.is_this_machine:
        access.tell(
            f"{address.base} is not encrypted: others on the way can read the token and the state"
        )
    encryption = (
        tls(access.ca_file, is_any_accepted=access.is_insecure)
        if address.is_encrypted
        else None
    )
    with (
        JupyterServer(address, secret, encryption) as server,
        TemporaryDirectory() as folder,
    ):
        server.log_in(access.ask)
        kernel = chosen_kernel(server)
        # A busy kernel is not connected to.
        if kernel.connections == 0 and kernel.state != "busy":
            access.tell(
                "No front end is connected to this kernel: output that the server keeps for one that left is dropped"
            )
        file = notebook or kernel.write_notebook(Path(folder))
        checked = attached(kernel, file, target, **options)
    if notebook is not None or kernel.path is None:
        return checked
    return replace(checked, path=Path(kernel.path))


def _secret(
    address: ServerAddress, file: Path | None, environ: Mapping[str, str]
) -> str:
    """The token or password, empty where none is set. Raises NotebookError if the file cannot be read."""
    from crane_core.runtime.remote.server import TOKEN

    if address.token:
        return address.token
    if file is None:
        return environ.get(TOKEN, "").strip()
    try:
        return read_given(file, _MOST_SECRET).decode("utf-8").strip()
    # Without the reason, which may quote the file.
    except (OSError, ValueError):
        raise NotebookError(
            f"{file.name} cannot be read as a file with a token.",
            remedy="Name a text file that holds the token alone.",
        ) from None
