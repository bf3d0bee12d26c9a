"""Pieces of a page as escaped HTML: headings, tables, folded parts, charts as SVG. All text is escaped here."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from crane_core.ui import words

HERE = Path(__file__).parent
MENU = {
    "index": "Findings",
    "results": "Results",
    "ablations": "Ablations",
    "claims": "Claims",
    "agreement": "Agreement",
    "pairs": "Pairs",
}
WIDE, NARROW = 720, 330
"""Pixels of a chart on a wide and on a narrow screen."""
ROOM = {"left": 28, "top": 6, "right": 72, "bottom": 4}
"""Pixels around a chart: a browser's letters are wider than those of the font used for measuring."""
_STRONG = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_ID = re.compile(r'(\bid="|url\(#)')


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True
    )


@cache
def _style() -> Markup:
    app = Path(words.__file__).with_name("style.css")
    return Markup(
        app.read_text("utf-8") + (HERE / "site.css").read_text("utf-8")
    )


def page(
    here: str, title: str, blocks: Sequence[Markup], *, root: str = ""
) -> str:
    """A whole page; `root` leads from its folder to that of the index."""
    filled = {
        "here": here,
        "title": title,
        "blocks": blocks,
        "root": root,
        "menu": MENU,
        "style": _style(),
    }
    return _environment().get_template("page.html").render(filled)


def _macro(name: str, *arguments: Any, **context: Any) -> Markup:
    template = _environment().get_template("blocks.html")
    return Markup(getattr(template.make_module(context), name)(*arguments))


def heading(text: str, level: int = 2, anchor: str = "") -> Markup:
    """A heading; its anchor is made of its words unless one is given."""
    return _macro(
        "heading",
        text,
        level,
        anchor or re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-"),
    )


def paragraph(text: str, css: str = "") -> Markup:
    """A paragraph of text, with an optional class of the style sheet."""
    return _macro("paragraph", text, css)


def finding(text: str) -> Markup:
    """A paragraph whose **emphasis** the app's sentences write as Markdown does."""
    return paragraph(
        Markup(_STRONG.sub(r"<strong>\1</strong>", str(escape(text))))
    )


def points(items: Sequence[str]) -> Markup:
    """A list with a point for each item."""
    return _macro("points", items)


def links(items: Sequence[tuple[str, str]]) -> Markup:
    """Link texts and their targets, which are paths within the site."""
    return _macro("links", items)


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    texts: Sequence[int] = (0,),
    targets: Sequence[str] = (),
) -> Markup:
    """`texts`: indices of text columns, which are left-aligned; `targets` link the first cell of each row."""
    return _macro("table", head, rows, targets, texts=set(texts))


def folded(summary: str, blocks: Sequence[Markup]) -> Markup:
    """Blocks that open at a click."""
    return _macro("folded", summary, blocks)


def figure(
    name: str, chart: alt.LayerChart | alt.FacetChart, caption: str
) -> Markup:
    """A chart as SVG; of one panel drawn twice, for wide and for narrow screens. `name` is unique on the page."""
    spec = chart.to_dict()
    if "facet" in spec or "hconcat" in spec:
        return _macro("figure", [("wide", _svg(name, spec))], caption)
    # The width is that of the whole chart, axis labels included: a phone has no more.
    fits = {"autosize": {"type": "fit-x", "contains": "padding"}}
    drawn = {
        css: _svg(f"{name}-{css}", spec | fits | {"width": px})
        for css, px in (("wide", WIDE), ("narrow", NARROW))
    }
    return _macro("figure", list(drawn.items()), caption)


def _svg(name: str, spec: dict[str, Any]) -> Markup:
    """Ids are made unique: a page holds several SVGs, and Vega numbers the ids of each from 0."""
    import vl_convert  # 0.2 s

    config = {**spec.get("config", {}), "view": {"stroke": None}}
    svg = vl_convert.vegalite_to_svg(
        spec | {"background": None, "config": config, "padding": ROOM}
    )
    return Markup(_ID.sub(rf"\g<1>{name}-", svg))
