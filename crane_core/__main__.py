"""`python -m crane_core`: the command line."""

import os
import sys

from crane_core.cli import STOPPED, main

code = main(sys.argv[1:])
if code == STOPPED:
    # Threads of libraries may be in the middle of their work; waiting for them is what Ctrl+C asked not to do.
    os._exit(code)
sys.exit(code)
