"""What would be sent to a model, and what it answered, as a notebook shows them. All text is escaped."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any


@dataclass(frozen=True)
class Sending:
    """The exact prompt, which was not sent."""

    told: dict[str, Any]

    @property
    def title(self) -> str:
        told = self.told
        return f"Not sent yet: {told['tokens']:,} tokens ({told['kind']}) to {told['model']} at {told['base_url']}"

    def __repr__(self) -> str:
        """Plain text."""
        return f"{self.title}\n\n{self.told['text']}\n\nSend it: %%crane ask --send"

    def _repr_html_(self) -> str:
        return (
            f"<details><summary>{escape(self.title)}. Send it with <code>%%crane ask --send</code></summary>"
            f'<pre style="white-space:pre-wrap">{escape(self.told["text"])}</pre></details>'
        )


@dataclass(frozen=True)
class Reply:
    """A model's answer, in the form of `check --json`."""

    told: dict[str, Any]

    @property
    def title(self) -> str:
        if self.told["trouble"]:
            return f"{self.told['model']} gave no answer: {self.told['trouble']}"
        return f"{self.told['model']} predicts {'a crash' if self.told['crashes'] else 'no crash'}"

    def __repr__(self) -> str:
        """Plain text."""
        return f"{self.title}\n{self.told['reasoning'] or ''}".rstrip()

    def _repr_html_(self) -> str:
        return f"<div><strong>{escape(self.title)}</strong><div>{escape(self.told['reasoning'] or '')}</div></div>"
