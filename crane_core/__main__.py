"""`python -m crane_core` and `crane`: the command line. PYTHON_ARGCOMPLETE_OK: it completes itself in shells."""

import os
import sys

from crane_core.cli import STOPPED, complete, main


def run() -> None:
    """Run the command that the arguments name, and end the process with its code."""
    if "_ARGCOMPLETE" in os.environ:
        complete()
    code = main(sys.argv[1:])
    if code == STOPPED:
        # Threads of libraries may be in the middle of their work; waiting for them is what Ctrl+C asked not to do.
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
