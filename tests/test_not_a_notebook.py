"""Files that should be notebooks and are none: each is named as what it is, with what brings the notebook back."""

from __future__ import annotations

import gzip
import json

import nbformat
import pytest

from crane_core.not_a_notebook import UnreadableNotebookError
from crane_core.notebooks import read_code_cells

WHOLE = nbformat.writes(
    nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("lanes = [True, None]\nlanes[0]")]
    )
)
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
CONFLICT = '{\n "cells": [\n<<<<<<< HEAD\n  {},\n=======\n>>>>>>> other\n ]\n}'


def refusal(data: bytes) -> tuple[str, str]:
    with pytest.raises(UnreadableNotebookError) as refused:
        read_code_cells(data)
    return str(refused.value), refused.value.remedy


@pytest.mark.parametrize(
    ("data", "what", "remedy"),
    [
        (b"", "it is empty", "earlier version"),
        (b" \n\t", "it is empty", "earlier version"),
        (POINTER.encode(), "Git LFS pointer", "git lfs pull"),
        (b"<!DOCTYPE html><p>Sign in", "a web page", "raw file"),
        (b"\n<html lang='en'>", "a web page", "raw file"),
        (WHOLE.encode("utf-16"), "UTF-16", "UTF-8"),
        (gzip.compress(b"{}", mtime=0), "a gzip file", "Unpack"),
        (b"PK\x03\x04\x00\xff", "a ZIP archive", "Unpack"),
        (b"\xff\x00", "not JSON in UTF-8", "again"),
        (b"[]", "JSON, but not a notebook", "Jupyter"),
        (b'{"cells": null}', "no list of cells", "Jupyter"),
        (b'{"nbformat": 5, "cells": []}', "format 5 is newer", "format 4"),
        (b'{"cells": [,]}', "in line 1, column 12", "Correct"),
        (
            b'{"cells": [{"cell_type": "code", "source": null}]}',
            "source of code cell 0 is not text",
            "Correct",
        ),
    ],
)
def test_a_file_is_named_with_its_own_remedy(
    data: bytes, what: str, remedy: str
) -> None:
    told, brought_back_by = refusal(data)
    assert what in told and remedy in brought_back_by
    assert "outputs" not in brought_back_by


def test_a_merge_conflict_is_told_with_its_line() -> None:
    told, remedy = refusal(CONFLICT.encode())
    assert "merge conflict in line 3" in told
    assert "git checkout --ours" in remedy


def test_a_notebook_cut_anywhere_is_truncated() -> None:
    whole = WHOLE.rstrip()
    named = {refusal(whole[:at].encode())[0] for at in range(1, len(whole))}
    assert {told.split(", in line")[0] for told in named} == {
        "it ends too early"
    }


def test_arrows_in_the_code_are_no_conflict() -> None:
    broken = json.dumps({"cells": [{"source": "<<<<<<< HEAD\n"}]})[:-1] + ",,}"
    assert "column" in refusal(broken.encode())[0]


def test_half_a_surrogate_pair_refuses_no_notebook() -> None:
    document = {
        "cells": [
            {"cell_type": "markdown", "source": "\ud83d"},
            {"cell_type": "code", "source": "a = '\ude00'  # \U0001f600"},
        ]
    }
    [cell] = read_code_cells(json.dumps(document).encode())
    assert cell.source == "a = '\ufffd'  # \U0001f600"
