"""What a browser sends, made into an act of an annotator: checked member by member, as browsers are not trusted."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from crane_core.annotation.guideline import version_of
from crane_core.annotation.journal import DIAGNOSIS_LABELS
from crane_core.annotation.plan import Plan, Showing, guideline_of
from crane_core.annotation.reasons import REASONS
from crane_core.domain import Annotation, AnnotationAction, Label

MAX_NOTE = 2_000
"""Characters of a note."""
MAX_SECONDS = 86_400.0
_EVENT = re.compile(r"[A-Za-z0-9-]{8,64}")
_BY_ANNOTATOR = frozenset(AnnotationAction) - {AnnotationAction.ADJUDICATE}


def annotation(raw: Mapping[str, Any], plan: Plan, annotator: str, *, sequence: int) -> Annotation:
    """The act that `raw` describes. Raises ValueError saying which member does not do.

    raw: event, action, item, showing, and as the action needs: label, reason, note, shown_at, first_action_at,
    submitted_at (ISO 8601), seconds; guideline: the version that was on the page, the plan's where none was.
    """
    action = AnnotationAction(_text(raw, "action"))
    if action not in _BY_ANNOTATOR:
        raise ValueError(f"an annotator cannot {action}")
    event = _text(raw, "event")
    if not _EVENT.fullmatch(event):
        raise ValueError("event must be 8 to 64 letters, digits and dashes")
    showing = Showing(_text(raw, "item"), _showing(raw.get("showing")))
    if showing not in plan.orders[annotator]:
        raise ValueError(f"{showing.item}, showing {showing.showing}, is not an item of {annotator}")
    return Annotation(
        campaign=plan.campaign,
        annotator=annotator,
        event=event,
        sequence=sequence,
        action=action,
        item=showing.item,
        showing=showing.showing,
        guideline=_guideline(raw, plan),
        submitted_at=_time(raw, "submitted_at") or datetime.now(UTC).isoformat(timespec="milliseconds"),
        label=_label(raw) if action is AnnotationAction.LABEL else None,
        reason=_reason(raw),
        note=_note(raw),
        shown_at=_time(raw, "shown_at"),
        first_action_at=_time(raw, "first_action_at"),
        seconds=_seconds(raw),
    )


def _text(raw: Mapping[str, Any], name: str) -> str:
    value = raw.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is missing")
    return value


def _guideline(raw: Mapping[str, Any], plan: Plan) -> str:
    """The version that the annotator read: the plan's, or, where its text was not stored, the one shown instead."""
    given = raw.get("guideline", plan.guideline)
    known = (plan.guideline, version_of(guideline_of(plan)))
    if given not in known:
        raise ValueError(f"guideline must be {' or '.join(dict.fromkeys(known))}")
    return str(given)


def _showing(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in (1, 2):
        raise ValueError("showing must be 1 or 2")
    return value


def _label(raw: Mapping[str, Any]) -> Label:
    label = Label(_text(raw, "label"))
    if label not in DIAGNOSIS_LABELS:
        raise ValueError(f"{label} is computed, not given")
    return label


def _reason(raw: Mapping[str, Any]) -> str | None:
    reason = raw.get("reason")
    if reason is None:
        return None
    if not isinstance(reason, str) or reason not in REASONS:
        raise ValueError(f"reason must be one of {', '.join(REASONS)}")
    return reason


def _note(raw: Mapping[str, Any]) -> str | None:
    note = raw.get("note")
    if note is None:
        return None
    if not isinstance(note, str) or len(note) > MAX_NOTE:
        raise ValueError(f"a note has up to {MAX_NOTE:,} characters")
    return note.encode("utf-8", "replace").decode("utf-8")


def _time(raw: Mapping[str, Any], name: str) -> str | None:
    value = raw.get(name)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(str(value))
        in_utc = moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name} is not a time") from error
    if moment.tzinfo is None:
        raise ValueError(f"{name} has no time zone")
    return in_utc.isoformat(timespec="milliseconds")


def _seconds(raw: Mapping[str, Any]) -> float | None:
    value = raw.get("seconds")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("seconds is not a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("seconds is not finite")
    return float(min(max(value, 0), MAX_SECONDS))
