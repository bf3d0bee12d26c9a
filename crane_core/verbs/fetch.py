"""`fetch`: download what upstream publishes, then import it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from crane_core.fetch import NAMES, Step, fetch
from crane_core.pipeline.load import import_paths
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give, tell
from crane_core.verbs.import_ import in_words

NAME = "fetch"
HELP = "download the published archives and notebooks, with progress, checksum and resume, and load them"
EXAMPLE = "python -m crane_core fetch crane-llm"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)} (default: all)", default=list(NAMES)
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    for name in chosen.names:
        path: Path = fetch(name, folder.downloads, _show)
        tell(f"{name}: complete, in {path}")
        give(in_words(import_paths([path], folder)))
    return 0


def _show(step: Step) -> None:
    """One line that counts up on a terminal; nothing where nobody watches."""
    if sys.stderr.isatty():
        of = f" of {step.total:,}" if step.total else ""
        sys.stderr.write(f"\r{step.what}: {step.done:,}{of} {step.unit}" + ("\n" if step.done == step.total else ""))
        sys.stderr.flush()
