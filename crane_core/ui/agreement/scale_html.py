"""Values of agreement with their intervals on one scale, as a table in HTML that a phone has room for."""

from html import escape
from typing import Any, NamedTuple

from crane_core.ui.agreement.phrases import NO_INTERVAL, bounds, value
from crane_core.ui.words import coefficient, count


class ScaleRow(NamedTuple):
    """A value with its interval, None if it has none, and plain texts about it.

    explained: what the name says on hover; shown, between: the value and its interval as a reader sees them.
    counted: of how many it is, below the name.
    """

    name: str
    explained: str
    value: float | None
    low: float | None
    high: float | None
    shown: str
    between: str
    about: str
    counted: str = ""


def agreement_row(
    name: str,
    explained: str,
    row: dict[str, Any],
    about: str,
    counted: str = "",
) -> ScaleRow:
    """Of a row of an agreement table."""
    return ScaleRow(
        name=name,
        explained=f"{explained}; n {count(row['n'])}",
        value=row["value"],
        low=row["low"],
        high=row["high"],
        shown=value(row),
        between=NO_INTERVAL if row["low"] is None else bounds(row),
        about=about,
        counted=counted,
    )


def scale_html(
    rows: list[ScaleRow],
    *,
    heads: tuple[str, str, str],
    start: float = 0.0,
    ends: tuple[str, str] = ("0", "1"),
) -> str:
    """heads: over names, values and what is said of them. The scale goes from `start`, at most 0, to 1.

    ends: what 0 and 1 are called on it.
    """
    name, of_value, about = map(escape, heads)
    span = f"<span>{ends[0]}</span><span>{ends[1]}</span>"
    if start < 0:
        span = (
            f'<span class="cw-least">{coefficient(start)}</span>'
            f'<span class="cw-chance" style="left:{_at(0, start)}">{ends[0]}</span><span>{ends[1]}</span>'
        )
    body = "".join(_row(one, start) for one in rows)
    return (
        f'<table class="cw-coefficients"><thead><tr><th scope="col">{name}</th><th scope="col">{of_value}</th>'
        f'<th scope="col"><span class="cw-hidden">95% interval</span><span class="cw-scale">{span}</span></th>'
        f'<th scope="col">{about}</th></tr></thead><tbody>{body}</tbody></table>'
    )


def _at(place: float, start: float) -> str:
    return f"{100 * (place - start) / (1 - start):.1f}%"


def _row(one: ScaleRow, start: float) -> str:
    marks = f'<u style="left:{_at(0, start)}"></u>'
    if one.low is not None and one.high is not None:
        left, right = _at(one.low, start), _at(one.high, start)
        marks += f'<b style="left:{left};right:calc(100% - {right})"></b>'
    if one.value is not None:
        marks += f'<i style="left:{_at(one.value, start)}"></i>'
    counted = one.counted and f"<small>{escape(one.counted)}</small>"
    return (
        f'<tr><th scope="row" title="{escape(one.explained, quote=True)}">{escape(one.name)}{counted}</th>'
        f'<td>{escape(one.shown)}</td><td><span class="cw-dots" aria-hidden="true">{marks}</span>'
        f"<small>{escape(one.between)}</small></td><td>{escape(one.about)}</td></tr>"
    )
