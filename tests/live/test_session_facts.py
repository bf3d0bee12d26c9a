"""What a look tells of who else acts in a session, and what a verdict says of it."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from crane_core.detectors.rules.session_facts import SessionFacts, session_facts
from crane_core.domain import KernelState, Setting
from crane_core.runtime.kernel_side.crane_probe.look import look
from crane_core.runtime.kernel_side.crane_probe.session.loops import (
    _name_of_task,
)
from crane_core.runtime.kernel_side.crane_probe.session.threads import threads
from tests.patience import PATIENCE_S

WAITS = "import threading\ngo = threading.Event()\ndef work(): go.wait()\n"
BESIDE = {
    "a thread, whatever its name": (
        WAITS + "threading.Thread(target=work, name='IOPub').start()",
        "threads",
        "IOPub",
    ),
    "a class of threads that claims to be the kernel's": (
        WAITS
        + "class Beat(threading.Thread):\n    __module__ = 'ipykernel.heartbeat'\n    def run(self): go.wait()\n"
        "Beat(name='Heartbeat').start()",
        "threads",
        "Heartbeat",
    ),
    "a timer of a method": (
        "import threading\nrows = []\ntimer = threading.Timer(60, rows.append, (1,))\ntimer.daemon = True\n"
        "timer.name = 'later'\ntimer.start()",
        "threads",
        "later",
    ),
    "a thread without an object": (
        WAITS
        + "import _thread\nstarted = _thread.start_new_thread(lambda: work(), ())\nimport time\ntime.sleep(0.1)",
        "threads",
        "thread of <lambda>",
    ),
    "a running pool": (
        WAITS
        + "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1, 'pool')\n"
        "_ = pool.submit(work)",
        "threads",
        "pool_0",
    ),
    "a running pool of processes": (
        WAITS
        + "from multiprocessing.pool import ThreadPool\nbeds = ThreadPool(1)\n_ = beds.apply_async(work)",
        "threads",
        "worker",
    ),
    "a program": (
        "import subprocess\nprogram = subprocess.Popen(['sleep', '60'])",
        "processes",
        "sleep 60",
    ),
    "a tree transformer": (
        "import ast\nclass Other(ast.NodeTransformer): pass\nip = get_ipython()\nip.ast_transformers.append(Other())",
        "hooks",
        "Other",
    ),
    "a transformer of text": (
        "get_ipython().input_transformers_post.append(lambda lines: lines)",
        "hooks",
        "<lambda>",
    ),
    "a transformer that comes first": (
        "get_ipython().input_transformers_cleanup.append(lambda lines: lines)",
        "hooks",
        "<lambda>",
    ),
    "a shell that runs other cells": (
        "ip = get_ipython()\nold = ip.run_cell\ndef run(cell, *given, **named): return old(cell, *given, **named)\n"
        "ip.run_cell = run",
        "hooks",
        "run",
    ),
    "a handler of exceptions": (
        "get_ipython().set_custom_exc((KeyError,), lambda *_: [])",
        "hooks",
        "KeyError",
    ),
    "a callback before cells": (
        "get_ipython().events.register('pre_run_cell', lambda info: None)",
        "hooks",
        "pre_run_cell callback <lambda>",
    ),
    "a handler of logging": (
        "import logging\nclass Kept(logging.Handler): \n    def emit(self, record): pass\n"
        "logging.getLogger('facts').handlers[:] = [Kept()]",
        "hooks",
        "logging's Kept",
    ),
    "a signal's handler": (
        "import signal\n_ = signal.signal(signal.SIGUSR2, lambda *_: None)",
        "hooks",
        "handler <lambda> of SIGUSR2",
    ),
    "a builtin of the notebook": (
        "import builtins\nbuiltins.later = lambda: 3",
        "hooks",
        "later",
    ),
    "a finder of modules": (
        "import sys\nclass Finder:\n    def find_spec(self, *_): return None\nsys.meta_path.append(Finder())",
        "hooks",
        "import hook Finder",
    ),
    "a magic of the notebook": (
        "from IPython.core.magic import register_line_magic\n@register_line_magic\ndef time(line): return line",
        "hooks",
        "time",
    ),
}
QUIET = {
    "nothing": "beds = [1]",
    "a pool that waits for work": (
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)\n"
        "sizes = list(pool.map(len, ['a', 'b']))\nimport time\ntime.sleep(0.1)"
    ),
    "a program that has ended": "import subprocess\nprogram = subprocess.Popen(['true'])\n_ = program.wait()",
    "a thread that has ended": "import threading\nthread = threading.Thread(target=len)\n",
    "a progress bar's own thread": "from tqdm import tqdm\nfor _ in tqdm([1], disable=True): pass",
}
UNDO = """
import sys as _sys, signal as _signal, builtins as _builtins
globals().get('go') and go.set()
'timer' in globals() and timer.cancel()
'program' in globals() and (program.kill(), program.wait())
'pool' in globals() and pool.shutdown()
'beds' in globals() and hasattr(beds, 'terminate') and beds.terminate()
'Finder' in globals() and _sys.meta_path.pop()
_signal.signal(_signal.SIGUSR2, _signal.SIG_DFL)
vars(_builtins).pop('later', None)
'logging' in globals() and logging.getLogger('facts').handlers.clear()
"""


class Session:
    """A shell, what it holds, and what is told of it."""

    def __init__(self) -> None:
        self.shell: Any = InteractiveShell(
            config=Config({"HistoryManager": {"hist_file": ":memory:"}})
        )

    def told(self, setup: str) -> dict[str, Any]:
        assert self.shell.run_cell(setup).success
        state = json.loads(
            look(self.shell.user_ns, {"target": "beds[4]", "cells": []})
        )
        assert "session" not in str(state["unavailable"])
        found: dict[str, Any] = state["captured"].get("session", {})
        return found


@pytest.fixture
def session() -> Iterator[Session]:
    made = Session()
    yield made
    made.shell.ast_transformers.clear()
    exec(UNDO, made.shell.user_ns)
    sys.modules.pop("edited_bed", None)
    made.shell.history_manager.end_session()


@pytest.mark.parametrize("name", BESIDE)
def test_who_else_acts_is_told(session: Session, name: str) -> None:
    setup, group, wanted = BESIDE[name]
    told = session.told(setup)
    assert wanted in str(told[group])
    assert facts_of(told).unsure or name == "a magic of the notebook"


def test_a_task_whose_code_has_come_to_its_end_is_not_pending() -> None:
    """On a busy machine the loop of another thread, as the kernel's for its messages, may note that late."""

    async def work() -> None: ...

    coroutine, loop = work(), asyncio.new_event_loop()
    task = loop.create_task(coroutine)
    assert _name_of_task(task) == "task work"
    coroutine.close()
    assert not task.done()
    assert _name_of_task(task) == ""
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()


@pytest.mark.parametrize(
    ("moment", "told"), [("start", ["Thread-work"]), ("end", [])]
)
def test_a_thread_is_known_in_its_first_and_in_its_last_moment(
    moment: str, told: list[str]
) -> None:
    """On a busy machine both may last: it is not among the active ones yet, or no more."""
    halted, go_on = threading.Event(), threading.Event()
    thread = threading.Thread(target=len, args=("",), name="Thread-work")

    def halting(then: Callable[[], None]) -> Callable[[], None]:
        def halt() -> None:
            then()
            halted.set()
            go_on.wait(PATIENCE_S)

        return halt

    if moment == "start":
        thread._started.set = halting(thread._started.set)  # type: ignore[attr-defined]
    else:
        thread._delete = halting(thread._delete)  # type: ignore[attr-defined]
    before = threads()
    thread.start()
    try:
        assert halted.wait(PATIENCE_S)
        assert thread.ident not in threading._active  # type: ignore[attr-defined]
        assert [name for name in threads() if name not in before] == told
    finally:
        go_on.set()
        thread.join()


@pytest.mark.parametrize("name", QUIET)
def test_an_ordinary_session_tells_nothing(session: Session, name: str) -> None:
    before = session.told(
        "pass"
    )  # programs that the test run itself has started
    assert session.told(QUIET[name]) == before
    assert before.keys() <= {"processes"}


def test_a_module_that_was_edited_is_told(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "edited_bed.py"
    module.write_text("def water(bed): return bed\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    before = session.told("import edited_bed")
    assert before.keys() <= {"processes"}
    module.write_text("def water(bed, litres): return bed\n")
    told = session.told("pass")
    assert told == before | {
        "edited": [
            {"module": "edited_bed", "file": "edited_bed.py", "reloads": False}
        ]
    }
    facts = facts_of(told)
    assert not facts.is_restless
    assert (
        "stale module: edited_bed.py was edited after edited_bed was imported"
        in facts.unsure[0]
    )
    assert facts_of(
        {"edited": [told["edited"][0] | {"reloads": True}]}
    ).is_restless


def test_a_handled_exception_is_no_crash() -> None:
    facts = facts_of({"hooks": [["exception handler", "LookupError"]]})
    assert [
        facts.handles(name)
        for name in ("KeyError", "LookupError", "ValueError", "pandas.errors.X")
    ] == [
        True,
        True,
        False,
        True,
    ]


def facts_of(told: dict[str, Any]) -> SessionFacts:
    state = KernelState(
        "",
        "",
        Setting.RUNTIME_PLUS,
        "",
        {},
        schema_version=2,
        captured={"session": told},
    )
    return session_facts(state, "beds[4]")
