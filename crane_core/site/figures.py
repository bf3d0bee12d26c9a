"""Every figure of the study as files for a paper, `figures.md` with the caption and the link of each, `figures.tex`.

The last has a float for each, to copy or to input: in a caption of `figures.md`, "%" would end the line for LaTeX.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from crane_core.charts import paper_figure
from crane_core.errors import SourceError
from crane_core.pipeline.frame_formats import escaped
from crane_core.pipeline.fresh_folder import renewed_folder
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import Store
from crane_core.ui import data, words
from crane_core.ui.caption import MADE_BY
from crane_core.ui.chart_figure import TableForm, table_text
from crane_core.ui.study_figures import PlacedFigure, study_figures

LIST, FLOATS = "figures.md", "figures.tex"
MARK = "<!-- Written by Crane Workbench, which replaces the files that are linked here when it is asked again. -->"
"""The first line of the list: it says whose folder this is."""
FORMS = (*paper_figure.FigureForm, *TableForm)
_MARKDOWN = re.compile(r"([\\`*_\[\]<>&|~])")
_LINKED = re.compile(r"\]\(([\w.-]+)\)")
_MOST_LETTERS = 100
"""Letters of a file's name."""


class WrittenFigure(NamedTuple):
    """A figure, the stem of its files and their names."""

    placed: PlacedFigure
    stem: str
    files: list[str]


def own_files(out: Path, *, is_forced: bool) -> set[str]:
    """The files in `out` that an earlier call wrote.

    Raises SourceError for a folder of others that has something in it, unless `is_forced`, and for a file.
    """
    if not out.exists():
        return set()
    if not out.is_dir():
        raise SourceError(f"{out} is a file.", remedy="Name a folder.")
    found = out / LIST
    told = found.read_text("utf-8") if found.is_file() else ""
    if told.startswith(MARK):
        return {LIST, *_LINKED.findall(told)}
    if any(out.iterdir()) and not is_forced:
        raise SourceError(
            f"{out} has files of another origin.",
            remedy="Use another folder, or --force to add the figures beside them.",
        )
    return set()


def write_figures(
    store: Store,
    folder: DataFolder,
    out: Path,
    *,
    look: paper_figure.FigureLook,
    forms: Sequence[paper_figure.FigureForm | TableForm],
    is_forced: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> int:
    """Write all figures into `out`, whole or not at all; the number of figures. The same data give the same bytes.

    Files of an earlier call are replaced, others in the folder stay. Raises SourceError as `own_files` does.
    """
    own = own_files(out, is_forced=is_forced)
    with data.reading(store, folder), renewed_folder(out, own) as fresh:
        written: list[WrittenFigure] = []
        taken: set[str] = set()
        for placed in study_figures():
            stem = _stem(placed, taken)
            progress(f"Figure {len(written) + 1}: {stem}")
            files = _write(placed, fresh, stem, look, forms)
            written.append(WrittenFigure(placed, stem, files))
        has_floats = paper_figure.FigureForm.PDF in forms
        listed = _listed(written, look, has_floats=has_floats)
        (fresh / LIST).write_text("\n".join(listed), "utf-8")
        if has_floats:
            floats = "\n".join(_floats(written, look))
            (fresh / FLOATS).write_text(floats, "utf-8")
        return len(written)


def _write(
    placed: PlacedFigure,
    folder: Path,
    stem: str,
    look: paper_figure.FigureLook,
    forms: Sequence[paper_figure.FigureForm | TableForm],
) -> list[str]:
    """Write one figure in these forms; the names of its files."""
    figure, files = placed.figure, []
    # Tables alone need no picture, which takes most of the time.
    is_drawn = any(isinstance(form, paper_figure.FigureForm) for form in forms)
    svg = (
        paper_figure.figure_svg(figure.spec, figure.words, look)
        if is_drawn
        else ""
    )
    for form in forms:
        name = f"{stem}.{form}"
        if isinstance(form, paper_figure.FigureForm):
            (folder / name).write_bytes(paper_figure.figure_file(svg, form))
        elif (text := table_text(figure, form)) is not None:
            (folder / name).write_text(text, "utf-8")
        else:
            continue
        files.append(name)
    return files


def _stem(placed: PlacedFigure, taken: set[str]) -> str:
    """A name that no other figure has, of letters that LaTeX and every system of files takes."""
    parts = [placed.page, *placed.of, placed.figure.name]
    if placed.figure.name.startswith(placed.page):
        parts.pop(0)
    name = re.sub(r"[^a-z0-9_]+", "-", "_".join(parts).lower()).strip("-_")
    name = name[:_MOST_LETTERS]
    stem, number = name, 1
    while stem in taken:
        number += 1
        stem = f"{name}-{number}"
    taken.add(stem)
    return stem


def _escaped(text: str) -> str:
    """The text for Markdown; as little as possible is escaped, for it may be copied from the file."""
    return _MARKDOWN.sub(r"\\\1", text)


def _floats(
    written: list[WrittenFigure], look: paper_figure.FigureLook
) -> Iterator[str]:
    """The lines of the floats for LaTeX: each figure as wide as it is, with its caption and a label."""
    is_column = look.width_mm <= paper_figure.COLUMN_MM
    name = "figure" if is_column else "figure*"
    yield r"% needs \usepackage{graphicx}, and \graphicspath{{FOLDER/}} for figures that are in a folder"
    for one in written:
        caption = one.placed.figure.caption
        yield from (
            rf"\begin{{{name}}}",
            r"\centering",
            rf"\includegraphics{{{one.stem}.pdf}}",
            rf"\caption[{{{escaped(caption.title)}}}]{{{escaped(caption.text)}}}",
            rf"\label{{fig:{one.stem}}}",
            rf"\end{{{name}}}",
            "",
        )


def _listed(
    written: list[WrittenFigure],
    look: paper_figure.FigureLook,
    *,
    has_floats: bool,
) -> Iterator[str]:
    """The lines of the list: of each figure its files, its caption and the view of the app that shows it."""
    n = len(written)
    yield from (MARK, "# Figures", "")
    yield (
        f"{words.quantity(n, 'figure')}, {look.width_mm} mm wide, {look.font} letters. Titles and sources "
        "stand in the captions. SVG names its font, PDF embeds it, PNG has 300 dpi. Links are within the address of "
        f"the app. {MADE_BY}."
    )
    if has_floats:
        yield from ("", f"All as floats for LaTeX: [{FLOATS}]({FLOATS})")
    page = ""
    for one in written:
        placed, caption = one.placed, one.placed.figure.caption
        if placed.page != page:
            page = placed.page
            yield from ("", f"## {page.capitalize()}")
        files = ", ".join(f"[{name}]({name})" for name in one.files)
        yield from ("", f"### {_escaped(caption.title)}", "")
        yield from (f"Files: {files}", "", _escaped(caption.text), "")
        yield f"In the app: `{placed.address}`"
    yield ""
