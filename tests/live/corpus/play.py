"""Plays cases in open kernels: each target is asked about, then really run, and both are compared.

A kernel is kept from case to case as long as nothing is left behind in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.live.corpus.cases import Case, Step
from tests.live.corpus.open_kernel import (
    SILENT,
    NoVerdictError,
    OpenKernel,
    Ran,
)

MOST_CASES = 60
"""After which a kernel is replaced all the same: no notebook is that long."""
STOPPED = "Stopped"
"""The exception by which the guard rejects a cell."""


@dataclass(frozen=True)
class Outcome:
    """One target: what was predicted, what it raised (None: it ran), and what its file says.

    `silently` is what the button was told just before. Both must be true; recall counts `predicted` alone.
    """

    case: Case
    step: Step
    predicted: str | None
    raised: str | None
    trouble: str = ""
    silently: str | None = None

    @property
    def alarms(self) -> set[str]:
        """Classes that were predicted one way or the other."""
        return {
            told for told in (self.predicted, self.silently) if told is not None
        }

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

    def __init__(self, room: Path, python: str | None, *, guard: bool) -> None:
        self._room = room
        self._python = python
        self._guard = guard
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
            self._kernel = OpenKernel(room, self._python, guard=self._guard)
            self._n_cases = 0
        return self._kernel

    def _outcomes(self, kernel: OpenKernel, case: Case) -> Iterator[Outcome]:
        for step in case.steps:
            if step.is_restart:
                kernel.restart()
            elif not step.is_target:
                yield from self._before(kernel, case, step)
            elif self._guard:
                yield _guarded(kernel, case, step)
            else:
                yield _asked(kernel, case, step)

    def _before(
        self, kernel: OpenKernel, case: Case, step: Step
    ) -> Iterator[Outcome]:
        """A cell before the target must run: what raises has to be a target."""
        ran = kernel.run(step.source)
        if ran.exception == STOPPED:
            yield Outcome(case, step, _class_told(ran), None)
        elif ran.exception is not None:
            yield Outcome(
                case, step, None, ran.exception, trouble=_last_line(ran)
            )

    def end(self) -> None:
        """End the kernel; the next case starts another."""
        kernel, self._kernel = self._kernel, None
        if kernel is not None:
            kernel.end()


def _asked(kernel: OpenKernel, case: Case, step: Step) -> Outcome:
    trouble = ""
    predicted = silently = None
    try:
        silently = kernel.ask_silently(step.source)
        predicted = kernel.ask(step.source)
    except NoVerdictError as error:
        trouble = f"no verdict: {error}"
    kernel.let_go()
    ran = kernel.run(step.source)
    return Outcome(
        case,
        step,
        predicted,
        ran.exception,
        trouble or _last_line(ran),
        silently,
    )


def _guarded(kernel: OpenKernel, case: Case, step: Step) -> Outcome:
    """Where the guard stops a cell that its file says runs, that is a false alarm."""
    if step.exception is not None:
        return Outcome(
            case, step, None, kernel.run_unguarded(step.source).exception
        )
    ran = kernel.run_guarded(step.source)
    if ran.exception == STOPPED:
        return Outcome(case, step, _class_told(ran), step.exception)
    return Outcome(case, step, None, ran.exception, _last_line(ran))


def _class_told(ran: Ran) -> str:
    told = ran.printed.partition("Will crash: ")[2].split()
    return told[0] if told else "?"


def _last_line(ran: Ran) -> str:
    lines = [line for line in ran.printed.splitlines() if line.strip()]
    return lines[-1] if ran.exception is not None and lines else ""


def played(
    cases: Sequence[Case],
    room: Path,
    *,
    python: str | None = None,
    guard: bool = False,
    jobs: int = 2,
    tell: Callable[[list[Outcome | Skipped]], None] | None = None,
) -> list[Outcome | Skipped]:
    """What all targets of the cases came to, in their order; `jobs` kernels run side by side."""
    left = list(enumerate(cases))
    left.reverse()
    found: dict[int, list[Outcome | Skipped]] = {}

    def work(number: int) -> None:
        player = Player(room / f"player{number}", python, guard=guard)
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
