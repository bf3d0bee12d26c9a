"""A server on loopback with OpenAI's batch endpoints, which ends each batch as a test says and remembers everything."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.llm.scripted import VERDICT, Sent, error, send

Told = dict[str, Any]


def answered(asked: Told, text: str = VERDICT) -> Told:
    """A line with a model's reply to a line of an input file."""
    choice = {
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    body = {
        "choices": [choice],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
    }
    return {
        "custom_id": asked["custom_id"],
        "response": {"status_code": 200, "body": body},
        "error": None,
    }


def failed(asked: Told, status: int, message: str, **members: Any) -> Told:
    """A line with an error of the model's server."""
    body = {"error": {"message": message, **members}}
    return {
        "custom_id": asked["custom_id"],
        "response": {"status_code": status, "body": body},
        "error": None,
    }


def expired(asked: Told) -> Told:
    """A line of a request that was not sent."""
    why = {
        "code": "batch_expired",
        "message": "This request could not be executed in time.",
    }
    return {"custom_id": asked["custom_id"], "response": None, "error": why}


@dataclass
class BatchServer:
    """`output` makes the lines of the output and error files from the requests of a batch.

    A batch ends with `status` after `n_looks` looks at it; None: never. `refuses` replies to an address instead.
    """

    output: Callable[
        [list[Told]], tuple[list[Told | bytes], list[Told | bytes]]
    ] = lambda asked: (
        [answered(one) for one in asked],
        [],
    )
    status: str = "completed"
    n_looks: int | None = 0
    why: str = ""
    refuses: Callable[[str, str], Sent | None] = lambda _method, _path: None
    after_created: Sent | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    batches: list[Told] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    was_looked_at: threading.Event = field(default_factory=threading.Event)

    def asked(self, number: int = 0) -> list[Told]:
        """The requests of a batch."""
        return [
            json.loads(line)
            for line in self.files[
                self.batches[number]["input_file_id"]
            ].splitlines()
        ]

    def reply(self, method: str, path: str, kind: str, body: bytes) -> Sent:
        self.requests.append(f"{method} {path}")
        refusal = self.refuses(method, path)
        if refusal is not None:
            return refusal
        if (method, path) == ("POST", "/v1/files"):
            name = self._kept(_uploaded(kind, body))
            return _sent({"id": name, "object": "file"})
        if (method, path) == ("POST", "/v1/batches"):
            wanted = json.loads(body)
            self.batches.append(
                {
                    "id": f"batch_{len(self.batches)}",
                    "status": "in_progress",
                    "n": 0,
                }
                | wanted
            )
            return self.after_created or _sent(self.batches[-1])
        if method == "GET" and path.startswith("/v1/batches?"):
            return _sent(self._page(parse_qs(urlsplit(path).query)))
        if method == "GET" and path.startswith("/v1/batches/"):
            return _sent(self._looked_at(int(path.rpartition("_")[2])))
        if method == "GET" and path.endswith("/content"):
            return Sent(
                200, self.files[path.split("/")[3]], "application/octet-stream"
            )
        return error(404, "no such address")

    def _page(self, query: dict[str, list[str]]) -> Told:
        """The newest batches, or those before one of them."""
        newest = self.batches[::-1]
        after = [
            number
            for number, batch in enumerate(newest)
            if [batch["id"]] == query.get("after")
        ]
        rest = newest[after[0] + 1 :] if after else newest
        limit = int(query["limit"][0])
        return {
            "object": "list",
            "data": rest[:limit],
            "has_more": len(rest) > limit,
        }

    def _looked_at(self, number: int) -> Told:
        batch = self.batches[number]
        batch["n"] += 1
        self.was_looked_at.set()
        if (
            self.n_looks is not None
            and batch["n"] > self.n_looks
            and batch["status"] == "in_progress"
        ):
            output, errors = self.output(self.asked(number))
            batch |= {
                "status": self.status,
                "errors": {"data": [{"message": self.why}]}
                if self.why
                else None,
            }
            batch["output_file_id"] = (
                self._kept(_lines(output)) if output else None
            )
            batch["error_file_id"] = (
                self._kept(_lines(errors)) if errors else None
            )
        return batch

    def _kept(self, content: bytes) -> str:
        self.files[name := f"file_{len(self.files)}"] = content
        return name


def _sent(told: Told) -> Sent:
    return Sent(200, json.dumps(told).encode())


def _lines(lines: list[Told | bytes]) -> bytes:
    return b"".join(
        (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n"
        for line in lines
    )


def _uploaded(kind: str, body: bytes) -> bytes:
    """The file of a form."""
    form = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
    parts = {
        part.get_param("name", header="content-disposition"): part
        for part in form.get_payload()
    }  # type: ignore[union-attr]
    assert parts["purpose"].get_payload() == "batch"  # type: ignore[union-attr]
    content = parts["file"].get_payload(decode=True)  # type: ignore[union-attr]
    assert isinstance(content, bytes)
    return content


@contextmanager
def batch_server(server: BatchServer) -> Iterator[str]:
    """Serve until the body ends."""

    class BatchHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply()

        def do_POST(self) -> None:
            self._reply()

        def _reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            sent = server.reply(
                self.command,
                self.path,
                self.headers.get("Content-Type", ""),
                body,
            )
            send(self, sent)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), BatchHandler) as http:
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_address[1]}/v1"
        finally:
            http.shutdown()
            thread.join()
