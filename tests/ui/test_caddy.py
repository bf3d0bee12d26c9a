"""The Caddy configurations of docs/admin/server.md in a real Caddy: they pass visitors, and no claim to be another."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from benchmarks._server import free_port, serve
from crane_core.pipeline.places import DataFolder
from tests.patience import PATIENCE_S, once
from tests.ui.lab import copied
from tests.ui.visits import Visitor, asked, session_of

ROOT = Path(__file__).resolve().parents[2]
CADDY = shutil.which("caddy") or ""
pytestmark = pytest.mark.skipif(
    not CADDY, reason="caddy is not installed (Debian package caddy)"
)
PLAIN, WITH_LOGIN, WITH_REPLICAS = re.findall(
    r"```\n(crane\.lab\.example \{.*?)```",
    (ROOT / "docs" / "admin" / "server.md").read_text(),
    re.DOTALL,
)
CLAIM = {"X-Forwarded-Email": "ada@lab.example"}


@contextmanager
def caddy(
    configuration: str, place: Path, app: str, login: int = 1
) -> Iterator[str]:
    """Caddy with this configuration, without HTTPS, before the app and what logs in; gives its address."""
    address = f"http://127.0.0.1:{free_port()}"
    text = configuration.replace("crane.lab.example", address).replace(
        "127.0.0.1:8501", app.removeprefix("http://")
    )
    file = place / "Caddyfile"
    file.write_text(
        "{\n\tadmin off\n}\n"
        + text.replace("127.0.0.1:4180", f"127.0.0.1:{login}")
    )
    process = subprocess.Popen(
        [CADDY, "run", "--config", str(file), "--adapter", "caddyfile"],
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_up(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def _wait_until_up(address: str, process: subprocess.Popen[bytes]) -> None:
    def is_up() -> bool:
        assert process.poll() is None, "Caddy ended: its configuration is wrong"
        try:
            asked(address, "/_stcore/health")
        except OSError:
            return False
        return True

    once(is_up)


class Login(BaseHTTPRequestHandler):
    """Stands in for oauth2-proxy: the cookie says who is logged in there, `nobody` somebody without an address."""

    def do_GET(self) -> None:
        who = re.search(r"who=(\w+)", self.headers.get("Cookie", ""))
        self.send_response(202 if who else 401)
        if who and who[1] != "nobody":
            self.send_header("X-Auth-Request-Email", f"{who[1]}@lab.example")
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Quiet."""


@pytest.fixture
def app(prepared_folder: DataFolder, tmp_path: Path) -> Iterator[str]:
    data = copied(prepared_folder, tmp_path).path
    roles = tmp_path / "roles.toml"
    roles.write_text(
        '"lea@lab.example" = "lead"\n"ada@lab.example" = "admin"\n'
    )
    proxied = {
        "CRANE_PROXY_HEADER": "X-Forwarded-Email",
        "CRANE_PROXY_FROM": "127.0.0.1",
    }
    with serve(data, CRANE_ROLES=str(roles), **proxied) as address:
        yield address


def test_the_plain_configuration_passes_sessions_and_no_claim(
    app: str, tmp_path: Path
) -> None:
    session = session_of(tmp_path / "data", "lea@lab.example")
    with caddy(PLAIN, tmp_path, app) as address:
        assert Visitor(address, session).sees("campaigns").shows("New campaign")
        assert (
            Visitor(address, headers=CLAIM)
            .sees("data")
            .shows("it did not name you")
        )


def test_the_configuration_with_replicas_keeps_a_browser_at_one_and_sends_who_writes_to_the_writer(
    prepared_folder: DataFolder, tmp_path: Path
) -> None:
    data = copied(prepared_folder, tmp_path).path
    roles = tmp_path / "roles.toml"
    roles.write_text('"lea@lab.example" = "lead"\n')
    public = f"http://127.0.0.1:{free_port()}"
    cookie = session_of(data, "lea@lab.example")
    with ExitStack() as running:

        def started(*arguments: str) -> str:
            return running.enter_context(
                serve(data, arguments=arguments, CRANE_ROLES=str(roles))
            )

        writer = started("--publish", "1")
        second = ExitStack()
        first_replica = started("--replica-of", public)
        second_replica = second.enter_context(
            serve(
                data, arguments=("--replica-of", public), CRANE_ROLES=str(roles)
            )
        )
        running.push(second)
        text = WITH_REPLICAS.replace(
            "https://crane.lab.example:8443", public
        ).replace("crane.lab.example:8443", public)
        for port, address in ((8502, first_replica), (8503, second_replica)):
            text = text.replace(
                f"127.0.0.1:{port}", address.removeprefix("http://")
            )
        viewers = running.enter_context(caddy(text, tmp_path, writer))
        given = {
            asked(viewers, "/").getheader("Set-Cookie", "") for _ in range(30)
        }
        kept = {
            part
            for cookies in given
            for part in cookies.split("; ")
            if part.startswith("crane_replica=")
        }
        assert len(kept) == 2
        browsers = [
            Visitor(viewers, f"{cookie}; {replica}") for replica in kept
        ]
        assert all(
            browser.sees("results").shows("Read-only copy as of")
            for browser in browsers
        )
        assert Visitor(public, cookie).sees("campaigns").shows("New campaign")
        sent = asked(viewers, "/annotate?campaign=pilot")
        assert (sent.status, sent.getheader("Location")) == (
            302,
            f"{public}/annotate?campaign=pilot",
        )
        second.close()
        assert all(
            browser.sees("results").shows("Read-only copy as of")
            for browser in browsers
        )
        assert (
            asked(public, "/logout", headers={"Cookie": cookie}).status == 303
        )
        assert all(
            browser.sees("results").shows("If you have an invitation link")
            for browser in browsers
        )


def test_the_configuration_with_a_login_says_who_visits_and_passes_no_claim(
    app: str, tmp_path: Path
) -> None:
    login = ThreadingHTTPServer(("127.0.0.1", 0), Login)
    threading.Thread(target=login.serve_forever, daemon=True).start()
    try:
        with caddy(WITH_LOGIN, tmp_path, app, login.server_port) as address:
            assert (
                Visitor(address, "who=lea")
                .sees("campaigns")
                .shows("New campaign")
            )
            assert (
                Visitor(address, "who=lea", CLAIM)
                .sees("data")
                .shows("Importing needs the role admin")
            )
            assert (
                Visitor(address, "who=nobody", CLAIM)
                .sees("data")
                .shows("it did not name you")
            )
            stranger = asked(address, "/data", headers=CLAIM)
            assert stranger.status == 302
            assert "/oauth2/sign_in" in (stranger.getheader("Location") or "")
    finally:
        login.shutdown()
        login.server_close()
