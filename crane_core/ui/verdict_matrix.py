"""Every detector's verdicts on both versions, −RT beside +RT; and their reasonings side by side.

Finished HTML from finished strips.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from crane_core.domain import Setting, Version
from crane_core.ui.glossary import explained
from crane_core.ui.run_strip import (
    Answers,
    Strip,
    has_reasons,
    is_right,
    reasons_html,
    strip_html,
    vote_html,
)
from crane_core.ui.words import setting_short, setting_words

HEADS = {
    Version.REPRODUCED: "Crashing notebook: 5 runs, majority",
    Version.FIXED: "Fixed notebook: 5 runs, majority",
}
REASONS = {
    Version.REPRODUCED: "Reasoning on the crashing version",
    Version.FIXED: "Reasoning on the fixed version",
}
_SHORT = {Version.REPRODUCED: "crashing:", Version.FIXED: "fixed:"}
LEGEND = (
    '<div class="cw-legend cw-dim"><span><span class="cw-runs"><span class="cw-run-crash"></span></span> a run that '
    'predicts a crash</span><span><span class="cw-runs"><span class="cw-run-safe"></span></span> one that does not'
    f"</span><span>✓ ✗ {explained('vote', 'majority')} right, wrong</span>"
    "<span>correct, partial, wrong: diagnosis (human label)</span></div>"
)


class MatrixRow(NamedTuple):
    """A detector of one experiment; setting to its answers to both versions. `note`: which of two namesakes."""

    detector: str
    note: str
    by_setting: dict[str, dict[Version, Answers]]

    def answers(self, setting: str, version: Version) -> Answers | None:
        """Its answers about a version in a setting; None without one."""
        return self.by_setting.get(setting, {}).get(version)


def rows_of(strips: Iterable[Strip]) -> list[MatrixRow]:
    """A row per detector and experiment, in the order of the strips; the experiment is noted where it is named."""
    rows: dict[tuple[str, str], MatrixRow] = {}
    for strip in strips:
        # One detector may have answered in several experiments, which are rows apart.
        row = rows.setdefault(
            (strip.detector, strip.experiment),
            MatrixRow(strip.detector, strip.experiment, {}),
        )
        row.by_setting[strip.setting] = strip.sides
    return list(rows.values())


def matrix_html(rows: Sequence[MatrixRow]) -> str:
    """The table: for each version a column per setting that any row has."""
    settings = _settings(rows)
    n = len(settings)
    heads = "".join(
        f'<th colspan="{n}" scope="colgroup">{_head(words, rows)}</th>'
        for words in HEADS.values()
    )
    inputs = "".join(
        f'<th scope="col" title="{escape(setting_words(setting))}">{escape(setting_short(setting))}</th>'
        for setting in settings
    )
    body = "".join(_row_html(row, settings) for row in rows)
    # With tabindex the table can be scrolled by keyboard.
    return (
        f'<div class="cw-scroll" tabindex="0"><table class="cw-verdicts"><thead><tr><th></th>{heads}</tr>'
        f'<tr><th scope="col">Detector</th>{inputs * 2}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _settings(rows: Iterable[MatrixRow]) -> list[str]:
    found = {setting for row in rows for setting in row.by_setting}
    return [str(setting) for setting in Setting if str(setting) in found]


def _head(words: str, rows: Sequence[MatrixRow]) -> str:
    """The heading of a version; how many runs only where any detector has so many."""
    most = max(
        (len(side.runs) for row in rows for side in _all(row)), default=0
    )
    name, _, _ = words.partition(":")
    return f"{name}: {most} runs, majority" if most > 1 else name


def _row_html(row: MatrixRow, settings: list[str]) -> str:
    note = f'<div class="cw-dim">{escape(row.note)}</div>' if row.note else ""
    cells = "".join(
        f'<td class="cw-first">{html}</td>' if i == 0 else f"<td>{html}</td>"
        for version in HEADS
        for i, html in enumerate(
            strip_html(row.answers(setting, version), version)
            for setting in settings
        )
    )
    return f'<tr><th scope="row">{escape(row.detector)}{note}</th>{cells}</tr>'


def _all(row: MatrixRow) -> list[Answers]:
    return [
        side for sides in row.by_setting.values() for side in sides.values()
    ]


def finding(rows: Sequence[MatrixRow]) -> str:
    """What runtime state changed for whom, in a sentence."""
    if not any(
        {Setting.CODE, Setting.RUNTIME} <= row.by_setting.keys() for row in rows
    ):
        return "What the detectors predict"
    parts = [
        f"{_who(names)} {verb if len(names) > 1 else singular} {what}"
        for (version, gained), (verb, singular, what) in _CHANGES.items()
        if (
            names := [
                row.detector for row in rows if _change(row, version) is gained
            ]
        )
    ]
    return (
        f"With runtime state (+RT), {'; '.join(parts)}"
        if parts
        else "Runtime state (+RT) changes no verdict"
    )


_CHANGES = {
    (Version.REPRODUCED, True): ("find", "finds", "the crash"),
    (Version.REPRODUCED, False): ("miss", "misses", "the crash"),
    (Version.FIXED, True): ("drop", "drops", "a false alarm"),
    (Version.FIXED, False): ("raise", "raises", "a false alarm"),
}


def _who(names: list[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{len(names)} detectors"


def _change(row: MatrixRow, version: Version) -> bool | None:
    """True where +RT is right and −RT is wrong, False the other way round, None without a change."""
    without, with_ = (
        is_right(row.answers(setting, version), version)
        for setting in (Setting.CODE, Setting.RUNTIME)
    )
    return (
        with_
        if without is not None and with_ is not None and with_ != without
        else None
    )


def reasonings_html(rows: Sequence[MatrixRow]) -> str:
    """A full-width line per detector that opens to its texts, settings side by side; open is one that +RT changed."""
    told = [row for row in rows if any(map(has_reasons, _all(row)))]
    changed = [
        row
        for row in told
        if any(_change(row, version) is not None for version in HEADS)
    ]
    # One is open, so that a reader sees what opens; the one that changed is the most telling.
    opened = (changed or told)[:1]
    return "".join(_reasoning(row, is_open=row in opened) for row in told)


def _reasoning(row: MatrixRow, *, is_open: bool) -> str:
    settings = _settings([row])
    votes = " ".join(
        f'<span><span class="cw-dim">{name}</span> {_votes(row, version, settings)}</span>'
        for version, name in _SHORT.items()
    )
    note = (
        f' <span class="cw-dim">{escape(row.note)}</span>' if row.note else ""
    )
    summary = f"<summary><b>{escape(row.detector)}</b>{note} {votes}</summary>"
    body = "".join(_texts(row, version, settings) for version in HEADS)
    return f'<details class="cw-reasons"{" open" if is_open else ""}>{summary}{body}</details>'


def _votes(row: MatrixRow, version: Version, settings: list[str]) -> str:
    pairs = ((setting, row.answers(setting, version)) for setting in settings)
    return " ".join(
        f"{escape(setting_short(s))} {vote_html(found, version)}"
        for s, found in pairs
        if found
    )


def _texts(row: MatrixRow, version: Version, settings: list[str]) -> str:
    if not any(
        has_reasons(row.answers(setting, version)) for setting in settings
    ):
        return ""
    columns = "".join(
        f"<div><b>{escape(setting_words(setting))}</b>{reasons_html(row.answers(setting, version))}</div>"
        for setting in settings
    )
    return f'<h4>{REASONS[version]}</h4><div class="cw-side-by-side">{columns}</div>'
