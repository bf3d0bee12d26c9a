"""`python -m crane_core`: the command line."""

import sys

from crane_core.cli import main

sys.exit(main(sys.argv[1:]))
