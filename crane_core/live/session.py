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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from threading import Lock, Thread
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from crane_core.errors import CraneError
from crane_core.live.helper import Helper
from crane_core.live.undo import UndoReport, report_of
from crane_core.live.verdict import OFFER, LiveVerdict, Rehearsed, scope_words
from crane_core.runtime.kernel_side import kernel_requests
from crane_core.runtime.live_history import Ran, ran_before, request

if TYPE_CHECKING:
    from crane_core.live.fixes import LiveFixes
    from crane_core.repair.fix import Fix
    from crane_core.runtime.rehearsal import Rehearsal

MODEL_PATIENCE_S = 300.0
"""For replies of a model; the rules answer in a moment."""
OWN_MAGIC = importlib.util.MAGIC_NUMBER.hex()
COPY_START_S = 1.0
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
        self._copies: Any = None
        self.copy_start_s = COPY_START_S
        """A cell waits no longer for a copy that could undo it."""
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
            tuple(answer["findings"]),
            seconds,
            tuple(answer["unsure"]),
            scope=scope_words(
                answer["asked"], is_limited=bool(answer["unsure"])
            ),
            # Only Linux lets a copy of a process be kept apart.
            offer=OFFER if sys.platform == "linux" else "",
        )

    def rehearsal(
        self, target: str, seconds: float, *, start_s: float | None = None
    ) -> Rehearsed:
        """What a cell comes to in a copy of this kernel; unknown if the copy takes more than `start_s` to begin.

        Raises HelperError.
        """
        found = self._rehearsed(target, seconds, start_s=start_s)
        return Rehearsed(found.head, tuple(found.facts), found.exception)

    def _rehearsed(
        self,
        target: str,
        seconds: float,
        names: Sequence[str] = (),
        *,
        start_s: float | None = None,
    ) -> Rehearsal:
        # Kernels that never rehearse load nothing for it.
        from crane_core.runtime.rehearsal import rehearsal_of
        from crane_core.runtime.rehearsal import request as asked

        wanted = asked(target, seconds, names)
        if start_s is not None:
            wanted["start_s"] = start_s
        told = kernel_requests.rehearsed(
            self._brought(), wanted, self._probe, self._shell
        )
        return rehearsal_of(json.loads(told))

    def fixes(self, target: str, seconds: float, **model: object) -> LiveFixes:
        """Fixes of a cell that ran through in a copy of this kernel. `model` names one that may be sent the cell.

        Raises CraneError.
        """
        from crane_core.live.fixes import LiveFixes, fixes_of
        from crane_core.repair.fix import Proposals
        from crane_core.repair.search import repaired

        seen = self.look(target)

        def proposed(by: str, source: str, last: Rehearsal) -> Proposals:
            order = seen.order(
                "fix",
                source=source,
                crash=last.to_json(),
                path=self._file,
                by=by,
                **model,
            )
            return fixes_of(self.helper.ask(order, MODEL_PATIENCE_S))

        def by_model(source: str, last: Rehearsal) -> Proposals:
            # What a model proposes is for the cell as it is.
            if source != target:
                return Proposals(())
            return proposed("model", source, last)

        def attempt(fix: Fix) -> Rehearsal:
            return self._rehearsed(fix.code, seconds, fix.names)

        crash = self._rehearsed(target, seconds)
        by_rules = partial(proposed, "rules")
        found = repaired(target, crash, by_rules, attempt)
        if model and not found.shown and not found.why_none:
            found = found.with_more(repaired(target, crash, by_model, attempt))
        return LiveFixes(target, found)

    def keep_copy(self, cell: str, n_most: int) -> None:
        """Keep a copy of this kernel for an undo of the cell, which is about to run. Raises HelperError."""
        if self._copies is None:
            self._copies = kernel_requests.undo_copies(
                self._brought(), self._probe, self._shell
            )
        self._copies.most = n_most
        self._copies.start_s = self.copy_start_s
        self._copies.begin(cell)

    def copies_ended(self, *, has_failed: bool) -> None:
        """The cell before which a copy was kept has ended, if there was one."""
        if self._copies is not None:
            self._copies.ended(has_failed=has_failed)

    def drop_copies(self) -> None:
        """End the copies that there are."""
        if self._copies is not None:
            self._copies.end()

    @property
    def why_no_copy(self) -> str:
        """Why there was no copy before the last cell; empty where there was one, or none was wanted."""
        return "" if self._copies is None else str(self._copies.why_none)

    def undo(self, n_cells: int) -> UndoReport:
        """Put this kernel back to before its last cells. Raises CraneError if nothing can be undone."""
        if self._copies is None:
            raise CraneError(
                "There is nothing to undo: no copy of the kernel was kept.",
                remedy="%crane guard on keeps one before each cell.",
            )
        told = self._copies.undo(n_cells)
        if "refused" in told:
            why = told["refused"]
            raise CraneError(
                f"{why[:1].upper()}{why[1:]}.",
                remedy="The kernel is as the cell left it.",
            )
        return report_of(told)

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
