"""`app`: prepare the store, then serve."""

from __future__ import annotations

import argparse
import os
import runpy
import socket
import sys
from pathlib import Path

from crane_core.errors import CraneError
from crane_core.llm.endpoints import FILE as ENDPOINTS_FILE
from crane_core.pipeline.load import prepare
from crane_core.pipeline.losses import losses
from crane_core.pipeline.places import CHECKOUT, DataFolder
from crane_core.terminal import give, tell

NAME = "app"
HELP = "prepare the store (first start: embedded data) and serve the app"
EXAMPLE = "python -m crane_core app --port 8501"
_WILDCARDS = {"0.0.0.0", "::"}


def add_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--port", type=_port, default=8501, help="default: 8501")
    verb.add_argument(
        "--address",
        default=os.environ.get("CRANE_ADDRESS", "127.0.0.1"),
        help="address to listen on (default: CRANE_ADDRESS, else 127.0.0.1: this machine only)",
    )
    verb.add_argument(
        "--hosts",
        metavar="NAME[,NAME...]",
        default=os.environ.get("CRANE_HOSTS", ""),
        help="host names of this server, besides localhost, that browsers may use (default: CRANE_HOSTS)",
    )


def _port(text: str) -> int:
    """A port that a server can listen at; anything else is wrong usage to argparse."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port in 1..65535")
    return int(text)


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    _refuse_taken_port(chosen.address, chosen.port)
    tell(f"Preparing the store in {folder.path}")
    prepare(folder, lambda message: tell(f"  {message}")).close()
    for loss in losses(folder):
        tell(f"  Evidence is missing or altered: {loss}. Run `doctor` to see what to do.")
    give(f"Crane Workbench is running at http://{_reachable(chosen.address)}:{chosen.port}  (stop it with Ctrl+C)")
    if endpoints := os.environ.get(ENDPOINTS_FILE):
        os.environ[ENDPOINTS_FILE] = str(Path(endpoints).expanduser().absolute())
    hosts = _hosts(chosen.address, chosen.hosts)
    if chosen.address in _WILDCARDS and not hosts:
        tell("Browsers on other machines are refused until you name this server's host: --hosts NAME, or CRANE_HOSTS.")
    os.chdir(CHECKOUT)
    os.environ["CRANE_DATA"] = str(folder.path)
    os.environ["CRANE_HOSTS"] = hosts
    serve(chosen.address, chosen.port)
    return 0


def serve(address: str, port: int) -> None:
    """`python -m streamlit run app.py` in this process, which has loaded half of what it needs already.

    Settings that are not about this start live in .streamlit/config.toml.
    """
    where = ["--server.address", address, "--server.port", str(port)]
    sys.argv = ["streamlit", "run", str(CHECKOUT / "app.py"), *where, "--logger.level", "warning"]
    runpy.run_module("streamlit", run_name="__main__")


def _hosts(address: str, named: str) -> str:
    """The names that were given, and the address that it listens at where that is a single one."""
    own = "" if address in _WILDCARDS else f"[{address}]" if ":" in address else address
    return ",".join(filter(None, [named, own]))


def _reachable(address: str) -> str:
    return "127.0.0.1" if address in _WILDCARDS else address


def _refuse_taken_port(address: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise CraneError(
                f"Port {port} on {address} cannot be used: {error.strerror}.",
                remedy="Choose another port with `app --port N`, or stop the program that listens there.",
            ) from error
