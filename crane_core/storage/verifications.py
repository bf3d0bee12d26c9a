"""Questions about verifications: which notebooks of pairs were executed, with which outcome."""

from __future__ import annotations

from dataclasses import fields

import duckdb

from crane_core.domain import Verification, VerifiedAs, Version

_COLUMNS = tuple(field.name for field in fields(Verification))


def verifications(cursor: duckdb.DuckDBPyConnection) -> list[Verification]:
    """All of them, the newest of each notebook and environment; sorted by benchmark, environment, case and version."""
    columns = ", ".join(_COLUMNS)
    rows = cursor.execute(
        f"SELECT {columns} FROM verifications ORDER BY benchmark, environment, case_id, version DESC"
    ).fetchall()
    return [_record(dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _record(row: dict[str, object]) -> Verification:
    words = {
        "version": Version(str(row["version"])),
        "outcome": VerifiedAs(str(row["outcome"])),
    }
    return Verification(**(row | words))  # type: ignore[arg-type]
