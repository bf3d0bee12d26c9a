"""`%crane undo` in words: what was put back, what was not and why. All text is bounded and escaped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from crane_core.live.verdict import ALARM, RAN, bounded

_MOST_NAMES, _MOST_REASONS = 20, 20


@dataclass(frozen=True)
class UndoReport:
    """What an undo came to, as name and text of each line."""

    title: str
    rows: tuple[tuple[str, str], ...]
    is_whole: bool
    """Whether nothing is known to have stayed."""

    def __repr__(self) -> str:
        """Plain text."""
        lines = [f"  {name:<9} {bounded(text)}" for name, text in self.rows]
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<div>{escape(name)}: {escape(bounded(text))}</div>"
            for name, text in self.rows
        )
        colour = RAN if self.is_whole else ALARM
        return (
            f'<div style="border-left:4px solid {colour};padding:6px 12px;line-height:1.5">'
            f"<strong>{escape(self.title)}</strong>{rows}</div>"
        )


def report_of(told: Mapping[str, Any]) -> UndoReport:
    """The report of what crane_probe/undo/copies.py tells."""
    stays = [_reason(each) for each in told["stays"]]
    n_cells = told["n_cells"]
    cells = "the last cell" if n_cells == 1 else f"the last {n_cells} cells"
    rows = [
        (name, _listed(told[key]))
        for name, key in (
            ("put back", "bound"),
            ("content", "changed"),
            ("removed", "removed"),
            ("session", "session"),
        )
        if told[key]
    ]
    if not rows:
        # What stays may have changed, or was not compared: then only "nothing" is certain.
        nothing = (
            "nothing" if stays else "nothing: no name or value had changed"
        )
        rows.append(("put back", nothing))
    rows += [("stays", reason) for reason in stays[:_MOST_REASONS]]
    if len(stays) > _MOST_REASONS:
        rows.append(("stays", f"and {len(stays) - _MOST_REASONS} more"))
    rows.append(("note", told["elsewhere"]))
    exceptions = f", except {len(stays)}" if stays else ""
    title = f"The kernel is as it was before {cells}{exceptions}."
    return UndoReport(title, tuple(rows), not stays)


def _reason(told: Mapping[str, str]) -> str:
    name, why = told["name"], told["why"]
    return f"{name} ({why})" if name else why


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMES])
    n_more = len(names) - _MOST_NAMES
    return f"{shown} and {n_more} more" if n_more > 0 else shown
