"""What would be sent to a model, and what it answered, as a notebook shows them. All text is escaped."""

from dataclasses import dataclass
from html import escape
from typing import Any

SET_ONE = "Name one: `%%crane ask --model M --base-url URL`, or set CRANE_MODEL and CRANE_BASE_URL"
"""What to do where no model is set."""


@dataclass(frozen=True)
class Sending:
    """The exact prompt, which was not sent, and to which model it would be; none may be set."""

    told: dict[str, Any]

    @property
    def title(self) -> str:
        told = self.told
        size = f"{told['tokens']:,} tokens ({told['kind']})"
        if told["model"] is None:
            return f"Not sent: {size}, and no model is set"
        return f"Not sent yet: {size} to {told['model']} at {told['base_url']}"

    @property
    def _next(self) -> str:
        return (
            SET_ONE
            if self.told["model"] is None
            else "Send it: %%crane ask --send"
        )

    def __repr__(self) -> str:
        """Plain text."""
        return f"{self.title}\n\n{self.told['text']}\n\n{self._next}"

    def _repr_html_(self) -> str:
        return (
            f"<details><summary>{escape(self.title)}. {escape(self._next)}</summary>"
            f'<pre style="white-space:pre-wrap">{escape(self.told["text"])}</pre></details>'
        )


@dataclass(frozen=True)
class ModelAnswer:
    """A model's answer, in the form of `check --json`."""

    told: dict[str, Any]

    @property
    def title(self) -> str:
        if self.told["trouble"]:
            return (
                f"{self.told['model']} gave no answer: {self.told['trouble']}"
            )
        return f"{self.told['model']} predicts {'a crash' if self.told['crashes'] else 'no crash'}"

    def __repr__(self) -> str:
        """Plain text."""
        return f"{self.title}\n{self.told['reasoning'] or ''}".rstrip()

    def _repr_html_(self) -> str:
        return f"<div><strong>{escape(self.title)}</strong><div>{escape(self.told['reasoning'] or '')}</div></div>"
