"""One live kernel, looked at in its own process: what was seen goes to the process beside it.

Knows how the probe is brought in and taken out again. Changes nothing of the notebook: no name, no module, no value.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import marshal
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from threading import Lock, Thread
from types import CodeType
from typing import Any, NamedTuple

from crane_core.errors import CraneError
from crane_core.live.helper import Helper
from crane_core.live.verdict import LiveVerdict, Rehearsed
from crane_core.runtime.kernel_side import kernel_requests
from crane_core.runtime.live_history import Ran, ran_before, request

OWN_MAGIC = importlib.util.MAGIC_NUMBER.hex()
NOTEBOOK_VARIABLE = "JPY_SESSION_NAME"
"""Where Jupyter Server says which file a kernel belongs to."""


class Seen(NamedTuple):
    """What the side process is told: the cells that ran, the target, and the probe's state."""

    ran: list[Ran]
    target: str
    state: dict[str, Any]

    def order(self, do: str, **more: object) -> dict[str, Any]:
        ran = [cell._asdict() for cell in self.ran]
        return {
            "do": do,
            "ran": ran,
            "target": self.target,
            "state": self.state,
            **more,
        }


class Parts(Mapping[str, Any]):
    """The probe's modules by name, each fetched when it is first needed: most notebooks need half of them."""

    def __init__(self, helper: Helper, *, may_start: bool = True) -> None:
        self._helper = helper
        told = self._asked({}, may_start=may_start)
        self._names: dict[str, None] = dict.fromkeys(told["names"])
        self._needed: list[str] = told["needed"]
        self.libraries: list[str] = told["libraries"]
        """Libraries that may be asked, by the names of their modules."""
        self._ready: dict[str, CodeType] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return (
            {"loaded": self._ready.pop(name)}
            if name in self._ready
            else self._asked({"module": name})
        )

    def __contains__(self, name: object) -> bool:
        return name in self._names  # a Mapping's own would fetch the module

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def prepare(self) -> None:
        """Fetch what every look needs, one after the other: together they would leave a megabyte in the kernel."""
        for name in self._needed:
            told = base64.b64decode(
                self._asked({"module": name}, may_start=False)["code"]
            )
            self._ready[name] = marshal.loads(told)  # noqa: S302 - our own code, from our own process

    def _asked(
        self, what: dict[str, str], *, may_start: bool = True
    ) -> dict[str, Any]:
        return self._helper.ask(
            {"do": "probe", "magic": OWN_MAGIC, **what}, may_start=may_start
        )


class Session:
    """A shell of IPython, and the process beside it."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self.helper = Helper()
        self._parts: Parts | None = None
        self._parts_lock = Lock()
        self._probe: dict[str, Any] = {}
        self._told: list[str] = []
        """The libraries that the process beside the kernel was told to load."""

    def prepare(self) -> None:
        """Start the process beside the kernel, and fetch what the first look needs while nobody waits for it."""
        self.helper.start()
        Thread(target=self._fetch, daemon=True).start()

    def _fetch(self) -> None:
        with suppress(
            CraneError
        ):  # it was ended, or the first question asks again and tells why
            self._brought(may_start=False).prepare()
            self.tell_imported()

    def tell_imported(self, _result: object = None) -> None:
        """Have the libraries loaded that are new in the kernel, so that they can be asked soon.

        IPython's event post_run_cell.
        """
        imported = self._imported()
        if imported != self._told:
            self._told = imported
            self.helper.tell({"do": "load", "imported": imported})

    def _imported(self) -> list[str]:
        """The libraries that the kernel has imported, of those that may be asked."""
        return (
            [each for each in self._parts.libraries if each in sys.modules]
            if self._parts is not None
            else []
        )

    def look(self, target: str) -> Seen:
        """What the target would meet now. `target` is the source of a cell. Raises HelperError."""
        ran = ran_before(
            self._shell.history_manager.input_hist_raw,
            self._shell.execution_count,
        )
        told = kernel_requests.inspect_state(
            self._shell.user_ns,
            self._brought(),
            request(ran, target),
            self._probe,
        )
        state = json.loads(told)["state"]
        return Seen(ran, target, state)

    def _brought(self, *, may_start: bool = True) -> Parts:
        with self._parts_lock:
            if self._parts is None:
                self._parts = Parts(self.helper, may_start=may_start)
            return self._parts

    def verdict(
        self,
        target: str,
        *,
        is_hurried: bool = False,
        on_progress: Callable[[str], None] = lambda _library: None,
    ) -> LiveVerdict:
        """What the rules say of a cell that has not run. Raises CraneError.

        is_hurried: libraries that do not answer at once are not waited for. Else they are for some seconds, and
        `on_progress` is told which.
        """
        started = time.perf_counter()
        seen = self.look(target)
        order = seen.order(
            "judge",
            imported=self._imported(),
            is_hurried=is_hurried,
            path=self._file,
        )
        answer = self.helper.ask(order, on_progress=on_progress)
        seconds = time.perf_counter() - started
        return LiveVerdict(
            tuple(answer["findings"]), seconds, tuple(answer["unsure"])
        )

    def rehearsal(self, target: str, seconds: float) -> Rehearsed:
        """What a cell comes to in a copy of this kernel. Raises HelperError."""
        from crane_core.runtime.rehearsal import (
            rehearsal_of,
        )  # kernels that never rehearse load nothing for it
        from crane_core.runtime.rehearsal import request as asked

        told = kernel_requests.rehearsed(
            self._brought(), asked(target, seconds), self._probe, self._shell
        )
        found = rehearsal_of(json.loads(told))
        return Rehearsed(
            found.head, tuple(found.facts), crashed=found.exception is not None
        )

    @property
    def _file(self) -> str | None:
        """The notebook's saved file, where the front end or the server says which it is."""
        path = self._shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get(
            NOTEBOOK_VARIABLE
        )
        return path if type(path) is str and path else None

    def cell_of_file(self, number: int) -> str:
        """The source of code cell `number` (from 0) of the notebook's saved file. Raises CraneError."""
        path = self._file
        if path is None:
            raise CraneError(
                "This front end does not say which file is open.",
                remedy="Put %%crane above the cell instead.",
            )
        source: str = self.helper.ask(
            {"do": "cell", "path": path, "target": number}
        )["source"]
        return source
