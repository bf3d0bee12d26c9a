"""The exact text that a judge of diagnoses is shown. Knows two texts and their order, not whose they are."""

from __future__ import annotations

from enum import StrEnum

from crane_core.prompts.secrets import redacted
from crane_core.prompts.template import Template

MAX_TEXT = 20_000
"""Characters of a diagnosis that a judge is shown."""


class Presentation(StrEnum):
    """Which text comes first: what comes first weighs more with some judges, so each pair is judged both ways."""

    NORMAL = "normal"
    REVERSED = "reversed"


def judge_prompt(known_cause: str, diagnosis: str, presentation: Presentation, template: Template) -> str:
    """The template around the two texts; the known cause first, or last where the order is reversed."""
    parts = [_part("known cause", known_cause), _part("diagnosis", diagnosis)]
    return template.around("\n\n".join(parts if presentation is Presentation.NORMAL else reversed(parts)))


def _part(name: str, text: str) -> str:
    shown = redacted(text.strip()[:MAX_TEXT]).encode("utf-8", "backslashreplace").decode("utf-8")
    return f"<<<{name}\n{shown}\n{name}>>>"
