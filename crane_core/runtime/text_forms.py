"""Notebooks that are saved as text, as .ipynb: jupytext's forms, marimo, Databricks.

Knows by which sign each form differs from a script or a text. Reading runs no code: jupytext and marimo's export parse
the text, and Databricks' source files are split here. Refuses plain scripts, which were not written as cells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from crane_core import helper_process
from crane_core.errors import NotebookError

LARGEST_TEXT = 8 * 2**20
"""Bytes; a text of cells has no outputs that could be large."""
_MARIMO_S = 120.0

_DATABRICKS = "# Databricks notebook source"
_DATABRICKS_CELL = re.compile(r"^# COMMAND -{3,}[^\S\n]*$", re.MULTILINE)
_DATABRICKS_TEXT = re.compile(r"^# MAGIC ?", re.MULTILINE)
_MARIMO = re.compile(r"^(?:import marimo|from marimo import)\b", re.MULTILINE)
_MARIMO_APP = re.compile(r"^\w+ = (?:marimo\.)?App\(", re.MULTILINE)
_PERCENT = re.compile(r"^# ?%%", re.MULTILINE)
_LIGHT = re.compile(r"^# \+(?:\s|$)", re.MULTILINE)
_MYST = re.compile(r"^(?:`{3,}|:{3,}|~{3,})\{code-cell\}", re.MULTILINE)
_HEADER = re.compile(r"\A(?:# )?---\n(?P<yaml>.*?)^(?:# )?---$", re.M | re.S)
_ABOUT_CELLS = re.compile(r"^(?:# )?(?:jupyter|jupytext|kernelspec):", re.M)
_KERNEL = re.compile(
    r"^(?P<outer>(?:# ?)? *)kernelspec:\n(?P<inner>(?P=outer) +)(?=\S)", re.M
)


class _TextForm(NamedTuple):
    """How jupytext reads a file: its own name of the form, and the suffix that it knows the form by."""

    name: str
    suffix: str
    title: str


_RMARKDOWN = _TextForm("rmarkdown", ".Rmd", "R Markdown document")
# jupytext would run the program `quarto`; the cells of both forms are written alike.
_QUARTO = _TextForm("rmarkdown", ".Rmd", "Quarto document")
_MYST_TEXT = _TextForm("myst", ".md", "MyST notebook")
_MARKDOWN = _TextForm("markdown", ".md", "Markdown notebook of jupytext")
_PERCENT_SCRIPT = _TextForm("percent", ".py", "script in the percent format")
_LIGHT_SCRIPT = _TextForm("light", ".py", "script in jupytext's light format")


def notebook_in(path: Path, data: bytes) -> bytes | None:
    """The bytes of the .ipynb that a text represents; None where the file is in no such form.

    Raises NotebookError if its converter is missing or refuses it.
    """
    if path.suffix == ".deepnote":
        raise NotebookError(
            f"{path} is a project of Deepnote, not a notebook.",
            remedy=f"Convert it (`npx @deepnote/convert {path.name}`), and name an .ipynb file of it.",
        )
    if path.suffix == ".ipynb" or len(data) > LARGEST_TEXT:
        return None
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    if path.suffix == ".py":
        if text.startswith(_DATABRICKS):
            return _of_databricks(text)
        if _MARIMO.search(text) and _MARIMO_APP.search(text):
            return _of_marimo(path)
    form = _text_form(path.suffix, text)
    return None if form is None else _of_jupytext(path, text, form)


def _text_form(suffix: str, text: str) -> _TextForm | None:
    """The form that the file itself declares."""
    if suffix in (".qmd", ".Rmd"):
        return _QUARTO if suffix == ".qmd" else _RMARKDOWN
    header = _HEADER.match(text)
    is_about_cells = header and _ABOUT_CELLS.search(header["yaml"])
    if suffix in (".md", ".markdown"):
        if _MYST.search(text):
            return _MYST_TEXT
        return _MARKDOWN if is_about_cells else None
    if suffix != ".py":
        return None
    if _PERCENT.search(text):
        return _PERCENT_SCRIPT
    return _LIGHT_SCRIPT if is_about_cells or _LIGHT.search(text) else None


def _of_jupytext(path: Path, text: str, form: _TextForm) -> bytes:
    if find_spec("jupytext") is None:
        raise NotebookError(
            f"{path} is a {form.title}, which jupytext reads, and jupytext is not installed.",
            remedy="Install it: `pip install 'crane-workbench[forms]'`.",
        )
    # Read by the named form: `jupytext.reads` follows the file's header, and may run quarto or pandoc.
    from jupytext.jupytext import TextNotebookConverter

    reader = TextNotebookConverter(
        {"extension": form.suffix, "format_name": form.name}, None
    )
    try:
        book = reader.reads(_with_kernel_title(text))
        return json.dumps(book).encode()
    # jupytext, YAML and nbformat each raise their own classes for a text that they cannot read.
    except Exception as error:
        raise NotebookError(
            f"{path} is a {form.title} that jupytext cannot read: {type(error).__name__}: {error}.",
            remedy=f"See what it says: `jupytext --to notebook {path.name}`.",
        ) from error


def _with_kernel_title(text: str) -> str:
    """A kernelspec needs a display_name for nbformat, which refuses the whole notebook otherwise."""
    found = _KERNEL.search(text)
    if found is None or "display_name:" in text:
        return text
    return f"{text[: found.end()]}display_name: kernel\n{found['inner']}{text[found.end() :]}"


def _of_marimo(path: Path) -> bytes:
    """What marimo's own export makes of it, in the order in which the cells depend on each other."""
    if find_spec("marimo") is None:
        raise NotebookError(
            f"{path} is a marimo notebook, and marimo is not installed here.",
            remedy=f"Convert it (`marimo export ipynb {path.name} -o trip.ipynb`), and name that.",
        )
    export = ("marimo", "export", "ipynb", "--no-sandbox")
    try:
        return helper_process.answer(
            helper_process.python("-m", *export, str(path.resolve())),
            seconds=_MARIMO_S,
        )
    except OSError as error:
        raise NotebookError(
            f"{path} is a marimo notebook that cannot be exported: {error}.",
            remedy=f"See what it says: `marimo check {path.name}`.",
        ) from error


def _of_databricks(text: str) -> bytes:
    cells = list(_databricks_cells(text.removeprefix(_DATABRICKS)))
    document = {
        "nbformat": 4,
        "nbformat_minor": 4,
        # By this mark `%sql` at the top of a cell is known as Databricks' own.
        "metadata": {"application/vnd.databricks.v1+notebook": {}},
        "cells": cells,
    }
    return json.dumps(document).encode()


def _databricks_cells(text: str) -> Iterator[dict[str, Any]]:
    for part in _DATABRICKS_CELL.split(text):
        source = _DATABRICKS_TEXT.sub("", part).strip("\n")
        if source.strip():
            kind = "markdown" if source.startswith("%md") else "code"
            yield {
                "cell_type": kind,
                "metadata": {},
                "source": source,
                "outputs": [],
                "execution_count": None,
            }
