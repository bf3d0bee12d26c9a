"""The exact text that a judge of diagnoses is shown: two texts in either order, labels and guideline if there are any.

Knows nothing of whose texts they are.
"""

from enum import StrEnum

from crane_core.prompts.secrets import redacted
from crane_core.prompts.template import Template

MAX_TEXT = 20_000
"""Characters of a diagnosis that a judge is shown."""


class Presentation(StrEnum):
    """Which text comes first: some judges favour the first text, so each pair is judged in both orders."""

    NORMAL = "normal"
    REVERSED = "reversed"


def judge_prompt(
    known_cause: str,
    diagnosis: str,
    presentation: Presentation,
    template: Template,
    guideline: str | None = None,
    labels: str | None = None,
) -> str:
    """The template around the two texts; the known cause first, or last where the order is reversed.

    labels: a list of a campaign's own, and guideline: whole, both before the texts; None if there is none.
    """
    parts = [
        _part("known cause", known_cause.strip()[:MAX_TEXT]),
        _part("diagnosis", diagnosis.strip()[:MAX_TEXT]),
    ]
    ordered = parts if presentation is Presentation.NORMAL else parts[::-1]
    given = {"labels": labels, "guideline": guideline}
    before = [
        _part(name, text) for name, text in given.items() if text is not None
    ]
    return template.around("\n\n".join([*before, *ordered]))


def _part(name: str, text: str) -> str:
    # Diagnoses quote code, and code may hold keys.
    shown = (
        redacted(text.strip())
        .encode("utf-8", "backslashreplace")
        .decode("utf-8")
    )
    return f"<<<{name}\n{shown}\n{name}>>>"
