"""`figures`: every chart of the study as figures for a paper, with captions, in one folder."""

import argparse
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.pipeline.audit import note_written
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give_either, tell

NAME = "figures"
HELP = (
    "write every chart of the study as figures for a paper, with their captions"
)
ONLY_READS = True
EXAMPLE = """python -m crane_core figures --out figures
         python -m crane_core figures --out figures --width 178 --font serif --format pdf,tex"""
WIDTHS = (85, 178)
FONTS = ("sans", "serif")
THEMES = ("light", "dark")
FORMATS = ("svg", "pdf", "png", "csv", "tex", "md")
USUAL = "svg,pdf,png"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare where the figures go and how they look."""
    add(
        verb,
        option(
            "--out DIR",
            "folder of the figures to create or renew",
            arguments.path,
            required=True,
        ),
        option(
            "--format LIST",
            f"any of {', '.join(FORMATS)}; the last three are the table of each figure (default: {USUAL})",
            _formats,
            default=_formats(USUAL),
        ),
        flag("--force", "add the figures to a folder that has other files"),
        flag("--json", "print what was written as JSON to stdout"),
    )
    add(
        verb.add_argument_group("how they look"),
        option(
            "--width MM",
            "85, a column, or 178, the page (default: 85)",
            int,
            choices=WIDTHS,
            default=WIDTHS[0],
        ),
        option(
            "--font NAME",
            "sans or serif (default: sans)",
            choices=FONTS,
            default=FONTS[0],
        ),
        option(
            "--theme NAME",
            "light or dark (default: light)",
            choices=THEMES,
            default=THEMES[0],
        ),
    )


def _formats(text: str) -> tuple[str, ...]:
    """Known formats, each once, in the order in which files are listed."""
    named = arguments.names(text)
    for name in named:
        if name not in FORMATS:
            raise argparse.ArgumentTypeError(
                f"{name[:20]!r} is unknown; choose from {', '.join(FORMATS)}"
            )
    return tuple(name for name in FORMATS if name in named)


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Write all figures into the folder, and note it in the audit log; returns 0. Raises CraneError if it is taken."""
    with _no_warnings():
        return _run(chosen, folder)


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Streamlit warns, from the moment it is loaded, that its caches have no server: a command has none."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def _run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    # Charts and the app's views, which take a second to load.
    from crane_core.charts.paper_figure import FigureFont, FigureLook
    from crane_core.site.figures import FORMS, own_files, write_figures

    # Before everything is computed, not after.
    own_files(chosen.out, is_forced=chosen.force)
    look = FigureLook(
        chosen.width,
        FigureFont(chosen.font),
        is_dark=chosen.theme == "dark",
        # The caption has both.
        has_title=False,
        has_source=False,
    )
    store = prepare_or_read(folder, tell)
    try:
        n_figures = write_figures(
            store,
            folder,
            chosen.out,
            look=look,
            forms=[form for form in FORMS if form in chosen.format],
            is_forced=chosen.force,
            progress=tell,
        )
    finally:
        store.close()
    note_written(folder, "figures", chosen.out)
    told = {"figures": str(chosen.out), "n_figures": n_figures}
    words = (
        f"{chosen.out}: {n_figures:,} figures; their captions are in figures.md"
    )
    give_either(told, words, as_json=chosen.json)
    return 0
