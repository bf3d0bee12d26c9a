"""Writes, as JSON, the versions of Python and of the distributions that are named; imports none of them.

python -I versions.py NAME ...
"""

from __future__ import annotations

import json
import platform
import sys
from contextlib import suppress
from importlib import metadata


def versions(names: list[str]) -> dict[str, str]:
    """By name, with "python"; a distribution that is not installed is left out."""
    found = {"python": platform.python_version()}
    # metadata reads a file per distribution: no library is imported.
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(versions(sys.argv[1:])))
