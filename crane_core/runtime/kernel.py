"""One fresh kernel: started in a folder, asked to run code or to evaluate an expression, ended with all it started.

Knows Jupyter's messages. Refuses to know notebooks and what is looked for.
"""

from __future__ import annotations

import ast
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import zmq
from jupyter_client.connect import write_connection_file
from jupyter_client.session import Session

from crane_core.errors import KernelError, KernelStartError
from crane_core.runtime.guarded import End, Guarded
from crane_core.runtime.limits import Limits
from crane_core.runtime.program import Program

_SOCKET = "k"
_LONGEST_SOCKET_PATH = 100
_RECONNECT_MS = 10
_PATIENCE_MS = 250
_AT_ONCE = 1_000
"""Messages that are let go before we look elsewhere: a kernel can print faster than we read."""
_WATCHDOG_LATE_S = 15.0
"""A watchdog that has not spoken this long after the time was up has been stopped by somebody."""


class EndedError(Exception):
    """The kernel ended before it answered."""

    def __init__(self, end: End) -> None:
        super().__init__(end.why)
        self.end = end


class ExpressionError(Exception):
    """The expression raised; the text says what."""


class Reply(NamedTuple):
    """What became of a piece of code. `exception` is None where it ran through; `seconds` is wall time."""

    seconds: float
    exception: str | None
    message: str
    traceback: str


class Kernel:
    """A kernel that runs. Every call may raise EndedError, and KernelError when it is told to stop."""

    def __init__(self, guarded: Guarded, sockets: _Sockets, limits: Limits, stop: threading.Event) -> None:
        self._guarded = guarded
        self._sockets = sockets
        self._limits = limits
        self._stop = stop
        self._n_output = 0

    def wait_until_ready(self) -> None:
        self._answer("kernel_info_request", {}, self._limits.start_s)

    def run(self, code: str) -> Reply:
        """Run a cell as a notebook would, and wait for its end."""
        started = time.perf_counter()
        answer = self._answer("execute_request", _execution(code, silent=False), self._limits.cell_s)
        seconds = time.perf_counter() - started
        if any(payload.get("source") == "ask_exit" for payload in answer.get("payload", ())):
            # IPython's exit() answers first and ends the kernel a moment later.
            raise EndedError(self.end()._replace(why="exit", status=0))
        if answer["status"] == "ok":
            return Reply(seconds, None, "", "")
        traceback = "\n".join(answer.get("traceback", ()))
        return Reply(seconds, str(answer.get("ename", "an error")), str(answer.get("evalue", "")), traceback)

    def evaluate(self, expression: str) -> str:
        """The text that an expression gives in the kernel's namespace; leaves no history, output or name behind.

        Raises ExpressionError where it raises, or gives something else than text.
        """
        content = _execution("", silent=True) | {"user_expressions": {"it": expression}}
        answer = self._answer("execute_request", content, self._limits.look_s)
        result = answer.get("user_expressions", {}).get("it", {"ename": "no answer", "evalue": str(answer["status"])})
        if result.get("status") != "ok":
            raise ExpressionError(f"{result.get('ename')}: {result.get('evalue')}")
        try:
            value = ast.literal_eval(result["data"]["text/plain"])
        except (KeyError, ValueError, SyntaxError, MemoryError) as error:
            raise ExpressionError(f"the answer cannot be read: {error}") from error
        if not isinstance(value, str):
            raise ExpressionError(f"text was expected, not {type(value).__name__}")
        return value

    def end(self) -> End:
        """End it and everything it started; how it ended, where it had ended before."""
        return self._guarded.end()

    def _answer(self, kind: str, content: dict[str, Any], allowed_s: float) -> dict[str, Any]:
        """Send a request and wait for its reply."""
        self._guarded.allow(allowed_s)
        late = time.monotonic() + allowed_s + _WATCHDOG_LATE_S
        asked = self._sockets.send(kind, content)
        while True:
            if (answer := self._sockets.reply_to(asked)) is not None:
                self._guarded.allow(None)
                return answer
            ready = self._sockets.wait(self._guarded.handle)
            self._n_output += self._sockets.n_output()
            if self._n_output > self._limits.output_bytes or self._sockets.is_cut():
                end = self.end()
                raise EndedError(end._replace(why="output") if end.why == "asked" else end)
            if self._stop.is_set():
                raise KernelError("The capture was stopped.", remedy="Run it again.")
            if ready == {self._guarded.handle}:
                raise EndedError(self.end())
            if time.monotonic() > late:
                raise EndedError(self._guarded.abandon()._replace(why="time"))


class _Sockets:
    """The two channels that are listened to: answers, and whatever is printed or shown, which is only counted."""

    def __init__(self, connection: dict[str, Any], limits: Limits) -> None:
        self._session = Session(key=connection["key"].encode(), signature_scheme=connection["signature_scheme"])
        context: zmq.Context[Any] = zmq.Context.instance()
        self._shell = context.socket(zmq.DEALER)
        self._shown = context.socket(zmq.SUB)
        self._shown.subscribe(b"")
        self._monitors: list[zmq.Socket[bytes]] = []
        for socket, port in ((self._shell, "shell_port"), (self._shown, "iopub_port")):
            socket.linger = 0
            socket.reconnect_ivl = _RECONNECT_MS
            socket.maxmsgsize = limits.output_bytes
            self._monitors.append(socket.get_monitor_socket(zmq.EVENT_DISCONNECTED))
            socket.connect(f"ipc://{connection['ip']}-{connection[port]}")
        self._poller = zmq.Poller()
        for listened in (self._shell, self._shown, *self._monitors):
            self._poller.register(listened, zmq.POLLIN)

    def send(self, kind: str, content: dict[str, Any]) -> str:
        """The id of the message."""
        message = self._session.msg(kind, content)
        self._session.send(self._shell, message)
        return str(message["header"]["msg_id"])

    def reply_to(self, asked: str) -> dict[str, Any] | None:
        """The content of the reply, None when it is not there."""
        while True:
            _, message = self._session.recv(self._shell)
            if message is None:
                return None
            if message["parent_header"].get("msg_id") == asked:
                content: dict[str, Any] = message["content"]
                return content

    def wait(self, handle: int) -> set[Any]:
        """Wait a moment for something to read here or at `handle`; what is ready."""
        self._poller.register(handle, zmq.POLLIN)
        return {ready for ready, _ in self._poller.poll(_PATIENCE_MS)}

    def n_output(self) -> int:
        """Bytes that came in to be shown; they are let go."""
        n = 0
        for _ in range(_AT_ONCE):
            if not self._shown.poll(0):
                break
            n += sum(map(len, self._shown.recv_multipart()))
        return n

    def is_cut(self) -> bool:
        """Whether a connection is gone: the kernel is, or one message was larger than all that it may give out."""
        return any(monitor.poll(0) for monitor in self._monitors)

    def close(self) -> None:
        for socket in (self._shell, self._shown):
            socket.disable_monitor()
            socket.close()
        for monitor in self._monitors:
            monitor.close()


@contextmanager
def fresh_kernel(
    program: Program, folder: Path, limits: Limits, stop: threading.Event | None = None
) -> Iterator[Kernel]:
    """A kernel of its own for the time of the body. Raises KernelStartError where it does not come up."""
    with TemporaryDirectory(prefix="crane-") as room:
        connection_file, connection = _connection(Path(room))
        guarded = Guarded(program.command(connection_file), folder=folder, env=program.env, limits=limits)
        try:
            sockets = _Sockets(connection, limits)
            try:
                kernel = Kernel(guarded, sockets, limits, stop or threading.Event())
                _bring_up(kernel, program)
                yield kernel
            finally:
                sockets.close()
        finally:
            guarded.end()


def _bring_up(kernel: Kernel, program: Program) -> None:
    try:
        kernel.wait_until_ready()
    except EndedError as error:
        said = error.end.last_words.strip().splitlines()
        words = f"; its last words: {said[-1][:300]}" if said else ""
        raise KernelStartError(
            f"The kernel {program.name} did not come up ({error.end.why}){words}.",
            remedy="Install ipykernel for that interpreter, or name another with --python or --kernel.",
        ) from error


def _connection(room: Path) -> tuple[Path, dict[str, Any]]:
    """The connection file for a kernel that is reached over sockets in `room`, not over the network."""
    if len(str(room / _SOCKET)) > _LONGEST_SOCKET_PATH:
        raise KernelStartError(
            f"The folder for temporary files has too long a name for a socket: {room}.",
            remedy="Set TMPDIR to a shorter one.",
        )
    key = Session().key
    path, connection = write_connection_file(
        str(room / "connection.json"), transport="ipc", ip=str(room / _SOCKET), key=key
    )
    return Path(path), json.loads(Path(path).read_text("utf-8")) | {"signature_scheme": connection["signature_scheme"]}


def _execution(code: str, *, silent: bool) -> dict[str, Any]:
    return {
        "code": code,
        "silent": silent,
        "store_history": not silent,
        "user_expressions": {},
        "allow_stdin": False,
        "stop_on_error": False,
    }
