"""A fix in the notebook's file: every byte outside of the one source stays, whatever the file's own form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crane_core.errors import NotebookError
from crane_core.notebooks import read_code_cells
from crane_core.pipeline.own_notebooks.notebook_edit import (
    digest,
    with_source,
    write_source,
)

BEFORE = 'n = 1\nprint("\u00fc", n)\n'
AFTER = 'import math\nn = 1\nprint("\u00fc", math.pi)\n'
MARK = b"\xef\xbb\xbf"


def document(source: object) -> dict[str, Any]:
    image = {"image/png": "iVBOR\n", "text/plain": ["<\u03b1>"]}
    output = {"output_type": "display_data", "data": image, "metadata": {}}
    target = {
        "source": source,
        "cell_type": "code",
        "metadata": {"z": 1, "a": [1, {}]},
        "outputs": [output],
        "execution_count": 7,
    }
    other = {"cell_type": "markdown", "metadata": {}, "source": "# n = 1"}
    first = {
        "cell_type": "code",
        "source": BEFORE,
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    return {
        "nbformat_minor": 5,
        "cells": [first, other, target],
        "metadata": {"kernelspec": {"name": "x"}},
        "nbformat": 4,
    }


FORMS: dict[str, dict[str, Any]] = {
    "as Jupyter writes it": {"indent": 1, "ensure_ascii": False},
    "one line": {"separators": (",", ":")},
    "four blanks": {"indent": 4},
    "tabs": {"indent": "\t", "ensure_ascii": False},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("lines", ["a list", "one string"])
def test_everything_else_stays_byte_for_byte(form: str, lines: str) -> None:
    def dumped(text: str) -> bytes:
        source = text.splitlines(keepends=True) if lines == "a list" else text
        return json.dumps(document(source), **FORMS[form]).encode() + b"\n"

    # What a program of the same form writes for the fixed source: the only difference there may be.
    assert with_source(dumped(BEFORE), 1, BEFORE, AFTER) == dumped(AFTER)


def test_a_byte_order_mark_and_line_ends_of_windows_stay() -> None:
    lines = BEFORE.splitlines(keepends=True)
    data = json.dumps(document(lines), indent=1).replace("\n", "\r\n")
    new = with_source(MARK + data.encode(), 1, BEFORE, AFTER)
    assert new.startswith(MARK + b"{\r\n") and b"\n" not in new.replace(
        b"\r\n", b""
    )
    assert read_code_cells(new)[1].source == AFTER


def test_lines_that_stay_keep_their_escapes() -> None:
    written = '{"cells": [{"cell_type": "code", "source": ["a = \\"\\u00fc\\"\\n", "b"], "\\u0078": 1}], "nbformat": 4}'
    new = with_source(written.encode(), 0, 'a = "\u00fc"\nb', 'a = "\u00fc"\nc')
    assert new.decode() == written.replace('"b"', '"c"')


def test_the_file_is_replaced_with_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "trip.ipynb"
    path.write_text(json.dumps(document(BEFORE)))
    path.chmod(0o640)
    link = tmp_path / "link.ipynb"
    link.symlink_to(path)
    write_source(link, 1, BEFORE, AFTER, digest(link))
    assert read_code_cells(path.read_bytes())[1].source == AFTER
    assert (link.is_symlink(), path.stat().st_mode & 0o777) == (True, 0o640)
    assert sorted(tmp_path.iterdir()) == [link, path]


def test_a_file_that_changed_meanwhile_is_left(tmp_path: Path) -> None:
    path = tmp_path / "trip.ipynb"
    path.write_text(json.dumps(document(BEFORE)))
    known = digest(path)
    path.write_text(json.dumps(document(BEFORE), indent=1))
    saved = path.read_bytes()
    with pytest.raises(NotebookError, match="has changed since"):
        write_source(path, 1, BEFORE, AFTER, known)
    assert path.read_bytes() == saved


@pytest.mark.parametrize(
    "data",
    [
        json.dumps({"nbformat": 3, "worksheets": [{"cells": []}]}).encode(),
        json.dumps(document("other")).encode(),
        json.dumps({"cells": {}, "nbformat": 4}).encode(),
        b"# %%\nn = 1\n# %%\nprint(n)\n",
        b"{",
        b"",
        b"\xff\xfe",
    ],
    ids=[
        *("format 3", "another source", "no list", "a script"),
        *("cut", "empty", "no text"),
    ],
)
def test_what_is_not_the_file_that_was_read_is_refused(data: bytes) -> None:
    with pytest.raises(NotebookError, match="cannot be found"):
        with_source(data, 1, BEFORE, AFTER)
