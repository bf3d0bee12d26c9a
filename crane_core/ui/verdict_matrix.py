"""Every detector's verdicts on both versions, −RT beside +RT, a line a detector: finished HTML from finished strips.

A strip is one detector's answers to one version: a square per answer, the majority against the truth, the human label.
"""

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

from crane_core.domain import Label, Setting, Version
from crane_core.ui.glossary import explained
from crane_core.ui.words import (
    LABEL_CSS,
    LABEL_WORDS,
    notebook_words,
    setting_short,
    setting_words,
    shortened,
)

LEGEND = (
    '<div class="cw-legend cw-dim"><span><span class="cw-runs"><span class="cw-run-crash"></span></span> an answer '
    'that predicts a crash</span><span><span class="cw-runs"><span class="cw-run-safe"></span></span> one that does not'
    '</span><span><span class="cw-runs"><span class="cw-run-none">?</span></span> no answer'
    f"</span><span>✓ ✗ {explained('vote', 'majority')} right, wrong</span>"
    "<span>correct, partial, wrong: diagnosis (human label)</span></div>"
)
MAX_REASON = 900
UNCLEAR = frozenset({"tie", "no answer"})
"""Votes that are neither right nor wrong."""


class Answers(NamedTuple):
    """One detector's answers to one version, in the order of asking."""

    runs: list[dict[str, Any]]
    vote: str
    label: str | None


class Strip(NamedTuple):
    """One detector in one setting of an experiment: its answers to both versions."""

    detector: str
    setting: str
    sides: dict[Version, Answers]
    experiment: str = ""


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
    strip = strip_html(answers, version)
    if not has_texts(answers):
        return strip
    place = place_of(number, version, setting)
    return f'<a class="cw-mark" href="#{place}">{strip}</a>'


def all_answers(row: MatrixRow) -> list[Answers]:
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
    told = "Runtime state (+RT) changes no verdict"
    diagnoses = _changed_diagnoses(rows)
    return f"{told}, but {' and '.join(diagnoses)}" if diagnoses else told


def _changed_diagnoses(rows: Sequence[MatrixRow]) -> list[str]:
    """Whose diagnosis of the crash people label better or worse with runtime state, as clauses."""
    turned: dict[str, list[str]] = {}
    for row in rows:
        before, after = (
            _DIAGNOSES.get(answers.label or "") if answers else None
            for setting in (Setting.CODE, Setting.RUNTIME)
            for answers in [row.answers(setting, Version.REPRODUCED)]
        )
        if before is None or after is None or before == after:
            continue
        words = list(_DIAGNOSES)[after]
        # From correct to partial is worse, which "partial" alone does not say.
        if before > after > 0:
            words = f"only {words}"
        turned.setdefault(words, []).append(row.detector)
    return [
        f"{names[0]}'s diagnosis turns {words}"
        if len(names) == 1
        else f"the diagnoses of {_who(names)} turn {words}"
        for words, names in turned.items()
    ]


_DIAGNOSES = {str(Label.WRONG): 0, str(Label.PARTIAL): 1, str(Label.CORRECT): 2}
"""Labels of a diagnosis, from worse to better."""


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
        is_right(row.answers(each, version), version)
        for each in (Setting.CODE, setting)
    )
    return (
        with_
        if without is not None and with_ is not None and with_ != without
        else None
    )


def is_right(answers: Answers | None, version: Version) -> bool | None:
    """Whether the majority is right about this version; None if there is no majority."""
    if answers is None or answers.vote in UNCLEAR:
        return None
    return (answers.vote == "crash") == (version is Version.REPRODUCED)


def strip_html(answers: Answers | None, version: Version) -> str:
    """The squares with the majority and its sign; of a crash that was predicted the human label too."""
    if answers is None:
        return '<span class="cw-dim">not asked</span>'
    strip = "".join(square_html(run) for run in answers.runs)
    # Of the fixed version there is nothing to diagnose.
    label = _label_html(answers.label) if version is Version.REPRODUCED else ""
    return f'<span class="cw-strip"><span class="cw-runs">{strip}</span> {sign_html(answers, version)}</span>{label}'


def sign_html(answers: Answers, version: Version) -> str:
    """✓ or ✗ for a majority that is right or wrong; what it is called where it is neither."""
    right = is_right(answers, version)
    css = {None: "cw-dim", True: "cw-right", False: "cw-wrong"}[right]
    sign = {None: answers.vote, True: "✓", False: "✗"}[right]
    return f'<span class="{css}" title="majority: {escape(_vote_words(answers))}">{escape(sign)}</span>'


def vote_html(answers: Answers, version: Version) -> str:
    """The majority in words and its sign."""
    clear = (
        "" if answers.vote in UNCLEAR else f"{escape(_vote_words(answers))} "
    )
    return f'<span class="cw-vote">{clear}{sign_html(answers, version)}</span>'


def _vote_words(answers: Answers) -> str:
    return {"crash": "crash", "safe": "no crash"}.get(
        answers.vote, answers.vote
    )


def square_html(run: dict[str, Any]) -> str:
    """One answer as a square: full for a crash that it predicts, empty for none, a question mark for no answer."""
    index = f"answer {run['run_index']}"
    if run["unanswered"]:
        why = escape(shortened(str(run["unanswered"]), MAX_REASON))
        return f'<span class="cw-run-none" title="{index}: {why}">?</span>'
    if run["crashes"]:
        return f'<span class="cw-run-crash" title="{index}: crash"></span>'
    return f'<span class="cw-run-safe" title="{index}: no crash"></span>'


def _label_html(label: str | None) -> str:
    # That a crash was missed is said by the sign already.
    if label is None or Label(label) is Label.MISDETECTED:
        return ""
    known = Label(label)
    # Without the label's own sign: beside that of the vote, one tick would mean two things.
    words = LABEL_WORDS[known].partition(" ")[2]
    return f' <span class="cw-verdict-label {LABEL_CSS[known]}">{escape(words)}</span>'


def has_texts(answers: Answers | None) -> bool:
    """Whether any answer says why."""
    return answers is not None and any(reason(run) for run in answers.runs)


def reason(run: dict[str, Any]) -> str:
    """What an answer says of why: its text, else its diagnostics; empty where there are none."""
    if run["reasoning"]:
        return str(run["reasoning"])
    if run["diagnostics"]:
        return _diagnostics(str(run["diagnostics"]))
    return ""


def _diagnostics(text: str) -> str:
    """An analyzer's list, one diagnostic a line; any other text as it is."""
    try:
        entries = json.loads(text)
    except ValueError:
        return text
    return (
        "\n".join(map(_diagnostic, entries))
        if isinstance(entries, list)
        else text
    )


def _diagnostic(entry: Any) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    rule = entry.get("symbol") or entry.get("rule") or ""
    return (
        f"{entry.get('message', '')} [{rule}] at {entry.get('code_line', '')}"
    )
