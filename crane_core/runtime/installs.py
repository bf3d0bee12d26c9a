"""Lines of a cell that install packages, which run only if the user allows it: they would change this machine.

Knows how notebooks spell them. A line that is left out becomes `pass`, so that line numbers stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from crane_core.cell_language import is_python

# As notebooks spell it: with a path, a version, through Python, or `{sys.executable}`.
_TOOL = r"(?:\S*pip[\d.]*|conda|mamba|micromamba|uv|uv\s+pip|\S*python[\d.]*\s+-m\s+pip|\{sys\.executable\}\s+-m\s+pip)"
_ACTION = (
    rf"{_TOOL}\s+(?:-\S+\s+)*(?:install|uninstall|add|remove|update|upgrade)\b"
)
_LINE = re.compile(rf"^(?P<indent>\s*)(?:%|!{{1,2}})\s*{_ACTION}")
_BARE = re.compile(rf"^(?P<indent>\s*){_ACTION}")
"""Without a mark: IPython's automagic, and the lines of a shell cell."""
_SHELL_CELL = re.compile(r"^\s*%%(?:bash|sh|script|!|system|sx)\b")


def without_installs(source: str) -> str:
    """The cell without its lines that install; a cell that is plain Python has none."""
    # Plain Python is left as it is: a text may contain "pip install".
    return (
        "\n".join(line for line, _ in _told(source))
        if n_installs([source])
        else source
    )


def n_installs(sources: Iterable[str]) -> int:
    """How many such lines there are."""
    return sum(
        installs
        for source in sources
        if not is_python(source)
        for _, installs in _told(source)
    )


def left_out_words(n: int) -> str:
    """That `n` lines, at least one, are not run."""
    return f"Not run: {'1 line that installs' if n == 1 else f'{n:,} lines that install'} packages"


def _told(source: str) -> Iterator[tuple[str, bool]]:
    """Each line as it may run, and whether an installation begins in it; its continued lines go with it."""
    lines = source.split("\n")
    is_shell = bool(_SHELL_CELL.match(source.lstrip()))
    pattern = (
        _BARE
        # A cell of one line may use automagic: `pip install x` without a mark.
        if is_shell
        or len(source.strip().splitlines()) == 1
        and not _LINE.match(source)
        else _LINE
    )
    # A line that ends in a backslash continues: its rest would be run as Python.
    goes_on = False
    for line in lines:
        found = pattern.match(line)
        if found is None and not goes_on:
            yield line, False
            continue
        is_first, goes_on = not goes_on, line.rstrip().endswith("\\")
        yield (
            # ":" does nothing in a shell, which has not got `pass`.
            (
                ":"
                if is_shell
                else f"{found.group('indent')}pass"
                if found and is_first
                else ""
            ),
            is_first,
        )
