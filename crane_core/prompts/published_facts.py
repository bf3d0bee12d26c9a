"""What is left of a published fact when a category is withheld, where one fact holds several categories.

Knows how the published extractor nests: a table of columns, a dataset inside a loader, the preview of a dict. Refuses
to know entries and settings.
"""

from collections.abc import Set
from typing import Any

from crane_core.prompts.categories import REPRESENTATION, VALUES, group_of

NOTHING: Any = object()
"""What is left of a fact whose categories are all withheld."""

_COLUMN_TABLES = ("per_column", "per_column_max_20")
_ENTRIES = ("dataset", "underlying_dataset")
_TABLES = ("dataset_info",)
_LISTS = ("preview",)


def kept(key: str, value: Any, groups: Set[str]) -> Any:
    """The part of the fact `key` that belongs to `groups`, or NOTHING; what groups together keep is what each keeps."""
    if isinstance(value, dict):
        if key in _COLUMN_TABLES:
            return _columns(value, groups)
        if key in _ENTRIES:
            return _filled(_entry(value, groups))
        if key in _TABLES:
            parts = {
                name: _part(entry, groups) for name, entry in value.items()
            }
            return _filled({name: part for name, part in parts.items() if part})
    is_list = key in _LISTS and isinstance(value, list)
    if is_list and all(isinstance(item, dict) for item in value):
        items = [_entry(item, groups) for item in value]
        return items if any(items) else NOTHING
    return value if group_of(key) in groups else NOTHING


def _columns(table: dict[Any, Any], groups: Set[str]) -> Any:
    """The names of columns are the schema, R; of a column's own facts the dtype is R and the rest V."""
    parts = {name: _column(facts, groups) for name, facts in table.items()}
    return _filled(
        parts
        if REPRESENTATION in groups
        else {name: part for name, part in parts.items() if part}
    )


def _column(facts: Any, groups: Set[str]) -> Any:
    if not isinstance(facts, dict):
        return facts if VALUES in groups else {}
    return {
        key: value
        for key, value in facts.items()
        if (REPRESENTATION if key == "dtype" else VALUES) in groups
    }


def _part(entry: Any, groups: Set[str]) -> Any:
    # Only tables are divided here; a text or a number stays as it is.
    return _entry(entry, groups) if isinstance(entry, dict) else entry


def _entry(entry: dict[Any, Any], groups: Set[str]) -> dict[Any, Any]:
    parts = {key: kept(str(key), value, groups) for key, value in entry.items()}
    return {key: part for key, part in parts.items() if part is not NOTHING}


def _filled(part: dict[Any, Any]) -> Any:
    return part or NOTHING
