"""Write the command `crane` of a checkout's environment. Usage: tools/launcher.py CHECKOUT FILE.

`make setup` puts it into .venv/bin, so that the commands of the documentation work in every folder. A checkout is not
installed as a package: its files are what runs, and a file with its path in the environment would be found by programs
that must not find it.
"""

from __future__ import annotations

import sys
from pathlib import Path

PROGRAM = """\
#!{python}
# PYTHON_ARGCOMPLETE_OK
import sys

sys.path.insert(0, {checkout!r})
from crane_core.__main__ import run

if __name__ == "__main__":
    run()
"""


def write(checkout: Path, file: Path) -> None:
    """Write the program, which this interpreter runs."""
    file.write_text(
        PROGRAM.format(python=sys.executable, checkout=str(checkout.resolve())),
        "utf-8",
    )
    file.chmod(0o755)


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
