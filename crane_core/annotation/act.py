"""An annotator's act from a browser's message, checked member by member because browsers are not trusted."""

import math
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from crane_core.annotation.guideline import version_of
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan, guideline_of
from crane_core.domain import Annotation, AnnotationAction

MAX_NOTE = 2_000
"""Characters of a note."""
MAX_SECONDS = 86_400.0
EVENT = re.compile(r"[A-Za-z0-9-]{8,64}")
"""A browser's name of an act."""
DEVICE = EVENT
"""A browser's name of itself."""
_BY_ANNOTATOR = frozenset(AnnotationAction) - {
    AnnotationAction.ADJUDICATE,
    AnnotationAction.SHOWN,
}


def annotation(
    raw: Mapping[str, Any],
    plan: Plan,
    annotator: str,
    *,
    sequence: int,
    later_versions: Collection[str] = (),
) -> Annotation:
    """The act that `raw` describes. Raises ValueError, which names the invalid member.

    raw: event, action, item, showing, and as the action needs: label, reason, note, shown_at, first_action_at,
    submitted_at (ISO 8601), seconds; guideline: the version on the page, the plan's if there is no other.
    later_versions: those of the guideline's changes. The server's clock says when the act came. device and number, both
    or neither: the browser, and which of its acts this is. as_before: true of a label taken from the item before.
    """
    received_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    action = AnnotationAction(_text(raw, "action"))
    if action not in _BY_ANNOTATOR:
        raise ValueError(f"{action} is not an act of an annotator")
    event = _text(raw, "event")
    if not EVENT.fullmatch(event):
        raise ValueError("event must be 8 to 64 letters, digits and dashes")
    showing = Showing(_text(raw, "item"), _showing(raw.get("showing")))
    # A browser may name any item; only those that this annotator was dealt can be labelled.
    if showing not in plan.orders[annotator]:
        raise ValueError(
            f"{showing.item}, showing {showing.showing}, is not an item of {annotator}"
        )
    return Annotation(
        campaign=plan.campaign,
        annotator=annotator,
        event=event,
        sequence=sequence,
        action=action,
        item=showing.item,
        showing=showing.showing,
        guideline=_guideline(raw, plan, later_versions),
        submitted_at=_time(raw, "submitted_at") or received_at,
        label=_label(raw, plan) if action is AnnotationAction.LABEL else None,
        reason=_reason(raw, plan),
        note=_note(raw),
        shown_at=_time(raw, "shown_at"),
        first_action_at=_time(raw, "first_action_at"),
        seconds=_seconds(raw),
        received_at=received_at,
        is_as_before=_is_as_before(raw, action),
        **_made_at(raw),
    )


def _is_as_before(
    raw: Mapping[str, Any], action: AnnotationAction
) -> bool | None:
    """True of a label that was taken from the item before; None of one that was chosen."""
    value = raw.get("as_before", False)
    if not isinstance(value, bool):
        raise ValueError("as_before must be true or false")
    if value and action is not AnnotationAction.LABEL:
        raise ValueError("as_before is said of a label alone")
    return value or None


def _made_at(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The device of the act and its number there."""
    device = raw.get("device")
    number = raw.get("number")
    if device is None and number is None:
        return {}
    if not isinstance(device, str) or not DEVICE.fullmatch(device):
        raise ValueError("device must be 8 to 64 letters, digits and dashes")
    if (
        # In Python `true` is the integer 1; in JSON it is not.
        isinstance(number, bool)
        or not isinstance(number, int)
        or not 1 <= number < 2**31
    ):
        raise ValueError("number must count the acts of the device from 1")
    return {"device": device, "number": number}


def _text(raw: Mapping[str, Any], name: str) -> str:
    value = raw.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is missing")
    return value


def _guideline(
    raw: Mapping[str, Any], plan: Plan, later: Collection[str]
) -> str:
    """The version that the annotator read: one of the plan's, what was shown where its text was not stored, changes."""
    # A page that was opened before guidelines could change sends none, which is sure only while there is one
    # version.
    given = raw.get("guideline")
    if "guideline" not in raw and not later:
        given = plan.guideline
    shown = version_of(guideline_of(plan))
    known = dict.fromkeys((plan.guideline, shown, *later))
    if not isinstance(given, str) or given not in known:
        raise ValueError(f"guideline must be {' or '.join(known)}")
    return given


def _showing(value: object) -> int:
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or value not in (1, 2)
    ):
        raise ValueError("showing must be 1 or 2")
    return value


def _label(raw: Mapping[str, Any], plan: Plan) -> str:
    label = _text(raw, "label")
    if label not in plan.labels:
        raise ValueError(
            f"{label[:40]!r} is not one of the labels {plan.labels.listed()}"
        )
    return label


def _reason(raw: Mapping[str, Any], plan: Plan) -> str | None:
    reason = raw.get("reason")
    known = plan.labels.reason_words
    if reason is None:
        return None
    if not isinstance(reason, str) or reason not in known:
        raise ValueError(f"reason must be one of {', '.join(known)}")
    return reason


def _note(raw: Mapping[str, Any]) -> str | None:
    note = raw.get("note")
    if note is None:
        return None
    if not isinstance(note, str) or len(note) > MAX_NOTE:
        raise ValueError(f"a note has up to {MAX_NOTE:,} characters")
    # Half an emoji, which a browser may cut off, cannot be written to the ledger.
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
    # Devices stand in different zones: without its zone a time names no moment.
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
    # Clocks of browsers jump; a time is bounded rather than the label refused.
    return float(min(max(value, 0), MAX_SECONDS))
