"""What the desk in the browser receives: what comes next, what can be undone, what is on disk. Plain JSON.

A showing goes by a token, twelve hex digits: a reader of the page's elements learns neither detector nor setting nor
that an item comes back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from crane_core.annotation.journal import Journal
from crane_core.annotation.pace import pace
from crane_core.annotation.plan import Plan
from crane_core.annotation.showing import Showing
from crane_core.pipeline.campaigns.labelling import Taken

AHEAD = 24
"""Cards that the browser loads in advance: more than anyone labels during one save."""
AT_ONCE = 3
"""Cards of a browser's first message: a card costs the server 50 ms, so a desk opens sooner with few."""
BACK = 3
"""Earlier cards that open without waiting, also after a restart."""


@lru_cache(maxsize=50_000)
def token(showing: Showing) -> str:
    """The name of a showing in the browser."""
    if showing.showing == 1:
        return showing.item
    return hashlib.sha256(f"{showing.item}/{showing.showing}".encode()).hexdigest()[:12]


def showing_of(plan: Plan, annotator: str) -> dict[str, Showing]:
    """Token to showing, for all of an annotator's order."""
    return {token(showing): showing for showing in plan.orders[annotator]}


def snapshot(
    journal: Journal,
    taken: Taken | None,
    *,
    have: Collection[str],
    card_of: Callable[[str], str],
    locked: str | None = None,
) -> dict[str, Any]:
    """The state after a save. have: tokens whose cards the browser holds. card_of: item name to HTML."""
    ahead = journal.upcoming(len(journal.order))
    coming = ahead[:AHEAD]
    back = journal.undoable()
    missing = [showing for showing in (*coming, *back[:BACK]) if token(showing) not in have]
    needed = missing if have else missing[:AT_ONCE]
    seconds = [given.seconds for given in journal.given.values() if given.source is None]
    speed = pace(seconds, len(ahead))
    return {
        "queue": [token(showing) for showing in coming],
        "undo": [token(showing) for showing in back],
        "labels": {token(showing): str(journal.given[showing].label) for showing in back},
        "reasons": {token(showing): journal.given[showing].reason for showing in back},
        "cards": {token(showing): card_of(showing.item) for showing in needed},
        "has_more": len(needed) < len(missing),
        "flags": [token(showing) for showing in (*coming, *back) if showing in journal.flags],
        "notes": {token(s): journal.notes[s] for s in (*coming, *back) if journal.notes.get(s)},
        "done": journal.n_done,
        "total": journal.n_done + len(ahead),
        "n_skipped": sum(showing not in journal.given for showing in journal.skipped),
        "median_s": speed.median_s,
        "seconds_left": speed.seconds_left,
        "saved": taken.saved if taken else [],
        "refused": taken.refused if taken else {},
        "trouble": taken.trouble if taken else None,
        "save_ms": round(taken.seconds * 1e3, 2) if taken else None,
        "locked": locked,
    }
