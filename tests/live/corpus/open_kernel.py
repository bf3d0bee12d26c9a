"""One real kernel of IPython with the extension loaded: asked with `%%crane`, and told to run cells.

Knows Jupyter's messages. What is compared with what stands elsewhere.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager

from tests.kernels import started
from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[3]
PYTHON = "CRANE_CORPUS_PYTHON"
"""Names an interpreter with ipykernel; without it, the one of the tests is used."""
SILENT = "NoReply"
"""In the place of an exception: the kernel did not answer in time, and is of no use any more."""
BESIDE = "__import__('tests.live.corpus.in_kernel', fromlist=['standing'])"
BUTTON = "__import__('crane_core.live.button', fromlist=['answer'])"
GUARD_LOOKS_S = 0.5
"""With the guard on, looking and running are one request: work beside the cell goes on this long after it was sent."""

_VERDICT = re.compile(r"^(?:Will crash: (?P<exception>\w+)|No certain crash)")


class NoVerdictError(Exception):
    """`%%crane` did not say whether the cell will crash; the text is what it said."""


class Ran(NamedTuple):
    """How a cell ended: the class of the exception that its reader was shown, None where it ran."""

    exception: str | None
    printed: str


class _OnePython(KernelSpecManager):
    """Finds the kernel of one interpreter, whatever is installed."""

    python = sys.executable

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        argv = [
            self.python,
            "-m",
            "ipykernel_launcher",
            "-f",
            "{connection_file}",
        ]
        return KernelSpec(
            argv=argv, display_name=kernel_name, language="python"
        )


class OpenKernel:
    """A kernel in its own folder, in which `%crane guard` is on unless a test puts it off."""

    def __init__(self, room: Path, python: str | None = None) -> None:
        self._room = room
        self._specs = _OnePython()
        self._specs.python = python or os.environ.get(PYTHON) or sys.executable
        self._n_folders = 0
        self._start(room)

    def _start(self, folder: Path) -> None:
        # Nothing of the user's own: no start-up files, no stored variables, no history.
        own = {
            "IPYTHONDIR": str(self._room / "ipython"),
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "",
        }
        make = partial(KernelManager, kernel_spec_manager=self._specs)
        quiet = ["--log-level=50"]
        self._manager, self._client = started(
            make, cwd=str(folder), env=os.environ | own, extra_arguments=quiet
        )
        self.run("%load_ext crane_core")
        self.ask("1 + 1")
        self.guard("on")
        self._silent(f"{BESIDE}.fresh(get_ipython(), {str(folder)!r})")
        self._standing = self._evaluated(f"{BESIDE}.standing(get_ipython())")

    def versions(self) -> str:
        """Of Python, IPython and ipykernel."""
        names = "', '".join(("IPython", "ipykernel"))
        told = f"[__import__(name).__version__ for name in ('{names}')]"
        ipython, ipykernel = ast.literal_eval(self._evaluated(f"str({told})"))
        python = self._evaluated("__import__('platform').python_version()")
        return f"Python {python}, IPython {ipython}, ipykernel {ipykernel}"

    def has(self, module: str) -> bool:
        return (
            self._evaluated(
                f"str(__import__('importlib.util').util.find_spec({module!r}) is not None)"
            )
            == "True"
        )

    def begin(self) -> None:
        """A new notebook: an empty folder, no names, no history."""
        self._n_folders += 1
        self._folder = self._room / f"notebook{self._n_folders}"
        self._folder.mkdir()
        beside = Path(__file__).with_name("started.py")
        (self._folder / "started.py").write_text(
            beside.read_text("utf-8"), "utf-8"
        )
        self._silent(f"{BESIDE}.fresh(get_ipython(), {str(self._folder)!r})")

    def is_as_before(self) -> bool:
        """Whether the last notebook left nothing behind that the next one would meet."""
        try:
            return (
                self._evaluated(f"{BESIDE}.standing(get_ipython())")
                == self._standing
            )
        except (TimeoutError, RuntimeError):
            return False

    def restart(self) -> None:
        """A fresh kernel in the same folder."""
        self.end()
        self._start(self._folder)

    def ask(self, target: str) -> str | None:
        """The class of the exception that `%%crane` predicts, or None. Raises NoVerdictError."""
        reply, messages = self._executed("%%crane\n" + target)
        shown = (
            "display_data",
            "update_display_data",
        )  # while a library is asked, that is shown first
        texts = [
            content["data"].get("text/plain", "")
            for kind, content in messages
            if kind in shown
        ]
        verdict = _VERDICT.match(texts[-1]) if texts else None
        if reply["status"] != "ok" or verdict is None:
            raise NoVerdictError(
                f"{reply.get('ename')} {reply.get('evalue')} {texts}"
            )
        return verdict["exception"]

    def ask_silently(self, target: str) -> str | None:
        """What JupyterLab's button is told: IPython calls no `pre_run_cell` for it. Raises NoVerdictError."""
        reply, _ = self._executed(
            "",
            silent=True,
            user_expressions={"it": f"{BUTTON}.answer({target!r})"},
        )
        it = reply["user_expressions"]["it"]
        told = it.get("data", {}).get("application/json", {})
        verdict = _VERDICT.match(told.get("title", ""))
        if verdict is None:
            raise NoVerdictError(f"the button: {it}")
        return verdict["exception"]

    def let_go(self) -> None:
        """What runs beside the target may act from now on."""
        for mark in ("sent", "go"):
            (self._folder / mark).touch()

    def run(self, source: str) -> Ran:
        """Run a cell as the front end does."""
        try:
            reply, messages = self._executed(source)
        except (TimeoutError, RuntimeError) as error:  # silent, or ended
            return Ran(SILENT, f"{type(error).__name__}: {error}")
        printed = [
            _text(content)
            for kind, content in messages
            if kind in ("stream", "error", "execute_result")
        ]
        # As in a saved notebook, an error output is a crash, also where a magic keeps it from the reply.
        errors = [
            content["ename"] for kind, content in messages if kind == "error"
        ]
        # What a value's own formatter raises is in no reply: it names the class of None.
        if reply["status"] == "error" and reply["ename"] != "NoneType":
            errors.append(reply["ename"])
        # A session's own handler may take an exception: then the reply says error, and the reader is shown nothing.
        is_shown = any(
            kind in ("error", "stream", "display_data") for kind, _ in messages
        )
        return Ran(
            errors[-1] if errors and is_shown else None, "".join(printed)
        )

    def guard(self, step: str) -> None:
        """`%crane guard on` or `off`, which leaves no trace in the notebook's history."""
        self._silent(f"get_ipython().run_line_magic('crane', 'guard {step}')")

    def run_guarded(self, source: str) -> Ran:
        """Run a cell while the guard is on; what runs beside it acts once the guard has looked."""
        (self._folder / "sent").touch()
        timer = threading.Timer(GUARD_LOOKS_S, self.let_go)
        timer.start()
        try:
            return self.run(source)
        finally:
            timer.cancel()
            timer.join()

    def end(self) -> None:
        """End the kernel, and what it started."""
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def _executed(
        self, source: str, **how: Any
    ) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]:
        messages: list[tuple[str, dict[str, Any]]] = []

        def keep(message: dict[str, Any]) -> None:
            messages.append((message["msg_type"], message["content"]))

        def answer(_: dict[str, Any]) -> None:
            self._client.input("q")

        reply = self._client.execute_interactive(
            source,
            timeout=PATIENCE_S,
            allow_stdin=True,
            stdin_hook=answer,
            output_hook=keep,
            **how,
        )
        return reply["content"], messages

    def _silent(self, source: str) -> None:
        reply, _ = self._executed(source, silent=True)
        if reply["status"] != "ok":
            raise RuntimeError(f"{source}: {reply}")

    def _evaluated(self, expression: str) -> str:
        reply, _ = self._executed(
            "", silent=True, user_expressions={"it": expression}
        )
        it = reply["user_expressions"]["it"]
        if it["status"] != "ok":
            raise RuntimeError(f"{expression}: {it}")
        value: str = ast.literal_eval(it["data"]["text/plain"])
        return value


def _text(content: dict[str, Any]) -> str:
    if "data" in content:
        return str(content["data"].get("text/plain", ""))
    return str(content.get("text") or "\n".join(content.get("traceback", [])))


@contextmanager
def open_kernel(room: Path, python: str | None = None) -> Iterator[OpenKernel]:
    """Such a kernel for the time of the body."""
    room.mkdir(parents=True, exist_ok=True)
    kernel = OpenKernel(room, python)
    try:
        yield kernel
    finally:
        kernel.end()
