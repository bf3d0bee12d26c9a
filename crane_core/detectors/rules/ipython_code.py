"""What IPython makes of a cell before Python reads it: magics, shell lines and help become calls of get_ipython().

Asks IPython's own transformer, loaded only for cells that are not plain Python, and keeps every line where it was.
Refuses to run a magic, and so to know what one does.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_MOST_TRANSFORMS = 500
"""IPython's own limit."""
_MAGICS_WORDS = """
alias alias_magic autoawait autocall automagic autosave bookmark cat cd clear code_wrap colors conda config
connect_info cp debug dhist dirs doctest_mode ed edit env gui hist history killbgscripts ldir less lf lk ll load
load_ext loadpy logoff logon logstart logstate logstop ls lsmagic lx macro magic mamba man matplotlib micromamba mkdir
more mv notebook page pastebin pdb pdef pdoc pfile pinfo pinfo2 pip popd pprint precision prun psearch psource pushd
pwd pycat pylab qtconsole quickref recall rehashx reload_ext rep rerun reset reset_selective rm rmdir run save sc
set_env store subshell sx system tb time timeit unalias unload_ext uv who who_ls whos xdel xmode
"""
MAGICS = frozenset(_MAGICS_WORDS.split())
"""The line magics of a kernel of ipykernel, and `store`, which older ones have from the start."""
_FIRST_WORD = re.compile(r"([\w.]+)\s*(.?)")


class CellMagic(NamedTuple):
    """`body` is what follows the line of the magic, with empty lines for those before it."""

    name: str
    arguments: str
    body: str


def python_of(code: str) -> str | CellMagic:
    """The cell as Python, as far as it is, or the magic that gets the whole of it."""
    from IPython.core.inputtransformer2 import TransformerManager

    manager: Any = TransformerManager()  # type: ignore[no-untyped-call]
    whole = f"{code}\n".splitlines(keepends=True)
    lines = whole
    # IPython also reads cells with prompts (`>>> rows[1]`) and cells that are indented as a whole.
    for transform in manager.cleanup_transforms:
        lines = transform(lines)
    n_before = len(whole) - len(lines)
    # `%%time?` asks for help and runs nothing.
    if (
        lines
        and lines[0].startswith("%%")
        and not re.match(r"%%\w+\?", lines[0])
    ):
        name, _, arguments = lines[0][2:].strip().partition(" ")
        return CellMagic(
            name, arguments.strip(), "\n" * (n_before + 1) + "".join(lines[1:])
        )
    lines = ["\n"] * n_before + lines
    for _ in range(_MOST_TRANSFORMS):
        is_changed, made = manager.do_one_token_transform(lines)
        if not is_changed:
            break
        lines = _as_long(made, lines)
    return "".join(lines)


def _as_long(made: Sequence[str], before: Sequence[str]) -> list[str]:
    """The lines with empty ones behind a line that took the place of several."""
    changed = next(
        (
            at
            for at, (new, old) in enumerate(zip(made, before, strict=False))
            if new != old
        ),
        len(made) - 1,
    )
    return [
        *made[: changed + 1],
        *["\n"] * (len(before) - len(made)),
        *made[changed + 1 :],
    ]


def automagic(code: str) -> str:
    """The first word of a cell of one line that IPython takes for a magic's name unless a variable has it; else ""."""
    line = code.strip()
    found = _FIRST_WORD.match(line)
    # `hist = rows` and `reset, f = 3, 1` assign variables that have the names of magics.
    if (
        found is None
        or "\n" in line
        or found[1] not in MAGICS
        or found[2] in ("=", ",")
    ):
        return ""
    return found[1]
