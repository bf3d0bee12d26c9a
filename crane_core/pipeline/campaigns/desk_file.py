"""The file that a desk offers when acts of its annotator can no longer be saved.

One JSON object a line, as a browser would have sent it. It names items as the desk does, and carries the campaign, the
annotator and when the campaign was made.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from crane_core.annotation.plan import Plan
from crane_core.pipeline.campaigns.desk_names import DeskNames

_MEMBERS = {"event", "action", "id", "campaign", "annotator", "made"}


class DeskLines(NamedTuple):
    """Acts in the order in which they were made, with the line of each, and lines that hold none with why."""

    acts: list[dict[str, Any]]
    lines: list[int]
    invalid: list[tuple[int, str]]


class _Line(NamedTuple):
    number: int
    act: dict[str, Any]


def is_desk_file(content: bytes) -> bool:
    """Whether the first line is an act of a desk; a CSV file has a header there, and other tools have other members."""
    first = _parsed(
        content.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    )
    return isinstance(first, dict) and first.keys() >= _MEMBERS


def desk_lines(
    content: bytes, plan: Plan, annotator: str, names: DeskNames
) -> DeskLines:
    """The acts of the file as `LabelStore` takes them."""
    found: list[_Line] = []
    invalid: list[tuple[int, str]] = []
    for number, line in _lines(content):
        act = _parsed(line)
        fault = _fault(act, plan, annotator, names)
        if fault is None:
            found.append(_Line(number, _named(act, names)))
        else:
            invalid.append((number, fault))
    found.sort(key=lambda one: one.act.get("number") or 0)
    return DeskLines(
        [one.act for one in found], [one.number for one in found], invalid
    )


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines that are not empty, counted from 1."""
    for number, line in enumerate(
        content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1
    ):
        if line.strip():
            yield number, line


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _fault(
    act: Any, plan: Plan, annotator: str, names: DeskNames
) -> str | None:
    """Why a line is not an act of this annotator in this campaign."""
    if not isinstance(act, dict):
        return "this is not an act of a desk"
    expected = {
        "campaign": plan.campaign,
        "annotator": annotator,
        "made": plan.created_at,
    }
    for name, value in expected.items():
        if act.get(name) != value:
            return f"this is an act of {_of(act)}, not of {annotator} in {plan.campaign}"
    if not isinstance(act.get("number") or 0, int):
        return "the number of the act is not a number"
    if names.of_an_act(act.get("id")) is None:
        return f"{str(act.get('id'))[:40]!r} is not an item of {annotator}"
    return None


def _of(act: Mapping[str, Any]) -> str:
    who, campaign, made = (
        str(act.get(name))[:40] for name in ("annotator", "campaign", "made")
    )
    return f"{who} in {campaign}, made {made}"


def _named(act: dict[str, Any], names: DeskNames) -> dict[str, Any]:
    """The act with the ledger's name of its item, and without what the desk kept for itself."""
    showing = names.of_an_act(act["id"])
    kept = {
        name: value
        for name, value in act.items()
        if name not in ("id", "refused", "other")
    }
    return kept | (
        {"item": showing.item, "showing": showing.showing} if showing else {}
    )
