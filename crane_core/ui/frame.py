"""What is around every page: page config, style, access, the open store, refusals shown as sentences.

Every page of a replica begins with a line: it is a read-only copy, of this age; things are changed elsewhere.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import streamlit as st

from crane_core.domain import Version
from crane_core.identity.visitor import Role, Visitor
from crane_core.replica import writer
from crane_core.spelling import nearest
from crane_core.ui import data, keys
from crane_core.ui.access import admitted, draw_login
from crane_core.ui.bar.bar import draw_bar
from crane_core.ui.door import let_in
from crane_core.ui.first_visit import drawing, freeze_gc, import_page
from crane_core.ui.headline import APP, draw_headline, name_tab
from crane_core.ui.navigation import (
    MARK,
    NOT_FOUND,
    link,
    navigate,
    offer_page,
    page_files,
    shown_title,
    title,
)
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.url_state import arrive, draw_unknown, query_string
from crane_core.ui.visit import arrival, carried
from crane_core.ui.words import literal

OLD_S = 120
"""Much more than a writer lets pass between two looks for changes (`pipeline.maintenance.publishing.LONGEST_S`)."""


def draw_replica(writer: str) -> None:
    """One line; a warning where the writer has not been heard of for a while."""
    as_of, now = data.as_of(), datetime.now(UTC)
    words = replica_words(as_of, now)
    query = query_string()
    there = f"{writer}/{st.session_state[keys.PAGE]}" + (
        f"?{query}" if query else ""
    )
    link = f"To label, import or run, open [this page at the app that writes]({there})."
    if is_old(as_of, now):
        st.warning(f"{words} The app that writes may have stopped. {link}")
    else:
        st.caption(f"{words} {link}")


def replica_words(as_of: datetime, now: datetime) -> str:
    """How fresh the copy is, in words."""
    return f"Read-only copy as of {as_of:%H:%M} UTC{_day(as_of, now)}, {_age((now - as_of).total_seconds())} old."


def is_old(as_of: datetime, now: datetime) -> bool:
    """Whether the copy is so old that the page should say it in a warning."""
    return (now - as_of).total_seconds() > OLD_S


def _day(as_of: datetime, now: datetime) -> str:
    return "" if as_of.date() == now.date() else f" on {as_of:%Y-%m-%d}"


def _age(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


MOST_LETTERS = 60
"""Of a wrong address that is shown again."""


def run_app() -> None:
    """The whole of app.py: frame first, then the page that the URL means."""
    st.set_page_config(page_title=APP, page_icon=str(MARK), layout="wide")
    chosen = navigate(_draw_not_found)
    st.session_state[keys.PAGE] = chosen.url_path
    name_tab(shown_title())
    with drawing():
        if chosen.url_path in ("", *page_files()):
            import_page(chosen.url_path)
        chosen.run()


def _draw_not_found(name: str) -> None:
    """What is shown where the address names no page, as a mistyped or old link does."""
    with page(is_blind=True):
        draw_headline(title(NOT_FOUND), tab=title(NOT_FOUND))
        st.info(
            literal(
                f"The address ends in {name[:MOST_LETTERS]!r}, which is not the name of a page."
            )
        )
        known = {title(file): file for file in page_files()} | {
            file: file for file in page_files()
        }
        named = [name, *(st.query_params.get(key) for key in st.query_params)]
        if there := _named_case([str(text) for text in named]):
            link("cases", f"Open {literal(there[keys.CASE])}", **there)
        if meant := nearest(name, known):
            link(known[meant], f"Open {title(known[meant])}")
        else:
            link(next(iter(page_files())), "Open the start page")


def _named_case(named: Sequence[str]) -> dict[str, str]:
    """The address of the first case that one of these words names, itself or by one of its notebooks; empty: none."""
    for benchmark in data.benchmarks()["benchmark"]:
        cases = set(data.case_list(benchmark)["case_id"])
        for text in named:
            for ending in ("", *(f"_{version}" for version in Version)):
                if (case_id := text.removesuffix(ending)) in cases:
                    return {keys.BENCHMARK: benchmark, keys.CASE: case_id}
    return {}


@contextmanager
def page(
    *,
    needs: Role = Role.VIEWER,
    is_blind: bool = False,
    beside_the_login: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """The body of a page; a refusal of the core is shown as what happened and what to do.

    `is_blind`: the page tells nothing of what open blind campaigns hide; every other one is closed to their annotators.

    A visitor without access gets the question for the login and `beside_the_login`, not the body; one whose role
    is less than the page `needs` gets one line that says so.
    """
    beside_the_menu = st.container(
        key=keys.BAR_PLACE
    )  # there for strangers, too: what follows keeps its place
    above = st.container(
        key=keys.ABOVE
    )  # likewise: a desk that asks for the login again stays the same desk
    visitor = _let_in()
    if visitor is None:
        beside_the_login()
        st.stop()
    with refusals_shown():
        let_in(carried())
    arrive()
    with refusals_shown():
        data.refresh()
        with beside_the_menu:
            draw_bar()
        if there := writer():
            draw_replica(there)
    if not visitor.may(needs):
        st.title(shown_title())
        if writer():
            st.info(
                "Nothing can be changed here. The link above opens this page where it can."
            )
            st.stop()
        st.info(
            literal(
                f"This page needs the role {needs}; you are logged in as {visitor.email}, {visitor.role}."
            )
        )
        st.stop()
    if not is_blind:
        _stop_if_blinded(visitor)
    with refusals_shown():
        yield
        draw_unknown(above, offer_page)
    freeze_gc()


def _stop_if_blinded(visitor: Visitor) -> None:
    """Ends the run where the body must not be drawn; also where it is unknown whether it may be."""
    # A refusal leaves it None, and None ends the run: what cannot be looked up is not shown.
    campaigns = None
    with refusals_shown():
        campaigns = data.blinding(visitor)
    if campaigns is None:
        st.stop()
    if campaigns:
        _draw_closed(campaigns)
        st.stop()


def _draw_closed(campaigns: list[str]) -> None:
    """Replaces a page that could reveal to annotators what their blind campaign hides."""
    st.title(shown_title())
    of = (
        f"the blind campaign {campaigns[0]}"
        if len(campaigns) == 1
        else f"the blind campaigns {', '.join(campaigns)}"
    )
    st.info(
        literal(
            f"You label in {of}. This page opens when labelling is locked, because it could reveal models."
        )
    )
    link("annotate", "Open Annotate")


def _let_in() -> Visitor | None:
    """The visitor; None after drawing the login or password form, if the visitor is not admitted."""
    with refusals_shown():
        found = arrival()
        if found.visitor is None:
            draw_login(found.refusal)
        elif found.visitor.is_known or admitted(
            "CRANE_PASSWORD", key=keys.ADMITTED, heading=APP
        ):
            return found.visitor
    return None
