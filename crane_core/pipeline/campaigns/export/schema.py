"""JSON Schemas of what an export holds: a row of the labels, and a line of the acts.

A row is read as a record whose empty cells are null. The words of each column are those of the README.
"""

import json
from collections.abc import Sequence
from typing import Any, get_args, get_type_hints

from crane_core.annotation.label_set import LabelSet
from crane_core.annotation.outcome import ADJUDICATION_REASONS, Provenance
from crane_core.domain import Annotation
from crane_core.pipeline.campaigns.export.readme import COLUMN_WORDS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_TIME_OR_NULL: Schema = {"type": ["string", "null"], "format": "date-time"}
_YES_OR_NO: Schema = {"enum": [0, 1]}
_OTHERS: dict[str, Schema] = {
    "campaign": _TEXT,
    "annotator": _TEXT,
    "position": {"type": "integer", "minimum": 1},
    "item": _TEXT,
    "showing": {"enum": [1, 2]},
    "is_repeat": _YES_OR_NO,
    "flagged": _YES_OR_NO,
    "shown_at": _TIME_OR_NULL,
    "first_action_at": _TIME_OR_NULL,
    "submitted_at": _TIME_OR_NULL,
    "received_at": _TIME_OR_NULL,
    "seconds": {"type": ["number", "null"], "minimum": 0},
    "inclusion_probability": {
        "type": ["number", "null"],
        "exclusiveMinimum": 0,
        "maximum": 1,
    },
    "provenance": {"enum": [*map(str, Provenance), None]},
    "decision_reason": {"enum": [*ADJUDICATION_REASONS, None]},
}
"""Columns that are not a text or null, without those that hold codes of the label set."""
_KINDS = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


def row_schema(columns: Sequence[str], labels: LabelSet) -> Schema:
    """Of one row of labels.csv, with these columns."""
    known = _OTHERS | _of_labels(labels)
    members = {
        name: {"description": COLUMN_WORDS[name]}
        | known.get(name, _TEXT_OR_NULL)
        for name in columns
    }
    return _object("A label of one annotator", members, required=columns)


def _of_labels(labels: LabelSet) -> dict[str, Schema]:
    of_label: Schema = {"enum": [*labels.codes, None]}
    return {
        "label": of_label,
        "final_label": of_label,
        "reason": {"enum": [*labels.reason_words, None]},
    }


def act_schema(labels: LabelSet) -> Schema:
    """Of one line of acts.jsonl; a member without a value is left out."""
    hints = get_type_hints(Annotation)
    members: dict[str, Schema] = {"record": {"const": "annotation"}} | {
        name: _of(hints[name]) for name in hints
    }
    members["label"] = {"enum": list(labels.codes)}
    required = [
        name for name, hint in hints.items() if type(None) not in get_args(hint)
    ]
    return _object(
        "An act of one annotator", members, required=["record", *required]
    )


def _of(hint: Any) -> Schema:
    kinds = [
        kind for kind in (get_args(hint) or (hint,)) if kind is not type(None)
    ]
    [kind] = kinds
    return (
        {"type": _KINDS[kind]}
        if kind in _KINDS
        else {"enum": [str(word) for word in kind]}
    )


def _object(
    title: str, members: dict[str, Schema], *, required: Sequence[str]
) -> Schema:
    return {
        "$schema": DIALECT,
        "title": title,
        "type": "object",
        "properties": members,
        "required": list(required),
        "additionalProperties": False,
    }


def as_file(schema: Schema) -> bytes:
    """The schema as the bytes of a JSON file."""
    return (json.dumps(schema, ensure_ascii=False, indent=1) + "\n").encode()
