"""What may stand on the command line: options, paths that can be opened without harm, and numbers that make sense.

    add(verb, option("--target N", "the code cell that crashes", code_cell), flag("--json", "print JSON to stdout"))

Each reader returns a value to argparse or raises an ArgumentTypeError, which is wrong usage. Refuses to know verbs.
"""

import argparse
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crane_core.given_path import refusal
from crane_core.runtime.remote.address import is_address

WEEK_S = 7 * 86_400.0
MOST_RUNS = 1_000
MOST_AT_ONCE = 256
MOST_TOKENS = 10**15
MOST_USD = 1e9
MOST_MIB = 2**24
"""16 TiB."""
MOST_INDEX = 1_000_000
"""Repeated answers to one question."""
LARGEST_SEED = 2**62
WARMEST = 2.0
"""The largest temperature of the OpenAI API."""
KEY_ENV_HELP = "environment variable that holds its key (default: the one configured for this address)"
MOST_REPLY_TOKENS = 1_000_000
MOST_RETRIES = 100
MOST_EXTRA = 10_000
"""Characters of --extra-body."""
OURS = (
    "model",
    "messages",
    "response_format",
    "stream",
    "n",
    "temperature",
    "seed",
    "max_tokens",
    "max_completion_tokens",
)
"""Members of a request that other options set."""

_CLUSTER = re.compile(
    r"(?:tcp|tls)://(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]):(?P<port>[0-9]{1,5})"
)
_DIGITS = 40
"""Python refuses to read integers of thousands of digits; nothing needs as many."""

Option = tuple[str, dict[str, Any]]
"""The name of an option or operand, and what argparse gets of it."""


def add(parser: argparse._ActionsContainer, *options: Option) -> None:
    """Give these options to a verb, or to a group of one, in the order in which its help lists them."""
    for name_, how in options:
        parser.add_argument(name_, **how)


def flag(name_: str, help_: str, **more: Any) -> Option:
    """An option without a value: False where it is not given, unless `more` says otherwise."""
    return name_, {"action": "store_true", "help": help_} | more


def option(
    words: str,
    help_: str | None = None,
    read: Callable[[str], object] = str,
    **more: Any,
) -> Option:
    """An option or operand with a value, written as its usage is: `--target N`; `read` turns the text into the value.

    `more`: further members of `add_argument`, such as `default`.
    """
    name_, _, metavar = words.partition(" ")
    return name_, {
        "help": help_,
        "type": read,
        "metavar": metavar or None,
    } | more


def integer(low: int, high: int) -> Callable[[str], int]:
    """An integer from `low` to `high`."""

    def read(text: str) -> int:
        try:
            value = int(text) if len(text) <= _DIGITS else None
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            raise argparse.ArgumentTypeError(
                f"expected an integer from {low:,} to {high:,}, not {_quoted(text)}"
            )
        return value

    return read


def number(
    low: float, high: float, *, above: bool = False
) -> Callable[[str], float]:
    """A number from `low` to `high`; with `above`, `low` itself is too low. NaN and infinity are out of every range."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high or (above and value == low):
            span = (
                f"above {low:,g} and up to {high:,g}"
                if above
                else f"from {low:,g} to {high:,g}"
            )
            raise argparse.ArgumentTypeError(
                f"expected a number {span}, not {_quoted(text)}"
            )
        return value

    return read


code_cell = integer(0, 10**6)
runs = integer(1, MOST_RUNS)
at_once = integer(1, MOST_AT_ONCE)
tokens = integer(1, MOST_TOKENS)
seed = integer(0, LARGEST_SEED)
seconds = number(0, WEEK_S, above=True)
mebibytes = number(0, MOST_MIB, above=True)
temperature = number(0, WARMEST)
usd = number(0, MOST_USD, above=True)
price = number(0, MOST_USD)
share = number(0, 1)


def path(text: str) -> Path:
    """The path of an ordinary file or folder, or of nothing yet."""
    if why := refusal(text):
        raise argparse.ArgumentTypeError(
            f"{_quoted(text)} {why}" if text else f"the path {why}"
        )
    return Path(text)


DATA_ANYWHERE = option(
    "--data DIR", argparse.SUPPRESS, path, default=argparse.SUPPRESS
)
"""The data folder, named behind the verb: shown once, in the help of all commands."""


def cell_file(text: str) -> tuple[int, Path]:
    """`CELL=FILE`: a code cell and the path of what takes its place."""
    cell, sign, file = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(
            f"expected CELL=FILE, not {_quoted(text)}"
        )
    return code_cell(cell), path(file)


def notebook(text: str) -> Path:
    """The path of a notebook."""
    # Not quoted: what people paste often holds a token.
    if is_address(text):
        raise argparse.ArgumentTypeError(
            "expected a file, not an address; --attach URL looks at a kernel of a Jupyter server"
        )
    return path(text)


def kernel(text: str) -> str:
    """The name, path or address of a kernel that runs."""
    return text.strip() if is_address(text) else path_or_name(text)


def path_or_name(text: str) -> str:
    """Either of them, as text."""
    if text.strip():
        path(text)
    return name(text)


def name(text: str) -> str:
    """Text with something in it."""
    if not text.strip() or "\0" in text:
        raise argparse.ArgumentTypeError("expected a name, not an empty text")
    return text


def cluster(text: str) -> str:
    """The address of a Dask scheduler (tcp://HOST:PORT or tls://HOST:PORT), `local`, or `off`."""
    if text in ("local", "off"):
        return text
    found = _CLUSTER.fullmatch(text)
    if found is None or not 0 < int(found["port"]) < 2**16:
        raise argparse.ArgumentTypeError(
            f"expected tcp://HOST:PORT, tls://HOST:PORT, local or off, not {_quoted(text)}"
        )
    return text


def web_address(text: str) -> str:
    """An address that a browser opens."""
    try:
        found = urlsplit(text)
        is_address = found.scheme in ("http", "https") and bool(found.hostname)
    except ValueError:  # brackets that hold no address of IPv6
        is_address = False
    if not is_address:
        raise argparse.ArgumentTypeError(
            f"expected http://HOST or https://HOST, not {_quoted(text)}"
        )
    return text


def line(most: int) -> Callable[[str], str]:
    """One line of text, of up to `most` characters."""

    def read(text: str) -> str:
        words = text.strip()
        if not words or len(words) > most or not words.isprintable():
            raise argparse.ArgumentTypeError(
                f"expected one line of 1 to {most} characters, not {_quoted(text)}"
            )
        return words

    return read


def names(text: str) -> tuple[str, ...]:
    """Names between commas."""
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    if not found:
        raise argparse.ArgumentTypeError("contains no names")
    return found


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _DIGITS else f"{text[:_DIGITS]}…")


def extra_body(text: str) -> dict[str, Any]:
    """Further members of a request, as a JSON object."""
    try:
        found = json.loads(text) if len(text) <= MOST_EXTRA else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError(
            f"expected a JSON object of up to {MOST_EXTRA:,} characters, not {_quoted(text)}"
        )
    if taken := sorted(set(found) & set(OURS)):
        raise argparse.ArgumentTypeError(
            f"{taken[0]} is set by the program; leave it out"
        )
    return found
