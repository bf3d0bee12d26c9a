"""`mcp`: a server that assistants ask before they run a cell."""

import argparse
import os
import secrets
import socket
from pathlib import Path

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.errors import CraneError
from crane_core.pipeline.own_notebooks.check import refuse_if_forbidden
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import tell

NAME = "mcp"
HELP = "serve assistants that run cells: will a cell crash, what does a kernel hold, what did the study find?"
MORE = """The server speaks the Model Context Protocol over stdin and stdout, or with --http at an address of this
machine that needs a token. It runs no code of notebooks unless --allow-execution is given, and writes one line into
the audit log for each call."""
EXAMPLE = """python -m crane_core mcp
         python -m crane_core mcp --http --port 8765
         python -m crane_core mcp --allow-execution --notebooks work"""
HOST, PATH = "127.0.0.1", "/mcp"
TOKEN = "CRANE_MCP_TOKEN"  # noqa: S105 - the name of a variable
SHORTEST_TOKEN = 16


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare how assistants connect, and what they may have done."""
    add(
        verb,
        flag(
            "--http",
            f"listen at http://{HOST}; the token is {TOKEN}, else a new one that is printed to stderr",
        ),
        option(
            "--port N",
            "where to listen with --http (default: a free one)",
            arguments.integer(0, 65_535),
            default=0,
        ),
        flag(
            "--allow-execution",
            "also run code: rehearse a cell in a copy of its kernel, and run a saved notebook up to its cell",
        ),
        option(
            "--notebooks FOLDER",
            "read saved notebooks in this folder alone (default: the current one)",
            arguments.path,
            default=Path(),
        ),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Serve until the assistant ends the connection, or Ctrl+C; returns 0.

    Raises CraneError if the token is too short, execution is forbidden, or the folder is missing.
    """
    # The protocol's library takes half a second to load, which the help of all commands should not.
    from crane_core.agents.kernels import KernelTools
    from crane_core.agents.server import server
    from crane_core.agents.study import StudyTools

    if chosen.allow_execution:
        refuse_if_forbidden(os.environ, remedy="Leave out --allow-execution.")
    if not chosen.notebooks.is_dir():
        raise CraneError(
            f"{chosen.notebooks} is not a folder.",
            remedy="Name one with --notebooks, or leave it out for the current one.",
        )
    kernels = KernelTools(chosen.notebooks.resolve(), chosen.allow_execution)
    study = StudyTools(folder)
    if not chosen.http:
        server(kernels, study).run("stdio")
        return 0
    import uvicorn

    token = _token()
    with _listening(chosen.port) as listening:
        address = f"http://{HOST}:{listening.getsockname()[1]}"
        made = server(kernels, study, token=token, address=address)
        tell(f"Listening at {address}{PATH}")
        if TOKEN not in os.environ:
            tell(f"Authorization: Bearer {token}")
        config = uvicorn.Config(
            made.streamable_http_app(host=HOST, streamable_http_path=PATH),
            log_level="warning",
        )
        uvicorn.Server(config).run(sockets=[listening])
    return 0


def _token() -> str:
    token = os.environ.get(TOKEN) or secrets.token_urlsafe(32)
    if len(token) < SHORTEST_TOKEN:
        raise CraneError(
            f"{TOKEN} is too short.",
            remedy=f"Set {SHORTEST_TOKEN} characters or more, or none for a new one.",
        )
    return token


def _listening(port: int) -> socket.socket:
    """A socket of this machine alone. Raises CraneError if the port is taken."""
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise CraneError(
            f"Port {port} cannot be used: {error.strerror}.",
            remedy="Choose another one with --port, or leave it out.",
        ) from error
