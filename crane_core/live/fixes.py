"""Fixes as a notebook shows them, and their way between the kernel and the process beside it. All text is escaped.

Loaded in kernels, so it knows neither rules nor models.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from crane_core.live.verdict import ALARM, MOST_LETTERS, RAN, bounded
from crane_core.repair.fix import EarlierCell, Fix, Proposals, diff
from crane_core.repair.search import RepairOutcome, TriedFix

MOST_LINES = 60
NO_FIX = "No fix was found that runs through in a copy of the kernel"
_COLOURS = {"+": RAN, "-": ALARM}
"""Of lines that a fix adds and removes."""


@dataclass(frozen=True)
class LiveFixes:
    """What was found for a cell with this source."""

    source: str
    found: RepairOutcome

    @property
    def next_input(self) -> str | None:
        """The cell with the first fix that edits it."""
        edits = list(filter(None, map(self._edited, self.found.shown)))
        # A cell magic is handed its cell with a line end that the notebook does not have.
        return edits[0].removesuffix("\n") if edits else None

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Each fix as the button shows it: plain texts, and the cell with the fix, None where others only run first."""
        return [
            {
                "title": f"Fix: {bounded(tried.fix.sentence)}",
                "outcome": f"rehearsed: {bounded(tried.outcome)}",
                "diff": [_plain(line) for line in self._diff(tried)],
                "source": self._edited(tried),
            }
            for tried in self.found.shown
        ]

    def _edited(self, tried: TriedFix) -> str | None:
        """The cell with the fix; None where it stays as it is and others run first."""
        return None if tried.fix.source == self.source else tried.fix.source

    @property
    def rest(self) -> str:
        """What is said below the fixes, or in their place."""
        if self.found.why_none:
            return self.found.why_none
        told = [] if self.found.shown else [NO_FIX]
        if self.found.not_shown:
            told.append(f"not shown: {self.found.not_shown}")
        return "; ".join(told)

    def __repr__(self) -> str:
        """Plain text."""
        lines: list[str] = []
        for tried in self.found.shown:
            lines += [
                f"Fix: {bounded(tried.fix.sentence)}",
                f"  rehearsed {bounded(tried.outcome)}",
                *(_plain(line) for line in self._diff(tried)),
            ]
        return "\n".join([*lines, *filter(None, [bounded(self.rest)])])

    def _repr_html_(self) -> str:
        parts = [self._html(tried) for tried in self.found.shown]
        if self.rest:
            parts.append(f"<div>{escape(bounded(self.rest))}</div>")
        return (
            f'<div style="border-left:4px dashed {RAN};padding:6px 12px;line-height:1.5">'
            f"{''.join(parts)}</div>"
        )

    def _html(self, tried: TriedFix) -> str:
        lines = "".join(map(_line_html, self._diff(tried)))
        shown = f'<pre style="margin:4px 0">{lines}</pre>' if lines else ""
        return (
            f"<div><strong>Fix: {escape(bounded(tried.fix.sentence))}</strong></div>"
            f"<div>rehearsed {escape(bounded(tried.outcome))}</div>{shown}"
        )

    def _diff(self, tried: TriedFix) -> list[str]:
        """Without the two lines that name the file."""
        lines = diff(self.source, tried.fix.source, "cell").splitlines()[2:]
        left_out = len(lines) - MOST_LINES
        more = [f"... {left_out} more lines"] if left_out > 0 else []
        return [*lines[:MOST_LINES], *more]


def _plain(line: str) -> str:
    """The line with its indentation, and without what steers a terminal."""
    kept = line[:MOST_LETTERS].expandtabs(4)
    return "".join(each for each in kept if each.isprintable())


def _line_html(line: str) -> str:
    colour = _COLOURS.get(line[:1], "inherit")
    return f'<span style="color:{colour}">{escape(_plain(line))}</span>\n'


def fixes_told(found: Proposals) -> dict[str, Any]:
    """Proposals as JSON."""
    return {
        "fixes": [asdict(fix) for fix in found.fixes],
        # `refused` is how that process says that it cannot answer at all.
        "left_out": list(found.refused),
    }


def fixes_of(told: Mapping[str, Any]) -> Proposals:
    """Proposals from JSON."""
    fixes = tuple(
        Fix(
            each["source"],
            each["sentence"],
            tuple(EarlierCell(*cell) for cell in each["first"]),
            each["by"],
            tuple(each["names"]),
        )
        for each in told["fixes"]
    )
    return Proposals(fixes, tuple(told["left_out"]))
