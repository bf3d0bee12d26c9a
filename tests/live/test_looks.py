"""Looks do not wear off: the twentieth look at a kernel says what the first one said, by whatever door it comes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

from crane_core.live.answering import _judge
from crane_core.live.button import PROGRESS
from crane_core.pipeline.places import CHECKOUT
from crane_core.runtime.attached import Attached
from crane_core.runtime.running import RunningKernel
from tests.kernels import started
from tests.patience import PATIENCE_S

SETUP = """
import json, math, os
import pandas as pd
beds = {'north': 3}
frame = pd.DataFrame({'ward': ['north', 'south'], 'beds': [3, 4]})
text = 'north'
def double(number): return 2 * number
"""
CRASHES = {
    "names": ("bedz + 1", "NameError"),
    "attributes of an object": ("text.rows", "AttributeError"),
    "attributes of a module": ("math.tau_of", "AttributeError"),
    "names of a module": ("from math import tau_of", "ImportError"),
    "keys": ("beds['south']", "KeyError"),
    "columns": ("frame['nurses']", "KeyError"),
    "modules": ("import seaborn_of_nobody", "ModuleNotFoundError"),
    "parts of a module that is not loaded": (
        "import nobody.plots",
        "ModuleNotFoundError",
    ),
    "parts of a module that is loaded": (
        "import json.plots",
        "ModuleNotFoundError",
    ),
    "names of a missing module": (
        "from seaborn_of_nobody import plots",
        "ModuleNotFoundError",
    ),
    "files": ("os.listdir('beds')", "FileNotFoundError"),
    "files of a library": (
        "pd.read_csv('nowhere/beds.csv')",
        "FileNotFoundError",
    ),
    "arguments": ("double(1, 2)", "TypeError"),
}
RUNS = ("1 + 1", "import json.decoder", "import colorsys", "beds['north']")
BUTTON = "__import__('crane_core.live.button', fromlist=['answer']).answer({source!r})"
"""As labextension/static/remoteEntry.js asks."""


class LookedAtKernel:
    """A kernel with the set-up, and the three doors by which it is asked about a cell."""

    def __init__(self, folder: Path) -> None:
        environment = os.environ | {
            "PYTHONPATH": str(CHECKOUT),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        make = partial(
            KernelManager, connection_file=str(folder / "kernel-looks.json")
        )
        self.manager, self.client = started(
            make, cwd=str(folder), env=environment
        )
        self.run(SETUP)

    def run(self, code: str) -> list[str]:
        """What the cell shows, one after the other, as plain text."""
        shown: list[str] = []

        def keep(message: dict[str, Any]) -> None:
            content = message["content"]
            text = content.get("text") or content.get("data", {}).get(
                "text/plain"
            )
            shown.extend([text] if text else [])

        self.client.execute_interactive(
            code, timeout=PATIENCE_S, output_hook=keep
        )
        return shown

    def by_magic(self, target: str) -> str:
        return self.run(f"%%crane\n{target}")[
            -1
        ]  # before it, that a library is asked

    def by_button(self, target: str) -> str:
        asked = {"crane": BUTTON.format(source=target)}
        reply = self.client.execute(
            "",
            silent=True,
            store_history=False,
            user_expressions=asked,
            reply=True,
            timeout=PATIENCE_S,
        )
        told = reply["content"]["user_expressions"]["crane"]
        shown = told["data"]["application/json"]
        return "\n".join([shown["title"], *map(str, shown["rows"])])

    def by_attaching(self, target: str) -> str:
        kernel = RunningKernel(
            "looks", Path(self.manager.connection_file), None
        )
        with Attached(kernel) as looked:
            seen = looked.look(looked.ran(), target)
        ran = [cell._asdict() for cell in seen.ran]
        said = _judge({"ran": ran, "target": target, "state": seen.state})
        title = (
            f"Will crash: {said['findings'][0]['exception']}"
            if said["findings"]
            else "No certain crash"
        )
        return "\n".join([title, *said["unsure"]])

    def end(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


@pytest.fixture(scope="module")
def kernel(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[LookedAtKernel]:
    opened = LookedAtKernel(tmp_path_factory.mktemp("looks"))
    yield opened
    opened.end()


DOORS = [
    ("by_magic", 3),
    ("by_button", 3),
    ("by_attaching", 1),
    pytest.param("by_magic", 20, marks=pytest.mark.slow),
    pytest.param("by_button", 20, marks=pytest.mark.slow),
    pytest.param("by_attaching", 5, marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize(("door", "often"), DOORS)
def test_later_looks_say_what_the_first_one_said(
    kernel: LookedAtKernel, door: str, often: int
) -> None:
    if door == "by_magic":
        kernel.run("%load_ext crane_core")
    ask: Callable[[str], str] = getattr(kernel, door)
    expected = dict.fromkeys(RUNS, "No certain crash")
    expected |= {
        target: f"Will crash: {exception}"
        for target, exception in CRASHES.values()
    }
    for _ in range(often):
        said = {target: ask(target) for target in expected}
        assert {
            target: text
            for target, text in said.items()
            if _first_line(text) != expected[target]
        } == {}


@pytest.mark.slow
def test_a_front_end_that_asks_silently_is_sent_which_library_is_waited_for(
    kernel: LookedAtKernel,
) -> None:
    telling = "__import__('crane_core.live.button', fromlist=['x'])._tell_progress(get_ipython(), 'scikit-learn')"
    asked = kernel.client.execute(
        "",
        silent=True,
        store_history=False,
        user_expressions={"crane": telling},
    )
    kinds = {}
    while kinds.get("status") != {"execution_state": "idle"}:
        message = kernel.client.get_iopub_msg(timeout=PATIENCE_S)
        if message["parent_header"].get("msg_id") == asked:
            kinds[message["header"]["msg_type"]] = message["content"]
    assert kinds["display_data"]["data"] == {
        PROGRESS: {"asking": "scikit-learn"}
    }
    assert PROGRESS in (
        CHECKOUT / "labextension" / "static" / "remoteEntry.js"
    ).read_text("utf-8")
