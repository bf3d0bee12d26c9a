"""Figures of a paper: exactly as wide as chosen, with title, source and description, fonts named or embedded."""

from __future__ import annotations

import re
import struct
from xml.etree import ElementTree

import pandas as pd
import pytest

from crane_core.charts.breakdown import breakdown
from crane_core.charts.drops import drops
from crane_core.charts.panels import side_by_side
from crane_core.charts.paper_figure import (
    COLUMN_MM,
    DPI,
    PAGE_MM,
    FigureFont,
    FigureForm,
    FigureLook,
    FigureWords,
    Spec,
    figure_file,
    figure_svg,
)

WORDS = FigureWords(
    "Runtime state adds 7 to 10 points of accuracy for all three models",
    "Data: A & B.",
    "n < 3 instances.",
)
MODELS = ("Gemini 2.5 Flash", "Qwen2.5-32B-Instruct", "GPT-5")
LARGEST_PT = 9
SVG = "{http://www.w3.org/2000/svg}"
POINTS_PER_MM = 72 / 25.4


def panel(title: str) -> Spec:
    rows = [
        {"setting": setting, "value": value, "change": change}
        for setting, value, change in (("−RT", 0.5, ""), ("+RT", 0.7, "+20"))
    ]
    table = pd.DataFrame(rows).assign(
        group="torch",
        label="torch (n 30)",
        detector_title=title,
        low=0.4,
        high=0.8,
        n=30,
        n_cases=15,
        is_sure=False,
    )
    return breakdown(table, labels=["torch (n 30)"], rate="accuracy").to_dict()


@pytest.fixture(scope="module")
def panels() -> Spec:
    return side_by_side([panel(title) for title in ("GPT-5", "pylint")])


@pytest.mark.parametrize("width_mm", [COLUMN_MM, PAGE_MM])
def test_a_figure_has_its_width_and_its_words(
    panels: Spec, width_mm: int
) -> None:
    root = ElementTree.fromstring(
        figure_svg(panels, WORDS, FigureLook(width_mm))
    )
    assert root.get("width") == f"{width_mm}mm"
    assert root.findtext(f"{SVG}title") == WORDS.title
    assert root.findtext(f"{SVG}desc") == WORDS.description
    lines = [text.text for text in root.findall(f"{SVG}text")]
    assert " ".join(map(str, lines)) == f"{WORDS.title} {WORDS.source}"
    drawn = root.find(f"{SVG}svg")
    assert drawn is not None
    inner = float(drawn.get("width", 0)) * 25.4 / 96
    assert width_mm - 4 < inner < width_mm, "the panels fill the paper"
    assert {"GPT-5", "pylint"} <= set(drawn.itertext())


def test_title_and_source_are_left_out_on_request(panels: Spec) -> None:
    look = FigureLook(has_title=False, has_source=False, is_dark=True)
    svg = figure_svg(panels, WORDS, look)
    assert not ElementTree.fromstring(svg).findall(f"{SVG}text")
    assert 'fill="#0e1117"' in svg


def test_files_have_the_size_of_the_paper_and_their_fonts(
    panels: Spec,
) -> None:
    svg = figure_svg(panels, WORDS, FigureLook(font=FigureFont.SERIF))
    pdf = figure_file(svg, FigureForm.PDF)
    box = re.search(rb"/MediaBox ?\[0 0 ([\d.]+)", pdf)
    assert box
    assert float(box[1]) == pytest.approx(COLUMN_MM * POINTS_PER_MM, abs=0.1)
    assert re.search(rb"/BaseFont ?/\w{6}\+(STIX|Times)", pdf)
    png = figure_file(svg, FigureForm.PNG)
    width = struct.unpack(">I", png[16:20])[0]
    assert width == pytest.approx(COLUMN_MM / 25.4 * DPI, abs=2)
    assert b"Times New Roman, STIXGeneral" in figure_file(svg, FigureForm.SVG)


def test_a_figure_is_no_higher_than_a_page() -> None:
    one = panel("GPT-5")
    one["height"] = 500
    svg = figure_svg(side_by_side([one, one, one]), WORDS, FigureLook())
    height = float(ElementTree.fromstring(svg).get("height", "")[:-2])
    assert 150 < height < 235


def rows_of(n_rows: int) -> Spec:
    """Differences of the study's models in so many rows with long names."""
    table = pd.DataFrame(
        {
            "label": f"model initialization error {row}",
            "detector_title": model,
            "setting": "code",
            "difference": 0.1,
            "low": -0.3,
            "high": 0.3,
            "text": "+10.0",
            "n": 30,
            "n_cases": 15,
            "is_printed": False,
        }
        for row in range(n_rows)
        for model in MODELS
    )
    labels = table["label"].unique().tolist()
    return drops(table, labels=labels, rate="accuracy").to_dict()


def size_pt(text: ElementTree.Element) -> float:
    return float(text.get("font-size", "0").removesuffix("px")) * 72 / 96


@pytest.mark.parametrize("width_mm", [COLUMN_MM, PAGE_MM])
def test_words_are_neither_larger_nor_much_smaller_than_the_papers(
    panels: Spec, width_mm: int
) -> None:
    for spec in (panels, rows_of(3)):
        svg = figure_svg(spec, WORDS, FigureLook(width_mm))
        sizes = [
            size_pt(text)
            for text in ElementTree.fromstring(svg).iter(f"{SVG}text")
        ]
        assert min(sizes) >= 7 and max(sizes) <= LARGEST_PT


def anchors(spec: Spec, width_mm: int) -> set[str | None]:
    """At which of their ends the names of the rows are placed."""
    svg = figure_svg(spec, WORDS, FigureLook(width_mm))
    return {
        text.get("text-anchor")
        for text in ElementTree.fromstring(svg).iter(f"{SVG}text")
        if "initialization" in str(text.text)
    }


def test_names_are_above_their_rows_only_where_these_have_the_room() -> None:
    assert anchors(rows_of(3), COLUMN_MM) == {"start"}
    assert anchors(rows_of(3), PAGE_MM) == {"end"}
    # As flat as a page demands, a name would stand on the marks of the row before.
    assert anchors(rows_of(16), COLUMN_MM) == {"end"}


def grey(colour: str) -> float:
    """The brightness of #rrggbb in print without colours, 0 to 255 (Rec. 601)."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_the_models_of_the_study_differ_in_print_without_colours() -> None:
    svg = figure_svg(rows_of(1), WORDS, FigureLook())
    colours = {
        str(text.get("fill"))
        for text in ElementTree.fromstring(svg).iter(f"{SVG}text")
        if text.text == "+10.0"
    }
    greys = sorted(map(grey, colours))
    assert len(greys) == len(MODELS)
    assert greys[1] - greys[0] > 25 and greys[2] - greys[1] > 25


def test_three_panels_stand_side_by_side_on_a_page() -> None:
    three = side_by_side([panel(title) for title in MODELS])
    heights = [
        float(
            ElementTree.fromstring(
                figure_svg(three, WORDS, FigureLook(width_mm))
            ).get("height", "")[:-2]
        )
        for width_mm in (COLUMN_MM, PAGE_MM)
    ]
    assert heights[0] > 2 * heights[1]


def test_a_figure_leaves_room_for_its_caption() -> None:
    one = panel("GPT-5")
    one["height"] = 300
    three = side_by_side([one, one, one])
    long = WORDS._replace(description="A sentence of the caption. " * 40)
    look = FigureLook(has_title=False, has_source=False)
    short, flat = (
        float(
            ElementTree.fromstring(figure_svg(three, words, look)).get(
                "height", ""
            )[:-2]
        )
        for words in (WORDS, long)
    )
    # 1,080 letters are 21 lines of a column.
    assert flat < short and flat + 21 * 4.2 < 240
