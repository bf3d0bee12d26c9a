"""The deciding screen as a Streamlit component: its HTML, style and scripts are files here and at the labelling desk.

It sends one state, `sent`: {client, n, decisions, have, late, evidence, by, keys}, the whole outbox each time; see
decide.js.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent
_DESK = _HERE.parent / "annotate"
_SCRIPTS = (_DESK / "outbox.js", _DESK / "keymap.js", _HERE / "decide.js")
_component = st.components.v2.component(
    "crane_decide",
    html=(_HERE / "decide.html").read_text("utf-8"),
    css=(_DESK / "desk.css").read_text("utf-8"),
    js="\n".join(path.read_text("utf-8") for path in _SCRIPTS),
    isolate_styles=False,
)


def draw_deciding(
    data: dict[str, Any], *, key: str, on_sent: Callable[[], None]
) -> None:
    """Mount the screen with a snapshot; `on_sent` runs before the page does, when the browser has sent something."""
    _component(data=data, key=key, default={"sent": None}, on_sent_change=on_sent)
