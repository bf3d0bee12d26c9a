"""Plays cases in open kernels: each target is asked about, then really run, and both are compared.

A cell that is to run is run with the guard on, which must not stop it; one that is to crash, and every question, are
as without a guard. A kernel is kept from case to case as long as nothing is left behind in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from crane_core.live.guard import StoppedCell
from tests.live.corpus.cases import Case, Step
from tests.live.corpus.open_kernel import (
    SILENT,
    NoVerdictError,
    OpenKernel,
    Ran,
)

MOST_CASES = 60
"""After which a kernel is replaced all the same: no notebook is that long."""
STOPPED = StoppedCell.__name__
"""The exception by which the guard rejects a cell."""


@dataclass(frozen=True)
class Outcome:
    """One target: what was predicted, what it raised (None: it ran), and what its file says.

    `silently` is what the button was told just before, `stopped` what the guard said when it did not let the cell run.
    All must be true; recall counts `predicted` alone.
    """

    case: Case
    step: Step
    predicted: str | None
    raised: str | None
    trouble: str = ""
    silently: str | None = None
    stopped: str | None = None

    @property
    def alarms(self) -> set[str]:
        """Classes that were predicted one way or the other."""
        ways = (self.predicted, self.silently, self.stopped)
        return {told for told in ways if told is not None}

    @property
    def is_false_alarm(self) -> bool:
        return bool(self.alarms) and self.raised is None

    @property
    def is_wrong_class(self) -> bool:
        return self.raised is not None and bool(self.alarms - {self.raised})

    @property
    def is_miss(self) -> bool:
        return self.raised is not None and self.predicted is None

    @property
    def is_found(self) -> bool:
        return self.raised is not None and self.predicted == self.raised

    @property
    def is_mislabelled(self) -> bool:
        """Whether the cell ended otherwise than its file says."""
        return self.raised != self.step.exception

    def __str__(self) -> str:
        told = " and ".join(sorted(self.alarms)) or "no certain crash"
        silently = (
            " by the silent request" if self.silently != self.predicted else ""
        )
        said = f"predicted {told}{silently}, {'raised ' + self.raised if self.raised else 'ran'}"
        written = (
            f" (its file says {self.step.exception or 'runs'})"
            if self.is_mislabelled
            else ""
        )
        target = "\n".join(
            f"    {line}" for line in self.step.source.splitlines()
        )
        trouble = f"\n    {self.trouble}" if self.trouble else ""
        return f"{self.case.kind}: {self.case.name}: {said}{written}{trouble}\n{target}"


@dataclass(frozen=True)
class Skipped:
    """A case that needs a module which is not installed."""

    case: Case
    why: str


class Player:
    """Kernels one after the other, each in a separate folder below `room`."""

    def __init__(self, room: Path, python: str | None) -> None:
        self._room = room
        self._python = python
        self._kernel: OpenKernel | None = None
        self._n_kernels = 0
        self._n_cases = 0

    def play(self, case: Case) -> list[Outcome | Skipped]:
        """What each target of a case came to."""
        kernel = self._ready(own=case.own_kernel)
        missing = [module for module in case.needs if not kernel.has(module)]
        if missing:
            return [Skipped(case, f"{' and '.join(missing)} not installed")]
        kernel.begin()
        found: list[Outcome] = []
        for outcome in self._outcomes(kernel, case):
            found.append(outcome)
            if outcome.raised == SILENT:
                break
        self._n_cases += 1
        is_spent = (
            case.own_kernel
            or self._n_cases >= MOST_CASES
            or found[-1].raised == SILENT
        )
        if is_spent or not kernel.is_as_before():
            self.end()
        return list(found)

    def _ready(self, *, own: bool) -> OpenKernel:
        if own and self._n_cases:
            self.end()
        if self._kernel is None:
            self._n_kernels += 1
            room = self._room / f"kernel{self._n_kernels}"
            room.mkdir(parents=True)
            self._kernel = OpenKernel(room, self._python)
            self._n_cases = 0
        return self._kernel

    def _outcomes(self, kernel: OpenKernel, case: Case) -> Iterator[Outcome]:
        for step in case.steps:
            if step.is_restart:
                kernel.restart()
            elif not step.is_target:
                yield from self._before(kernel, case, step)
            else:
                yield _asked(kernel, case, step)

    def _before(
        self, kernel: OpenKernel, case: Case, step: Step
    ) -> Iterator[Outcome]:
        """A cell before the target must run: what raises has to be a target."""
        ran, stopped = _run_guarded(kernel, step)
        if stopped is not None or ran.exception is not None:
            yield Outcome(
                case,
                step,
                None,
                ran.exception,
                trouble=_last_line(ran),
                stopped=stopped,
            )

    def end(self) -> None:
        """End the kernel; the next case starts another."""
        kernel, self._kernel = self._kernel, None
        if kernel is not None:
            kernel.end()


def _asked(kernel: OpenKernel, case: Case, step: Step) -> Outcome:
    trouble = ""
    predicted = silently = stopped = None
    kernel.guard("off")
    try:
        silently = kernel.ask_silently(step.source)
        predicted = kernel.ask(step.source)
    except NoVerdictError as error:
        trouble = f"no verdict: {error}"
    if step.exception is None:
        kernel.guard("on")
        ran, stopped = _run_guarded(kernel, step)
    else:
        ran = _run_unguarded(kernel, step)
    return Outcome(
        case,
        step,
        predicted,
        ran.exception,
        trouble or _last_line(ran),
        silently,
        stopped,
    )


def _run_guarded(kernel: OpenKernel, step: Step) -> tuple[Ran, str | None]:
    """How a cell ended, and the class that the guard told where it stopped the cell, which is then run without it."""
    ran = (
        kernel.run_guarded(step.source)
        if step.is_target
        else kernel.run(step.source)
    )
    if ran.exception != STOPPED:
        return ran, None
    told = ran.printed.partition("Will crash: ")[2].split()
    kernel.guard("off")
    return _run_unguarded(kernel, step), told[0] if told else "?"


def _run_unguarded(kernel: OpenKernel, step: Step) -> Ran:
    """Run a cell while the guard is off, and put the guard on again."""
    if step.is_target:
        kernel.let_go()
    ran = kernel.run(step.source)
    if ran.exception != SILENT:
        kernel.guard("on")
    return ran


def _last_line(ran: Ran) -> str:
    lines = [line for line in ran.printed.splitlines() if line.strip()]
    return lines[-1] if ran.exception is not None and lines else ""


def played(
    cases: Sequence[Case],
    room: Path,
    *,
    python: str | None = None,
    jobs: int = 2,
    tell: Callable[[list[Outcome | Skipped]], None] | None = None,
) -> list[Outcome | Skipped]:
    """What all targets of the cases came to, in their order; `jobs` kernels run side by side."""
    left = list(enumerate(cases))
    left.reverse()
    found: dict[int, list[Outcome | Skipped]] = {}

    def work(number: int) -> None:
        player = Player(room / f"player{number}", python)
        try:
            while left:
                try:
                    place, case = left.pop()
                except IndexError:  # the other player took the last one
                    return
                found[place] = player.play(case)
                if tell is not None:
                    tell(found[place])
        finally:
            player.end()

    with ThreadPoolExecutor(jobs) as players:
        for done in [players.submit(work, number) for number in range(jobs)]:
            done.result()
    return [outcome for place in sorted(found) for outcome in found[place]]
