"""A service on loopback that people are notified by, and the mark of tests that need Apprise to reach it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from threading import Event, Thread
from typing import NamedTuple

import pytest

from crane_core.pipeline.notifications.channels import Channel, EventKind
from tests.patience import PATIENCE_S

HIDDEN = "h1ddenpart"
"""A part of every address, which nothing may show."""
needs_apprise = pytest.mark.skipif(
    find_spec("apprise") is None,
    reason="apprise is not installed: pip install '.[notify]'",
)


class Posted(NamedTuple):
    """A message that came: to which path, and what it says."""

    path: str
    title: str
    message: str


@dataclass
class Webhook:
    """What came to it. `status`: what it answers with. `is_open`: it answers once this is set."""

    port: int
    posted: list[Posted] = field(default_factory=list)
    status: int = 200
    is_open: Event = field(default_factory=Event)

    def channel(
        self,
        name: str = "team",
        *kinds: EventKind,
        person: str | None = None,
        path: str = HIDDEN,
    ) -> Channel:
        """A channel to it, of these events; of all where none is named."""
        return Channel(
            name=name,
            url=f"json://127.0.0.1:{self.port}/{path}?+X-Key={HIDDEN}",
            service="JSON",
            kinds=frozenset(kinds or EventKind),
            person=person,
        )

    @property
    def titles(self) -> list[str]:
        return [one.title for one in self.posted]


@contextmanager
def webhook() -> Iterator[Webhook]:
    """A server that keeps what is posted to it."""

    class WebhookHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            sent = json.loads(self.rfile.read(length))
            hook.is_open.wait(PATIENCE_S)
            hook.posted.append(
                Posted(self.path, sent["title"], sent["message"])
            )
            self.send_response(hook.status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), WebhookHandler) as server:
        hook = Webhook(server.server_port)
        hook.is_open.set()
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield hook
        finally:
            hook.is_open.set()
            server.shutdown()
