"""Widgets whose value lives in the URL, under the value's own id rather than its label.

The URL is read when it changed from outside (a link, the back button) and written when the widget changed. A value
that is not offered, wherever it comes from, is dropped for the default; where a link named it, `draw_unknown` says so.
A default is not written, and stays where the
URL names it. Each page has its own values, as two pages may use one name with other options; what a page's widgets
hold is remembered for the session and comes back with the page.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from crane_core.ui import keys
from crane_core.ui.words import literal

_MOST_LETTERS, _MOST_VALUES = 60, 5
"""Of what an address names; its text is anybody's."""


def one_of(
    draw: Callable[..., Any],
    label: str,
    options: Sequence[str],
    *,
    key: str,
    default: str | None,
    **looks: Any,
) -> str | None:
    """A selectbox or segmented control over `options`; its value. A `default` that the URL names stays there."""

    def parse(raw: list[str]) -> str | None:
        return raw[0] if raw and raw[0] in options else default

    note_unknown(key, label, options)
    widget = _seed(key, parse)
    _send_again_where_renamed(widget, options, looks)
    value = draw(label, options, key=widget, **looks)
    if value is None and looks.get("required"):
        value = default
    is_unsaid = value == default and st.query_params.get_all(key) != [value]
    _keep(key, [] if value is None or is_unsaid else [value])
    return None if value is None else str(value)


def switch(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    default: str | None = None,
    **looks: Any,
) -> str:
    """A segmented control of which always one option is chosen, at first the `default` or else the first option."""
    at_first = default or options[0]
    looks |= {"key": key, "default": at_first, "required": True}
    return str(one_of(st.segmented_control, label, options, **looks))


def many_of(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    default: Sequence[str] = (),
    **looks: Any,
) -> list[str]:
    """A multiselect over `options`; its values. A `default` that the URL names stays there."""

    def parse(raw: list[str]) -> list[str]:
        return [value for value in raw if value in options] or list(default)

    note_unknown(key, label, options)
    widget = _seed(key, parse)
    _send_again_where_renamed(widget, options, looks)
    values = list(st.multiselect(label, options, key=widget, **looks))
    is_unsaid = values == list(default) and not st.query_params.get_all(key)
    _keep(key, [] if is_unsaid else values)
    return values


def one_tab(
    names: Sequence[str], *, key: str
) -> tuple[str, AbstractContextManager[Any]]:
    """Tabs, of which only the open one is drawn: its name and its container. The first is open by default."""
    tabs: list[Any] = []

    def draw(_: str, options: Sequence[str], *, key: str) -> str:
        tabs.extend(st.tabs(options, key=key, on_change="rerun"))
        return next(
            (name for name, tab in zip(options, tabs, strict=True) if tab.open),
            options[0],
        )

    name = str(one_of(draw, "", names, key=key, default=names[0]))
    return name, tabs[names.index(name)]


def text(label: str, *, key: str, **looks: Any) -> str:
    """A text input; what is typed."""
    widget = _seed(key, lambda raw: raw[0] if raw else "")
    value = st.text_input(label, key=widget, **looks) or ""
    _keep(key, [value] if value else [])
    return value


def read_old(key: str, names: Mapping[str, str]) -> None:
    """Give a value its name of today where a link names it by an earlier one; names: earlier to today's."""
    named = st.query_params.get(key, "")
    if named in names:
        st.query_params[key] = str(names[named])


def asked(key: str) -> list[str]:
    """What the widget of `key` will hold when it is drawn in this run: what was just changed in it, else the URL's."""
    return (
        _listed(st.session_state[_widget(key)])
        if _is_touched(key)
        else st.query_params.get_all(key)
    )


def held(key: str, options: Sequence[str]) -> str:
    """What a switch over these options will hold when it is drawn in this run, the first of them by default."""
    return next((value for value in asked(key) if value in options), options[0])


def all_held(key: str, options: Sequence[str]) -> list[str]:
    """The same of a multiselect without a default."""
    return [value for value in asked(key) if value in options]


def draw_unknown(place: DeltaGenerator, offer: Callable[[str], None]) -> None:
    """Say at `place` which values of the address are not offered on this page, until they are chosen again.

    offer: draws where else the name of a part leads, if it leads anywhere.
    """
    unknown = _unknown()
    if not unknown:
        return
    named = "; ".join(
        f"{label} {', '.join(values)}" for label, values in unknown.values()
    )
    with place.container(
        horizontal=True, vertical_alignment="center", key=keys.UNKNOWN_LINE
    ):
        st.warning(
            literal(
                f"The address names what is not offered here: {named}. The default is shown instead."
            )
        )
        if keys.PART in unknown:
            offer(unknown[keys.PART][1][0])
        st.button("Dismiss", on_click=_forget_unknown)


def _forget_unknown() -> None:
    """Take what is not offered out of the address; what is offered stays."""
    for key in list(_unknown()):
        # A widget has dropped its own unknown values; what no widget reads is still there.
        if f"{_widget(key)}_seen" not in st.session_state:
            st.query_params.pop(key, None)
    _unknown().clear()


def note_unknown_names(names: Collection[str]) -> None:
    """Remember the parameters of the address that are none of `names`, for `draw_unknown`."""
    for name in st.query_params:
        if name not in names:
            values = st.query_params.get_all(name)[:_MOST_VALUES]
            _unknown()[name] = (
                name[:_MOST_LETTERS],
                [value[:_MOST_LETTERS] for value in values],
            )


def query_string() -> str:
    """The parameters of the address as it writes them; empty without any."""
    query = st.query_params
    return urlencode(
        [(name, one) for name in query for one in query.get_all(name)]
    )


def remove(key: str, value: str) -> None:
    """Take one value out of the address, for the next run: a callback calls it."""
    left = [other for other in st.query_params.get_all(key) if other != value]
    if left:
        st.query_params[key] = left
    else:
        st.query_params.pop(key, None)


def drop(key: str) -> None:
    """Remove the parameter of a widget that is not drawn, so that the address matches the page."""
    st.query_params.pop(key, None)
    _remembered().pop(key, None)


def last_held(*names: str) -> dict[str, list[str]]:
    """What the widgets of these parameters held when this page last drew them; those without a value are left out."""
    remembered = _remembered()
    return {name: remembered[name] for name in names if name in remembered}


def arrive() -> None:
    """On the first run of a page after another: without its own address it shows what was chosen there before."""
    state, here = st.session_state, st.session_state[keys.PAGE]
    came_from, state[keys.SHOWN_PAGE] = state.get(keys.SHOWN_PAGE), here
    if came_from != here:
        _unknown().clear()
    # An address with parameters was typed or linked and says itself what it wants.
    if came_from != here and (not st.query_params or _is_left_behind()):
        st.query_params.from_dict(_remembered())


def leave_for(page: str, query: dict[str, Any]) -> None:
    """To be called before `st.switch_page`, which puts the parameters of the next page into the address of this one.

    The back button finds that address later; `arrive` knows it by what is noted here.
    """
    st.session_state[keys.LEFT_FOR] = (
        page,
        {name: _listed(value) for name, value in query.items()},
    )


def _is_left_behind() -> bool:
    page, query = st.session_state.get(keys.LEFT_FOR, ("", {}))
    found = {name: st.query_params.get_all(name) for name in st.query_params}
    return bool(page != st.session_state[keys.PAGE] and query == found)


def _unknown() -> dict[str, tuple[str, list[str]]]:
    """Values that this page's address named and no widget offers, by parameter, with the widget's label."""
    pages: dict[str, dict[str, tuple[str, list[str]]]] = (
        st.session_state.setdefault(keys.UNKNOWN_VALUES, {})
    )
    return pages.setdefault(st.session_state[keys.PAGE], {})


def note_unknown(key: str, label: str, options: Sequence[str]) -> None:
    """Remember what the address asks of a widget and it does not offer: the address itself loses it in this run."""
    raw = st.query_params.get_all(key)
    unknown = [value[:_MOST_LETTERS] for value in raw if value not in options]
    if unknown and _is_from_url(key, raw):
        _unknown()[key] = (label or key, unknown[:_MOST_VALUES])
    elif _is_touched(key):
        _unknown().pop(key, None)


def _remembered() -> dict[str, list[str]]:
    """Values of this page's widgets, by parameter."""
    pages: dict[str, dict[str, list[str]]] = st.session_state.setdefault(
        keys.REMEMBERED, {}
    )
    return pages.setdefault(st.session_state[keys.PAGE], {})


def _seed(key: str, parse: Callable[[list[str]], Any]) -> str:
    """The widget's key, its value taken from the URL where that is newer.

    The browser may still show the address before the last choice when the next one is made: what the visitor has just
    changed in the widget counts then.
    """
    widget, state = _widget(key), st.session_state
    raw = st.query_params.get_all(key)
    is_from_url = _is_from_url(key, raw)
    values = raw if is_from_url else _listed(state[widget])
    if is_from_url or (values and state[widget] != parse(values)):
        state[widget] = parse(values)
    return widget


def _send_again_where_renamed(
    widget: str, options: Sequence[str], looks: dict[str, Any]
) -> None:
    """Give the browser the value once more if the words of the options have changed, as counts in them do.

    The browser holds what is chosen as words: with old ones it would lose the choice in the run after the next.
    """
    words_of = looks.get("format_func", str)
    words = [words_of(option) for option in options]
    state, place = st.session_state, f"{widget}_words"
    if widget in state and state.get(place, words) != words:
        state[widget] = state[widget]
    state[place] = words


def _is_touched(key: str) -> bool:
    """Whether the visitor has just changed the widget."""
    widget, state = _widget(key), st.session_state
    return widget in state and state[widget] != state.get(f"{widget}_was")


def _is_from_url(key: str, raw: list[str]) -> bool:
    """Whether the address is newer than the widget: a link was followed, or the back button was used."""
    widget, state = _widget(key), st.session_state
    return widget not in state or (
        state.get(f"{widget}_seen") != raw and not _is_touched(key)
    )


def _keep(key: str, values: list[str]) -> None:
    if st.query_params.get_all(key) != values:
        if values:
            st.query_params[key] = values
        else:
            st.query_params.pop(key, None)
    if values:
        _remembered()[key] = values
    else:
        _remembered().pop(key, None)
    widget = _widget(key)
    # What the page itself wrote into the address is not a change from outside.
    st.session_state[f"{widget}_seen"] = values
    st.session_state[f"{widget}_was"] = st.session_state[widget]


def _widget(key: str) -> str:
    return f"url_{st.session_state[keys.PAGE]}_{key}"


def _listed(value: str | list[str] | None) -> list[str]:
    return list(value) if isinstance(value, list) else [value] if value else []
