"""`app`: prepare the store, then serve."""

import argparse
import os
import re
import resource
import runpy
import socket
import sys
import time
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import NoReturn

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.errors import CraneError, IdentityError
from crane_core.identity.proxy import FORWARDED, configured_proxy
from crane_core.identity.roles import FILE as ROLES_FILE
from crane_core.identity.roles import configured_roles
from crane_core.llm.endpoints import FILE as ENDPOINTS_FILE
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.loading.losses import losses
from crane_core.pipeline.maintenance.publishing import LONGEST_S
from crane_core.pipeline.maintenance.publishing import VARIABLE as PUBLISH_S
from crane_core.pipeline.places import CHECKOUT, DataFolder
from crane_core.replica import VARIABLE as REPLICA_OF
from crane_core.storage.snapshot import Replica, publish
from crane_core.terminal import as_typed, give, tell
from crane_core.ui import server_process

NAME = "app"
HELP = "prepare the store (first start: embedded data) and serve the app"
EXAMPLE = "python -m crane_core app --port 8501"
PASSWORD = "CRANE_PASSWORD"
_ADDRESS = re.compile(
    r"https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:\d{1,5})?/?"
)
ENOUGH_FILES = 65_536
_WILDCARDS = {"0.0.0.0", "::"}


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare where `app` listens, who may log in, and whether it publishes copies or serves one."""
    add(
        verb,
        option("--port", "default: 8501", _port, default=8501),
    )
    add(
        verb.add_argument_group("for a server that others reach"),
        option(
            "--address",
            "address to listen on (default: CRANE_ADDRESS, else 127.0.0.1: this machine only)",
            default=os.environ.get("CRANE_ADDRESS", "127.0.0.1"),
        ),
        option(
            "--hosts NAME[,NAME...]",
            "host names of this server, besides localhost, that browsers may use (default: CRANE_HOSTS)",
            default=os.environ.get("CRANE_HOSTS", ""),
        ),
        option(
            "--roles FILE",
            f"who may log in, and with which role (default: {ROLES_FILE}; format and logins: docs/admin/server.md)",
            default=os.environ.get(ROLES_FILE, ""),
        ),
    )
    add(
        verb.add_argument_group("replicas"),
        option(
            "--publish SECONDS",
            "keep a copy of the database for replicas, renewed after changes, at most this often: docs/admin/scale.md",
            arguments.integer(1, LONGEST_S),
        ),
        option(
            "--replica-of URL",
            "serve that copy read-only, beside the app of the same data folder that writes and is reached at URL",
            _address,
        ),
    )
    add(
        verb,
        flag(
            "--no-login",
            "serve other machines without any login: everybody may do everything",
        ),
    )


def _port(text: str) -> int:
    """A port that a server can listen at; anything else is wrong usage to argparse."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port in 1..65535")
    return int(text)


def _address(text: str) -> str:
    """An address that pages can link to; anything else is wrong usage to argparse."""
    if not _ADDRESS.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an address like https://crane.lab.example:8443"
        )
    return text


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Prepare the store and serve the app until it is stopped; does not return.

    Raises CraneError if the port is taken, IdentityError if the roles file is malformed or strangers could come
    in unasked.
    """
    if chosen.publish and chosen.replica_of:
        raise CraneError(
            "A replica publishes no copy.",
            remedy="Use --publish for the app that writes alone.",
        )
    _check_logins(
        chosen.roles.strip(), chosen.address, is_open_meant=chosen.no_login
    )
    # Before the store is prepared, which takes seconds at the first start.
    _refuse_taken_port(chosen.address, chosen.port)
    # Settings of the heap count only for threads and pools that start after them.
    server_process.give_back()
    if chosen.replica_of:
        Replica(folder.replicas).close()
        tell(f"Serving the copy in {folder.replicas}, read-only")
    else:
        _prepare(folder, is_published=bool(chosen.publish))
    # Pages run as scripts of Streamlit, which passes them no arguments; they read the environment.
    os.environ[REPLICA_OF] = chosen.replica_of or ""
    os.environ[PUBLISH_S] = str(chosen.publish or "")
    # Made absolute while the working directory is still the user's; it changes below.
    if endpoints := os.environ.get(ENDPOINTS_FILE):
        os.environ[ENDPOINTS_FILE] = str(
            Path(endpoints).expanduser().absolute()
        )
    hosts = _hosts(chosen.address, chosen.hosts)
    if chosen.address in _WILDCARDS and not hosts:
        tell(
            "Browsers on other machines are refused until you name this server's host: --hosts NAME, or CRANE_HOSTS."
        )
    # Streamlit looks for .streamlit/config.toml in the working directory.
    os.chdir(CHECKOUT)
    os.environ["CRANE_DATA"] = str(folder.path)
    os.environ["CRANE_HOSTS"] = hosts
    # Loads Streamlit, which the other commands need not wait for.
    from crane_core.ui.warm import load

    load()
    _allow_many_files()
    give(
        f"Crane Workbench is running at http://{_reachable(chosen.address)}:{chosen.port}  (stop it with Ctrl+C)"
    )
    serve(chosen.address, chosen.port)


def _prepare(folder: DataFolder, *, is_published: bool) -> None:
    tell(f"Preparing the store in {folder.path}")
    at = time.time()
    store = prepare(folder, lambda message: tell(f"  {message}"))
    try:
        if is_published:
            publish(
                store, folder.replicas, at=at
            )  # so that a full disk stops the start, and replicas can start
    finally:
        store.close()
    for loss in losses(folder):
        tell(
            as_typed(
                f"  Evidence is missing or altered: {loss}. Run `doctor` to see what to do."
            )
        )


def _check_logins(roles: str, address: str, *, is_open_meant: bool) -> None:
    """Put the roles file into force. Raises IdentityError if it is malformed, or strangers could come in."""
    # Absolute, because the working directory changes before the first page is drawn.
    os.environ[ROLES_FILE] = (
        str(Path(roles).expanduser().absolute()) if roles else ""
    )
    has_password = bool(os.environ.get(PASSWORD))
    if configured_roles() is not None:
        # A proxy's settings that contradict each other should stop the start, not the first login.
        configured_proxy()
        if has_password:
            raise IdentityError(
                f"Both a roles file and {PASSWORD} are set.",
                remedy=f"Keep one: people log in, or share {PASSWORD}.",
            )
    elif not has_password and not _is_loopback(address):
        if not is_open_meant:
            raise IdentityError(
                f"At {address} other machines reach this app, and it asks nobody to log in.",
                remedy=f"Set {PASSWORD}, name a roles file (--roles FILE, see docs/admin/server.md), or pass "
                "--no-login to let everybody who reaches it read, label and change everything.",
            )
        tell(
            f"WARNING: no login is asked at {address}: everybody who reaches this app may do everything."
        )


def _is_loopback(address: str) -> bool:
    if address == "localhost":
        return True
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False  # a name may lead anywhere


def _allow_many_files() -> None:
    """Open as many files as the system lets this process: a visitor needs several, and systems begin with few."""
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = (
        ENOUGH_FILES
        if most == resource.RLIM_INFINITY
        else min(ENOUGH_FILES, most)
    )
    if few != resource.RLIM_INFINITY and few < wanted:
        with suppress(
            OSError, ValueError
        ):  # macOS names a limit that it does not grant
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def serve(address: str, port: int) -> NoReturn:
    """`python -m streamlit run app.py` in this process, which has loaded half of what it needs already, and ends then.

    Settings that are not about this start live in .streamlit/config.toml.
    """
    where = ["--server.address", address, "--server.port", str(port)]
    # Otherwise uvicorn replaces the address of a peer that it trusts, by default this machine, by what a header
    # claims.
    os.environ[FORWARDED] = ""
    sys.argv = [
        "streamlit",
        "run",
        str(CHECKOUT / "app.py"),
        *where,
        "--logger.level",
        "warning",
    ]
    try:
        runpy.run_module("streamlit", run_name="__main__")
    except SystemExit as ended:
        server_process.leave(server_process.status_of(ended))
    except KeyboardInterrupt:
        server_process.leave(server_process.INTERRUPTED)
    server_process.leave(0)


def _hosts(address: str, named: str) -> str:
    """The names that were given, and the address that it listens at where that is a single one."""
    own = (
        ""
        if address in _WILDCARDS
        else f"[{address}]"
        if ":" in address
        else address
    )
    return ",".join(filter(None, [named, own]))


def _reachable(address: str) -> str:
    return "127.0.0.1" if address in _WILDCARDS else address


def _refuse_taken_port(address: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the server does: a port whose last connections are still closing counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise CraneError(
                f"Port {port} on {address} cannot be used: {error.strerror}.",
                remedy="Choose another port with `app --port N`, or stop the program that listens there.",
            ) from error
