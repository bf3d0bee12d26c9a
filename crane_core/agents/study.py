"""The tools about the study: its cases, and what detectors found. Reads the data folder as `sql` does.

Knows no protocol: arguments in, records out. The database is closed after each call, so that the app can be started.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from pydantic import Field

from crane_core.agents.records import FoundCase, FoundCases, StudyResults
from crane_core.annotation.guideline import guideline
from crane_core.api.data import Data, refuse_unknown
from crane_core.errors import StoreError
from crane_core.pipeline.places import DataFolder

if TYPE_CHECKING:
    from crane_core.storage.store import Store

# What reads the database is imported at its first use: assistants that only check cells do without DuckDB.
CASE_URI = "crane://cases/{benchmark}/{case_id}"
MOST_CASES, MOST_TEXT = 50, 100_000
MOST_LINE = 300
Words = Annotated[
    str,
    Field(
        description="words that a case contains: in its labels, message, traceback, diagnosis or code",
        max_length=1_000,
    ),
]
Name = Annotated[str, Field(max_length=200)]


@dataclass(frozen=True)
class StudyTools:
    """The tools on one data folder."""

    folder: DataFolder

    def search_cases(
        self,
        text: Words = "",
        benchmark: Name | None = None,
        library: Name | None = None,
        root_cause: Name | None = None,
        limit: Annotated[int, Field(ge=1, le=MOST_CASES)] = 10,
    ) -> FoundCases:
        """Cases that contain every word of `text` and have these labels. Raises StoreError."""
        with self._store() as store:
            found = [
                each
                for name in _benchmarks(store, benchmark)
                for each in _matching(store, name, text)
                if library in (None, each.library)
                and root_cause in (None, each.root_cause)
            ]
        return FoundCases(found[:limit], len(found))

    def study_results(
        self, benchmark: Name = "junobench", credit: Name = "detection only"
    ) -> StudyResults:
        """The leaderboard of a benchmark. Raises StoreError for what is not loaded or unknown."""
        from crane_core.pipeline.rows import as_rows

        with self._store() as store:
            board = Data(store, self.folder).leaderboard(
                benchmark, credit=credit
            )
        return StudyResults(benchmark, credit, as_rows(board))

    def case_text(self, benchmark: str, case_id: str) -> str:
        """A case as JSON: its labels, and the cells of both notebooks where they are imported. Raises StoreError."""
        from crane_core.pipeline.rows import as_rows
        from crane_core.storage.cases import case, cells

        with self._store() as store:
            facts = case(store.cursor(), benchmark, case_id)
            if facts is None:
                raise StoreError(
                    f"There is no case {case_id[:40]!r} in {benchmark[:40]!r}.",
                    remedy="Find cases with the tool search_cases.",
                )
            code = cells(store.cursor(), benchmark, case_id)
        document = {"case": facts, "cells": as_rows(code)}
        text = json.dumps(document, indent=1, default=str)
        if len(text) > MOST_TEXT:
            # Cut JSON could not be read, so the cells go as a whole.
            document["cells"] = f"left out: {len(text):,} characters in all"
            text = json.dumps(document, indent=1, default=str)
        return text

    def guideline_text(self) -> str:
        """How people label a diagnosis as correct, partial or wrong; Markdown."""
        return guideline()

    @contextmanager
    def _store(self) -> Iterator[Store]:
        from crane_core.pipeline.loading.load import prepare_or_read

        store = prepare_or_read(self.folder)
        try:
            yield store
        finally:
            store.close()


def _benchmarks(store: Store, wanted: str | None) -> list[str]:
    from crane_core.storage.cases import benchmark_titles

    known = benchmark_titles(store.cursor())
    if wanted is None:
        return sorted(known)
    refuse_unknown("benchmark", wanted, known)
    return [wanted]


def _matching(store: Store, benchmark: str, text: str) -> Iterator[FoundCase]:
    from crane_core.pipeline.rows import as_rows
    from crane_core.storage.cases import case, case_list
    from crane_core.storage.search import cases_with_text, found_lines

    cursor = store.cursor()
    rows = as_rows(case_list(cursor, benchmark))
    if text.strip():
        kept = set(cases_with_text(cursor, benchmark, text))
        rows = [row for row in rows if row["case_id"] in kept]
    ids = sorted(str(row["case_id"]) for row in rows)
    lines = found_lines(cursor, benchmark, text, ids) if text.strip() else {}
    labels = {str(row["case_id"]): row for row in rows}
    for case_id in ids:
        facts = case(cursor, benchmark, case_id) or {}
        line = lines.get(case_id)
        yield _found(
            benchmark,
            {**labels[case_id], "message": facts.get("message")},
            line.line.strip()[:MOST_LINE] if line else None,
        )


def _found(
    benchmark: str, labels: dict[str, Any], line: str | None
) -> FoundCase:
    case_id = str(labels["case_id"])
    return FoundCase(
        benchmark=benchmark,
        case_id=case_id,
        library=labels["library"],
        root_cause=labels["root_cause"],
        exception=labels["exception"],
        message=labels["message"],
        line=line,
        # Names of a benchmark are its author's: a slash in one would lead elsewhere.
        uri=CASE_URI.format(
            benchmark=quote(benchmark, safe=""), case_id=quote(case_id, safe="")
        ),
    )
