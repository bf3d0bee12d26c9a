"""`%crane` and `%%crane` for IPython: a verdict before a cell runs, a guard that stops certain crashes, a model's word.

Knows the magics' words. What a verdict is and how it is drawn stands elsewhere.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand
from IPython.display import display

from crane_core.errors import CraneError
from crane_core.live.guard import OVERRIDE, Guard
from crane_core.live.reply import ModelAnswer, Sending
from crane_core.live.session import Session
from crane_core.live.verdict import PendingVerdict
from crane_core.spelling import did_you_mean, nearest

NAME = "crane"
REHEARSED_S, LONGEST_REHEARSED_S = 2.0, 600.0
GUARD_ON = "%crane guard is on: a cell that will certainly crash is stopped before it runs."
GUARD_OFF = "%crane guard is off: no cell is stopped."
USAGE = f"""use  %%crane            above a cell: will it crash? It is not run.
     %crane check N     the same for code cell N (from 0) of the saved notebook file
     %crane guard on    stop certain crashes before they run; off ends that, {OVERRIDE} runs one cell anyway
     %crane guard       say whether it is on
     %%crane rehearse   above a cell: run it in a copy of the kernel that is dropped, for 2 s or `rehearse SECONDS`
     %%crane ask        above a cell: show what a model would be sent; with --send, ask it"""


LINE_WORDS, CELL_WORDS = ("check", "guard"), ("rehearse", "ask")
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
        self.session = Session(shell)
        self.guard = Guard(self.session)

    @no_var_expand
    def line(self, line: str) -> None:
        """`%crane check N`, `%crane guard on`, `%crane guard off`, `%crane guard`."""
        match line.split():
            case ["check", number] if number.isdigit():
                self._tell_verdict(
                    lambda: self.session.cell_of_file(int(number))
                )
            case ["guard", "on" | "off" as wanted]:
                self.switch_guard(on=wanted == "on")
            case ["guard"]:
                print(GUARD_ON if self.is_guarded else GUARD_OFF)  # noqa: T201 - the cell's output
            case ["check", number]:
                raise UsageError(
                    f"{number} is not the number of a code cell, counted from 0\n{USAGE}"
                )
            case ["guard", wanted]:
                raise UsageError(
                    f"guard {wanted} is unknown{did_you_mean(wanted, ('on', 'off'))}\n{USAGE}"
                )
            case words:
                raise UsageError(
                    _unknown("%crane", words, LINE_WORDS, CELL_WORDS)
                )

    @no_var_expand
    def cell(self, line: str, cell: str) -> None:
        """`%%crane`: the verdict on the cell below it; `%%crane rehearse`: what it comes to in a copy of the kernel.

        `%%crane ask`: what a model is sent, and what it says.
        """
        words = line.split()
        if not words:
            self._tell_verdict(lambda: cell)
        elif words[0] == "rehearse":
            seconds = _seconds(words[1:])
            self._tell(lambda: self.session.rehearsal(cell, seconds))
        elif words[0] == "ask":
            chosen = _asked(line)
            self._tell(lambda: self._ask(cell, chosen))
        else:
            raise UsageError(_unknown("%%crane", words, CELL_WORDS, LINE_WORDS))

    @property
    def is_guarded(self) -> bool:
        """Whether every cell is looked at before it runs."""
        return self.guard in self._shell.ast_transformers

    def start(self) -> None:
        """Prepare for the first question."""
        self._shell.events.register("post_run_cell", self.session.tell_imported)
        self.session.prepare()

    def switch_guard(self, *, on: bool) -> None:
        """Look at every cell before it runs, or no longer."""
        shell, is_on = self._shell, self.is_guarded
        if on and not is_on:
            self.session.helper.start()
            shell.events.register("pre_run_cell", self.guard.before)
            shell.ast_transformers.append(self.guard)
        elif is_on and not on:
            shell.ast_transformers.remove(self.guard)
            shell.events.unregister("pre_run_cell", self.guard.before)

    def end(self) -> None:
        """Leave nothing behind in the shell."""
        self.switch_guard(on=False)
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
                show(PendingVerdict(library))

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


def _seconds(words: list[str]) -> float:
    try:
        seconds = float(words[0]) if words else REHEARSED_S
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
