"""The guideline for new campaigns, and the version of a guideline's text, which is stored with every label."""

from __future__ import annotations

import hashlib
from importlib.resources import files


def guideline() -> str:
    """The text for new campaigns, Markdown."""
    return (files("crane_core.annotation") / "guideline.md").read_text("utf-8")


def version_of(text: str) -> str:
    """Twelve hex digits of the text's sha256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def guideline_version() -> str:
    """The version of the text for new campaigns."""
    return version_of(guideline())
