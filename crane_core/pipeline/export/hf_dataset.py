"""The loaded data as a dataset folder that `datasets.load_dataset` and this app's `import` read: Parquet and a card.

Cases, verdicts, labels, statistics, each a config. Texts of notebooks and of answers are left out without a request.
Campaigns and raw replies belong to the evidence pack, not here.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from crane_core import domain
from crane_core.importers.crane_dataset import MARKER, TABLES
from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.export.all_statistics import all_statistics
from crane_core.pipeline.export.hf_card import card
from crane_core.pipeline.fresh_folder import fresh_folder
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
    material: exported_statistic.Material,
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


def _table(
    material: exported_statistic.Material, name: str, *, with_texts: bool
) -> pa.Table:
    record = TABLES[name]
    table = table_rows(material.store.cursor(), record)
    hidden = set() if with_texts else TEXT_COLUMNS.get(record, frozenset())
    dropped = [
        column for column in table.column_names if column in hidden | DERIVED
    ]
    return table.drop_columns(dropped)


def _statistics(
    material: exported_statistic.Material, progress: Callable[[str], None]
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
