"""`%crane undo` in a real shell: what a crashed cell changed is as it was, what stays is named, nothing is left."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks._deep_state import described
from benchmarks._undo_cells import crashing_cells
from crane_core.live.magics import loaded
from crane_core.runtime.kernel_side.crane_probe.session.processes import (
    STANDBY_NAME,
)
from crane_core.runtime.kernel_side.crane_probe.undo.walk import ObjectWalk
from tests.live.shell import Shell
from tests.optional import needing

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="a copy of a kernel needs Linux"
)
CRASH = "\n__import__('json').loads('{')"
NOTHING = "There is nothing to undo"


class Notebook(Shell):
    """A shell with the guard on, and what its last cell printed."""

    def __init__(self) -> None:
        super().__init__()
        self.shell.run_line_magic("load_ext", "crane_core")
        magics = loaded(self.shell)
        assert magics is not None
        self.session = magics.session
        # The machine of the tests may be busy.
        self.session.copy_start_s = 60.0

    def begin(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A new notebook, with the guard on."""
        super().begin(capsys)
        self.run("%crane guard on undo=1")

    def crash(self, cell: str) -> None:
        """Run a cell that changes something, then ends in an exception that the guard cannot know."""
        self.run(cell + CRASH)
        assert not self.result.success


@pytest.fixture(scope="module")
def lasting() -> Iterator[Notebook]:
    made = Notebook()
    yield made
    made.shell.run_line_magic("unload_ext", "crane_core")
    made.shell.history_manager.end_session()


@pytest.fixture
def notebook(
    lasting: Notebook, capsys: pytest.CaptureFixture[str]
) -> Iterator[Notebook]:
    lasting.begin(capsys)
    yield lasting
    lasting.shell.run_line_magic("crane", "guard off")


def copies() -> list[str]:
    """The copies of this process that wait."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name = (entry / "comm").read_text().strip()
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if name == STANDBY_NAME and int(parent) == os.getpid():
            found.append(entry.name)
    return found


def test_a_crashed_cell_is_undone_in_place(notebook: Notebook) -> None:
    notebook.run(
        "totals = [1]\nsame = totals\nbook = {'totals': totals}\nclass C: pass\nc = C()\nc.of = totals"
    )
    totals, book = notebook.names["totals"], notebook.names["book"]
    notebook.crash(
        "totals.append(2)\ndel same\nbook['new'] = 1\nc.of = None\nfresh = 3\nclass C: x = 1"
    )
    told = notebook.run("%crane undo").splitlines()
    assert told[0] == "The kernel is as it was before the last cell."
    assert totals == [1]
    assert book == {"totals": totals}
    names = notebook.names
    assert names["totals"] is names["same"] is names["c"].of is totals
    assert type(names["c"]) is names["C"]
    assert "fresh" not in names
    assert any(line.split() == ["removed", "fresh"] for line in told)


def test_there_is_one_undo_per_cell(notebook: Notebook) -> None:
    notebook.run("x = [1]")
    assert NOTHING in notebook.run("%crane undo")
    notebook.crash("x.append(2)")
    notebook.run("%crane undo")
    assert NOTHING in notebook.run("%crane undo")
    assert notebook.names["x"] == [1]


def test_a_success_drops_the_copy_and_a_look_keeps_it(
    notebook: Notebook,
) -> None:
    notebook.run("x = [1]")
    assert copies() == []
    notebook.crash("x.append(2)")
    assert len(copies()) == 1
    notebook.run("print(x)\nx")
    assert len(copies()) == 1
    # A look at the kernel does not take the copy for a program of the notebook.
    assert "unsure" not in notebook.run("%%crane\nx[0]")
    notebook.run("x.append(3)")
    assert copies() == []
    assert NOTHING in notebook.run("%crane undo")
    assert notebook.names["x"] == [1, 2, 3]


def test_an_interrupt_counts_as_a_crash(notebook: Notebook) -> None:
    notebook.run("rounds = []")
    notebook.run(
        "for n in range(9):\n    rounds.append(n)\n    if n == 4:\n        raise KeyboardInterrupt"
    )
    notebook.run("%crane undo")
    assert notebook.names["rounds"] == []
    assert "n" not in notebook.names


def test_a_magic_that_shows_the_exception_itself_counts_too(
    notebook: Notebook,
) -> None:
    notebook.run("x = [1]")
    notebook.run(f"%%time\nx.append(2){CRASH}")
    notebook.run("%crane undo")
    assert notebook.names["x"] == [1]


def test_a_cell_that_is_run_anyway_can_be_undone(notebook: Notebook) -> None:
    notebook.run("x = [1]")
    notebook.run("# crane: run\nx.append(2)\nx['a']")
    notebook.run("%crane undo")
    assert notebook.names["x"] == [1]


def test_several_cells_are_undone_where_copies_are_kept(
    notebook: Notebook,
) -> None:
    notebook.run("%crane guard undo=3")
    notebook.run("x = [0]")
    for n in (1, 2, 3):
        notebook.run(f"x.append({n})")
    assert len(copies()) == 3
    assert "of 3 cells, not of 4" in notebook.run("%crane undo 4")
    told = notebook.run("%crane undo 2")
    assert "before the last 2 cells" in told
    assert notebook.names["x"] == [0, 1]
    assert len(copies()) == 1
    notebook.run("%crane undo")
    assert notebook.names["x"] == [0]


def test_no_copy_is_kept_where_none_is_wanted(notebook: Notebook) -> None:
    told = notebook.run("%crane guard undo=0")
    assert told.rstrip().endswith("No copy is kept for %crane undo.")
    notebook.run("x = [1]")
    notebook.crash("x.append(2)")
    assert copies() == []
    assert NOTHING in notebook.run("%crane undo")
    assert "undo=3x is unknown" in notebook.run("%crane guard undo=3x")


def test_the_guard_says_why_no_copy_was_kept(notebook: Notebook) -> None:
    notebook.run("import os\nx = 1\nos.wait if x else None")
    told = notebook.run("%crane guard")
    assert "the cell waits for processes, and the copy is one" in told


def test_no_copy_is_kept_where_memory_is_short(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook.run("x = [1]")
    # The kernel's side is loaded from its text, so its modules have no place in sys.modules.
    kept = notebook.session._copies
    hindered = type(kept).begin.__globals__["hindered"]
    monkeypatch.setitem(
        hindered.__globals__, "_free_of_machine", lambda: 100 * 2**20
    )
    notebook.crash("x.append(2)")
    assert copies() == []
    told = notebook.run("%crane undo")
    assert NOTHING in told
    assert "memory is short: 100 MB free, 500 MB wanted" in told


def test_what_was_not_compared_is_not_told_as_unchanged(
    notebook: Notebook,
) -> None:
    notebook.run("numbers = (n for n in range(9))")
    notebook.crash("next(numbers)")
    told = notebook.run("%crane undo")
    assert "numbers (generator: it went on)" in told
    assert "had changed" not in told


def test_nothing_is_left_when_the_guard_goes(notebook: Notebook) -> None:
    notebook.run("x = [1]")
    notebook.crash("x.append(2)")
    assert len(copies()) == 1
    notebook.run("%crane guard off")
    assert copies() == []
    assert not [name for name in notebook.names if "crane" in name]


def test_the_state_of_the_session_comes_back(
    notebook: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    notebook.run(
        "import random, os, sys, warnings, logging, decimal\nimport numpy as np\nimport pandas as pd\nimport builtins"
    )
    state, folder = random.getstate(), os.getcwd()  # noqa: PTH109 - as the notebook sees it
    n_path = len(sys.path)
    notebook.crash(
        "random.random(); np.random.rand(); os.chdir('/'); os.environ['CRANE_T'] = '1'; sys.path.append('there')\n"
        "warnings.simplefilter('error'); logging.getLogger().setLevel(1); decimal.getcontext().prec = 3\n"
        "pd.set_option('display.max_rows', 7); np.set_printoptions(precision=1); np.seterr(all='raise')\n"
        "builtins.sum = max; pd.read_csv = None; import signal, gc, io\n"
        "signal.signal(signal.SIGUSR1, lambda *_: None); gc.disable(); sys.stderr = io.StringIO()"
    )
    told = notebook.run("%crane undo")
    assert random.getstate() == state
    assert os.getcwd() == folder  # noqa: PTH109 - as above
    assert "CRANE_T" not in os.environ
    assert len(sys.path) == n_path
    assert sum([2, 1]) == 3
    assert callable(notebook.names["pd"].read_csv)
    for part in (
        "random numbers of NumPy",
        "options of pandas",
        "options of NumPy",
        "filters of warnings",
        "logging",
        "context of decimal",
        "builtins.sum",
        "signal handlers",
        "garbage collection",
        "sys.stdout and sys.stderr",
        "pandas.read_csv",
    ):
        assert part in told


def test_what_stays_is_named(
    notebook: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.txt").write_text("old")
    notebook.run(
        "import threading, os, subprocess\ngo = threading.Event()\nnumbers = (n for n in range(9))"
    )
    notebook.crash(
        "next(numbers)\nopen('new.txt', 'w').write('new')\nos.remove('old.txt')\n"
        "program = subprocess.Popen(['sleep', '60'])\n"
        "worker = threading.Thread(target=go.wait, name='digger', daemon=True); worker.start()\n"
        "go2 = go\nprocess = program.pid"
    )
    event, program = notebook.names["go"], notebook.names["program"]
    try:
        told = notebook.run("%crane undo")
    finally:
        event.set()
        program.kill()
        program.wait()
    for part in (
        "numbers (generator: it went on)",
        "new.txt (a file that was written; it stays)",
        "old.txt (a file that was removed or renamed)",
        "sleep 60 (a program that was started; it goes on)",
        "digger (a thread that was started; it goes on)",
        "Not looked at: other programs, the network, files outside the working folder",
    ):
        assert part in told
    assert threading.main_thread().is_alive()


def test_what_cannot_be_made_again_is_named_and_the_rest_comes_back(
    notebook: Notebook,
) -> None:
    notebook.run(
        "import threading\nkept = [1]\nlock = threading.Lock()\nholder = {'lock': threading.Lock(), 'kept': kept}"
    )
    notebook.crash("kept.append(2)\ndel lock\nholder['lock'] = None")
    told = notebook.run("%crane undo")
    assert "except" in told.splitlines()[0]
    assert "_thread.lock" in told
    assert notebook.names["kept"] == [1]
    assert notebook.names["holder"]["kept"] is notebook.names["kept"]
    assert "lock" not in notebook.names


def test_a_reader_goes_on_where_it_was(
    notebook: Notebook, tmp_path: Path
) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("one\ntwo\nthree\n")
    notebook.run(f"file = open({str(path)!r})\nfirst = file.readline()")
    notebook.crash("file.readline()")
    notebook.run("%crane undo")
    assert notebook.names["file"].readline() == "two\n"
    notebook.run("file.close()")


def test_code_of_the_notebook_is_not_called_to_compare(
    notebook: Notebook,
) -> None:
    notebook.run(
        "calls = []\n"
        "class Loud(dict):\n"
        "    def _(self, *a): calls.append(1); raise SystemError\n"
        "    __reduce__ = __reduce_ex__ = __getstate__ = __eq__ = __iter__ = __len__ = __getattribute__ = keys = _\n"
        "    __setitem__ = __delitem__ = update = clear = _\n"
        "loud = Loud(a=1)\nother = [1]"
    )
    notebook.crash("other.append(2)\ndict.__setitem__(loud, 'b', 2)")
    told = notebook.run("%crane undo")
    assert (
        told.splitlines()[0] == "The kernel is as it was before the last cell."
    )
    assert dict.__repr__(notebook.names["loud"]) == "{'a': 1}"
    assert notebook.names["other"] == [1]
    assert notebook.names["calls"] == []


def test_tables_that_share_memory_still_copy_before_a_write(
    notebook: Notebook,
) -> None:
    notebook.run(
        "import pandas as pd\nbeds = pd.DataFrame({'free': [3, 1]})\npart = beds[:]\nfree = beds['free']"
    )
    notebook.crash("del part\nbeds['more'] = 1\nfree.iloc[0] = 9")
    notebook.run("%crane undo")
    names = notebook.names
    names["beds"].loc[0, "free"] = -1
    assert names["part"]["free"].tolist() == [3, 1]
    assert names["free"].tolist() == [3, 1]
    assert list(names["beds"].columns) == ["free"]


def test_a_view_is_made_again_with_an_array_that_cannot_be_changed_back(
    notebook: Notebook,
) -> None:
    notebook.run(
        "import numpy as np\nbase = np.arange(6.0)\nwindow = base[2:4]\nkept = [window]"
    )
    notebook.crash("base.shape = (2, 3)\nwindow *= 10")
    notebook.run("%crane undo")
    names = notebook.names
    assert names["base"].tolist() == [0, 1, 2, 3, 4, 5]
    assert names["kept"] == [names["window"]]
    names["window"][0] = -1
    assert names["base"].tolist() == [0, 1, -1, 3, 4, 5]


def test_a_view_of_another_array_is_another_one() -> None:
    """An array that a fit makes may lie where the one before it lay, and show another one's memory."""
    first, other = np.arange(4.0), np.arange(4.0)
    walk = ObjectWalk({"one": first[1:3], "two": other[1:3]}, 60.0)
    walk.go(())
    one, two = (walk.records[id(walk.names[name])] for name in ("one", "two"))
    assert one.form != two.form


@needing("torch")
def test_a_view_of_a_tensor_is_made_again_with_it(notebook: Notebook) -> None:
    notebook.run(
        "import torch\nbase = torch.arange(6.0)\nwindow = base[2:4]\nkept = [window]"
    )
    notebook.crash("base.resize_(2, 3)\nwindow *= 10")
    notebook.run("%crane undo")
    names = notebook.names
    assert names["base"].tolist() == [0, 1, 2, 3, 4, 5]
    assert names["kept"][0] is names["window"]
    names["window"][0] = -1
    assert names["base"].tolist() == [0, 1, -1, 3, 4, 5]


@needing("torch")
def test_two_of_five_epochs_are_untrained(notebook: Notebook) -> None:
    notebook.run(
        "import torch\nnet = torch.nn.Linear(2, 1)\nopt = torch.optim.Adam(net.parameters())\nx = torch.ones(4, 2)\n"
        "def epoch():\n    opt.zero_grad(); loss = net(x).sum(); loss.backward(); opt.step()\nepoch()"
    )
    before = described(notebook.names)
    notebook.crash("for n in range(2):\n    epoch()")
    assert described(notebook.names)["net"] != before["net"]
    notebook.run("%crane undo")
    assert described(notebook.names) == before


def test_generated_cells_leave_no_difference(notebook: Notebook) -> None:
    assert _differences(notebook, 2, 11, frozenset()) == []


@pytest.mark.slow
def test_generated_cells_with_libraries_leave_no_difference(
    notebook: Notebook,
) -> None:
    known = frozenset({"numpy", "pandas", "sklearn"})
    assert _differences(notebook, 12, 13, known) == []


def _differences(
    notebook: Notebook, n_cells: int, seed: int, known: frozenset[str]
) -> list[str]:
    found = []
    for made in crashing_cells(n_cells, seed, known):
        notebook.run("%reset -f")
        notebook.run(made.setup)
        assert notebook.result.success
        before = described(notebook.names)
        notebook.run(f"{made.cell}\n# crane: run")
        assert not notebook.result.success
        report = notebook.session.undo(1)
        after = described(notebook.names)
        assert report.is_whole
        found += [
            f"{name} after\n{made.cell}"
            for name in before.keys() | after.keys()
            if before.get(name) != after.get(name)
        ]
    return found
