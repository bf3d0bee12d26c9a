"""A person's keys between the browser and the server: taken with what a desk sends, and part of its snapshot.

Who it is has been checked by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crane_core.annotation.chosen_keys import checked_keys
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns.own_keys import keep_keys, key_file, own_keys
from crane_core.ui import data


def take_keys(person: str, sent: Mapping[str, Any]) -> None:
    """Keep the keys that the browser sent, if it sent any. Raises LedgerError if the disk refuses."""
    body = sent.get("keys")
    if (
        isinstance(body, Mapping)
        and body.get("person") == person
        and _refusal(body) is None
    ):
        keep_keys(data.folder(), person, body)


def keys_told(person: str, sent: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the server keeps for a person: the choice (None: there is none), or why it cannot be read.

    n and refused answer what was sent. None for a name that keys are not kept for.
    """
    if key_file(data.folder(), person) is None:
        return None
    trouble = chosen = None
    try:
        chosen = own_keys(data.folder(), person)
    except CampaignError as error:
        trouble = str(error)
    answered: dict[str, Any] = {}
    body = sent.get("keys")
    if isinstance(body, Mapping) and body.get("person") == person:
        answered = {"n": body.get("n"), "refused": _refusal(body)}
    return {"person": person, "chosen": chosen, "trouble": trouble, **answered}


def _refusal(body: Mapping[str, Any]) -> str | None:
    try:
        checked_keys(dict(body))
    except ValueError as error:
        return f"The server does not keep these keys: {error}."
    return None
