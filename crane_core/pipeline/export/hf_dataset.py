"""The loaded data as a dataset folder that `datasets.load_dataset` and this app's `import` read: Parquet and a card.

Cases, verdicts, labels, statistics, each a config. Texts of notebooks and of answers are left out without a request.
Campaigns and raw replies belong to the evidence pack, not here.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from crane_core import domain
from crane_core.importers.crane_dataset import MARKER, TABLES
from crane_core.pipeline.export.all_statistics import all_statistics
from crane_core.pipeline.fresh_folder import fresh_folder
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.results import exported_statistic
from crane_core.pipeline.rows import as_rows
from crane_core.storage.cases import benchmarks
from crane_core.storage.tables import table_rows

ROWS = 20_000
"""Rows of one file, so that none is larger than an import takes."""
TEXT_TABLES = frozenset({"cells", "kernel_states", "prompts"})
TEXT_COLUMNS: dict[type, frozenset[str]] = {
    domain.Case: frozenset({"message", "traceback", "diagnosis"}),
    domain.Instance: frozenset({"remark"}),
    domain.Run: frozenset({"reasoning", "diagnostics"}),
    domain.Judgement: frozenset({"note"}),
}
"""Columns with texts that belong to their authors."""
DERIVED = frozenset({"n_variables", "is_literal"})
"""Columns of kernel states that their JSON holds already."""
_TYPES = {"float | None": pa.float64(), "int | None": pa.int64()}


class DatasetRows(NamedTuple):
    """Rows of each config."""

    n_rows: dict[str, int]


def write_dataset(
    material: Material,
    out: Path,
    *,
    with_texts: bool,
    progress: Callable[[str], None] = lambda _: None,
) -> DatasetRows:
    """Write the dataset into `out`, whole or not at all. Raises SourceError if `out` is taken."""
    with fresh_folder(out) as fresh:
        names = [
            name for name in TABLES if with_texts or name not in TEXT_TABLES
        ]
        tables = {
            name: _table(material, name, with_texts=with_texts)
            for name in names
        }
        tables = {
            name: table for name, table in tables.items() if table.num_rows
        }
        tables["statistics"] = _statistics(material, progress)
        for name, table in tables.items():
            _write(fresh / name, table)
        n_rows = {name: table.num_rows for name, table in tables.items()}
        marker = {
            "kind": "crane dataset",
            "version": 1,
            "with_texts": with_texts,
            "rows": n_rows,
        }
        (fresh / MARKER).write_text(
            json.dumps(marker, indent=1) + "\n", "utf-8"
        )
        schemas = {name: table.schema for name, table in tables.items()}
        known = as_rows(benchmarks(material.store.cursor()))
        (fresh / "README.md").write_text(
            card(n_rows, schemas, known, with_texts=with_texts), "utf-8"
        )
    return DatasetRows(n_rows)


def _table(material: Material, name: str, *, with_texts: bool) -> pa.Table:
    record = TABLES[name]
    table = table_rows(material.store.cursor(), record)
    hidden = set() if with_texts else TEXT_COLUMNS.get(record, frozenset())
    dropped = [
        column for column in table.column_names if column in hidden | DERIVED
    ]
    return table.drop_columns(dropped)


def _statistics(
    material: Material, progress: Callable[[str], None]
) -> pa.Table:
    found = all_statistics(material, progress)
    rows = [(kind, one) for kind, of in found.items() for one in of]
    hints = get_type_hints(exported_statistic.ExportedStatistic)
    columns = {"kind": pa.array([kind for kind, _ in rows], pa.string())}
    for place, name in enumerate(exported_statistic.ExportedStatistic._fields):
        columns[name] = pa.array(
            [one[place] for _, one in rows],
            _TYPES.get(str(hints[name]), pa.string()),
        )
    return pa.table(columns)


def _write(folder: Path, table: pa.Table) -> None:
    folder.mkdir()
    for number, start in enumerate(range(0, max(table.num_rows, 1), ROWS)):
        pq.write_table(
            table.slice(start, ROWS), folder / f"{number:05}.parquet"
        )


MEANING = {
    "benchmarks": "where cases come from, with licence and address if known",
    "cases": "a crash and its fix: library, root cause, exception, crash type, pipeline stage",
    "instances": "the two notebooks of a case; `reproduced` crashes, `fixed` does not",
    "cells": "code cells in order of execution, with their role",
    "kernel_states": "kernel state before the target cell, as JSON",
    "prompts": "the exact inputs that detectors were shown",
    "detectors": "LLMs, static analyzers, rules",
    "verdicts": "every answer: does this detector, with this input, in this run, predict a crash?",
    "labels": "labels by annotators and LLM judges, of verdicts (run_index 0) or single runs",
    "printed_numbers": "printed cells of published tables",
    "statistics": "each statistic of a study or run: value, n, interval, method, test, p, adjusted p, family, seed",
}
_ORIGIN = """## Origin and licences

There is no single licence, because the parts have different authors. Facts of the published study come from
PELAB-LiU/crane_llm (BSD-3-Clause), PELAB-LiU/JunoBench_construct (MIT) and the benchmark JunoBench (CC-BY-4.0, Hugging
Face: PELAB-LiU/JunoBench); cite them. `minibench` and `statistics` were made by Crane Workbench (MIT). For other
benchmarks ask the person who imported them.
"""
_WITHOUT = "Texts of notebooks, messages, prompts and reasoning are not included, because they belong to their authors."
_WITH = "Texts of notebooks, messages, prompts and reasoning are included under the terms of their authors."


def card(
    n_rows: Mapping[str, int],
    schemas: Mapping[str, pa.Schema],
    known: Iterable[Mapping[str, Any]],
    *,
    with_texts: bool,
) -> str:
    """The README.md; rows and schema by config, `known` as `storage.cases.benchmarks` lists them."""
    lines = "\n".join(
        f"| {name} | {n:,} | {MEANING[name]} |" for name, n in n_rows.items()
    )
    whose = "\n".join(
        f"- {_plain(one['title'])}: {one['n_cases']:,} cases, licence {_plain(one['licence'] or 'not stated')}"
        for one in known
    )
    return (
        f"---\n{_head(schemas)}\n---\n\n# Crash prediction in notebooks\n\n"
        f"Written by Crane Workbench; `load_dataset(FOLDER, CONFIG)` reads it, and so does `crane_core import`.\n\n"
        f"{_WITH if with_texts else _WITHOUT}\n\n"
        f"| config | rows | one row is |\n|---|---|---|\n{lines}\n\n{_ORIGIN}\n{whose}\n"
    )


def _head(schemas: Mapping[str, pa.Schema]) -> str:
    """What the Hub and `load_dataset` read: the place of each config and the type of each column, by `datasets`."""
    # Imported here because it takes two seconds, which no other command should wait.
    from datasets import DatasetInfo, Features
    from datasets.info import DatasetInfosDict
    from huggingface_hub import DatasetCardData

    configs = [
        {
            "config_name": name,
            "data_files": [{"split": "train", "path": f"{name}/*.parquet"}],
        }
        for name in schemas
    ]
    head = DatasetCardData(
        license="other", license_name="several", configs=configs
    )
    DatasetInfosDict(
        {
            name: DatasetInfo(
                config_name=name, features=Features.from_arrow_schema(schema)
            )
            for name, schema in schemas.items()
        }
    ).to_dataset_card_data(head)
    return head.to_yaml().strip()


def _plain(text: object) -> str:
    """An untrusted name on one line, without Markdown or HTML syntax."""
    return "".join(
        letter
        for letter in " ".join(str(text).split())[:200]
        if letter not in "<>[]`|*_\\"
    )
