"""Questions about the inputs of one instance: its cells and its kernel snapshots."""

import json
from collections.abc import Collection, Sequence

import duckdb
import pandas as pd

from crane_core.domain import Cell, CellRole, KernelState, Setting
from crane_core.storage.packed import packed


def benchmarks_of(
    cursor: duckdb.DuckDBPyConnection, instance_id: str
) -> dict[str, bool]:
    """Benchmarks that have an instance of this name, each with whether its cells are available."""
    return dict(
        cursor.execute(
            """
            SELECT i.benchmark, EXISTS (
                SELECT 1 FROM cells x WHERE x.benchmark = i.benchmark AND x.instance_id = i.instance_id)
            FROM instances i WHERE i.instance_id = ? ORDER BY i.benchmark
            """,
            [instance_id],
        ).fetchall()
    )


def instance_cells(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, instance_id: str
) -> list[Cell]:
    """The cells of an instance, of every origin, in the order of their positions."""
    rows = cursor.execute(
        """
        SELECT origin, position, role, code, execution_count, notebook_index, crash_line
        FROM cells WHERE benchmark = ? AND instance_id = ? ORDER BY origin, position
        """,
        [benchmark, instance_id],
    ).fetchall()
    return [
        Cell(
            benchmark,
            instance_id,
            origin,
            position,
            CellRole(role),
            code,
            count,
            notebook_index,
            crash_line,
        )
        for origin, position, role, code, count, notebook_index, crash_line in rows
    ]


def instance_states(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, instance_id: str
) -> list[KernelState]:
    """The kernel states of an instance, of every setting and origin."""
    rows = cursor.execute(
        """
        SELECT setting, origin, state::VARCHAR FROM kernel_states
        WHERE benchmark = ? AND instance_id = ? ORDER BY setting, origin
        """,
        [benchmark, instance_id],
    ).fetchall()
    return [
        KernelState.from_json(
            json.loads(state),
            benchmark=benchmark,
            instance_id=instance_id,
            setting=Setting(setting),
            origin=origin,
        )
        for setting, origin, state in rows
    ]


def prompt_addresses(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, setting: Setting
) -> dict[str, dict[str, str]]:
    """The addresses of the texts that detectors were shown in a setting, by origin and instance; see `texts`."""
    found: dict[str, dict[str, str]] = {}
    rows = cursor.execute(
        """
        SELECT origin, instance_id, sha256 FROM prompts WHERE benchmark = ? AND setting = ?
        ORDER BY origin, instance_id
        """,
        [benchmark, setting],
    )
    for origin, instance_id, sha256 in rows.fetchall():
        found.setdefault(origin, {})[instance_id] = sha256
    return found


def shown_addresses(
    cursor: duckdb.DuckDBPyConnection,
    benchmark: str,
    experiments: Sequence[str],
) -> pd.DataFrame:
    """What detectors were shown: experiment, setting, instance_id, sha256 (of the text; see `texts`).

    Each text of an instance once; instances whose text is not stored are left out.
    """
    return packed(
        cursor,
        """
        SELECT DISTINCT r.experiment, r.setting, r.instance_id, p.sha256
        FROM (SELECT DISTINCT experiment, setting, instance_id, prompt_sha256 FROM runs
              WHERE benchmark = $1 AND list_contains($2, experiment) AND prompt_sha256 IS NOT NULL) r
        JOIN prompts p ON p.sha256 = r.prompt_sha256 AND p.benchmark = $1 AND p.instance_id = r.instance_id
        ORDER BY ALL
        """,
        [benchmark, list(experiments)],
    )


def texts(
    cursor: duckdb.DuckDBPyConnection, addresses: Collection[str]
) -> dict[str, str]:
    """The prompts with these addresses, each once however many instances have it."""
    return dict(
        cursor.execute(
            """
            SELECT sha256, any_value(text) FROM prompts WHERE sha256 IN (SELECT unnest($1)) GROUP BY sha256
            ORDER BY sha256
            """,
            [list(addresses)],
        ).fetchall()
    )
