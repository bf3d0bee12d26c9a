"""Progress of work in a thread, with a button that stops it. The page is drawn again when it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from crane_core.ui.trial.background import Background

POLL_S = 0.5


def draw_watch(
    work: Background[Any], button: str, *, key: str, words: Callable[[], str]
) -> None:
    """Redrawn twice a second; `words` is the progress in Markdown."""

    def watch() -> None:
        if work.outcome is not None:
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button(button, key=key, disabled=work.stop.is_set()):
                work.stop.set()
            st.caption(words(), width="content")

    st.fragment(watch, run_every=POLL_S)()
