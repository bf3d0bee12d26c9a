"""What was measured when, on what and with which versions: one line of history.jsonl for each run of the benchmarks.

Knows nothing of names of machines, people or folders.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

from benchmarks._budgets import Told
from crane_core.runtime.limits import n_cores

HISTORY = Path(__file__).with_name("history.jsonl")
LIBRARIES = ("duckdb", "pandas", "numpy", "pyarrow", "streamlit", "playwright")


def machine() -> dict[str, Any]:
    """Cores that this process may use, memory in GiB, model of the processor, system."""
    about = Path("/proc/cpuinfo")
    text = about.read_text("utf-8") if about.exists() else ""
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return {
        "cores": n_cores(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "processor": model[1] if model else "unknown",
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {
        name: version(name) for name in LIBRARIES
    }


def commit() -> str:
    """The commit that was measured, "+" where files differ from it; "unknown" outside of a checkout."""
    try:
        found = _git("rev-parse", "--short=10", "HEAD").strip()
        changed = _git(
            "status",
            "--porcelain",
            "--untracked-files=no",
            "--",
            ":!history.jsonl",
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"g{found}{'+' if changed else ''}"


def _git(*arguments: str) -> str:
    asked = ["git", *arguments]
    return subprocess.run(
        asked, cwd=HISTORY.parent, capture_output=True, text=True, check=True
    ).stdout


def line(told: Sequence[Told]) -> dict[str, Any]:
    """What `append` writes; figures that were taken on a noisy machine say so themselves."""
    return {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
        "versions": versions(),
        "figures": [
            {
                "benchmark": one.benchmark,
                **asdict(one.figure),
                "ratio": round(one.figure.ratio, 3),
                "others": round(one.others, 2),
                "outcome": str(one.outcome),
                "why": one.why,
            }
            for one in told
            if one.figure
        ],
    }


def append(told: Sequence[Told], path: Path = HISTORY) -> None:
    """One line more; nothing where nothing was measured."""
    if any(one.figure for one in told):
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line(told)) + "\n")
