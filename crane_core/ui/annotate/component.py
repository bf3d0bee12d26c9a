"""The desk as a Streamlit component, and a person's keys, which travel with what it sends.

Its HTML, style and scripts are the files beside this one. It sends one state, `sent`: {client, n, events, have,
evidence, guideline, keys}, the whole outbox each time; see desk.js.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from crane_core.annotation.chosen_keys import checked_keys
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns.own_keys import keep_keys, key_file, own_keys
from crane_core.ui import data, keys

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "crane_desk",
    html=(_HERE / "desk.html").read_text("utf-8"),
    css=(_HERE / "desk.css").read_text("utf-8"),
    js="\n".join(
        (_HERE / name).read_text("utf-8")
        for name in ("outbox.js", "keymap.js", "desk.js")
    ),
    isolate_styles=False,
)


def draw_component(
    data: dict[str, Any], *, key: str, on_sent: Callable[[], None]
) -> None:
    """Mount the desk with a snapshot; `on_sent` runs before the page does, when the browser has sent something."""
    _component(
        data=data, key=key, default={"sent": None}, on_sent_change=on_sent
    )


def draw_closed(
    campaign: str, annotator: str, *, why: Literal["login", "gone"]
) -> None:
    """The desk without its data: an open one stays; a new one shows only what waits in the browser.

    Nothing that the browser sends is taken. The browser keeps a desk that comes at the place it had: in a container, as
    in the labelling fragment, and after two other elements.
    """
    desk = {"campaign": campaign, "annotator": annotator}
    with st.container():
        draw_component(
            {"closed": why, "desk": desk},
            key=keys.desk(campaign, annotator),
            on_sent=lambda: None,
        )


def what_was_sent(key: str) -> dict[str, Any]:
    """The last thing the browser sent; nothing at first."""
    state = st.session_state.get(key) or {}
    sent = state.get("sent")
    return sent if isinstance(sent, dict) else {}


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
