"""The target runs in a copy of its kernel: what it comes to is told, and neither kernel nor disk show that it ran."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from crane_core.runtime.capture import Captured, capture
from crane_core.runtime.isolation import Isolation, can_seal
from crane_core.runtime.kernel_side.crane_probe.rehearsal import _Watched
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.rehearsal import Rehearsal, RehearsalEnd, rehearsal_of
from tests.optional import needs
from tests.patience import PATIENCE_S

from .conftest import OpenKernel, SharedKernel, WriteNotebook

Rehearse = Callable[..., Rehearsal]
WAITING_S = 1.0
"""For a target that waits for ever, whatever the time: the end of its time is what is tested."""
AMPLE_S = 10.0
"""For a target that may wait for ever, and of which it may be told that it is unknown."""
AMPLE_AGAIN_S = 30.0
"""For one that waits for ever in the first copy, and comes to its end in the second kernel."""


@pytest.fixture(scope="module")
def kernel(
    open_kernel: OpenKernel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedKernel]:
    """The kernel of all targets that are rehearsed in a copy of the first: none of them leaves anything in it."""
    with open_kernel(tmp_path_factory.mktemp("rehearsed")) as opened:
        yield opened


@pytest.fixture
def captured(notebook: WriteNotebook) -> Callable[..., Captured]:
    def run(
        *cells: str, seconds: float = PATIENCE_S, **options: object
    ) -> Captured:
        path = notebook("rehearsed", *cells)
        return capture(
            path, target=len(cells) - 1, rehearse_s=seconds, **options
        )  # type: ignore[arg-type]

    return run


@pytest.fixture
def rehearse(captured: Callable[..., Captured]) -> Rehearse:
    def run(*cells: str, seconds: float = PATIENCE_S) -> Rehearsal:
        told: Rehearsal | None = captured(
            *cells, seconds=seconds
        ).result.rehearsal
        assert told is not None
        return told

    return run


CRASHES = {
    "plain": ("x = 1\n\nbeds['south']", "KeyError", "'south'", 3),
    "empty lines first": ("\n\nbeds['south']", "KeyError", "'south'", 3),
    "in a function of an earlier cell": (
        "x = 1\nlook('south')",
        "KeyError",
        "'south'",
        2,
    ),
    "timed": ("\n%%time\nx = 1\nbeds['south']", "KeyError", "'south'", 4),
    "captured": ("%%capture\nx = 1\nbeds['south']", "KeyError", "'south'", 3),
    "syntax": ("x = 1\ndef f(:", "SyntaxError", "invalid syntax", 2),
    "no such magic": (
        "%nosuch",
        "UsageError",
        "Line magic function `%nosuch` not found.",
        1,
    ),
    "leaving": ("import sys\nsys.exit(3)", "SystemExit", "3", 2),
    "a loop in a loop": (
        "import asyncio\nasync def f(): pass\nasyncio.run(f())",
        "RuntimeError",
        "asyncio.run() cannot be called from a running event loop",
        3,
    ),
}


@pytest.mark.parametrize("name", CRASHES)
def test_a_crash_is_told_with_its_exception_and_line(
    name: str, kernel: SharedKernel
) -> None:
    code, exception, message, line = CRASHES[name]
    kernel.run("beds = {'north': 3}\ndef look(name): return beds[name]")
    told = kernel.rehearse(code)
    assert (told.outcome, told.exception, told.message, told.line) == (
        RehearsalEnd.CRASH,
        exception,
        message,
        line,
    )


def test_a_cell_that_raises_nothing_runs_through(kernel: SharedKernel) -> None:
    kernel.run("beds = {'north': 3}")
    told = kernel.rehearse("beds['south'] = 1\nprint('x' * 100_000_000)\nbeds")
    assert (told.outcome, told.exception, told.why) == (
        RehearsalEnd.RAN_THROUGH,
        None,
        None,
    )


def test_a_cell_that_works_on_is_still_running(kernel: SharedKernel) -> None:
    told = kernel.rehearse("n = 1\nwhile True: n += 1", WAITING_S)
    assert (told.outcome, told.title) == (
        RehearsalEnd.STILL_RUNNING,
        "still running after 1 s",
    )


@pytest.mark.parametrize(
    ("used_s", "queued_s", "is_working"),
    [
        pytest.param(0.25, 0.0, True, id="quiet machine"),
        pytest.param(0.006, 0.24, True, id="busy machine"),
        pytest.param(0.001, 0.01, False, id="waits for a lock"),
    ],
)
def test_whether_a_copy_works_is_no_question_of_how_busy_the_machine_is(
    used_s: float, queued_s: float, *, is_working: bool
) -> None:
    """In the last quarter of its second."""
    watched = _Watched(copy=0, seconds=1.0, start_s=1.0)
    watched._uses = [
        (0.0, 0.0, 0.0),
        (0.74, 0.1, 0.5),
        (1.0, 0.1 + used_s, 0.5 + queued_s),
    ]
    assert watched._is_working() is is_working


class Unknown(NamedTuple):
    """A target of which a copy tells nothing; `undo` takes out of the kernel what was run `before` it."""

    before: str
    code: str
    why: str
    seconds: float = PATIENCE_S
    undo: str = "pass"


UNKNOWN = {
    "a lock of another thread": Unknown(
        "import threading\nheld = threading.Lock()\nheld.acquire()",
        "held.acquire()",
        "waited",
        WAITING_S,
    ),
    "sleep": Unknown("import time", "time.sleep(600)", "waited", WAITING_S),
    "await": Unknown("import asyncio", "await asyncio.sleep(0)", "awaits"),
    "input": Unknown("a = 1", "input()", "waits for input"),
    "program": Unknown("a = 1", "!ls", "starts other programs"),
    "caught": Unknown(
        "a = 1",
        "import os\ntry: os.system('true')\nexcept Exception: pass",
        "starts other programs",
    ),
    "exit": Unknown("a = 1", "exit()", "ends the kernel"),
    "end of the process": Unknown(
        "import os", "os._exit(3)", "ended the process"
    ),
    "signal": Unknown(
        "import ctypes", "ctypes.string_at(0)", "ended by SIGSEGV"
    ),
    "fork bomb below Python": Unknown(
        "import ctypes",
        "while True: ctypes.CDLL(None).fork()",
        "asked the system for",
    ),
    "fork bomb": Unknown(
        "import os", "while True: os.fork()", "starts other programs"
    ),
    "memory": Unknown("a = 1", "b = bytearray(200 * 2**30)", "less memory"),
    "socket below Python": Unknown(
        "import ctypes",
        "ctypes.CDLL(None).socket(2, 1, 0)",
        "asked the system for",
    ),
    "signal to the kernel": Unknown(
        "import os\nown = os.getpid()", "os.kill(own, 9)", "sends signals"
    ),
    "signal to the kernel below Python": Unknown(
        "import ctypes, os\nown = os.getpid()",
        "ctypes.CDLL(None).kill(own, 9)",
        "asked the system for",
    ),
    "a GPU": Unknown(
        "import sys, types\nm = types.ModuleType('torch.cuda')\nm._initialized = True\nsys.modules['torch.cuda'] = m",
        "1 / 0",
        "GPU is in use",
        undo="del sys.modules['torch.cuda']",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_a_copy_cannot_show_is_unknown(
    name: str, kernel: SharedKernel
) -> None:
    case = UNKNOWN[name]
    kernel.run(case.before)
    told = kernel.rehearse(case.code, case.seconds)
    kernel.run(case.undo)
    assert told.outcome is RehearsalEnd.UNKNOWN
    assert case.why in (told.why or "")


def test_the_network_is_not_reached(kernel: SharedKernel) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        kernel.run("import socket")
        told = kernel.rehearse(
            f"socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))"
        )
        server.setblocking(False)  # who had reached it would wait here now
        with pytest.raises(BlockingIOError):
            server.accept()
    assert told.outcome is RehearsalEnd.UNKNOWN


WRITES = (
    "from pathlib import Path\n"
    "Path('new.txt').write_text('x'); Path('there.txt').unlink(); Path('deep').mkdir()\n"
    "Path('deep/more.txt').write_text('y' * 1000)\n"
    "ctypes.CDLL(None).unlink(b'other.txt')\n"
)


def test_what_is_written_is_dropped_or_refused(kernel: SharedKernel) -> None:
    for name in ("there.txt", "other.txt"):
        (kernel.folder / name).write_text(name)
    kernel.run("import ctypes")
    told = kernel.rehearse(
        WRITES + "assert not Path('other.txt').exists()\n1 / 0"
    )
    assert {path.name for path in kernel.folder.iterdir()} == {
        "there.txt",
        "other.txt",
    }
    assert (kernel.folder / "there.txt").read_text() == "there.txt"
    if told.writes == "dropped":
        assert (told.outcome, told.exception, told.line) == (
            RehearsalEnd.CRASH,
            "ZeroDivisionError",
            6,
        )
    else:
        assert (told.outcome, told.writes) == (RehearsalEnd.UNKNOWN, "refused")


def test_more_than_the_copy_may_write_is_unknown(kernel: SharedKernel) -> None:
    told = kernel.rehearse(
        "with open('big', 'wb') as f:\n    for _ in range(600): f.write(bytes(2**20))"
    )
    assert told.outcome is RehearsalEnd.UNKNOWN
    assert not (kernel.folder / "big").exists()


STATE = """import mmap, os, random, itertools
import numpy as np
random.seed(3); np.random.seed(3); rng = np.random.default_rng(3)
count = itertools.count()
log = open('log.txt', 'w+'); log.write('kept'); log.flush()
shared = mmap.mmap(-1, 8)
table = np.memmap('table.bin', dtype='int64', mode='w+', shape=(4,))
values = {'a': 1}"""
CHANGES = """random.random(); np.random.rand(); rng.random(); next(count); values['a'] = 2; shared[0] = 7; table[0] = 7
os.environ['CRANE_REHEARSED'] = '1'; os.chdir('/'); log.seek(0); new = 1
print('seen'); 1 / 0"""
UNCHANGED = (
    "random.getstate()",
    "np.random.get_state()",
    "rng.bit_generator.state",
    "(count, values, shared[0], int(table[0]), log.tell(), open('log.txt').read())",
    "(sorted(os.listdir('/proc/self/fd')), os.getcwd(), os.environ.get('CRANE_REHEARSED'))",
    "sorted(__import__('sys').modules), __import__('sys').path, __import__('gc').isenabled()",
    "sorted(globals()), get_ipython().execution_count, list(In), dict(Out), get_ipython().showtraceback.__name__",
    "[t.name for t in __import__('threading').enumerate()]",
)


def test_nothing_in_the_kernel_changes(
    captured: Callable[..., Captured],
) -> None:
    done = captured(STATE, CHANGES, probes=UNCHANGED)
    told = done.result.rehearsal
    assert told is not None
    assert (told.outcome, told.exception, told.line) == (
        RehearsalEnd.CRASH,
        "ZeroDivisionError",
        3,
    )
    for probe in done.result.probes:
        assert probe["before"] == probe["after"], probe["expression"]
        assert not isinstance(probe["before"], dict), probe


POOLS = {
    "sklearn": (
        "import numpy as np\nfrom sklearn.ensemble import HistGradientBoostingClassifier as Model\n"
        "x = np.random.default_rng(0).normal(size=(500, 4)); y = x[:, 0] > 0\nmodel = Model(max_iter=3).fit(x, y)",
        "model.fit(x, y)",
        "Model(max_iter=3).fit(x, y[:-1])",
    ),
    "torch": (
        "import torch\ntorch.set_num_threads(2)\na = torch.ones(600, 600); b = a @ a",
        "(a @ a).exp().sum()",
        "a @ torch.ones(3, 3)",
    ),
    "lightgbm": (
        "import lightgbm, numpy as np\nx = np.random.default_rng(0).normal(size=(500, 4)); y = x[:, 0]\n"
        "model = lightgbm.LGBMRegressor(n_estimators=2, verbose=-1).fit(x, y)",
        "model.fit(x, y)",
        "model.fit(x, y[:-1])",
    ),
}


THREADS = """import threading
go = threading.Event(); calls = []
def serve():
    while go.wait(): go.clear(); calls.append(threading.active_count()); done.set()
done = threading.Event()
threading.Thread(target=serve, daemon=True).start()"""


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        pytest.param(
            "go.set(); done.wait(); calls[7]", RehearsalEnd.CRASH, id="crash"
        ),
        pytest.param(
            "go.set(); done.wait(); calls[0]",
            RehearsalEnd.RAN_THROUGH,
            id="ran through",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_lacks_threads_is_rehearsed_in_a_second_kernel_and_the_first_stays_as_it_was(
    code: str, outcome: RehearsalEnd, captured: Callable[..., Captured]
) -> None:
    done = captured(
        THREADS,
        "n = 3",
        code,
        probes=(
            "(calls, go.is_set(), done.is_set(), threading.active_count())",
        ),
    )
    told = done.result.rehearsal
    assert told is not None
    assert (told.outcome, told.ran_again, told.exception) == (
        outcome,
        True,
        "IndexError" if outcome is RehearsalEnd.CRASH else None,
    )
    assert told.head.startswith(
        "Rehearsal, executed in a second kernel after the same cells: "
    )
    [probe] = done.result.probes
    assert probe["before"] == probe["after"]


OTHERWISE = {
    "another value": (
        "import random\nn = random.random()",
        "calls[n]",
        "led to another state: n",
    ),
    "a cell that raises now": (
        "from pathlib import Path\nPath('once.txt').touch(exist_ok=False)",
        "calls[7]",
        "code cell 1, run again in a second kernel, raised FileExistsError, not nothing",
    ),
    "the network": (
        "import socket\ntry: socket.create_connection(('127.0.0.1', 9))\nexcept OSError: pass",
        "calls[7]",
        "run again in a copy: the cell uses the network",
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        "another value",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in OTHERWISE
            if name != "another value"
        ),
    ],
)
def test_cells_that_come_to_something_else_the_second_time_tell_nothing(
    name: str, rehearse: Rehearse
) -> None:
    cell, code, why = OTHERWISE[name]
    told = rehearse(THREADS, cell, code)
    assert (told.outcome, told.ran_again) == (RehearsalEnd.UNKNOWN, True)
    assert why in (told.why or "")


@pytest.mark.parametrize(
    "library", [pytest.param("tensorflow", marks=needs("tensorflow"))]
)
def test_a_library_with_its_own_threads_is_rehearsed_in_a_second_kernel(
    library: str, rehearse: Rehearse
) -> None:
    before = (
        f"import numpy as np\nfrom {library} import keras\nkeras.utils.set_random_seed(1)\n"
        "x = np.zeros((8, 3), 'float32')\n"
        "model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])\n"
        "model.compile(loss='mse')\nmodel.fit(x, x[:, 0], verbose=0)"
    )
    through = rehearse(
        before, "model.fit(x, x[:, 0], verbose=0)", seconds=AMPLE_AGAIN_S
    )
    crash = rehearse(
        before, "model.fit(x[:, :2], x[:, 0], verbose=0)", seconds=AMPLE_AGAIN_S
    )
    assert (through.outcome, crash.outcome) == (
        RehearsalEnd.RAN_THROUGH,
        RehearsalEnd.CRASH,
    )
    assert crash.exception == "InvalidArgumentError", (
        "as in a kernel: the compiled step refuses the shape"
    )


@pytest.mark.parametrize(
    "library",
    [
        pytest.param("sklearn", marks=pytest.mark.slow),
        pytest.param("torch", marks=needs("torch")),
        pytest.param("lightgbm", marks=needs("lightgbm")),
    ],
)
def test_pools_of_threads_end_in_the_truth_or_as_unknown(
    library: str, rehearse: Rehearse
) -> None:
    before, runs, raises = POOLS[library]
    assert rehearse(before, runs, seconds=AMPLE_S).outcome in (
        RehearsalEnd.RAN_THROUGH,
        RehearsalEnd.UNKNOWN,
    )
    assert rehearse(before, raises, seconds=AMPLE_S).outcome in (
        RehearsalEnd.CRASH,
        RehearsalEnd.UNKNOWN,
    )


@pytest.mark.parametrize(
    "told",
    [
        None,
        3,
        {},
        {"outcome": "fine"},
        {"outcome": "crash"},
        {"outcome": ["crash"]},
    ],
)
def test_an_answer_of_another_form_is_unknown(told: object) -> None:
    assert rehearsal_of(told).outcome is RehearsalEnd.UNKNOWN


def test_words_of_a_kernel_are_bounded_and_can_be_written() -> None:
    told = rehearsal_of(
        {
            "outcome": "crash",
            "exception": "E",
            "message": "\ud800" + "x" * 9_000,
            "line": -1,
            "seconds": "x",
        }
    )
    assert len(told.message or "") < 2_300
    assert (told.message or "").encode()
    assert (told.line, told.seconds) == (None, 0.0)


@pytest.mark.slow
@pytest.mark.skipif(
    not can_seal(), reason="bubblewrap cannot seal a kernel off here"
)
def test_a_sealed_kernel_rehearses_too(
    captured: Callable[..., Captured], tmp_path: Path
) -> None:
    done = captured(
        "a = 1",
        "open('new.txt', 'w').close()\na[0]",
        limits=KernelLimits(isolation=Isolation.SEALED),
    )
    told = done.result.rehearsal
    assert told is not None
    assert told.outcome is (
        RehearsalEnd.CRASH if told.writes == "dropped" else RehearsalEnd.UNKNOWN
    )
    assert not (tmp_path / "new.txt").exists()
