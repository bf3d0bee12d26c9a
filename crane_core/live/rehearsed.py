"""What a cell came to in a copy of the kernel, as a notebook shows it. All text is escaped."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from crane_core.live.verdict import ALARM, RAN, bounded


@dataclass(frozen=True)
class Rehearsed:
    """The outcome in words, and facts below it as name and text."""

    title: str
    rows: tuple[tuple[str, str], ...]
    crashed: bool

    def __repr__(self) -> str:
        """Plain text."""
        return "\n".join(
            [
                bounded(self.title),
                *(f"  {name:<9} {bounded(text)}" for name, text in self.rows),
            ]
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<div>{name}: {escape(bounded(text))}</div>" for name, text in self.rows
        )
        colour = ALARM if self.crashed else RAN
        return (
            f'<div style="border-left:4px dashed {colour};padding:6px 12px;line-height:1.5">'
            f"<strong>{escape(bounded(self.title))}</strong>{rows}</div>"
        )
