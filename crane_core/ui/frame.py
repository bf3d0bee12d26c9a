"""What stands around every page: page config, style, access, the open store, errors told as sentences.

Each page file begins with `with page():`. On a fresh server a first visit to a page's own URL runs that file
without app.py (the pages/ folder makes Streamlit do so); the frame then declares the menu and runs the visit again,
which goes through app.py with the same URL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from crane_core.errors import CraneError
from crane_core.storage.store import DatabaseError, damaged
from crane_core.ui import data, keys
from crane_core.ui.access import admitted
from crane_core.ui.bar.bar import draw_bar
from crane_core.ui.door import let_in
from crane_core.ui.navigation import MARK, navigate
from crane_core.ui.refusal import refusal_words
from crane_core.ui.settled import settle
from crane_core.ui.url_state import arrive


def run_app() -> None:
    """The whole of app.py: frame first, then the page that the URL means."""
    st.session_state[keys.IN_APP] = True
    st.set_page_config(page_title="Crane Workbench", page_icon=str(MARK), layout="wide")
    chosen = navigate()
    st.session_state[keys.PAGE] = chosen.url_path
    chosen.run()


@contextmanager
def page(*, beside_the_password: Callable[[], None] = lambda: None) -> Iterator[None]:
    """The body of a page; a refusal of the core is shown as what happened and what to do.

    A visitor who was not admitted gets the question for the password and `beside_the_password`, not the body.
    """
    if not st.session_state.get(keys.IN_APP):
        navigate()
        st.rerun()
    beside_the_menu = st.container(key=keys.BAR_PLACE)  # there for strangers, too: what follows keeps its place
    if not admitted("CRANE_PASSWORD", key=keys.ADMITTED, heading="Crane Workbench"):
        beside_the_password()
        st.stop()
    let_in()
    arrive()
    with told():
        data.refresh()
        with beside_the_menu:
            draw_bar()
    with told():
        yield
    settle()


@contextmanager
def told() -> Iterator[None]:
    """A refusal of the core inside is shown as what happened and what to do; what follows goes on."""
    try:
        yield
    except (CraneError, DatabaseError) as caught:
        error = caught if isinstance(caught, CraneError) else damaged(caught)
        st.error(refusal_words(str(error.args[0]), error.remedy))
