"""Build the documentation site as a reader gets it: strictly, and without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

NOWHERE = {
    f"{kind}_proxy": "http://127.0.0.1:9" for kind in ("http", "https", "all")
}
"""A proxy that is not there refuses whatever the build would ask of a network."""


def build_documentation(root: Path, folder: Path) -> Path:
    """Build the site of the checkout `root` into `folder` and return `folder`."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--site-dir",
            str(folder),
        ],
        cwd=root,
        env=os.environ | NOWHERE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder
