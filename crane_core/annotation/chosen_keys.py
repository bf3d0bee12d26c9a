"""The keys that a person chose: which key does what, or that single keys are off. Knows a valid choice from another.

As the browser has it (keymap.js): {"isOff": false, "keys": {"label-correct": "j", "skip": null}}. Actions that a page
does not have belong to another campaign's labels and are kept; null is an action without a key.
"""

import re
from typing import Any

MOST_KEYS = 200
"""Actions with a chosen key: those of many label sets."""
_ACTION = re.compile(r"[a-z]{1,12}(-[a-z0-9-]{1,40})?")
_WITH_ALT = re.compile(r"alt\+[a-z0-9]")
_OF_THE_APP = frozenset("rc")
"""Streamlit runs and clears with them; they can stand nowhere else."""


def checked_keys(body: Any) -> dict[str, Any]:
    """The choice with nothing but its two members. Raises ValueError naming the first entry that is wrong."""
    whole = body if isinstance(body, dict) else {}
    is_off = whole.get("isOff")
    chosen = whole.get("keys")
    if not isinstance(is_off, bool) or not isinstance(chosen, dict):
        raise ValueError("it needs isOff, true or false, and keys, an object")
    if len(chosen) > MOST_KEYS:
        raise ValueError(
            f"it has {len(chosen):,} keys; {MOST_KEYS} are the most"
        )
    for action, key in chosen.items():
        if not isinstance(action, str) or not _ACTION.fullmatch(action):
            raise ValueError(
                f"{str(action)[:40]!r} is not the name of an action"
            )
        if key is not None and not _is_key(key):
            raise ValueError(f"{str(key)[:20]!r} cannot be the key of {action}")
    return {"isOff": is_off, "keys": dict(chosen)}


def _is_key(key: object) -> bool:
    if not isinstance(key, str) or _WITH_ALT.fullmatch(key):
        return isinstance(key, str)
    return (
        len(key) == 1
        and key.isprintable()
        and not key.isspace()
        and key == key.lower()
        and key not in _OF_THE_APP
    )
