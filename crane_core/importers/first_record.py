"""The names of the members in the first record of a file, by which the tool that wrote it is known.

Knows the first object of JSON, JSON lines, CSV and Parquet. Refuses to know any tool.
"""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

from crane_core.notebooks import refuse_json_bomb

_LARGEST_JSON = 64 * 2**20
"""Bytes of a JSON file that is parsed to see who wrote it."""
_JSON_LINES = (".jsonl", ".ndjson")
_BOM = b"\xef\xbb\xbf"


def first_members(name: str, content: bytes) -> frozenset[str]:
    """The names of columns of a table, or of members of the first object; empty where nothing can be read."""
    lowered = name.lower()
    if lowered.endswith(".csv"):
        return frozenset(_header(content))
    if lowered.endswith(".parquet"):
        return frozenset(_columns(content))
    is_lines = lowered.endswith(_JSON_LINES)
    return frozenset(_first_record(content, is_lines=is_lines))


def _header(content: bytes) -> list[str]:
    first = (
        content.removeprefix(_BOM)
        .partition(b"\n")[0]
        .decode("utf-8", "replace")
    )
    return [name.strip() for name in next(csv.reader(io.StringIO(first)), [])]


def _columns(content: bytes) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.read_schema(io.BytesIO(content)).names)
    except (pa.ArrowException, OSError):
        return []


def _first_record(content: bytes, *, is_lines: bool) -> Mapping[str, Any]:
    """The first object of a JSON file or of its lines; empty where it has none."""
    text = content.removeprefix(_BOM).lstrip()
    if is_lines:
        text = text.partition(b"\n")[0]
    if len(text) > _LARGEST_JSON:
        return {}
    try:
        # The file comes from elsewhere and is parsed only to see who wrote it.
        refuse_json_bomb(text)
        document = json.loads(text)
    except (ValueError, RecursionError):
        # Potato writes lines into a file that ends in .json.
        return {} if is_lines else _first_record(content, is_lines=True)
    first = document[0] if isinstance(document, list) and document else document
    return first if isinstance(first, dict) else {}
