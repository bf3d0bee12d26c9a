"""Whatever bytes a source holds: reading raises nothing but SourceError, names the bad file and keeps the good ones."""

from __future__ import annotations

import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import Cell, Judgement, LoadProblem, Record, Run
from crane_core.errors import SourceError
from crane_core.importers.archive_safety import ArchiveLimits, Contents
from crane_core.importers.filetree import FileTree, open_tree
from crane_core.importers.registry import importer_for
from tests.examples import examples

from .conftest import of

PATIENT = examples(60)
RAW = "llms/llms_outputs/results_raw"
GOOD_TEXT = (
    "# Executed Cells:\n## Cell 1:\nrows = 3\n\n# Target Cell:\nprint(rows)"
)
GOOD_BLOCK = GOOD_TEXT.replace(
    "# Target",
    "# Current relevent runtime information:\n{'rows': {'type': 'int'}}\n# Target",
)
GOOD_NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "cells": [
            {
                "cell_type": "code",
                "source": "1 / 0",
                "execution_count": 1,
                "outputs": [
                    {
                        "output_type": "error",
                        "ename": "E",
                        "evalue": "e",
                        "traceback": ["Cell In[1], line 1"],
                    }
                ],
            }
        ],
    }
)
GOOD_LINE = json.dumps(
    {
        "instance": "b_1_fixed",
        "detector": "d",
        "setting": "code",
        "index": 1,
        "crashes": True,
        "reasoning": "",
    }
)


def sheet(title: str, *rows: list[Any]) -> bytes:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.title = title
    for row in rows:
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


OUTCOMES = sheet(
    "Final_evaluation",
    ["instance", "gpt_5_crash_detection_code"],
    ["numpy_1_fixed", "correct"],
)
TRUTH = sheet(
    "Ground_truth",
    ["instance", "detection", "diagnosis"],
    ["numpy_1_fixed", False, ""],
)
LABELS = sheet(
    "Labeled_reviewed",
    ["nb_name", "ename", "evalue", "label_root_cause"],
    ["numpy_1", "e", "m", "c"],
)

GOOD: dict[str, tuple[str, bytes]] = {
    "replies": (
        f"{RAW}/gpt_5/crash_detection_code/numpy_1_fixed.json",
        b'[{"reasoning": "", "detection": true}]',
    ),
    "later replies": (
        f"{RAW}/crash_detection_gpt5_code/numpy_1_fixed.json",
        b'[{"reasoning": "", "detection": true}]',
    ),
    "diagnostics": (
        "sas/sas_outputs/results_raw/pylint/crash_detection_code/numpy/numpy_1_fixed.json",
        b"[]",
    ),
    "verdicts": (
        "llms/llms_outputs/results_parsed_1/gpt_5/crash_detection_code/numpy_1_fixed.json",
        b'["[Wrong]"]',
    ),
    "input": (
        "llms/llms_inputs/executed_code/numpy/numpy_1_fixed.txt",
        GOOD_TEXT.encode(),
    ),
    "runtime input": (
        "llms/llms_inputs/executed_code_runinfo/numpy/numpy_1_fixed.txt",
        GOOD_BLOCK.encode(),
    ),
    "answers": (
        "llms/detect_if_cell_crash/m/results_fixed/crash_detection_results_numpy_1.json",
        b'["TRUE", "FALSE"]',
    ),
    "skipped": (
        "llms/detect_if_cell_crash/m/cases_exceeds_maxtoken.txt",
        b"numpy_7",
    ),
    "notebook": (
        "benchmark/numpy_1/numpy_1_reproduced.ipynb",
        GOOD_NOTEBOOK.encode(),
    ),
    "lines": ("a.jsonl", GOOD_LINE.encode()),
    "outcomes": ("results/results_summary.xlsx", OUTCOMES),
    "truth": ("llms/llms_outputs/ground_truth_crash_prediction.xlsx", TRUTH),
    "labels": ("results/benchmark_labels.xlsx", LABELS),
}
"""A good file of every kind, by the place where it is expected."""

NEIGHBOUR: dict[str, tuple[str, bytes]] = {
    kind: (
        path.replace("numpy_1", "numpy_2").replace("a.jsonl", "b.jsonl"),
        data,
    )
    for kind, (path, data) in GOOD.items()
}
NEIGHBOUR["skipped"] = GOOD["answers"]
NEIGHBOUR |= dict.fromkeys(("outcomes", "truth", "labels"), GOOD["replies"])

JSON_VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=20),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.one_of(
                st.text(max_size=6),
                st.sampled_from(
                    [
                        "reasoning",
                        "detection",
                        "cells",
                        "cell_type",
                        "source",
                        "outputs",
                        "nbformat",
                        "worksheets",
                    ]
                ),
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=10,
)


@st.composite
def spoiled(draw: st.DrawFn, good: bytes) -> bytes:
    """Bytes that are nothing, arbitrary, other JSON, or the good file cut, changed, repeated or re-encoded."""
    how = draw(
        st.sampled_from(
            [
                "bytes",
                "text",
                "json",
                "cut",
                "change",
                "repeat",
                "bom",
                "crlf",
                "utf16",
            ]
        )
    )
    position = draw(st.integers(0, max(len(good) - 1, 0)))
    spoilers: dict[str, Callable[[], bytes]] = {
        "bytes": lambda: draw(st.binary(max_size=80)),
        "text": lambda: draw(st.text(max_size=80)).encode(
            "utf-8", "surrogatepass"
        ),
        "json": lambda: json.dumps(draw(JSON_VALUES)).encode(),
        "cut": lambda: good[:position],
        "change": lambda: (
            good[:position]
            + draw(st.binary(min_size=1, max_size=3))
            + good[position + 1 :]
        ),
        "repeat": lambda: good + good,
        "bom": lambda: b"\xef\xbb\xbf" + good,
        "crlf": lambda: good.replace(b"\n", b"\r\n"),
        "utf16": lambda: good.decode("latin-1").encode("utf-16"),
    }
    return spoilers[how]()


def tree_with(files: dict[str, bytes]) -> FileTree:
    return FileTree("made", Contents(read=files.__getitem__, names=list(files)))


def facts(records: list[Record]) -> set[Record]:
    return {
        record
        for record in records
        if isinstance(record, (Run, Judgement, Cell))
    }


@pytest.mark.parametrize("kind", GOOD)
@PATIENT
@given(data=st.data())
def test_a_spoiled_file_costs_nothing_but_itself(
    kind: str, data: st.DataObject
) -> None:
    path, good = GOOD[kind]
    neighbour_path, neighbour = NEIGHBOUR[kind]
    content = data.draw(spoiled(good))
    alone = tree_with({neighbour_path: neighbour, "x": b"", "y/z": b""})
    importer = importer_for(alone)
    both = tree_with(
        {path: content, neighbour_path: neighbour, "x": b"", "y/z": b""}
    )
    records = list(importer.read(both))
    assert all(isinstance(record, get_args(Record)) for record in records)
    assert facts(list(importer.read(alone))) <= facts(records)
    unwelcome = {p.path for p in records if isinstance(p, LoadProblem)} - {
        path,
        neighbour_path,
    }
    assert unwelcome == set()


@pytest.mark.parametrize("kind", [kind for kind in GOOD if kind != "skipped"])
@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00", b"\x00" * 1_000, b"{" * 50_000, b"PK\x05\x06", b"<html>"],
)
def test_a_file_that_is_nothing_of_its_kind_is_named(
    kind: str, content: bytes
) -> None:
    path, _ = GOOD[kind]
    neighbour_path, neighbour = NEIGHBOUR[kind]
    tree = tree_with(
        {path: content, neighbour_path: neighbour, "x": b"", "y/z": b""}
    )
    records = list(importer_for(tree).read(tree))
    assert path in {
        problem.path for problem in records if isinstance(problem, LoadProblem)
    }


@PATIENT
@given(
    st.lists(
        st.lists(
            st.one_of(st.text(max_size=8), st.integers(), st.booleans()),
            max_size=4,
        ),
        max_size=4,
    )
)
def test_a_workbook_of_anything_is_read_or_named(rows: list[list[Any]]) -> None:
    plain = [
        [
            str(cell).encode("ascii", "ignore").decode()
            if isinstance(cell, str)
            else cell
            for cell in row
        ]
        for row in rows
    ]
    clean = [
        [
            "".join(filter(str.isprintable, cell))
            if isinstance(cell, str)
            else cell
            for cell in row
        ]
        for row in plain
    ]
    files = {
        "results/results_summary.xlsx": sheet("Final_evaluation", *clean),
        "results/benchmark_labels.xlsx": sheet("Labeled_reviewed", *clean),
        GOOD["replies"][0]: GOOD["replies"][1],
    }
    tree = tree_with(files)
    records = list(importer_for(tree).read(tree))
    assert [record.crashes for record in of(records, Run)] == [True]


def test_a_workbook_that_unpacks_to_more_than_the_limit_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "crane_core.importers.workbooks.MAX_UNPACKED_BYTES", 1_000
    )
    tree = tree_with(
        {
            "results/results_summary.xlsx": OUTCOMES,
            GOOD["replies"][0]: GOOD["replies"][1],
        }
    )
    problems = of(importer_for(tree).read(tree), LoadProblem)
    assert [
        (p.path, "unpacks to more than 1,000 bytes" in p.reason)
        for p in problems
    ] == [("results/results_summary.xlsx", True)]


def test_a_huge_cell_is_kept_whole() -> None:
    long = "x = '" + "a" * 5_000_000 + "'"
    text = GOOD_TEXT.replace("rows = 3", long)
    tree = tree_with({GOOD["input"][0]: text.encode(), "LICENSE": b""})
    records = list(importer_for(tree).read(tree))
    assert [len(record.code) for record in of(records, Cell)] == [
        len(long),
        len("print(rows)"),
    ]


def packed(kind: str, files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return stream.getvalue()
    with tarfile.open(
        fileobj=stream, mode="w:gz" if kind == "tar.gz" else "w"
    ) as members:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            members.addfile(member, io.BytesIO(data))
    return stream.getvalue()


SMALL = ArchiveLimits(
    files=40,
    file_bytes=4_000,
    total_bytes=100_000,
    ratio=50,
    ratio_from_bytes=50_000,
)


def read_or_refuse(data: bytes, kind: str) -> list[Record] | None:
    """All records and bytes of an archive, or None when it is refused with SourceError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"bench.{kind}")
        path.write_bytes(data)
        try:
            tree = open_tree(path, SMALL)
            records = list(importer_for(tree).read(tree))
        except SourceError:
            return None
        for name in tree.paths:
            try:
                tree.read(name)
            except SourceError:
                continue
        return records


@pytest.mark.parametrize("kind", ["tar.gz", "tar", "zip"])
@PATIENT
@given(data=st.data())
def test_a_damaged_archive_is_refused_or_read_but_never_fails_otherwise(
    kind: str, data: st.DataObject
) -> None:
    whole = packed(
        kind,
        {
            GOOD[name][0]: GOOD[name][1]
            for name in ("replies", "verdicts", "input", "outcomes")
        },
    )
    start = data.draw(st.integers(0, len(whole)))
    damage = data.draw(
        st.one_of(st.just(b""), st.binary(min_size=1, max_size=40))
    )
    length = data.draw(st.sampled_from([0, len(damage), 100, len(whole)]))
    records = read_or_refuse(
        whole[:start] + damage + whole[start + length :], kind
    )
    assert records is None or all(
        isinstance(record, get_args(Record)) for record in records
    )


@pytest.mark.parametrize("kind", ["tar.gz", "tar", "zip"])
@PATIENT
@given(
    names=st.lists(
        st.text(
            st.characters(exclude_characters="\0"), min_size=1, max_size=12
        ),
        max_size=5,
    ),
    size=st.integers(0, 6_000),
)
def test_odd_names_and_sizes_never_fail_and_never_hide_the_good_file(
    kind: str, names: list[str], size: int
) -> None:
    files = {name: bytes(size) for name in names} | {
        GOOD["replies"][0]: GOOD["replies"][1]
    }
    try:
        data = packed(kind, files)
    except ValueError:
        return
    records = read_or_refuse(data, kind)
    assert records is not None
    assert [record.crashes for record in of(records, Run)] == [True]


@pytest.mark.parametrize("kind", ["tar.gz", "tar", "zip", "jsonl", "ipynb"])
@PATIENT
@given(data=st.binary(max_size=300))
def test_arbitrary_bytes_under_any_name_never_fail(
    kind: str, data: bytes
) -> None:
    records = read_or_refuse(data, kind)
    assert records is None or all(
        isinstance(record, get_args(Record)) for record in records
    )
