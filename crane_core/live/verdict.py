"""A verdict as a notebook shows it: HTML for its front ends, plain text for a terminal. All text is escaped.

Holds what it shows, so that nothing is computed when it is drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

MOST_LETTERS = 2_000
MODEST = (
    "The rules report only certain crashes; they never say that a cell is safe."
)
ALARM, NEUTRAL, RAN = "#b3261e", "#5b6b7f", "#2e7d5b"
"""A crash; nothing certain, which approves nothing and therefore is not green; what ran through in a copy."""

OFFER = "%%crane rehearse above the cell runs it in a copy of the kernel that is dropped."


def scope_words(answered: Sequence[str], *, is_limited: bool) -> str:
    """What was looked at where nothing was found, and what was not; `answered` names libraries."""
    libraries = (
        f"; {', '.join(answered)} answered on stand-ins" if answered else ""
    )
    limits = ", less what is unsure" if is_limited else ""
    return (
        f"this code and what its names hold now{limits}{libraries}."
        " Not looked at: what only a run shows."
    )


def predicted(*, crashes: bool | None) -> str:
    """What the rules predict, in words; they never predict that a cell runs."""
    return "crash" if crashes else "nothing certain"


@dataclass(frozen=True)
class LiveVerdict:
    """What the rules say of a cell; `findings` as `check --json` writes them, with the cell of origin where known.

    `unsure` are sentences that say why the rules say less than they could. `scope` says what was looked at in an open
    kernel, and `offer` how to learn more there; both are empty elsewhere.
    """

    findings: tuple[dict[str, Any], ...]
    seconds: float
    unsure: tuple[str, ...] = ()
    scope: str = ""
    offer: str = ""

    @property
    def crashes(self) -> bool | None:
        """True for a certain crash, else None: without a finding the cell may still crash."""
        return True if self.findings else None

    @property
    def predicted(self) -> str:
        """The same in words."""
        return predicted(crashes=self.crashes)

    @property
    def title(self) -> str:
        return (
            f"Will crash: {bounded(self.findings[0]['exception'])}"
            if self.crashes
            else "No certain crash"
        )

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What stands below the title, as name and text; of all findings, the first crash first."""
        told = [
            row for finding in self.findings for row in _facts(finding)
        ] or [("note", MODEST), *self._scope(offer="")]
        return [*told, *self._doubts]

    def _scope(self, offer: str) -> list[tuple[str, str]]:
        words = f"{self.scope} {offer}".strip()
        return [("looked at", bounded(words))] if self.scope else []

    @property
    def _doubts(self) -> list[tuple[str, str]]:
        return [("unsure", bounded(sentence)) for sentence in self.unsure]

    def __repr__(self) -> str:
        """Plain text."""
        lines = [self.title]
        for finding in self.findings:
            lines += [f"  {name:<9} {text}" for name, text in _facts(finding)]
        if not self.crashes:
            lines.append(f"  {MODEST}")
            lines += [
                f"  {name:<9} {text}" for name, text in self._scope(self.offer)
            ]
        return "\n".join(
            [*lines, *(f"  {name:<9} {text}" for name, text in self._doubts)]
        )

    @property
    def _scope_html(self) -> str:
        return "".join(
            _row(name, text) for name, text in self._scope(self.offer)
        )

    def _repr_html_(self) -> str:
        """What JupyterLab, the classic notebook and VS Code draw."""
        rows = (
            "".join(_table(finding) for finding in self.findings)
            or f"<div>{escape(MODEST)}</div>{self._scope_html}"
        )
        rows += "".join(_row(name, text) for name, text in self._doubts)
        colour = ALARM if self.crashes else NEUTRAL
        return (
            f'<div style="border-left:4px solid {colour};padding:6px 12px;line-height:1.5">'
            f"<strong>{escape(self.title)}</strong>{rows}</div>"
        )


@dataclass(frozen=True)
class PendingVerdict:
    """What is shown until the verdict is there."""

    library: str

    def __repr__(self) -> str:
        """Plain text, in every front end."""
        return f"asking {bounded(self.library)} ..."


@dataclass(frozen=True)
class Rehearsed:
    """What a cell came to in a copy of the kernel: the outcome in words, and facts below it as name and text."""

    title: str
    rows: tuple[tuple[str, str], ...]
    exception: str | None
    """The class of a crash."""

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
            f"<div>{name}: {escape(bounded(text))}</div>"
            for name, text in self.rows
        )
        colour = RAN if self.exception is None else ALARM
        return (
            f'<div style="border-left:4px dashed {colour};padding:6px 12px;line-height:1.5">'
            f"<strong>{escape(bounded(self.title))}</strong>{rows}</div>"
        )


def _facts(finding: dict[str, Any]) -> list[tuple[str, str]]:
    told = [
        ("line", finding["code_line"]),
        ("reason", f"{finding['exception']}: {finding['message']}"),
        (
            "evidence",
            "; ".join(filter(None, (finding["fact"], finding.get("origin")))),
        ),
        ("remedy", finding["remedy"]),
    ]
    return [(name, bounded(text)) for name, text in told if text]


def _table(finding: dict[str, Any]) -> str:
    return f"<div>{''.join(_row(name, text) for name, text in _facts(finding))}</div>"


def _row(name: str, text: str) -> str:
    label = f'<span style="display:inline-block;min-width:5.5em;opacity:.75">{name}</span>'
    shown = f"<code>{escape(text)}</code>" if name == "line" else escape(text)
    return f"<div>{label}{shown}</div>"


def bounded(text: str) -> str:
    """One line of bounded length that cannot steer a terminal."""
    kept = "".join(
        letter if letter.isprintable() else " "
        for letter in str(text)[:MOST_LETTERS]
    )
    return " ".join(kept.split())
