"""Names of an annotator's showings in the browser: they do not reveal which item comes back.

They are made with a key that only the server reads, for each campaign and person. The ledger has the item and its
showing instead.

items.key    in the data folder; with another one, acts that wait in browsers are refused and can be downloaded
"""

from __future__ import annotations

import hashlib
import hmac
from functools import cached_property

from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan
from crane_core.identity.key import kept_key
from crane_core.pipeline.places import DataFolder

KEY_FILE = "items.key"
LENGTH = 12
"""Hex digits of a name."""


class DeskNames:
    """The names of everything in one annotator's order; made once, because 20,000 items take a while."""

    def __init__(self, key: bytes, plan: Plan, annotator: str) -> None:
        self._about = (key, plan.campaign, plan.created_at, annotator)
        self._order = plan.orders[annotator]

    def of(self, showing: Showing) -> str:
        """The name of a showing."""
        return _name(*self._about, showing.item, showing.showing)

    def is_as(self, other: DeskNames) -> bool:
        """Whether the other has the same names for the same showings."""
        return self._about == other._about and self._order is other._order

    def showing(self, name: object) -> Showing | None:
        """The showing of a name; None if the annotator has none of this name."""
        return self._showing_of.get(str(name))

    @cached_property
    def _showing_of(self) -> dict[str, Showing]:
        return {self.of(showing): showing for showing in self._order}

    def of_an_act(self, name: object) -> Showing | None:
        """The same for an act that waited in a browser, maybe since before names were made with a key.

        Such names reveal no more: no page tells the names of items from which they can be computed.
        """
        return self.showing(name) or self._showing_of_earlier.get(str(name))

    @cached_property
    def _showing_of_earlier(self) -> dict[str, Showing]:
        return {_earlier_name(showing): showing for showing in self._order}


def desk_names(folder: DataFolder, plan: Plan, annotator: str) -> DeskNames:
    """The names at the desk of this annotator. Raises IdentityError if the key cannot be used."""
    key = kept_key(
        folder.path / KEY_FILE, ends="acts that wait in browsers are refused"
    )
    return DeskNames(key, plan, annotator)


def _name(
    key: bytes,
    campaign: str,
    created_at: str,
    annotator: str,
    item: str,
    showing: int,
) -> str:
    told = "\0".join((campaign, created_at, annotator, item, str(showing)))
    return hmac.new(key, told.encode(), hashlib.sha256).hexdigest()[:LENGTH]


def _earlier_name(showing: Showing) -> str:
    """How versions up to 2026-11 named a showing."""
    if showing.showing == 1:
        return showing.item
    return hashlib.sha256(
        f"{showing.item}/{showing.showing}".encode()
    ).hexdigest()[:LENGTH]
