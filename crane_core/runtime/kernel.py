"""One fresh kernel: started in a folder, made to run code or to evaluate an expression, ended with all it started.

Knows what Jupyter's messages ask and answer. Refuses to know notebooks and what is looked for.

Its channels are sockets in its own folder: messages out, replies in, output counted and discarded.
"""

from __future__ import annotations

import ast
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import zmq
from jupyter_client.connect import write_connection_file
from jupyter_client.session import Session

from crane_core.errors import KernelError, KernelStartError
from crane_core.runtime.guarded import End, Guarded
from crane_core.runtime.isolation import furnished
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.program import Program

_WATCHDOG_LATE_S = 15.0
"""A watchdog that has not spoken this long after the time was up has been stopped from outside."""
_SOCKET = "k"
# A socket's path has 108 bytes on Linux, of which Jupyter adds a few.
_LONGEST_SOCKET_PATH = 100
_RECONNECT_MS = 10
_PATIENCE_MS = 250
_AT_ONCE = 1_000
"""Messages that are discarded before other work is checked: a kernel can print faster than we read."""


class Channels:
    """The two channels that are listened to: answers, and whatever is printed or shown, which is only counted."""

    def __init__(
        self, connection: dict[str, Any], limits: KernelLimits
    ) -> None:
        self._session = Session(
            key=connection["key"].encode(),
            signature_scheme=connection["signature_scheme"],
        )
        # One context per process: each has its own threads.
        context: zmq.Context[Any] = zmq.Context.instance()
        self._shell = context.socket(zmq.DEALER)
        self._shown = context.socket(zmq.SUB)
        self._shown.subscribe(b"")
        self._monitors: list[zmq.Socket[bytes]] = []
        for socket, port in (
            (self._shell, "shell_port"),
            (self._shown, "iopub_port"),
        ):
            # Closing must not wait for messages to a kernel that is gone.
            socket.linger = 0
            socket.reconnect_ivl = _RECONNECT_MS
            # A longer message is not received at all, so a cell cannot fill our memory by one
            # print.
            socket.maxmsgsize = limits.output_bytes
            # The only sign of a message that was too long: ZeroMQ cuts the connection.
            self._monitors.append(
                socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            )
            # Sockets in a folder instead of ports: others on the machine cannot connect.
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
            # Answers to requests that were given up are read and dropped.
            _, message = self._session.recv(self._shell)
            if message is None:
                return None
            if message["parent_header"].get("msg_id") == asked:
                content: dict[str, Any] = message["content"]
                return content

    def wait(self, handle: int) -> set[Any]:
        """Wait a moment for something to read here or at `handle`; what is ready."""
        # The watchdog's handle as well, so that the end of a kernel is noticed at once.
        self._poller.register(handle, zmq.POLLIN)
        return {ready for ready, _ in self._poller.poll(_PATIENCE_MS)}

    def n_output(self) -> int:
        """Received bytes of output; they are discarded."""
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
        """Close both sockets and their monitors; messages that were not read are dropped."""
        for socket in (self._shell, self._shown):
            socket.disable_monitor()
            socket.close()
        for monitor in self._monitors:
            monitor.close()


class EndedError(Exception):
    """The kernel ended before it answered."""

    def __init__(self, end: End) -> None:
        super().__init__(end.why)
        self.end = end


class ExpressionError(Exception):
    """The expression raised; the text says what."""


class KernelReply(NamedTuple):
    """The outcome of a piece of code. `exception` is None if it raised nothing; `seconds` is wall time."""

    seconds: float
    exception: str | None
    message: str
    traceback: str


class Kernel:
    """A kernel that runs. Every call may raise EndedError, and KernelError when it has to stop."""

    def __init__(
        self,
        guarded: Guarded,
        channels: Channels,
        limits: KernelLimits,
        stop: threading.Event,
    ) -> None:
        self._guarded = guarded
        self._channels = channels
        self._limits = limits
        self._stop = stop
        self._n_output = 0

    def wait_until_ready(self) -> None:
        """Wait for its first answer, as long as `start_s` of its limits."""
        self._answer("kernel_info_request", {}, self._limits.start_s)

    def run(self, code: str) -> KernelReply:
        """Run a cell as a notebook would, and wait for its end."""
        started = time.perf_counter()
        # Not silent: `In`, `Out` and the cell's number are part of the state.
        answer = self._answer(
            "execute_request",
            _execution(code, silent=False),
            self._limits.cell_s,
        )
        seconds = time.perf_counter() - started
        if any(
            payload.get("source") == "ask_exit"
            for payload in answer.get("payload", ())
        ):
            # IPython's exit() answers first and ends the kernel a moment later.
            raise EndedError(self.end()._replace(why="exit", status=0))
        if answer["status"] == "ok":
            return KernelReply(seconds, None, "", "")
        # A traceback for people; class and message are what is compared.
        traceback = "\n".join(answer.get("traceback", ()))
        return KernelReply(
            seconds,
            str(answer.get("ename", "an error")),
            str(answer.get("evalue", "")),
            traceback,
        )

    def evaluate(self, expression: str, more_s: float = 0.0) -> str:
        """The text that is an expression's value in the kernel's namespace; leaves no history, output or name behind.

        It may take `more_s` longer than a look. Raises ExpressionError if it raises, or is something else than text.
        """
        content = silent_evaluation(expression)
        answer = self._answer(
            "execute_request", content, self._limits.look_s + more_s
        )
        return given_text(answer)

    def end(self) -> End:
        """End it and everything it started; how it ended, where it had ended before."""
        return self._guarded.end()

    def _answer(
        self, kind: str, content: dict[str, Any], allowed_s: float
    ) -> dict[str, Any]:
        """Send a request and wait for its reply."""
        # The time is counted by the watchdog, which a busy process of ours does not hold up.
        self._guarded.allow(allowed_s)
        late = time.monotonic() + allowed_s + _WATCHDOG_LATE_S
        asked = self._channels.send(kind, content)
        while True:
            # The reply first: a kernel that answers and ends at once has answered.
            if (answer := self._channels.reply_to(asked)) is not None:
                self._guarded.allow(None)
                return answer
            ready = self._channels.wait(self._guarded.handle)
            # Output is read while it comes: a full pipe would hold the kernel.
            self._n_output += self._channels.n_output()
            is_cut = self._channels.is_cut()
            if is_cut or self._n_output > self._limits.output_bytes:
                raise EndedError(self._guarded.end_for_output(is_cut=is_cut))
            if self._stop.is_set():
                raise KernelError(
                    "The capture was stopped.", remedy="Run it again."
                )
            # Readable means that the watchdog has said how it ended.
            if ready == {self._guarded.handle}:
                raise EndedError(self.end())
            if time.monotonic() > late:
                # A stopped watchdog can end nothing: it is killed, and its kernel by the mark.
                raise EndedError(self._guarded.abandon()._replace(why="time"))


@contextmanager
def fresh_kernel(
    program: Program,
    folder: Path,
    limits: KernelLimits,
    stop: threading.Event | None = None,
) -> Iterator[Kernel]:
    """Its own kernel for the time of the body. Raises KernelStartError if it does not come up."""
    with guarded_kernel(program, folder, limits) as (guarded, connection):
        channels = Channels(connection, limits)
        try:
            kernel = Kernel(
                guarded, channels, limits, stop or threading.Event()
            )
            _bring_up(kernel, program)
            yield kernel
        finally:
            channels.close()


@contextmanager
def guarded_kernel(
    program: Program, folder: Path, limits: KernelLimits
) -> Iterator[tuple[Guarded, dict[str, Any]]]:
    """A kernel's process under the watchdog for the time of the body, and how it is reached; it may not answer yet."""
    # The room holds the connection file and its key, and goes with the kernel.
    with TemporaryDirectory(prefix="crane-") as room:
        connection_file, connection = connection_in(Path(room))
        isolated = furnished(
            limits.isolation,
            program.command(connection_file),
            program.env,
            folder,
            Path(room),
            network=limits.network,
        )
        guarded = Guarded(
            isolated.argv,
            folder=folder,
            env=isolated.env,
            limits=limits,
            watched=isolated.watched,
        )
        try:
            yield guarded, connection
        finally:
            # Also after an error on our side: no kernel is left behind.
            guarded.end()


def _bring_up(kernel: Kernel, program: Program) -> None:
    try:
        kernel.wait_until_ready()
    except EndedError as error:
        raise not_started(error.end, program) from error


def not_started(end: End, program: Program) -> KernelStartError:
    """The refusal for a kernel that ended before it answered."""
    said = end.last_words.strip().splitlines()
    words = f"; its last output: {said[-1][:300]}" if said else ""
    return KernelStartError(
        f"The kernel {program.name} did not start ({end.why}){words}.",
        remedy="Install ipykernel for that interpreter, or choose another with --python or --kernel.",
    )


def _execution(code: str, *, silent: bool) -> dict[str, Any]:
    return {
        "code": code,
        "silent": silent,
        "store_history": not silent,
        "user_expressions": {},
        "allow_stdin": False,
        # Later requests are still answered after a cell that raised.
        "stop_on_error": False,
    }


def silent_evaluation(expression: str) -> dict[str, Any]:
    """The content of a request that evaluates and leaves no history, output, count or name behind."""
    # An expression in an empty request: it has no cell, so no number and no history.
    return _execution("", silent=True) | {
        "user_expressions": {"it": expression}
    }


def given_text(answer: Mapping[str, Any]) -> str:
    """The text that the evaluated expression gave. Raises ExpressionError."""
    result = answer.get("user_expressions", {}).get(
        "it", {"ename": "no answer", "evalue": str(answer["status"])}
    )
    if result.get("status") != "ok":
        raise ExpressionError(f"{result.get('ename')}: {result.get('evalue')}")
    try:
        # The kernel sends the repr of a text; what a notebook makes of repr is not run here.
        value = ast.literal_eval(result["data"]["text/plain"])
    except (KeyError, ValueError, SyntaxError, MemoryError) as error:
        raise ExpressionError(f"the answer cannot be read: {error}") from error
    if not isinstance(value, str):
        raise ExpressionError(f"expected a string, not {type(value).__name__}")
    return value


def connection_in(room: Path) -> tuple[Path, dict[str, Any]]:
    """The connection file for a kernel that is reached over sockets in `room`, not over the network."""
    if len(str(room / _SOCKET)) > _LONGEST_SOCKET_PATH:
        raise KernelStartError(
            f"The path of the temporary folder is too long for a socket: {room}.",
            remedy="Set TMPDIR to a shorter path.",
        )
    # A fresh key for each kernel, so that no other process can send it code.
    key = Session().key
    path, connection = write_connection_file(
        str(room / "connection.json"),
        transport="ipc",
        ip=str(room / _SOCKET),
        key=key,
    )
    return Path(path), json.loads(Path(path).read_text("utf-8")) | {
        "signature_scheme": connection["signature_scheme"]
    }
