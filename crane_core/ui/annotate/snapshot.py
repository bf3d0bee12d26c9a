"""What the desk in the browser receives: what comes next, what can be undone, what is on disk. Plain JSON.

A showing goes by its name at this desk (`desk_names`): a reader of the page's elements learns neither detector nor
setting nor that an item comes back.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from crane_core.annotation.journal import Journal, LabelInForce
from crane_core.annotation.order import Showing
from crane_core.annotation.pace import pace
from crane_core.pipeline.campaigns.desk_names import DeskNames
from crane_core.pipeline.campaigns.labelling import Taken
from crane_core.pipeline.campaigns.plan_outline import SECONDS_PER_ITEM

AHEAD = 24
"""Cards that the browser loads in advance: more than anyone labels during one save."""
AT_ONCE, MORE_AT_ONCE = 3, 6
"""Cards of the first answer to a browser, and of later ones: a card costs the server up to 50 ms.

With few a desk opens sooner, and "saved" does not wait for many. The browser asks again until it has all.
"""
BACK = 3
"""Earlier cards that open without waiting, also after a restart."""


class Held(NamedTuple):
    """What a browser has: names of the items whose cards it holds, and of one whose card it needs now."""

    cards: Collection[str] = ()
    wanted: object = None


def snapshot(
    journal: Journal,
    taken: Taken | None,
    *,
    names: DeskNames,
    held: Held = Held(),  # noqa: B008 - a NamedTuple is immutable
    card_of: Callable[[str], str],
    difference_of: Callable[[str, str], str | None] | None = None,
    locked: str | None = None,
) -> dict[str, Any]:
    """The state after a save. card_of: the campaign's name of an item to HTML.

    difference_of: an item and the one before it to the marked difference of their texts, None where they are unlike; no
    function where the desk never offers the label of the item before.
    """
    token = names.of
    ahead = journal.upcoming(len(journal.order))
    coming = ahead[:AHEAD]
    back = journal.undoable()
    wanted = names.showing(held.wanted) if held.wanted else None
    first = [wanted] if wanted else []
    soon, later = coming[:MORE_AT_ONCE], coming[MORE_AT_ONCE:]
    near = dict.fromkeys([*first, *soon, *back[:BACK], *later])
    missing = [showing for showing in near if token(showing) not in held.cards]
    needed = missing[: MORE_AT_ONCE if held.cards else AT_ONCE]
    seconds = [
        given.seconds
        for given in journal.given.values()
        if given.source is None
    ]
    speed = pace(seconds, len(ahead))
    return {
        "queue": [token(showing) for showing in coming],
        "undo": [token(showing) for showing in back],
        "labels": {
            token(showing): str(journal.given[showing].label)
            for showing in back
        },
        "reasons": {
            token(showing): journal.given[showing].reason for showing in back
        },
        "given": {
            token(showing): journal.given[showing].event for showing in back
        },
        "cards": {token(showing): card_of(showing.item) for showing in needed},
        "like": None
        if difference_of is None
        else _like(journal, coming, needed, names, difference_of),
        "has_more": len(needed) < len(missing),
        "flags": [
            token(showing)
            for showing in (*coming, *back)
            if showing in journal.flags
        ],
        "notes": {
            token(s): journal.notes[s]
            for s in (*coming, *back)
            if journal.notes.get(s)
        },
        "done": journal.n_done,
        "total": journal.n_done + len(ahead),
        "n_skipped": sum(
            showing not in journal.given for showing in journal.skipped
        ),
        "median_s": speed.median_s,
        # Before the first labels, what the plan expects.
        "seconds_left": speed.seconds_left or len(ahead) * SECONDS_PER_ITEM,
        "saved": taken.saved if taken else [],
        "refused": taken.refused if taken else {},
        "overtaken": {
            event: _other_label(one) for event, one in taken.overtaken.items()
        }
        if taken
        else {},
        "trouble": taken.trouble if taken else None,
        "save_ms": round(taken.seconds * 1e3, 2) if taken else None,
        "locked": locked,
    }


def _like(
    journal: Journal,
    coming: Sequence[Showing],
    needed: Collection[Showing],
    names: DeskNames,
    difference_of: Callable[[str, str], str | None],
) -> dict[str, dict[str, str]]:
    """For each card that is sent: the name of the item before and the difference, if the texts are nearly alike."""
    found = {}
    for before, showing in pairwise([*journal.labelled[-1:], *coming]):
        # A hidden repeat is between two cases, and a mark there would tell that it is one.
        is_repeat = 2 in (before.showing, showing.showing)
        if showing not in needed or is_repeat:
            continue
        html = difference_of(before.item, showing.item)
        if html is not None:
            found[names.of(showing)] = {"to": names.of(before), "html": html}
    return found


def _other_label(given: LabelInForce) -> dict[str, Any]:
    """A label that came from elsewhere meanwhile."""
    return {"event": given.event, "label": given.label, "reason": given.reason}
