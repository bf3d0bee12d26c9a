"""`%crane` and `%%crane` for IPython: a verdict before a cell runs, a guard that stops crashes, a model's word.

Knows the magics' words. What a verdict is and how it is drawn stands elsewhere.
"""

import argparse
import re
import shlex
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand
from IPython.display import display

from crane_core.errors import CraneError
from crane_core.live import guard, session, verdict
from crane_core.live.reply import ModelAnswer, Sending
from crane_core.repair.fix import MOST_CANDIDATES, USUAL_CANDIDATES
from crane_core.spelling import did_you_mean, nearest

NAME = "crane"
USUAL_REHEARSED_S, LONGEST_REHEARSED_S = 2.0, 600.0
GUARD_IS = {
    guard.GuardStep.OFF: "%crane guard is off: no cell is stopped.",
    guard.GuardStep.PREDICT: "%crane guard is on: predict. A cell that will certainly crash is stopped before it runs.",
    guard.GuardStep.REHEARSE: "%crane guard is on: rehearse. A cell that will certainly crash is "
    "stopped; any other runs"
    f" first for up to {guard.REHEARSED_S:g} s in a copy of the kernel, and is stopped if it crashes there.",
}
USAGE = f"""use  %%crane            above a cell: will it crash? It is not run.
     %crane check N     the same for code cell N (from 0) of the saved notebook file
     %crane guard on    stop certain crashes before they run; off ends that, {guard.OVERRIDE} runs one cell anyway
     %crane guard rehearse  the same, and what else crashes within {guard.REHEARSED_S:g} s in a copy of the kernel
     %crane guard       say whether it is on, and what can be undone
     %crane undo        after a cell that crashed or was interrupted with the guard on: back to before it
     %crane guard on undo=3  keep copies for %crane undo 3, of the last 3 cells; undo=0 keeps none
     %%crane rehearse   above a cell: run it in a copy of the kernel that is dropped, for 2 s or `rehearse SECONDS`
     %%crane fix        above a cell: show a fix that runs through in a copy of the kernel; --send also asks a model
     %%crane ask        above a cell: show what a model would be sent; with --send, ask it"""


UNDO = "undo="
_UNDO_CELLS = re.compile(rf"{UNDO}\d")
STEPS = {"on": guard.GuardStep.PREDICT} | {
    str(step): step for step in guard.GuardStep
}
"""What may stand behind `%crane guard`."""
LINE_WORDS, CELL_WORDS = (
    ("check", "guard", "undo"),
    ("rehearse", "fix", "ask"),
)
"""What may stand behind `%crane`, and behind `%%crane`."""


def _unknown(
    magic: str,
    words: Sequence[str],
    known: Sequence[str],
    of_other: Sequence[str],
) -> str:
    """What was probably meant, then everything that there is."""
    if not words:
        return USAGE
    if words[0] in known:
        return f"{magic} {' '.join(words)} is not complete, or has words too many\n{USAGE}"
    other = "%crane" if magic == "%%crane" else "%%crane"
    every = {word: f"{magic} {word}" for word in known} | {
        word: f"{other} {word}" for word in of_other
    }
    meant = nearest(words[0], every)
    suggestion = f"; did you mean {every[meant]}?" if meant else ""
    return f"{magic} {words[0]} is unknown{suggestion}\n{USAGE}"


class _Words(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{USAGE}")


class CraneMagics:
    """The magics of one shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self.session = session.Session(shell)
        self.guard = guard.Guard(self.session)

    @no_var_expand
    def line(self, line: str) -> None:
        """`%crane check N`, `%crane guard`, and with a step: `on` or `predict`, `rehearse`, `off`."""
        match line.split():
            case ["check", number] if number.isdigit():
                self._tell_verdict(
                    lambda: self.session.cell_of_file(int(number))
                )
            case ["guard", *words] if _guard_words(words):
                self._set_guard(words)
                print(self._guard_line())  # noqa: T201 - the cell's output
            case ["undo"]:
                self._tell(lambda: self.session.undo(1))
            case ["undo", number] if number.isdigit() and int(number):
                self._tell(lambda: self.session.undo(int(number)))
            case ["check", number]:
                raise UsageError(
                    f"{number} is not the number of a code cell, counted from 0\n{USAGE}"
                )
            case ["guard", wanted]:
                raise UsageError(
                    f"guard {wanted} is unknown{did_you_mean(wanted, STEPS)}\n{USAGE}"
                )
            case words:
                raise UsageError(
                    _unknown("%crane", words, LINE_WORDS, CELL_WORDS)
                )

    @no_var_expand
    def cell(self, line: str, cell: str) -> None:
        """`%%crane`: the verdict on the cell below it; `%%crane rehearse`: what it comes to in a copy of the kernel.

        `%%crane fix`: an edit with which it runs through there. `%%crane ask`: what a model is sent, and what it says.
        """
        words = line.split()
        if not words:
            self._tell_verdict(lambda: cell)
        elif words[0] == "rehearse":
            seconds = _seconds(words[1:])
            self._tell(lambda: self.session.rehearsal(cell, seconds))
        elif words[0] == "fix":
            self._fix(cell, _fix_words(line))
        elif words[0] == "ask":
            chosen = _asked(line)
            self._tell(lambda: self._ask(cell, chosen))
        else:
            raise UsageError(_unknown("%%crane", words, CELL_WORDS, LINE_WORDS))

    @property
    def guard_step(self) -> guard.GuardStep:
        """What is done before a cell runs."""
        if self.guard not in self._shell.ast_transformers:
            return guard.GuardStep.OFF
        return (
            guard.GuardStep.REHEARSE
            if self.guard.rehearses
            else guard.GuardStep.PREDICT
        )

    def _set_guard(self, words: list[str]) -> None:
        """Switch as words say that `_guard_words` has let through."""
        for word in words:
            if word in STEPS:
                self.switch_guard(STEPS[word])
            else:
                self.guard.n_undo = int(word.removeprefix(UNDO))
                if not self.guard.n_undo:
                    self.session.drop_copies()

    def _guard_line(self) -> str:
        """The guard's step, and what can be undone, in one line."""
        step = self.guard_step
        if step is guard.GuardStep.OFF:
            return GUARD_IS[step]
        n_cells, why = self.guard.n_undo, self.session.why_no_copy
        if not n_cells:
            undo = "No copy is kept for %crane undo."
        elif why:
            undo = (
                f"No copy for %crane undo was kept before the last cell: {why}."
            )
        elif n_cells == 1:
            undo = "%crane undo puts the kernel back to before a cell that crashed."
        else:
            undo = f"%crane undo N puts the kernel back to before the last N cells, up to {n_cells}."
        return f"{GUARD_IS[step]} {undo}"

    def start(self) -> None:
        """Prepare for the first question."""
        self._shell.events.register("post_run_cell", self.session.tell_imported)
        self.session.prepare()

    def switch_guard(self, step: guard.GuardStep) -> None:
        """Look at every cell before it runs, or no longer."""
        shell = self._shell
        is_on = self.guard_step is not guard.GuardStep.OFF
        on = step is not guard.GuardStep.OFF
        self.guard.rehearses = step is guard.GuardStep.REHEARSE
        if on and not is_on:
            self.session.helper.start()
            shell.events.register("pre_run_cell", self.guard.before)
            shell.events.register("post_run_cell", self.guard.after)
            shell.ast_transformers.append(self.guard)
        elif is_on and not on:
            shell.ast_transformers.remove(self.guard)
            shell.events.unregister("pre_run_cell", self.guard.before)
            shell.events.unregister("post_run_cell", self.guard.after)
            self.session.drop_copies()

    def end(self) -> None:
        """Leave nothing behind in the shell."""
        self.switch_guard(guard.GuardStep.OFF)
        self._shell.events.unregister(
            "post_run_cell", self.session.tell_imported
        )
        self.session.helper.end()

    def _ask(
        self, cell: str, chosen: argparse.Namespace
    ) -> Sending | ModelAnswer:
        seen = self.session.look(cell)
        options = {"model": chosen.model, "base_url": chosen.base_url}
        if not chosen.send:
            return Sending(
                self.session.helper.ask(seen.order("prompt", **options))
            )
        return ModelAnswer(
            self.session.helper.ask(
                seen.order("ask", **options), chosen.timeout_s
            )
        )

    def _fix(self, cell: str, chosen: argparse.Namespace) -> None:
        """Show fixes; the first that edits the cell becomes the text of the next one."""
        model = {
            "model": chosen.model,
            "base_url": chosen.base_url,
            "candidates": chosen.candidates,
        }
        asked = model if chosen.send else {}
        try:
            found = self.session.fixes(cell, chosen.seconds, **asked)
        except CraneError as error:
            raise UsageError(str(error)) from None
        display(found)  # type: ignore[no-untyped-call]
        if found.next_input is not None:
            self._shell.set_next_input(found.next_input, replace=False)

    def _tell_verdict(self, target: Callable[[], str]) -> None:
        """Show the verdict on a cell, and meanwhile which library is waited for."""
        shown: list[Any] = []

        def show(what: object) -> None:
            if shown:
                shown[0].update(what)
            else:
                shown.append(display(what, display_id=True))  # type: ignore[no-untyped-call]

        def show_progress(library: str) -> None:
            # A terminal cannot replace what it has shown.
            if hasattr(self._shell, "kernel"):
                show(verdict.PendingVerdict(library))

        try:
            said = self.session.verdict(target(), on_progress=show_progress)
        except CraneError as error:
            raise UsageError(str(error)) from None
        show(said)

    def _tell(self, asked: Any) -> None:
        try:
            display(asked())  # type: ignore[no-untyped-call]
        except CraneError as error:
            raise UsageError(str(error)) from None


def _guard_words(words: list[str]) -> bool:
    """Whether the words behind `%crane guard` are a step, a number of cells to undo, or both."""
    steps = [word for word in words if word in STEPS]
    numbers = [word for word in words if _UNDO_CELLS.fullmatch(word)]
    is_all = len(steps) + len(numbers) == len(words)
    return is_all and len(steps) <= 1 and len(numbers) <= 1


def _asked(line: str) -> argparse.Namespace:
    words = _Words(prog="%%crane ask", add_help=False)
    words.add_argument("ask", choices=["ask"])
    words.add_argument("--model")
    words.add_argument("--base-url")
    words.add_argument("--send", action="store_true")
    words.add_argument("--timeout-s", type=float, default=300.0)
    try:
        return words.parse_args(shlex.split(line))
    except ValueError as error:
        raise UsageError(f"{error}\n{USAGE}") from None


def _fix_words(line: str) -> argparse.Namespace:
    words = _Words(prog="%%crane fix", add_help=False)
    words.add_argument("fix", choices=["fix"])
    words.add_argument(
        "seconds", type=float, nargs="?", default=USUAL_REHEARSED_S
    )
    words.add_argument("--model")
    words.add_argument("--base-url")
    words.add_argument("--send", action="store_true")
    words.add_argument("--candidates", type=int, default=USUAL_CANDIDATES)
    try:
        chosen = words.parse_args(shlex.split(line))
    except ValueError as error:
        raise UsageError(f"{error}\n{USAGE}") from None
    is_known = 0 < chosen.seconds <= LONGEST_REHEARSED_S
    if not is_known or not 0 < chosen.candidates <= MOST_CANDIDATES:
        raise UsageError(
            f"fix takes up to {LONGEST_REHEARSED_S:g} s and {MOST_CANDIDATES} candidates\n{USAGE}"
        )
    return chosen


def _seconds(words: list[str]) -> float:
    try:
        seconds = float(words[0]) if words else USUAL_REHEARSED_S
    except ValueError:
        seconds = 0.0
    if len(words) > 1 or not 0 < seconds <= LONGEST_REHEARSED_S:
        raise UsageError(
            f"rehearse takes a number of seconds up to {LONGEST_REHEARSED_S:g}\n{USAGE}"
        )
    return seconds


def load(shell: Any) -> None:
    """`%load_ext crane_core`."""
    magics = CraneMagics(shell)
    shell.register_magic_function(magics.line, "line", NAME)
    shell.register_magic_function(magics.cell, "cell", NAME)
    magics.start()


def unload(shell: Any) -> None:
    """`%unload_ext crane_core`."""
    magics = loaded(shell)
    if magics is not None:
        magics.end()
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop(NAME, None)


def loaded(shell: Any) -> CraneMagics | None:
    """The magics that the shell has loaded."""
    magic = shell.find_line_magic(NAME)
    owner = getattr(magic, "__self__", None)
    return owner if isinstance(owner, CraneMagics) else None
