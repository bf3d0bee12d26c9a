"""A finished chart as a figure of a paper: so many millimetres wide, with its title and source, as SVG, PDF or PNG.

Knows widths, fonts and grounds. Refuses to know what a chart shows: its words come from the caller.

The converter numbers the objects of a PDF in another order each time; here they get one order. That takes of the format
a classical table of offsets, one trailer, no object in a stream.
"""

import json
import re
import textwrap
from enum import StrEnum
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from crane_core.charts.theme import TEXT

COLUMN_MM, PAGE_MM = 85, 178
"""A column, and the whole text, of a page with two columns (ACM, IEEE)."""
DPI = 300
_PX_PER_MM = 96 / 25.4
_POINTS_PER_MM = 72 / 25.4
_MARGIN = 4
_LETTER = 0.56
"""Mean width of a bold letter, in parts of its size: more than it is, so that no line is cut."""
_TITLE_PX, _SOURCE_PX, _LINE = 12, 9.5, 1.25
"""9 and 7.1 points; the distance of lines in parts of the letters' size."""
_TRIED_PX = 200
"""Width of a panel whose surroundings are measured."""
_LEAST_PX = 60
_MOST_PX = 790
"""Height of a figure: 209 mm, which leave a page room for the caption."""
_FLATTEST = 0.4
"""Parts of its height that a plot keeps at least."""
_NUMBER = r'"([\d.]+)"'
_ROOT = re.compile(r"<svg\b[^>]*>")

Spec = dict[str, Any]
"""A Vega-Lite chart."""
_REFERENCE = re.compile(rb"\b([0-9]+) 0 R\b")
_REFERENCES = re.compile(
    rb"(?:^ +/[A-Za-z]+[0-9]+ [0-9]+ 0 R\n){2,}", re.MULTILINE
)
"""Lines of a dictionary that name objects."""
_OFFSET = re.compile(rb"([0-9]{10}) [0-9]{5} n")
_STREAM = b"stream\n"


class _Object(NamedTuple):
    """An object of the file: its text after `N 0 obj`, and the bytes of its stream, which name no objects."""

    text: bytes
    stream: bytes

    def references(self) -> list[int]:
        """The numbers of the objects that it names, in the order of its text."""
        return [int(one) for one in _REFERENCE.findall(self.text)]


class FigureForm(StrEnum):
    """The kinds of file."""

    SVG = "svg"
    PDF = "pdf"
    PNG = "png"


class FigureFont(StrEnum):
    """The families of letters: PDF embeds them, SVG names them."""

    SANS = "sans"
    SERIF = "serif"


_FAMILIES = {
    FigureFont.SANS: "Liberation Sans, Arial, Helvetica, sans-serif",
    FigureFont.SERIF: "Times New Roman, STIXGeneral, serif",
}


class FigureLook(NamedTuple):
    """How a figure looks; the width in millimetres."""

    width_mm: int = COLUMN_MM
    font: FigureFont = FigureFont.SANS
    is_dark: bool = False
    has_title: bool = True
    has_source: bool = True


class FigureWords(NamedTuple):
    """The words above and below a figure, and what a screen reader says of it; plain texts."""

    title: str
    source: str
    description: str


def figure_file(svg: str, form: FigureForm) -> bytes:
    """A figure of `figure_svg` as a file: SVG with named fonts, PDF with embedded ones, PNG with 300 dots per inch."""
    import vl_convert  # 0.2 s that only a figure needs

    if form is FigureForm.SVG:
        return svg.encode()
    if form is FigureForm.PDF:
        return in_order(bytes(vl_convert.svg_to_pdf(_in_points(svg))))
    return bytes(vl_convert.svg_to_png(_in_points(svg), ppi=DPI))


def _in_points(svg: str) -> str:
    """The picture with its size in points, which vl-convert takes pixels for, in PDF and PNG."""
    root = re.sub(
        r'"([\d.]+)mm"',
        lambda size: f'"{float(size[1]) * _POINTS_PER_MM:.3f}"',
        svg[: svg.index(">")],
    )
    return root + svg[svg.index(">") :]


def figure_svg(spec: Spec, words: FigureWords, look: FigureLook) -> str:
    """The figure as SVG of exactly the look's width, with `<title>` and `<desc>`.

    spec: one view, or panels by `panels.side_by_side` or in a facet, which are stacked as the width demands.
    """
    _know_fonts()
    width = look.width_mm * _PX_PER_MM
    ink, ground = ("#e8eaed", "#0e1117") if look.is_dark else ("#222", "#fff")
    drawn = _drawn(spec, width - 2 * _MARGIN, look, ink)
    inner_width, inner_height = _size(drawn)
    above = _lines(words.title, width, _TITLE_PX, 600) if look.has_title else []
    below = (
        _lines(words.source, width, _SOURCE_PX, 400) if look.has_source else []
    )
    top = _MARGIN + (len(above) and len(above) * _TITLE_PX * _LINE + 4)
    # What is wider than the paper, as a long legend, becomes smaller as a whole.
    shrunk = min(1.0, (width - 2 * _MARGIN) / inner_width)
    bottom = top + inner_height * shrunk
    height = (
        bottom + (len(below) and len(below) * _SOURCE_PX * _LINE + 4) + _MARGIN
    )
    place = (
        f'<svg x="{_MARGIN}" y="{top:.2f}" width="{inner_width * shrunk:.2f}" height="{inner_height * shrunk:.2f}" '
        # A browser whose letters are wider than those that were measured must not cut them.
        f'viewBox="0 0 {inner_width:g} {inner_height:g}" overflow="visible">'
    )
    return "".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
            f'width="{look.width_mm}mm" height="{height / _PX_PER_MM:.2f}mm" viewBox="0 0 {width:.2f} {height:.2f}" '
            f'font-family="{_FAMILIES[look.font]}">',
            f"<title>{escape(words.title)}</title><desc>{escape(words.description)}</desc>",
            f'<rect width="100%" height="100%" fill="{ground}"/>',
            *_written(above, _MARGIN, _TITLE_PX, f'font-weight="600" fill="{ink}"'),
            _ROOT.sub(place, drawn, count=1),
            *_written(below, bottom + 4, _SOURCE_PX, f'fill="{ink}"'),
            "</svg>",
        ]
    )  # fmt: skip


def _drawn(spec: Spec, width: float, look: FigureLook, ink: str) -> str:
    """The chart alone, as wide as that; `ink` for its words."""
    config = {**spec.get("config", {}), **_config(look, ink)}
    plain = _in_ink(spec, ink) | {"background": None, "config": config}
    if look.width_mm <= COLUMN_MM:
        plain = _in_one_column(plain)
    if "concat" not in plain and "facet" not in plain:
        fit = {"type": "fit-x", "contains": "padding"}
        fitted = plain | {"autosize": fit, "width": width}
        return _svg(_within_page(fitted, _size(_svg(fitted))[1]))
    columns = 1 if look.width_mm <= COLUMN_MM else 2
    n_panels = len(plain.get("concat", [])) or columns
    columns = min(columns, n_panels)
    tried, height = _size(_svg(_panels(plain, columns, _TRIED_PX)))
    panel = max(_LEAST_PX, _TRIED_PX + (width - tried) / columns)
    return _svg(_within_page(_panels(plain, columns, panel), height))


def _within_page(spec: Spec, height: float) -> Spec:
    """The chart with flatter plots if it would be higher than a page; `height`: what it has without that."""
    views = spec.get("concat", [spec])
    heights = [
        view["height"]
        for view in views
        if isinstance(view.get("height"), int | float)
    ]
    plots = sum(heights) / (spec.get("columns", 1) if "concat" in spec else 1)
    if height <= _MOST_PX or not plots:
        return spec
    kept = max(_FLATTEST, 1 - (height - _MOST_PX) / plots)
    flat = [
        view | {"height": view["height"] * kept} if "height" in view else view
        for view in views
    ]
    return spec | {"concat": flat} if "concat" in spec else flat[0]


def _panels(spec: Spec, columns: int, width: float) -> Spec:
    """The panels in so many columns, each with a plot of `width` pixels."""
    if "concat" in spec:
        panels = [panel | {"width": width} for panel in spec["concat"]]
        return spec | {"columns": columns, "concat": panels}
    return spec | {"columns": columns, "spec": spec["spec"] | {"width": width}}


def _config(look: FigureLook, ink: str) -> Spec:
    """Vega-Lite's settings of letters and lines; labels have 7.5 points."""
    faint = "#3a4048" if look.is_dark else "#e3e5e8"
    words = {"labelColor": ink, "titleColor": ink}
    axis = {"domainColor": ink, "tickColor": ink, "gridColor": faint}
    return {
        "font": _FAMILIES[look.font],
        "axis": words
        | axis
        | {"labelFontSize": 10, "titleFontSize": 10, "titleFontWeight": 400},
        # From the left edge of the figure: beside long names of rows, a plot has no room for a legend.
        "legend": words
        | {
            "labelFontSize": 10,
            "layout": {"bounds": "full", "anchor": "start"},
        },
        "header": words,
        "title": {"color": ink},
        "view": {"stroke": None},
    }


def _in_ink(spec: Spec, ink: str) -> Spec:
    """The chart whose texts have this colour in place of that for pages."""
    text = json.dumps(spec).replace(json.dumps(TEXT), json.dumps(ink))
    changed: Spec = json.loads(text)
    return changed


def _in_one_column(part: Any) -> Any:
    """The chart whose legends have one column: two names side by side are wider than a column of a paper."""
    if isinstance(part, list):
        return [_in_one_column(one) for one in part]
    if not isinstance(part, dict):
        return part
    return {
        name: one | {"columns": 1}
        if name == "legend" and isinstance(one, dict)
        else one
        if name == "datasets"
        else _in_one_column(one)
        for name, one in part.items()
    }


def _svg(spec: Spec) -> str:
    import vl_convert  # as above

    return str(vl_convert.vegalite_to_svg(spec))


def _size(svg: str) -> tuple[float, float]:
    """Width and height of a picture in pixels."""
    root = _ROOT.search(svg)
    found = [
        re.search(rf"\s{side}={_NUMBER}", root[0] if root else "")
        for side in ("width", "height")
    ]
    width, height = (float(one[1]) if one else 0.0 for one in found)
    return width, height


def _lines(text: str, width: float, size: float, weight: int) -> list[str]:
    """The text in lines that fit into the figure."""
    letter = size * (_LETTER if weight > 400 else _LETTER - 0.04)
    return textwrap.wrap(text, max(1, int((width - 2 * _MARGIN) / letter)))


def _written(
    lines: list[str], top: float, size: float, looks: str
) -> list[str]:
    """Lines of text from `top` down."""
    return [
        f'<text x="{_MARGIN}" y="{top + size * (_LINE * place + 0.9):.2f}" font-size="{size}" {looks}>'
        f"{escape(line)}</text>"
        for place, line in enumerate(lines)
    ]


@cache
def _know_fonts() -> None:
    """Make matplotlib's STIX fonts known, which are shaped as Times: not every machine has a font with serifs."""
    import vl_convert  # as above

    found = find_spec("matplotlib")
    for place in (found and found.submodule_search_locations) or []:
        vl_convert.register_font_directory(
            str(Path(place, "mpl-data", "fonts", "ttf"))
        )


def in_order(pdf: bytes) -> bytes:
    """The same PDF, its objects numbered and written in the order in which a reader meets them from the root on."""
    start, end = _table(pdf)
    objects = _objects(pdf, start)
    trailer = pdf[end : pdf.index(b"startxref", end)]
    numbers = _met(objects, list(map(int, _REFERENCE.findall(trailer))))

    def renumbered(text: bytes) -> bytes:
        return _REFERENCE.sub(
            lambda found: b"%d 0 R" % numbers[int(found[1])], text
        )

    first = min(_offsets(pdf, start))
    written, offsets = [pdf[:first]], []
    place = first
    for old, new in numbers.items():
        one = objects[old]
        whole = b"%d 0 obj" % new + renumbered(one.text) + one.stream
        written.append(whole)
        offsets.append(place)
        place += len(whole)
    table = b"".join(b"%010d 00000 n\r\n" % offset for offset in offsets)
    size = len(offsets) + 1
    trailer = re.sub(rb"/Size [0-9]+", b"/Size %d" % size, renumbered(trailer))
    return b"".join(
        [
            *written,
            b"xref\n0 %d\n0000000000 65535 f\r\n" % size,
            table,
            trailer,
            b"startxref\n%d\n%%%%EOF" % place,
        ]
    )


def _table(pdf: bytes) -> tuple[int, int]:
    """Where the table of offsets begins, and the trailer."""
    start = int(pdf[pdf.rindex(b"startxref") :].split()[1])
    return start, pdf.index(b"trailer", start)


def _offsets(pdf: bytes, start: int) -> list[int]:
    return sorted(int(one) for one in _OFFSET.findall(pdf, start))


def _objects(pdf: bytes, start: int) -> dict[int, _Object]:
    """Every object by its number; each ends where the next one begins."""
    offsets = _offsets(pdf, start)
    found = {}
    for begin, end in zip(offsets, [*offsets[1:], start], strict=True):
        number, mark, body = pdf[begin:end].partition(b" 0 obj")
        if not mark or not number.isdigit():
            raise ValueError(f"no object at byte {begin} of the PDF")
        text, stream, data = body.partition(_STREAM)
        found[int(number)] = _Object(
            _REFERENCES.sub(_sorted, text), stream + data
        )
    return found


def _sorted(lines: re.Match[bytes]) -> bytes:
    return b"".join(sorted(lines[0].splitlines(keepends=True)))


def _met(objects: dict[int, _Object], roots: list[int]) -> dict[int, int]:
    """New numbers by old ones, from 1 on, in the order in which the objects are met."""
    numbers: dict[int, int] = {}
    waiting = roots[::-1]
    while waiting:
        number = waiting.pop()
        if number not in numbers:
            numbers[number] = len(numbers) + 1
            waiting += objects[number].references()[::-1]
    return numbers
