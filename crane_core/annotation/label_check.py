"""Labels from a file of a user, or from a plan: every member checked, and the first fault named.

A fault says where it is ("labels 2, key"), what it is and what to do, in one line. Bounds keep words short enough for a
button, and colours readable on both grounds.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crane_core.annotation.label_set import (
    LabelSet,
    Scale,
    label_set,
    study_labels,
)
from crane_core.domain import LABEL_CODE, Label

MOST_BYTES = 64_000
FEWEST, MOST = 2, 7
"""Labels of a set."""
MOST_REASONS = 12
DESK_KEYS = frozenset("defgnsu")
"""Letters with a meaning at the desk; see desk.js."""
GROUNDS = {"colour": "#fcfcfb", "colour_dark": "#14181a"}
"""The page behind each colour; see style.css."""
LEAST_CONTRAST = 4.5
"""Of text on its ground (WCAG 2.1, 1.4.3)."""
MOST_CHARACTERS = {"name": 40, "word": 24, "words": 40, "sign": 2, "means": 300}
OF_SET = frozenset({"name", "scale", "labels", "reasons"})
OF_LABEL = frozenset(
    {
        "code",
        "word",
        "sign",
        "key",
        "colour",
        "colour_dark",
        "credit",
        "reasons",
        "means",
    }
)
OF_REASON = frozenset({"code", "words", "key"})
COMPUTED = frozenset({str(Label.MISDETECTED), str(Label.UNVERIFIABLE)})
"""Outcomes that no annotator can choose."""
_FORMS = {
    "code": (
        LABEL_CODE,
        "a code; use 1 to 24 of a-z, 0-9 and dash, beginning with a letter",
    ),
    "key": (re.compile(r"[1-9a-z]"), "a key; use one of 1-9 or a-z"),
    "colour": (
        re.compile(r"#[0-9a-f]{6}"),
        "a colour; write it as #rrggbb in lower case",
    ),
}
"""What a member must match, and the words of the refusal of one that does not."""


def labels_from_toml(text: str) -> LabelSet:
    """The set of a file's text. Raises ValueError: one line with place, fault and remedy."""
    try:
        body = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"it is not TOML: {' '.join(str(error).split())[:200]}"
        ) from error
    found = checked_labels(body)
    # A set under the study's name would be counted as the study's labels.
    if found.name == study_labels().name and found != study_labels():
        raise ValueError(
            f"name: {found.name!r} is the name of the study's labels; choose another"
        )
    # Only of files: a stored plan keeps its keys, whatever keys the desk took since.
    for where, key in _keys(found):
        if key in DESK_KEYS:
            raise ValueError(
                f"{where}, key: {key!r} has a meaning at the desk; choose a digit or another letter"
            )
    return found


def checked_labels(body: object) -> LabelSet:
    """The set of a parsed document. Raises ValueError, as `labels_from_toml` does."""
    whole = _table(body, "the file", OF_SET)
    _text(whole, "name", "")
    if whole.get("scale") not in tuple(Scale):
        raise ValueError(
            f"scale: {_shown(whole.get('scale'))} is not one of {', '.join(Scale)}"
        )
    entries = _list(whole, "labels", "")
    if not FEWEST <= len(entries) <= MOST:
        raise ValueError(
            f"labels: there are {len(entries):,}; a set has {FEWEST} to {MOST}"
        )
    reasons = _list(whole, "reasons", "")
    if len(reasons) > MOST_REASONS:
        raise ValueError(
            f"reasons: there are {len(reasons):,}; a set has up to {MOST_REASONS}"
        )
    for place, entry in enumerate(reasons, start=1):
        _check_reason(entry, f"reasons {place}")
    for name in ("code", "words"):
        _refuse_twice(_placed(reasons, "reasons", name), name)
    for place, entry in enumerate(entries, start=1):
        _check_label(
            entry, f"labels {place}", [reason["code"] for reason in reasons]
        )
    for name in ("code", "word", "sign"):
        _refuse_twice(_placed(entries, "labels", name), name)
    found = label_set(whole)
    _refuse_twice(_keys(found), "key")
    return found


def _check_reason(entry: object, where: str) -> None:
    table = _table(entry, where, OF_REASON)
    _check_form(table.get("code"), "code", f"{where}, code")
    _text(table, "words", where)
    _check_form(table.get("key"), "key", f"{where}, key")


def _check_label(entry: object, where: str, reasons: Sequence[str]) -> None:
    table = _table(entry, where, OF_LABEL)
    code = _check_form(table.get("code"), "code", f"{where}, code")
    if code in COMPUTED:
        raise ValueError(
            f"{where}, code: {code!r} is an outcome that is computed, not given; choose another"
        )
    for name in ("word", "sign"):
        _text(table, name, where)
    if table.get("means", "") != "":
        _text(table, "means", where)
    _check_form(table.get("key"), "key", f"{where}, key")
    for name, ground in GROUNDS.items():
        _check_colour(table.get(name), f"{where}, {name}", ground)
    _check_credit(table, where, code)
    offered = _list(table, "reasons", where)
    for reason in offered:
        if reason not in reasons:
            raise ValueError(
                f"{where}, reasons: {_shown(reason)} is not the code of a reason; add it under [[reasons]]"
            )
    if len(set(offered)) != len(offered):
        raise ValueError(
            f"{where}, reasons: one is named twice; name each once"
        )


def _check_form(value: object, form: str, where: str) -> str:
    pattern, words = _FORMS[form]
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(f"{where}: {_shown(value)} is not {words}")
    return value


def _check_colour(value: object, where: str, ground: str) -> None:
    colour = _check_form(value, "colour", where)
    ratio = contrast(colour, ground)
    if ratio < LEAST_CONTRAST:
        raise ValueError(
            f"{where}: {colour} has a contrast of {ratio:.1f} with the page's {ground}; text needs {LEAST_CONTRAST}"
        )


def _check_credit(table: Mapping[str, Any], where: str, code: str) -> None:
    credit = table.get("credit")
    is_number = isinstance(credit, int | float) and not isinstance(credit, bool)
    if credit is not None and not (is_number and 0 <= credit <= 1):
        raise ValueError(
            f"{where}, credit: {_shown(credit)} is not a number from 0 to 1"
        )
    # Results counts labels by their code: two credits for "partial" would mix two meanings in one number.
    if code in study_labels() and credit != (
        of_study := study_labels().of(code).credit
    ):
        raise ValueError(
            f"{where}, credit: the study's {code!r} has {of_study:g}; state that, or choose another code"
        )


def _refuse_twice(placed: Iterable[tuple[str, str]], name: str) -> None:
    """`placed`: the place of each value of a member, and the value; case does not tell two values apart."""
    known: dict[str, str] = {}
    for where, value in placed:
        first = known.setdefault(value.casefold(), where)
        if first != where:
            raise ValueError(
                f"{where}, {name}: {first} has {value!r} already; choose another"
            )


def _placed(
    entries: Sequence[Mapping[str, str]], what: str, name: str
) -> list[tuple[str, str]]:
    return [
        (f"{what} {place}", entry[name])
        for place, entry in enumerate(entries, start=1)
    ]


def _keys(found: LabelSet) -> list[tuple[str, str]]:
    """Place and key of every label and reason."""
    placed = []
    for place, label in enumerate(found.labels, start=1):
        placed.append((f"labels {place}", label.key))
    for place, reason in enumerate(found.reasons, start=1):
        placed.append((f"reasons {place}", reason.key))
    return placed


def _table(
    value: object, where: str, known: frozenset[str]
) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where}: {_shown(value)} is not a table")
    if unknown := sorted(map(str, value.keys() - known)):
        raise ValueError(
            f"{where}: {_shown(unknown[0])} is unknown; it may hold {', '.join(sorted(known))}"
        )
    return value


def _list(table: Mapping[str, Any], name: str, where: str) -> list[Any]:
    value = table.get(name, [])
    if not isinstance(value, list | tuple):
        raise ValueError(
            f"{_place(where, name)}: {_shown(value)} is not a list"
        )
    return list(value)


def _text(table: Mapping[str, Any], name: str, where: str) -> str:
    value = table.get(name)
    most = MOST_CHARACTERS[name]
    if (
        not isinstance(value, str)
        or not value
        # Blanks around a word would be seen by nobody and make a second one.
        or value != value.strip()
        or not value.isprintable()
    ):
        raise ValueError(
            f"{_place(where, name)}: {_shown(value)} is not a line of text without blanks around it"
        )
    if len(value) > most:
        raise ValueError(
            f"{_place(where, name)}: {_shown(value)} has more than {most} characters; shorten it"
        )
    return value


def _place(where: str, name: str) -> str:
    return f"{where}, {name}" if where else name


def _shown(value: object) -> str:
    return "nothing" if value is None else ascii(value)[:60]


def contrast(colour: str, ground: str) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2.1, relative luminance)."""
    brighter, darker = sorted(
        (_luminance(colour), _luminance(ground)), reverse=True
    )
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (
        _linear(int(colour[place : place + 2], 16) / 255) for place in (1, 3, 5)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    """Light of one part of a colour; sRGB has a straight piece near black."""
    if part <= 0.04045:
        return part / 12.92
    return float(((part + 0.055) / 1.055) ** 2.4)
