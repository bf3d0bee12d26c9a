"""The pages of the app, found in pages/: `<order>_<name>.py`. Adding a page is adding a file."""

import ast
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from crane_core.pipeline.places import CHECKOUT
from crane_core.ui import keys
from crane_core.ui.url_state import leave_for

PAGES = CHECKOUT / "pages"
GROUPS = {0: "Study", 4: "Label", 7: "Run"}
"""The number of a group's first page to its name in the menu."""
NOT_FOUND = "page_not_found"
ITEM_OF_PAGE = {
    "cases": keys.CASE,
    "campaigns": keys.CAMPAIGN,
    "annotate": keys.CAMPAIGN,
}
"""Pages of many things to the parameter that opens one of them by its id."""
MARK = Path(__file__).with_name("icon.svg")


def page_files() -> dict[str, Path]:
    """Page name (also its URL) to file, in menu order; the first is the start page."""
    # The number in front is the order of the menu and no part of the address.
    files = sorted(PAGES.glob("[0-9]*_*.py"))
    return {file.stem.split("_", 1)[1]: file for file in files}


def title(name: str) -> str:
    """What the menu calls a page: "try_a_notebook" is "Try a notebook"."""
    return name.replace("_", " ").capitalize()


@cache
def question(name: str) -> str:
    """The question that a page answers, as its file's first line says it after the name."""
    told = ast.get_docstring(ast.parse(page_files()[name].read_text("utf-8")))
    first = (told or "").split("\n", 1)[0]
    return first.partition(": ")[2]


def shown_title() -> str:
    """What the menu calls the page that is shown."""
    return title(st.session_state[keys.PAGE] or next(iter(page_files())))


def pages() -> dict[str, st.Page]:
    """All pages by name."""
    files = page_files()
    first = next(iter(files))
    return {
        name: st.Page(
            file,
            title=title(name),
            url_path=None if name == first else name,
            default=name == first,
        )
        for name, file in files.items()
    }


def declare_pages() -> None:
    """Have Streamlit run app.py for every address, from the server's first visit on.

    Else it would run a page's file alone, without app.py, until `st.navigation` was called once: that is how it
    treats a folder `pages/` beside the app.
    """
    PagesManager.uses_pages_directory = False


def navigate(draw_not_found: Callable[[str], None]) -> st.Page:
    """Draw the menu and say which page the URL means; for an address that is none, one that `draw_not_found` draws.

    That page is not in the menu. It stays this session's, because a later run names it again.
    """
    st.logo(str(MARK), size="medium")
    if wrong := _unknown_address():
        st.session_state[keys.UNKNOWN_PAGE] = wrong
    shown = list(pages().values())
    if wrong := st.session_state.get(keys.UNKNOWN_PAGE):

        def not_found() -> None:
            draw_not_found(wrong)

        shown.append(
            st.Page(
                not_found,
                title=title(NOT_FOUND),
                url_path=wrong,
                visibility="hidden",
            )
        )
    return st.navigation(shown, position="top")


def _unknown_address() -> str | None:
    """The name in the address if no page has it; None if one has.

    `st.navigation` would show the start page for it. That has its own name in the menu, so one may type that too.
    """
    context = get_script_run_ctx()
    asked = (context.pages_manager.intended_page_name or "") if context else ""
    return None if not asked or "/" in asked or asked in page_files() else asked


def group_of(name: str) -> str | None:
    """The name of the group that begins with this page; None: it begins none."""
    return GROUPS.get(int(page_files()[name].stem.split("_", 1)[0]))


def group_style() -> str:
    """Rules that put each group's name above its first page, in the top menu and in the narrow screen's list.

    Streamlit's own sections fold the pages of a top menu away; here all of them stay in sight.
    """
    rules = []
    for place, name in enumerate(page_files(), start=1):
        group = group_of(name)
        if place > 1 and group:
            rules.append(
                f"[data-testid=stTopNav] .rc-overflow-item:nth-child({place}) {{ padding-left: 8px; }}"
            )
        if group:
            first = (
                f"[data-testid=stTopNav] .rc-overflow-item:nth-child({place})::before",
                f"[data-testid=stSidebarNavItems] li:nth-child({place})::before",
            )
            rules.append(f'{", ".join(first)} {{ content: "{group}" / ""; }}')
    return "\n".join(rules)


def go(name: str, **query: str | list[str]) -> None:
    """Leave for another page with these query parameters; empty ones are left out."""
    asked = {k: v for k, v in query.items() if v}
    leave_for(name, asked)
    st.switch_page(PAGES / page_files()[name].name, query_params=asked)


def link(name: str, label: str, **query: str | list[str]) -> None:
    """A link to another page with these query parameters; empty ones are left out."""
    st.page_link(
        PAGES / page_files()[name].name,
        label=label,
        query_params={k: v for k, v in query.items() if v},
    )


def offer_page(named: str) -> None:
    """A link to the page of this name, if there is one: a part of a page may be looked for that is a page itself."""
    name = named.lower().replace(" ", "_")
    if name in page_files():
        link(name, f"Open {title(name)}")


def turn(label: str, **query: str | list[str]) -> None:
    """Looks like a link; shows this same page with these query parameters, and nothing else, in its address.

    A page link to the page that it is on runs it again but leaves the address as it was.
    """
    _turn(label, "tertiary", query)


def turn_to_main(label: str, **query: str | list[str]) -> None:
    """As `turn`, but it looks like the main button of the page."""
    _turn(label, "primary", query)


def _turn(
    label: str,
    kind: Literal["primary", "tertiary"],
    query: dict[str, str | list[str]],
) -> None:
    st.button(
        label,
        key=f"turn_{label}_{sorted(query.items())}",
        type=kind,
        on_click=show_here,
        kwargs=query,
    )


def draw_neighbours(
    before: str | None, after: str | None, show: Callable[[str], None]
) -> None:
    """Buttons, and keys, that show what is before and after in a list; None: nothing is."""
    for words, neighbour, key in (
        ("Previous", before, "k"),
        ("Next", after, "j"),
    ):
        st.button(
            words,
            on_click=show,
            args=[neighbour],
            disabled=neighbour is None,
            shortcut=key,
        )


def show_here(**query: str | list[str]) -> None:
    """Move the address of this page to these query parameters; the page follows."""
    st.query_params.from_dict(query)


def here(**changes: str | list[str]) -> dict[str, str | list[str]]:
    """The query parameters of this view with some of them changed; an empty value takes its parameter out."""
    query = {name: st.query_params.get_all(name) for name in st.query_params}
    return {name: value for name, value in (query | changes).items() if value}
