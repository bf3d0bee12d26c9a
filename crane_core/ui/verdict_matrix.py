"""Every detector's verdicts on both versions, −RT beside +RT, a line a detector: finished HTML from finished strips."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from crane_core.domain import Setting, Version
from crane_core.ui import run_strip
from crane_core.ui.glossary import explained
from crane_core.ui.words import notebook_words, setting_short, setting_words

LEGEND = (
    '<div class="cw-legend cw-dim"><span><span class="cw-runs"><span class="cw-run-crash"></span></span> an answer '
    'that predicts a crash</span><span><span class="cw-runs"><span class="cw-run-safe"></span></span> one that does not'
    '</span><span><span class="cw-runs"><span class="cw-run-none">?</span></span> no answer'
    f"</span><span>✓ ✗ {explained('vote', 'majority')} right, wrong</span>"
    "<span>correct, partial, wrong: diagnosis (human label)</span></div>"
)


class MatrixRow(NamedTuple):
    """A detector of one experiment; setting to its answers to both versions. `note`: which of two namesakes."""

    detector: str
    note: str
    by_setting: dict[str, dict[Version, run_strip.Answers]]

    def answers(
        self, setting: str, version: Version
    ) -> run_strip.Answers | None:
        """Its answers about a version in a setting; None without one."""
        return self.by_setting.get(setting, {}).get(version)


def rows_of(strips: Iterable[run_strip.Strip]) -> list[MatrixRow]:
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


def place_of(row: int, version: Version, setting: str) -> str:
    """The id of the texts of a row's answers about a version in a setting, within one page."""
    return f"answers-{row}-{version}-{setting}"


def matrix_html(rows: Sequence[MatrixRow], first: int = 0) -> str:
    """The table: for each version a column per setting that any row has.

    first: the number of the first row among all of the page's, by which a mark finds its texts.
    """
    settings = settings_of(rows)
    n = len(settings)
    heads = "".join(
        f'<th colspan="{n}" scope="colgroup">{notebook_words(version)}</th>'
        for version in Version
    )
    inputs = "".join(
        f'<th scope="col" title="{escape(setting_words(setting))}">{escape(setting_short(setting))}</th>'
        for setting in settings
    )
    body = "".join(
        _row_html(row, settings, number)
        for number, row in enumerate(rows, start=first)
    )
    # With tabindex the table can be scrolled by keyboard.
    return (
        f'<div class="cw-scroll" tabindex="0"><table class="cw-verdicts" style="--n:{n}">'
        f'<thead><tr><td></td>{heads}</tr><tr><th scope="col">Detector</th>{inputs * 2}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def settings_of(rows: Iterable[MatrixRow]) -> list[str]:
    """The settings that any row has, in the paper's order."""
    found = {setting for row in rows for setting in row.by_setting}
    return [str(setting) for setting in Setting if str(setting) in found]


def _row_html(row: MatrixRow, settings: list[str], number: int) -> str:
    note = f'<div class="cw-dim">{escape(row.note)}</div>' if row.note else ""
    cells = "".join(
        f'<td data-head="{escape(setting_short(setting))}">{_mark_html(row, number, version, setting)}</td>'
        for version in Version
        for setting in settings
    )
    return f'<tr><th scope="row">{escape(row.detector)}{note}</th>{cells}</tr>'


def _mark_html(
    row: MatrixRow, number: int, version: Version, setting: str
) -> str:
    """The strip; a link to its texts where there are any."""
    answers = row.answers(setting, version)
    strip = run_strip.strip_html(answers, version)
    if not run_strip.has_texts(answers):
        return strip
    place = place_of(number, version, setting)
    return f'<a class="cw-mark" href="#{place}">{strip}</a>'


def all_answers(row: MatrixRow) -> list[run_strip.Answers]:
    """Its answers to both versions in every setting."""
    return [
        side for sides in row.by_setting.values() for side in sides.values()
    ]


def finding(rows: Sequence[MatrixRow]) -> str:
    """What runtime state changed for whom, in a sentence."""
    if not any(
        {Setting.CODE, Setting.RUNTIME} <= row.by_setting.keys() for row in rows
    ):
        return "What the detectors predict"
    # The paper's input first; where it changes nothing, what another one with state changes.
    others = [
        each
        for each in Setting
        if each not in (Setting.CODE, Setting.RUNTIME)
        and any(each in row.by_setting for row in rows)
    ]
    for setting in (Setting.RUNTIME, *others):
        if parts := _changes(rows, setting):
            return f"With runtime state ({setting_short(setting)}), {'; '.join(parts)}"
    return "Runtime state (+RT) changes no verdict"


def _changes(rows: Sequence[MatrixRow], setting: Setting) -> list[str]:
    return [
        f"{_who(names)} {singular if len(names) == 1 and not _is_rules(names[0]) else verb} {what}"
        for (version, gained), (verb, singular, what) in _CHANGES.items()
        if (
            names := [
                row.detector
                for row in rows
                if change_by_state(row, version, setting) is gained
            ]
        )
    ]


_CHANGES = {
    (Version.REPRODUCED, True): ("find", "finds", "the crash"),
    (Version.REPRODUCED, False): ("miss", "misses", "the crash"),
    (Version.FIXED, True): ("drop", "drops", "a false alarm"),
    (Version.FIXED, False): ("raise", "raises", "a false alarm"),
}


def _who(names: list[str]) -> str:
    if len(names) > 2:
        return f"{len(names)} detectors"
    return " and ".join(
        f"the {name[:1].lower()}{name[1:]}" if _is_rules(name) else name
        for name in names
    )


def _is_rules(name: str) -> bool:
    """Whether a detector is several: "the certain-crash rules find", not "finds"."""
    return name.endswith(" rules")


def change_by_state(
    row: MatrixRow, version: Version, setting: Setting = Setting.RUNTIME
) -> bool | None:
    """True where the input with state is right and −RT is wrong, False the other way round, None without a change."""
    without, with_ = (
        run_strip.is_right(row.answers(each, version), version)
        for each in (Setting.CODE, setting)
    )
    return (
        with_
        if without is not None and with_ is not None and with_ != without
        else None
    )
