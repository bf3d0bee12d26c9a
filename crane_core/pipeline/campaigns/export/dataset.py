"""A campaign as a dataset folder that `datasets.load_dataset` reads: Parquet, two configs, and a card.

`labels` has a row per annotator and showing, with the types of labels.schema.json. `records` has one per item, in the
flat form in which Argilla hands out its records: fields, metadata, and for each question lists of responses, their
users and their status. First showings only, as a person answers a record once there.
"""

import io
from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crane_core.pipeline.campaigns.export.readme import COLUMN_WORDS
from crane_core.pipeline.campaigns.export.schema import as_file, row_schema
from crane_core.pipeline.campaigns.export.table import (
    COLUMNS_AFTER_LOCK,
    TEXT_COLUMNS,
    Files,
    LabelForm,
    LedgerSnapshot,
    Row,
    rows,
)

QUESTIONS = ("label", "reason", "note")
SUBMITTED = "submitted"
_ABOUT_ITEM = COLUMNS_AFTER_LOCK[:10]
_NUMBERS = {
    "position": pa.int64(), "showing": pa.int64(), "is_repeat": pa.int64(), "flagged": pa.int64(),
    "seconds": pa.float64(), "inclusion_probability": pa.float64(),
}  # fmt: skip
_CARD = """---
license: other
pretty_name: "Labels of {campaign}"
configs:
- config_name: labels
  default: true
  data_files: labels.parquet
- config_name: records
  data_files: records.parquet
---

# Labels of the campaign {campaign}

`datasets.load_dataset(FOLDER, "labels")` has one row per annotator, item and showing, labelled or not;
`load_dataset(FOLDER, "records")` has one row per item, in the flat form of Argilla's records:
`label.responses`, `label.responses.users` and `label.responses.status` are lists of one length, and so for `reason` and
`note`. Hidden repeats are in `labels` only.

{texts}

| column of `labels` | meaning |
|---|---|
{columns}
"""
_WITHOUT = "Texts of notebooks and detectors are not included, because they belong to their authors."
_WITH = "Texts of notebooks and detectors are included under the terms of their authors."


def dataset_files(taken: LedgerSnapshot) -> Files:
    """The files by name."""
    return {
        "README.md": lambda: iter([_card(taken).encode()]),
        "labels.parquet": partial(_parquet, taken, records=False),
        "labels.schema.json": lambda: iter(
            [as_file(row_schema(taken.columns, taken.plan.labels))]
        ),
        "records.parquet": partial(_parquet, taken, records=True),
    }


FORM = LabelForm("dataset", "Parquet for `datasets` and Argilla", dataset_files)


def _card(taken: LedgerSnapshot) -> str:
    columns = "\n".join(
        f"| {name} | {COLUMN_WORDS[name]} |" for name in taken.columns
    )
    texts = _WITH if taken.texts is not None else _WITHOUT
    return _CARD.format(
        campaign=taken.plan.campaign, texts=texts, columns=columns
    )


def _parquet(taken: LedgerSnapshot, *, records: bool) -> Iterator[bytes]:
    columns = (
        _record_columns(taken)
        if records
        else {name: _kind(name) for name in taken.columns}
    )
    content = list(_records(taken)) if records else list(rows(taken))
    table = pa.Table.from_pylist(
        content, schema=pa.schema(list(columns.items()))
    )
    stream = io.BytesIO()
    pq.write_table(table, stream)
    yield stream.getvalue()


def _kind(column: str) -> pa.DataType:
    return _NUMBERS.get(column, pa.string())


def _record_columns(taken: LedgerSnapshot) -> dict[str, pa.DataType]:
    names = (
        "campaign",
        *_ABOUT_ITEM,
        *(TEXT_COLUMNS if taken.texts is not None else ()),
    )
    lists = [
        f"{question}.responses{part}"
        for question in QUESTIONS
        for part in ("", ".users", ".status")
    ]
    return (
        {"id": pa.string()}
        | {name: _kind(name) for name in names}
        | dict.fromkeys(lists, pa.list_(pa.string()))
    )


def _records(taken: LedgerSnapshot) -> Iterator[Row]:
    columns = _record_columns(taken)
    found: dict[str, Row] = {}
    for row in rows(taken):
        if row["showing"] == 1:
            record = found.setdefault(row["item"], _record(columns, row))
            for question in QUESTIONS if row["label"] is not None else ():
                if row[question]:
                    _answer(record, question, row[question], row["annotator"])
    yield from found.values()


def _record(columns: dict[str, pa.DataType], row: Row) -> Row:
    empty: Row = {
        name: [] if pa.types.is_list(kind) else row.get(name)
        for name, kind in columns.items()
    }
    return empty | {"id": row["item"]}


def _answer(record: Row, question: str, value: Any, person: str) -> None:
    record[f"{question}.responses"].append(value)
    record[f"{question}.responses.users"].append(person)
    record[f"{question}.responses.status"].append(SUBMITTED)
