"""How the command line speaks, results on stdout and everything else on stderr, and how it learns that it must stop.

Names of files, cells, tracebacks and replies of models are the text of others: what would move the cursor, colour,
rename the window or turn the reading direction is taken out of every line.
"""

import json
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Event
from types import FrameType

from crane_core.errors import CraneError

ERROR_LETTERS = 600
"""Of an error's message; a remedy is our own and is kept whole."""

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\n]*?(?:\x1b\\|[\x07\x9c]|$)"  # strings: window title, links, clipboard
    r"|\x1b[ -/]*[0-~]",
    re.MULTILINE,
)
"""Control sequences of ECMA-48 with their parameters."""
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile(
    r"[\x00-\x08\x0e-\x1f\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""DEL is left: a terminal ignores it, and JSON does not escape it."""
_USUAL = "python -m crane_core"
_NO_TEXT = re.compile(r"[\ud800-\udfff]")


def plain(text: str) -> str:
    """The text without control sequences, control characters and marks of direction; tabs and line ends stay."""
    text = _CONTROL.sub("", _LINE_END.sub("\n", _SEQUENCE.sub("", text)))
    return _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str, letters: int = ERROR_LETTERS) -> str:
    """The plain text on one line, cut after so many letters."""
    words = " ".join(plain(text[: 4 * letters]).split())
    return (
        words
        if len(words) <= letters and len(text) <= 4 * letters
        else f"{words[:letters]}…"
    )


def tell(message: str) -> None:
    """Progress and remarks, out of the way of results."""
    sys.stderr.write(plain(message) + "\n")
    sys.stderr.flush()


def tell_over(line: str, *, is_last: bool) -> None:
    """Progress that is drawn over itself on a terminal; nothing without a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write("\r" + one_line(line) + ("\n" if is_last else ""))
        sys.stderr.flush()


def tell_refusal(message: str, remedy: str) -> None:
    """Why a command ends, on one line however much it quotes; the remedy's commands as they are typed here."""
    tell(f"error: {one_line(message)} {as_typed(one_line(remedy))}")


def program_typed() -> str:
    """How this program was called: `crane`, its path if the shell finds none, or `python -m crane_core`.

    A remedy that names another command than the one that just worked may not work in this shell. A process that was
    not started as either, such as a test, speaks of `python -m crane_core`.
    """
    if _is_script():
        # `.venv/bin/crane` of a checkout is seldom on the PATH.
        return "crane" if shutil.which("crane") else shlex.quote(sys.argv[0])
    return (
        f"{shlex.quote(sys.orig_argv[0])} -m crane_core"
        if _is_module()
        else _USUAL
    )


def command_typed() -> str:
    """The same with the data folder that was named, so that a pasted command is about the same data."""
    if not (_is_script() or _is_module()):
        return _USUAL
    given = sys.argv[1:]
    for word, after in zip(given, [*given[1:], ""], strict=False):
        if word == "--data" or word.startswith("--data="):
            folder = word.partition("=")[2] or after
            return f"{program_typed()} --data {shlex.quote(folder)}"
    return program_typed()


def _is_script() -> bool:
    return Path(sys.argv[0]).name in ("crane", "crane.exe")


def _is_module() -> bool:
    started = Path(sys.argv[0])
    return started.name == "__main__.py" and started.parent.name == "crane_core"


def as_typed(text: str) -> str:
    """The text with its commands as they can be pasted here: `rebuild` and `crane_core rebuild` become `crane rebuild`.

    A verb counts as a command behind a backtick only, because many verbs are ordinary words.
    """
    command = command_typed()
    return _command().sub(
        lambda found: (
            f"`{command} {found['verb']}" if found["verb"] else f"{command} "
        ),
        text,
    )


@cache
def _command() -> re.Pattern[str]:
    """A verb behind a backtick, as remedies write it (each file in verbs/ is one), or the program named in full."""
    files = (Path(__file__).parent / "verbs").glob("[a-z]*.py")
    names = "|".join(file.stem.rstrip("_").replace("_", "-") for file in files)
    return re.compile(
        rf"`(?:(?:python -m )?crane_core |crane )?(?P<verb>{names})(?=[ `])|{_USUAL} "
    )


def tell_error(error: CraneError) -> None:
    """A refusal of ours."""
    tell_refusal(str(error.args[0]), error.remedy)


def give(text: str) -> None:
    """A result."""
    sys.stdout.write(plain(text).rstrip("\n") + "\n")
    sys.stdout.flush()


def give_either(
    document: object, words: str, *, as_json: bool, indent: int | None = 1
) -> None:
    """A result, as JSON or for people to read; what JSON has no form for is written as its text."""
    give(json.dumps(document, indent=indent, default=str) if as_json else words)


def in_columns(
    rows: Sequence[Sequence[str]], right: Collection[int] = ()
) -> list[str]:
    """Rows as lines of aligned columns; `right`: the numbers of those whose cells stand on the right."""
    columns = list(zip(*rows, strict=True))
    for number, column in enumerate(columns):
        width = max(map(len, column))
        align = str.rjust if number in right else str.ljust
        columns[number] = tuple(align(cell, width) for cell in column)
    return ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]


def give_exactly(text: str) -> None:
    """A result to the byte: UTF-8, nothing added at the end, line ends as they are; plain on a terminal."""
    sys.stdout.flush()
    shown = plain(text) if sys.stdout.isatty() else text
    sys.stdout.buffer.write(shown.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


@contextmanager
def stop_on_interrupt() -> Iterator[Event]:
    """An event that the first Ctrl+C sets, so that the work can end well; the second one interrupts."""
    stop = Event()

    def first(number: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)
        tell(
            "stopping; everything received is saved (Ctrl+C again: stop immediately)"
        )

    before = signal.signal(signal.SIGINT, first)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
