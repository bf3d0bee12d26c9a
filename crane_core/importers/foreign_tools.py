"""Files of other evaluation and labelling tools, distinguished by the members that only they write.

Knows the first record of a file. Refuses to read answers or labels out of it: which member is the answer differs from
one evaluation to the next, so that its owner has to say it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from crane_core.errors import SourceError
from crane_core.importers.filetree import FileTree
from crane_core.importers.prediction_rows import NEEDED
from crane_core.notebooks import refuse_json_bomb

_LARGEST_JSON = 64 * 2**20
"""Bytes of a JSON file that is parsed to see who wrote it."""
_JSON_LINES = (".jsonl", ".ndjson")
_PREDICTED = frozenset(NEEDED)


class Holds(StrEnum):
    """What a tool's file is about."""

    ANSWERS = "answers of models"
    LABELS = "labels of people"


class ForeignTool(NamedTuple):
    """A tool, and members that stand together in the first record of its files alone."""

    name: str
    holds: Holds
    marks: tuple[frozenset[str], ...]


def _tool(name: str, holds: Holds, *marks: str) -> ForeignTool:
    return ForeignTool(
        name, holds, tuple(frozenset(mark.split()) for mark in marks)
    )


_TOOLS = (
    _tool(
        "promptfoo", Holds.ANSWERS, "evalId results", "config results evalId"
    ),
    _tool(
        "OpenAI Evals", Holds.ANSWERS, "spec", "run_id event_id sample_id type"
    ),
    _tool(
        "lm-evaluation-harness",
        Holds.ANSWERS,
        "doc_id resps",
        "doc_id filtered_resps",
    ),
    _tool("Weights & Biases Weave", Holds.ANSWERS, "op_name inputs output"),
    _tool(
        "Langfuse",
        Holds.ANSWERS,
        "name input output scores",
        "traceId input output",
        "trace_id input output",
    ),
    _tool("HELM", Holds.ANSWERS, "adapter_spec request_states"),
    _tool(
        "Label Studio",
        Holds.LABELS,
        "data annotations",
        "annotation_id annotator",
        "annotation_id lead_time",
    ),
    _tool("Argilla", Holds.LABELS, "fields responses"),
    _tool(
        "Prodigy",
        Holds.LABELS,
        "answer _annotator_id",
        "answer _task_hash",
        "answer _input_hash",
        "accept answer",
    ),
    _tool("Potato", Holds.LABELS, "label_annotations", "displayed_text"),
    _tool(
        "doccano",
        Holds.LABELS,
        "text label",
        "text labels",
        "text cats",
        "text entities",
    ),
)

_REMEDIES = {
    Holds.ANSWERS: (
        f"Write them as JSON lines or CSV with {', '.join(NEEDED)} (instance: a name such as pandas_1_reproduced;"
        " crashes: true, false or empty), and import that file."
    ),
    Holds.LABELS: (
        "Save them as CSV with the columns item and label, and import them with"
        " `campaign labels NAME --file LABELS.csv --annotator WHO`; other names: --item-column, --label-column, --map."
    ),
}


def refuse_foreign_file(tree: FileTree) -> None:
    """Raise SourceError, which says what to do, where the source is one file that another tool wrote."""
    if len(tree.paths) != 1:
        return
    [path] = tree.paths
    tool = foreign_tool(path, tree.read(path))
    if tool is not None:
        raise SourceError(
            f"{path} is an export of {tool.name}: {tool.holds}, in its own form.",
            remedy=remedy_of(tool),
        )


def remedy_of(tool: ForeignTool) -> str:
    """How its content can be brought here."""
    return _REMEDIES[tool.holds]


def foreign_tool(name: str, content: bytes) -> ForeignTool | None:
    """The tool that wrote a file of this name, as its first record shows; None where no tool is recognised."""
    lowered = name.lower()
    if lowered.endswith(".csv"):
        return _by_header(_header(content))
    record = _first_record(content, is_lines=lowered.endswith(_JSON_LINES))
    return _by_members(frozenset(record)) if record else None


def _by_members(members: frozenset[str]) -> ForeignTool | None:
    if len(members & _PREDICTED) > 1:
        return None  # predictions in our own form, perhaps with a member forgotten: their importer says which
    return next(
        (
            tool
            for tool in _TOOLS
            if any(members >= mark for mark in tool.marks)
        ),
        None,
    )


def _by_header(header: list[str]) -> ForeignTool | None:
    # promptfoo names a column after each provider and prompt: "[openai:gpt-5] Will this cell crash?".
    if any(name.startswith("[") and "] " in name for name in header):
        return _TOOLS[0]
    return _by_members(frozenset(header))


def _header(content: bytes) -> list[str]:
    first = (
        content.removeprefix(b"\xef\xbb\xbf")
        .partition(b"\n")[0]
        .decode("utf-8", "replace")
    )
    return [name.strip() for name in next(csv.reader(io.StringIO(first)), [])]


def _first_record(content: bytes, *, is_lines: bool) -> Mapping[str, Any]:
    """The first object of a JSON file or of its lines; empty where it has none."""
    text = content.removeprefix(b"\xef\xbb\xbf").lstrip()
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
