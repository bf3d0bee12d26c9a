"""Crane Workbench: will the next notebook cell crash, and who predicts it?"""

import sys

if (
    sys.argv[:1] == ["-m"]
    and not sys.flags.safe_path
    and sys.path[:1] != [__file__.rpartition("crane_core")[0][:-1]]
):
    # `python -m crane_core` would import a json.py of the working folder, which may be that of a stranger's notebook.
    del sys.path[0]

from importlib import import_module
from typing import Any

__version__ = "0.3.0"

_MAGICS = "crane_core.live.magics"
"""Imported on use: it needs IPython, and is above what imports this package."""


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext crane_core`."""
    import_module(_MAGICS).load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext crane_core`."""
    import_module(_MAGICS).unload(shell)
