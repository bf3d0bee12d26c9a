"""Code of the notebook that runs without being called by name: nothing is said of what it may change."""

from __future__ import annotations

import pytest

from tests.detectors.rules.conftest import Predict

CLASS = "class Bed:\n    pass\n"
SEEN = "seen = []\n"
RUNS = {
    "a logging handler fills a list": (
        f"import logging\n{SEEN}class Kept(logging.Handler):\n    def emit(self, record): seen.append(record)\n"
        "log = logging.getLogger('unseen.one')\nlog.addHandler(Kept())",
        "log.warning('dry')\nseen[0]",
    ),
    "a logging handler binds a name": (
        "import logging\nclass Kept(logging.Handler):\n"
        "    def emit(self, record):\n        global last\n        last = 1\n"
        "log = logging.getLogger('unseen.two')\nlog.addHandler(Kept())",
        "log.warning('dry')\nlast",
    ),
    "a handler keeps its own records": (
        "import logging\nclass Kept(logging.Handler):\n    def __init__(self):\n        super().__init__()\n"
        "        self.rows = []\n    def emit(self, record): self.rows.append(record)\n"
        "kept = Kept()\nlog = logging.getLogger('unseen.three')\nlog.addHandler(kept)",
        "log.warning('dry')\nkept.rows[0]",
    ),
    "a filter is a function": (
        f"import logging\n{SEEN}def keep(record):\n    seen.append(1)\n    return True\n"
        "log = logging.getLogger('unseen.four')\nlog.addFilter(keep)",
        "log.warning('dry')\nseen[0]",
    ),
    "a descriptor is set": (
        "given = {}\nclass Depth:\n    def __set__(self, bed, value): given['depth'] = value\n"
        "class Bed:\n    depth = Depth()\nbed = Bed()",
        "bed.depth = 3\ngiven['depth']",
    ),
    "an object is deleted": (
        f"{SEEN}class Bed:\n    def __del__(self): seen.append(1)\nbed = Bed()",
        "del bed\nseen[0]",
    ),
    "a name is given to another": (
        f"{SEEN}class Bed:\n    def __del__(self): seen.append(1)\nbed = Bed()",
        "bed = None\nseen[0]",
    ),
    "a weak reference": (
        f"import weakref\ngone = {{}}\n{CLASS}bed = Bed()\nref = weakref.ref(bed, lambda _: gone.update(bed=1))",
        "del bed\ngone['bed']",
    ),
    "a finalizer is a method of a dict": (
        f"import weakref\ngone = {{}}\n{CLASS}bed = Bed()\n_ = weakref.finalize(bed, gone.update, bed=1)",
        "del bed\ngone['bed']",
    ),
    "a signal": (
        f"import os, signal\n{SEEN}_ = signal.signal(signal.SIGUSR2, lambda *_: seen.append(1))",
        "signal.raise_signal(signal.SIGUSR2)\nseen[0]",
    ),
    "a thread of the target binds a name": (
        "import threading",
        "def water():\n    global wet\n    wet = {'north': 1}\n"
        "thread = threading.Thread(target=water)\nthread.start()\n"
        "wet = {}\nthread.join()\nwater()\nwet['north']",
    ),
    "a thread gets what it fills": (
        "import threading\nwet = {}\ndef water(beds): beds['north'] = 1\n"
        "thread = threading.Thread(target=water, args=(wet,))",
        "thread.start()\nthread.join()\nwet['north']",
    ),
    "work that was planned": (
        "import sched, time\nwet = {}\nplan = sched.scheduler(time.time, time.sleep)\n"
        "_ = plan.enter(0, 1, lambda: wet.update(north=1))",
        "plan.run()\nwet['north']",
    ),
    "a future's callback": (
        "from concurrent.futures import Future\nwet = {}\nfuture = Future()\n"
        "future.add_done_callback(lambda _: wet.update(north=1))",
        "future.set_result(1)\nwet['north']",
    ),
    "a wrapped function": (
        "import functools\ncalls = {}\n@functools.lru_cache\ndef slow(n): calls[n] = 1",
        "slow(3)\ncalls[3]",
    ),
    "a method was given another name": (
        "rows = []\nadd = rows.append",
        "add(1)\nrows[0]",
    ),
    "a factory of a dict": (
        f"import collections\n{SEEN}def made():\n    seen.append(1)\n    return 0\n"
        "beds = collections.defaultdict(made)",
        "beds['north']\nseen[0]",
    ),
    "a comparison while sorting": (
        f"{SEEN}class Bed:\n    def __lt__(self, other):\n        seen.append(1)\n        return True\n"
        "beds = [Bed(), Bed()]",
        "beds.sort()\nseen[0]",
    ),
    "an error handler of codecs": (
        f"import codecs\n{SEEN}def kept(error):\n    seen.append(1)\n    return ('?', error.end)\n"
        "codecs.register_error('unseen', kept)",
        "'\\xe9'.encode('ascii', 'unseen')\nseen[0]",
    ),
    "names by a frame": (
        "import sys",
        "sys._getframe().f_globals['fresh'] = 1\nfresh + 1",
    ),
    "names by a function": (
        "def water(): pass",
        "water.__globals__['fresh'] = 1\nfresh + 1",
    ),
    "names by another name of globals": (
        "names = globals()",
        "names['fresh'] = 1\nfresh + 1",
    ),
    "names by another name of exec": (
        "run = exec",
        "run('fresh = 1', globals())\nfresh + 1",
    ),
    "pickled code": (
        "import pickle\nclass Bed:\n    def __setstate__(self, state): seen.append(1)\n"
        f"{SEEN}bed = Bed()\nbed.depth = 1\npickle.Pickler\nimport copy",
        "copy.copy(bed)\nseen[0]",
    ),
}
CRASHES = {
    "printing before": ("beds = {'north': 1}", "print('x')\nbeds['south']", "KeyError"),
    "logging without own handlers": (
        "import logging\nbeds = {'north': 1}",
        "logging.warning('x')\nbeds['south']",
        "KeyError",
    ),
    "a function that binds another name": (
        "n = 0\nbeds = [1]\ndef count():\n    global n\n    n += 1",
        "count()\nbeds[4]",
        "IndexError",
    ),
    "a key of sorting": (
        "beds = [3, 1]",
        "sorted(beds, key=lambda bed: -bed)\nbeds[4]",
        "IndexError",
    ),
    "a class with its own text": (
        "class Bed:\n    def __repr__(self): return 'bed'\nbed = Bed()\nbeds = [1]",
        "print(bed)\nbeds[4]",
        "IndexError",
    ),
    "a callback that reads": (
        "import logging\nlimit = 3\nbeds = [1]\nclass Kept(logging.Handler):\n"
        "    def emit(self, record): return limit\nlogging.getLogger('unseen.five').addHandler(Kept())",
        "beds[limit]",
        "IndexError",
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_code_out_of_sight_changes_is_not_known(
    predict_here: Predict, name: str
) -> None:
    setup, target = RUNS[name]
    seen = predict_here(setup, target)
    assert (seen.findings, seen.raised, seen.errors) == ((), None, ())


@pytest.mark.parametrize("name", CRASHES)
def test_what_no_such_code_changes_is_known(predict_here: Predict, name: str) -> None:
    setup, target, exception = CRASHES[name]
    seen = predict_here(setup, target)
    assert (seen.exception, seen.raised) == (exception, exception)


@pytest.mark.parametrize(
    ("setup", "target", "sentence"),
    [
        (
            "import threading, time\nout = {}\ndef work():\n    time.sleep(5)\n    out['k'] = 1\n"
            "thread = threading.Thread(target=work, name='filler')\nthread.start()",
            "thread.join()\nout['k']",
            "a thread of the notebook is running (filler)",
        ),
        (
            "import asyncio\nout = {}\nasync def fetch():\n    await asyncio.sleep(5)\n    out['a'] = 1\n"
            "task = asyncio.create_task(fetch())",
            "await task\nout['a']",
            "a task of the event loop is pending (task fetch)",
        ),
    ],
)
def test_work_beside_the_target_in_a_captured_kernel(
    predict_in_kernel: Predict, setup: str, target: str, sentence: str
) -> None:
    seen = predict_in_kernel(setup, target)
    assert seen.findings == ()
    assert seen.unsure == (sentence,)
