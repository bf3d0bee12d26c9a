"""Widgets whose value lives in the URL, under the value's own id rather than its label.

The URL is read when it changed from outside (a link, the back button) and written when the widget changed. A value
that the URL names and that does not exist is dropped; the default is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st


def one_of(
    draw: Callable[..., Any], label: str, options: Sequence[str], *, key: str, default: str | None, **looks: Any
) -> str | None:
    """A selectbox or segmented control over `options`; its value."""

    def parse(raw: list[str]) -> str | None:
        return raw[0] if raw and raw[0] in options else default

    widget = _seed(key, parse)
    value = draw(label, options, key=widget, **looks)
    _keep(key, [] if value is None or value == default else [value])
    return None if value is None else str(value)


def many_of(label: str, options: Sequence[str], *, key: str, default: Sequence[str] = (), **looks: Any) -> list[str]:
    """A multiselect over `options`; its values. A `default` that the URL names stays there: it may change one day."""
    widget = _seed(key, lambda raw: [value for value in raw if value in options] or list(default))
    values = list(st.multiselect(label, options, key=widget, **looks))
    is_unsaid = values == list(default) and not st.query_params.get_all(key)
    _keep(key, [] if is_unsaid else values)
    return values


def text(label: str, *, key: str, **looks: Any) -> str:
    """A text input; what is typed."""
    widget = _seed(key, lambda raw: raw[0] if raw else "")
    value = st.text_input(label, key=widget, **looks) or ""
    _keep(key, [value] if value else [])
    return value


def _seed(key: str, parse: Callable[[list[str]], Any]) -> str:
    """The widget's key, its value taken from the URL where that is newer.

    The browser may still show the address before the last choice when the next one is made: what the visitor has just
    changed in the widget counts then.
    """
    widget, state = f"url_{key}", st.session_state
    raw = st.query_params.get_all(key)
    is_touched = widget in state and state[widget] != state.get(f"url_was_{key}")
    if widget not in state or (state.get(f"url_seen_{key}") != raw and not is_touched):
        state[widget] = parse(raw)
    return widget


def _keep(key: str, values: list[str]) -> None:
    if st.query_params.get_all(key) != values:
        if values:
            st.query_params[key] = values
        else:
            st.query_params.pop(key, None)
    st.session_state[f"url_seen_{key}"] = values
    st.session_state[f"url_was_{key}"] = st.session_state[f"url_{key}"]
