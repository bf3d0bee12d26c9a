"""The guideline in force and its version, which is stored with every label."""

from __future__ import annotations

import hashlib
from importlib.resources import files


def guideline() -> str:
    """The text, Markdown."""
    return (files("crane_core.annotation") / "guideline.md").read_text("utf-8")


def guideline_version() -> str:
    """Twelve hex digits of the text's sha256."""
    return hashlib.sha256(guideline().encode()).hexdigest()[:12]
