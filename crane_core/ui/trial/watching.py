"""Work beside the page, watched: how it stands, and a button that ends it. When it is over the page is drawn again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from crane_core.ui.trial.background import Background

POLL_S = 0.5


def draw_watch(work: Background[Any], button: str, *, key: str, words: Callable[[], str]) -> None:
    """Draws itself again twice a second; `words` tells in Markdown how it stands."""

    def watch() -> None:
        if work.outcome is not None:
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button(button, key=key, disabled=work.stop.is_set()):
                work.stop.set()
            st.caption(words(), width="content")

    st.fragment(watch, run_every=POLL_S)()
