"""`python -m crane_core` and `crane`: the command line."""

import os
import sys

from crane_core.cli import STOPPED, main


def run() -> None:
    code = main(sys.argv[1:])
    if code == STOPPED:
        # Threads of libraries may be in the middle of their work; waiting for them is what Ctrl+C asked not to do.
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
