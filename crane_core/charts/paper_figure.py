"""A finished chart as a figure of a paper: so many millimetres wide, with its title and source, as SVG, PDF or PNG.

Knows widths, fonts and grounds. Refuses to know what a chart shows: its words come from the caller.

The converter numbers the objects of a PDF in another order each time; here they get one order. That takes of the format
a classical table of offsets, one trailer, no object in a stream.
"""

import json
import math
import re
import textwrap
from enum import StrEnum
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from crane_core.charts.panels import AROUND
from crane_core.charts.theme import FONT, IS_PHONE, TEXT

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
_WORD_PX = 10
"""7.5 points: no word of a chart is larger, beside a text of 10 points."""
_WORD_SIZES = {
    "fontSize",
    "labelFontSize",
    "labelLineHeight",
    "titleFontSize",
}
_GREYS = {"#2b83ba": "#1b5f8c", "#d0691f": "#dc8640"}
"""Two of the study's three models, darker and lighter than on the page: the green of the third is as bright as theirs,
so that print without colours would show one grey."""
_TRIED_PX = 200
"""Width of a panel whose surroundings are measured."""
_USUAL_PX = 200
"""Height of a chart that states none."""
_LEAST_PX = 60
_COMFORTABLE_PX = 110
"""Width of a plot below which panels stand in fewer columns."""
_PAGE_HEIGHT_MM, _CAPTION_LINE_MM = 217, 4.3
"""Height of the text of a page (ACM, IEEE), and of a line of a caption in 10 points."""
_CAPTION_LETTERS = 0.6
"""Letters of a caption on a millimetre of its line."""
_FLATTEST = 0.45
"""Parts of its height that a plot keeps at least."""
_SIDE = re.compile(r'\s(width|height)="([\d.]+)"')
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

    spec: one view, or panels by `panels.side_by_side`, which are stacked as the width demands.
    """
    _know_fonts()
    width = look.width_mm * _PX_PER_MM
    ink, ground = ("#e8eaed", "#0e1117") if look.is_dark else ("#222", "#fff")
    above = _lines(words.title, width, _TITLE_PX, 600) if look.has_title else []
    below = (
        _lines(words.source, width, _SOURCE_PX, 400) if look.has_source else []
    )
    top = _MARGIN + (len(above) and len(above) * _TITLE_PX * _LINE + 4)
    under = _MARGIN + (len(below) and len(below) * _SOURCE_PX * _LINE + 4)
    most = _most_height(words, look) - top - under
    drawn = _drawn(spec, most, look, ink)
    inner_width, inner_height = _size(drawn)
    # What is wider than the paper, as a long legend, becomes smaller as a whole.
    shrunk = min(1.0, (width - 2 * _MARGIN) / inner_width)
    bottom = top + inner_height * shrunk
    height = bottom + under
    # No line passes through a letter.
    halo = f'<text paint-order="stroke" stroke="{ground}" stroke-width="2.5" stroke-linejoin="round" '
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
            _ROOT.sub(place, drawn, count=1).replace("<text ", halo),
            *_written(below, bottom + 4, _SOURCE_PX, f'fill="{ink}"'),
            "</svg>",
        ]
    )  # fmt: skip


def _drawn(spec: Spec, most: float, look: FigureLook, ink: str) -> str:
    """The chart alone, as wide as the figure without its margins, `most` pixels high; `ink` for its words."""
    width = look.width_mm * _PX_PER_MM - 2 * _MARGIN
    is_column = look.width_mm <= COLUMN_MM
    config = {**spec.get("config", {}), **_config(look, ink)}
    whole = {"background": None, "config": config}
    if "concat" in spec:
        panels = _in_print(spec, look, ink, is_name_above=False) | whole
        return _svg(_fitted_panels(panels, width, most, is_column=is_column))
    height = spec.get("height", _USUAL_PX)
    # Names above their rows need the full height of these.
    is_above = is_column and height <= most
    plain = _in_print(spec, look, ink, is_name_above=is_above) | whole
    fit = {"type": "fit", "contains": "padding"}
    flat = _flattened(plain | {"height": height}, most / height)
    return _svg(flat | {"autosize": fit, "width": width})


def _most_height(words: FigureWords, look: FigureLook) -> float:
    """Pixels that a page has for the figure above its caption."""
    letters = _CAPTION_LETTERS * look.width_mm
    caption_mm = math.ceil(len(words.description) / letters) * _CAPTION_LINE_MM
    return max(_PAGE_HEIGHT_MM / 2, _PAGE_HEIGHT_MM - caption_mm) * _PX_PER_MM


def _flattened(view: Spec, kept: float) -> Spec:
    """The view with this part of its height, but not flatter than can be read."""
    return view | {"height": view["height"] * min(1, max(_FLATTEST, kept))}


def _fitted_panels(
    spec: Spec, width: float, most: float, *, is_column: bool
) -> Spec:
    """The panels in as many columns as leave each plot room, flatter where all would be higher than `most`."""
    columns = 1 if is_column else min(3, len(spec["concat"]))
    while True:
        tried, height = _size(_svg(_panels(spec, columns, _TRIED_PX)))
        panel = _TRIED_PX + (width - tried) / columns
        if panel >= _COMFORTABLE_PX or columns == 1:
            break
        columns -= 1
    fitted = _panels(spec, columns, max(_LEAST_PX, panel))
    plots = sum(view["height"] for view in fitted["concat"]) / columns
    kept = 1 - (height - most) / plots
    flat = [_flattened(view, kept) for view in fitted["concat"]]
    return fitted | {"concat": flat}


def _panels(spec: Spec, columns: int, width: float) -> Spec:
    """The panels in so many columns, each with a plot of `width` pixels."""
    # On the page a height has the heading and the axis in it.
    panels = [
        panel | {"width": width, "height": panel["height"] - AROUND}
        for panel in spec["concat"]
    ]
    return spec | {"columns": columns, "concat": panels}


def _config(look: FigureLook, ink: str) -> Spec:
    """Vega-Lite's settings of letters and lines; labels have 7.5 points."""
    faint = "#3a4048" if look.is_dark else "#e3e5e8"
    words = {"labelColor": ink, "titleColor": ink}
    axis = {"domainColor": ink, "tickColor": ink, "gridColor": faint}
    return {
        "font": _FAMILIES[look.font],
        "axis": words
        | axis
        | {
            "labelFontSize": _WORD_PX,
            "titleFontSize": _WORD_PX,
            "titleFontWeight": 400,
        },
        # Moved inwards, the first and the last label would touch their neighbours.
        "axisX": {"labelFlush": False, "labelSeparation": 4},
        # From the left edge of the figure: beside long names of rows, a plot has no room for a legend.
        "legend": words
        | {
            "labelFontSize": _WORD_PX,
            "layout": {"bounds": "full", "anchor": "start"},
        },
        "header": words,
        "title": {"color": ink},
        "view": {"stroke": None},
    }


def _in_print(
    spec: Spec, look: FigureLook, ink: str, *, is_name_above: bool
) -> Spec:
    """The chart with the colours, the sizes of words and the legends of a figure in place of those for pages."""
    text = json.dumps(spec).replace(json.dumps(TEXT), json.dumps(ink))
    # In a file, this would follow the plot's width, and the room for names that of before.
    text = text.replace(IS_PHONE, json.dumps(is_name_above))
    if not look.is_dark:
        for colour, printed in _GREYS.items():
            text = text.replace(json.dumps(colour), json.dumps(printed))
    changed: Spec = _sized(json.loads(text), look)
    padding = changed.get("padding")
    if isinstance(padding, dict):
        # Room for words that became smaller.
        right = padding.get("right", 0) * _WORD_PX / FONT
        changed["padding"] = padding | {"right": right}
    return changed


def _sized(part: Any, look: FigureLook) -> Any:
    """The part of a chart with words of a figure's size, and legends with as many columns as its width has room for."""
    if isinstance(part, list):
        return [_sized(one, look) for one in part]
    if not isinstance(part, dict):
        return part
    sized = {}
    for name, one in part.items():
        if name == "datasets":
            sized[name] = one
        elif name in _WORD_SIZES and isinstance(one, int | float):
            sized[name] = min(one, _WORD_PX)
        else:
            sized[name] = _sized(one, look)
        if name == "legend" and isinstance(one, dict):
            columns = 1 if look.width_mm <= COLUMN_MM else 3
            sized[name] |= {"columns": columns, "labelLimit": 0}
    return sized


def _svg(spec: Spec) -> str:
    import vl_convert  # as above

    return str(vl_convert.vegalite_to_svg(spec))


def _size(svg: str) -> tuple[float, float]:
    """Width and height of a picture in pixels."""
    found = dict(_SIDE.findall(svg[: svg.index(">")]))
    return float(found["width"]), float(found["height"])


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
