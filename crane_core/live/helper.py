"""The process beside a kernel that judges what was seen in it, so that the kernel itself loads nothing for that.

Knows how it is started, asked and ended. Refuses to wait without end: what does not answer is ended and told.
"""

import json
import os
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from crane_core import helper_process
from crane_core.errors import CraneError

PATIENCE_S = 30.0
_LONGEST_WORDS = 300


class HelperError(CraneError):
    """The process beside the kernel did not answer."""


class Helper:
    """One process, started when it is first asked, or before by `start`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._errors: IO[bytes] | None = None
        self._n_orders = 0
        self._lock = threading.Lock()
        self._starting = threading.Lock()

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process if none runs; it loads the rules meanwhile. Raises HelperError."""
        with self._starting:
            if self._process is None or self._process.poll() is not None:
                self.end()
                self._process = self._started()
            return self._process

    def _started(self) -> subprocess.Popen[bytes]:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process runs
        try:
            process = helper_process.start(
                helper_process.own_module("crane_core.live.answering", _here()),
                # `%%crane ask` asks a model with the keys of its user, which the kernel beside it has too.
                env=helper_process.environment_with_keys(),
                stdin=subprocess.PIPE,
                stderr=self._errors,
            )
        except OSError as error:
            raise HelperError(
                f"The checking process cannot start: {error}.",
                remedy="Restart the kernel, or reinstall the package.",
            ) from error
        self._answers = queue.SimpleQueue()
        threading.Thread(
            target=_pass_on, args=(process.stdout, self._answers), daemon=True
        ).start()
        return process

    def ask(
        self,
        order: dict[str, Any],
        patience_s: float = PATIENCE_S,
        *,
        may_start: bool = True,
        on_progress: Callable[[str], None] = lambda _library: None,
    ) -> dict[str, Any]:
        """The answer to one order. Raises HelperError, and what the process refused, as a CraneError.

        may_start: whether a process is started where none runs; else that is a HelperError too. `on_progress` is told
        the name of a library that is waited for.
        """
        with self._lock:
            process = self.start() if may_start else self._process
            try:
                if process is None or process.stdin is None:
                    raise BrokenPipeError("it was ended")
                self._n_orders += 1
                _write(process.stdin, {**order, "id": self._n_orders})
                answer = self._answer(patience_s, on_progress)
            except (OSError, ValueError, queue.Empty) as error:
                why = self._last_words() or f"no answer within {patience_s:g} s"
                if process is self._process:
                    self.end()
                raise HelperError(
                    f"The checking process ended: {why}.",
                    remedy="Run it again; a new process is started.",
                ) from error
        if "refused" in answer:
            raise CraneError(answer["refused"], remedy=answer["remedy"])
        return answer

    def tell(self, order: dict[str, Any]) -> None:
        """Give an order that has no answer; nothing happens where no process runs."""
        with self._lock, suppress(OSError, ValueError):
            if self._process is not None and self._process.stdin is not None:
                _write(self._process.stdin, order)

    def _answer(
        self, patience_s: float, on_progress: Callable[[str], None]
    ) -> dict[str, Any]:
        """The answer to the last order. Raises queue.Empty, or ValueError where the process is gone."""
        until = time.monotonic() + patience_s
        while True:
            said: dict[str, Any] = json.loads(
                self._answers.get(timeout=max(0.0, until - time.monotonic()))
            )
            if said.pop("id") != self._n_orders:
                continue  # somebody interrupted the wait for an earlier one
            if "asking" not in said:
                return said
            on_progress(said["asking"])

    def end(self) -> None:
        """End the process; it ends by itself, too, when its kernel does."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            process.kill()
            process.wait()
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def _last_words(self) -> str:
        errors = self._errors
        if errors is None or errors.closed:
            return ""
        try:
            errors.seek(0)
            lines = (
                errors.read().decode("utf-8", "replace").strip().splitlines()
            )
        except ValueError:
            return ""  # Another thread has ended the process meanwhile.
        return lines[-1][:_LONGEST_WORDS] if lines else ""


def _here() -> str:
    """The folder whose `.env` may name a model: the kernel's, as the process itself works in none."""
    try:
        return os.getcwd()  # noqa: PTH109 - a string is wanted
    except OSError:
        return helper_process.NOWHERE  # The notebook has removed its folder.


def _write(orders: IO[bytes], order: dict[str, Any]) -> None:
    orders.write(json.dumps(order).encode("ascii") + b"\n")
    orders.flush()


def _pass_on(answers: IO[bytes] | None, to: queue.SimpleQueue[str]) -> None:
    for line in answers or ():
        to.put(line.decode("utf-8"))
    to.put("")
