"""The bar as a Streamlit component: finder, copied link, help, who is logged in.

Knows what the browser asks and where that leads. Refuses to know what can be found and how words are compared. It
runs alone, without its page, while a visitor types.
"""

from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import streamlit as st

from crane_core.errors import CraneError
from crane_core.pipeline import views
from crane_core.pipeline.views import PageView
from crane_core.replica import writer
from crane_core.ui import data, keys
from crane_core.ui.bar.index import found
from crane_core.ui.bar.places import Place, PlaceKind, best
from crane_core.ui.documentation import help_address
from crane_core.ui.glossary import OF_INPUTS, TERMS
from crane_core.ui.navigation import go, page_files, show_here, title
from crane_core.ui.refusal import refusal_words, refusals_shown
from crane_core.ui.url_state import query_string
from crane_core.ui.visit import visitor

BLIND = ("annotate", "campaigns")
"""Pages on which nothing may reveal what the model of an item was shown."""
_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "crane_bar",
    html=(_HERE / "bar.html").read_text("utf-8"),
    js=(_HERE / "bar.js").read_text("utf-8"),
    isolate_styles=False,
)


@st.fragment
def draw_bar() -> None:
    """Draw it, with who is logged in, and leave for what was chosen."""
    with refusals_shown():
        _draw()


def _draw() -> None:
    # Asked again at each run: somebody may have been removed from the list while typing.
    person = visitor()
    # The names of cases and inputs must not lead an annotator to what the detectors answered.
    is_blind = _page() in BLIND or bool(data.blinding(person))
    asked = st.session_state.pop(keys.BAR_ASKED, {})
    said = _acted(person.name, asked)
    saved = _saved(person.name)
    text = str(asked.get("text") or "")
    hits = found(text, person, saved, is_blind=is_blind)
    who = (
        [person.name, person.email, str(person.role)]
        if person.is_known
        else None
    )
    told = {
        "hits": _sent(text, hits),
        "terms": [
            [term, meaning]
            for term, meaning in TERMS.items()
            if not is_blind or term not in OF_INPUTS
        ],
        "who": who,
        "views": {
            "saved": [[place.name, _address(place)] for place in saved],
            "said": said,
            "canSave": not writer(),
        },
        "help": help_address(_page()),
    }
    _component(data=told, key=keys.BAR, on_asked_change=_note)
    if asked.get("open") and (meant := best(hits, text)):
        _open(meant.page, dict(meant.query))
    elif isinstance(address := asked.get("address"), str):
        page, _, query = address.partition("?")
        if page in page_files():
            _open(page, dict(parse_qs(query)))


def _acted(person: str, asked: dict[str, Any]) -> str:
    """Do what was chosen with a saved view of the person; what refused it, in words."""
    act, name = asked.get("view"), str(asked.get("name") or "")
    try:
        if act == "save":
            view = PageView(_page(), query_string())
            views.save(data.folder(), person, name, view)
        elif act == "rename":
            title = str(asked.get("title") or "")
            views.rename(data.folder(), person, name, title)
        elif act == "remove":
            views.remove(data.folder(), person, name)
    except CraneError as error:
        return refusal_words(str(error), error.remedy)
    return ""


def _saved(person: str) -> list[Place]:
    return [
        Place(
            PlaceKind.VIEW,
            name,
            title(view.page),
            view.page,
            parse_qs(view.query),
        )
        for name, view in views.views(data.folder(), person).items()
        if view.page in page_files()
    ]


def _note() -> None:
    """Keep what the browser asks for the run that follows, in which it is answered before the bar is drawn."""
    asked = (st.session_state.get(keys.BAR) or {}).get("asked")
    if isinstance(asked, dict):
        st.session_state[keys.BAR_ASKED] = asked


def _page() -> str:
    return st.session_state[keys.PAGE] or next(iter(page_files()))


def _sent(text: str, hits: list[Place]) -> dict[str, Any]:
    """The hits as the browser draws them: by kind, each with its name, a word on it and its address."""
    meant = best(hits, text)
    groups = [
        [
            str(kind),
            [[place.name, place.about, _address(place)] for place in places],
        ]
        for kind, places in groupby(hits, key=lambda place: place.kind)
    ]
    return {
        "of": text.strip(),
        "groups": groups,
        "best": hits.index(meant) if meant else -1,
    }


def _address(place: Place) -> str:
    query = urlencode(place.query, doseq=True)
    return f"{place.page}?{query}" if query else place.page


def _open(page: str, query: dict[str, Any]) -> None:
    if page == _page():
        show_here(**query)
        st.rerun()
    go(page, **query)
