"""Labels in files of other annotation tools: where a tool writes the item, the person, the label and what was noted.

Knows the tools by TOML files beside this one. Refuses to know campaigns: which items and labels there are.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from crane_core.domain import LoadProblem
from crane_core.importers.answer_maps import answer_map
from crane_core.importers.answer_maps.member_path import value_at
from crane_core.importers.answer_maps.placed_rows import PlacedRow, rows_of
from crane_core.importers.archive_safety import Contents
from crane_core.importers.filetree import FileTree
from crane_core.importers.first_record import first_members

MEMBERS = ("item", "label", "reason", "note", "showing", "annotator")
"""What a mapping says of a label, each as a path or a list of paths."""
_ROWS = ("tool", "known_by", "only")
_MOST_NOTE = 2_000
"""Characters of a note with its spans."""


class LabelMap(NamedTuple):
    """A mapping. about: the tool, and which rows there are, as of answers.

    each: path of a list in a row, of which each element is a label; the element is under `each`. parallel: lists that
    together are such a list, by the member that each of them has. span: member to its values in spans among others.
    exceptions: path to values of labels that are left out.
    """

    about: answer_map.AnswerMap
    paths: Mapping[str, tuple[str, ...]]
    each: str = ""
    parallel: Mapping[str, str] = {}
    spans: str = ""
    span: Mapping[str, tuple[str, ...]] = {}
    exceptions: Mapping[str, tuple[str, ...]] = {}


class ForeignLabel(NamedTuple):
    """A label as a file has it: the number of its row from 1, its labels (more than one is a mistake), texts or ""."""

    row: int
    item: str
    labels: tuple[str, ...]
    reason: str
    note: str
    showing: str
    annotator: str


@cache
def label_maps() -> tuple[LabelMap, ...]:
    """The mappings that ship, in the order of their files' names."""
    entries = sorted(
        files("crane_core.importers.label_maps").iterdir(),
        key=lambda entry: entry.name,
    )
    return tuple(
        _label_map(answer_map.map_document(entry.read_bytes()))
        for entry in entries
        if entry.name.endswith(".toml")
    )


def _label_map(document: Mapping[str, Any]) -> LabelMap:
    def values(name: str) -> dict[str, tuple[str, ...]]:
        told = document.get(name, {})
        return {path: tuple(those) for path, those in told.items()}

    about = {name: document[name] for name in _ROWS if name in document}
    return LabelMap(
        about=answer_map.map_of(about),
        paths={
            name: _listed(document[name])
            for name in MEMBERS
            if name in document
        },
        each=document.get("each", ""),
        parallel=document.get("parallel", {}),
        spans=document.get("spans", ""),
        span=values("span"),
        exceptions=values("except"),
    )


def _listed(told: str | list[str]) -> tuple[str, ...]:
    return (told,) if isinstance(told, str) else tuple(told)


def label_map_of(name: str, content: bytes) -> LabelMap | None:
    """The mapping for a file of this name; None where no tool is recognised."""
    members = first_members(name, content)
    return next(
        (
            one
            for one in label_maps()
            if any(members >= mark for mark in one.about.known_by)
        ),
        None,
    )


def foreign_labels(
    name: str, content: bytes, rules: LabelMap
) -> Iterator[ForeignLabel | LoadProblem]:
    """The labels of a file, in order, and rows that cannot be read. Raises UnreadableFileError."""
    tree = FileTree(name, Contents(read=lambda _: content, names=[name]))
    rows = rows_of(tree, tree.paths[0], rules.about)
    for number, row in enumerate(rows, start=1):
        if isinstance(row, LoadProblem):
            yield row
            continue
        for one in _elements(row, rules):
            if _is_wanted(one, rules):
                yield _label(number, one, rules)


def _elements(row: PlacedRow, rules: LabelMap) -> Iterator[PlacedRow]:
    """A row for each label that a row holds."""
    if rules.parallel:
        found = _side_by_side(row, rules.parallel)
    elif rules.each:
        listed = row.at(rules.each)
        found = listed if isinstance(listed, list) else []
    else:
        yield row
        return
    for element in found:
        yield row._replace(members=row.members | {"each": element})


def _side_by_side(
    row: PlacedRow, parallel: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The elements of parallel lists, joined by the person: who gave no reason has no place in the reasons."""
    lists = {
        name: found if isinstance(found := row.at(path), list) else []
        for name, path in parallel.items()
    }
    people = lists["annotator"]
    elements = []
    for at, person in enumerate(people):
        element = {"annotator": person, "label": lists["label"][at]}
        for name, of in (("reason", "reasons_of"), ("note", "notes_of")):
            if person in lists[of]:
                element[name] = lists[name][lists[of].index(person)]
        elements.append(element)
    return elements


def _is_wanted(row: PlacedRow, rules: LabelMap) -> bool:
    for path, values in rules.about.only.items():
        if str(row.at(path)) not in values:
            return False
    return not any(
        str(row.at(path)) in values for path, values in rules.exceptions.items()
    )


def _label(number: int, row: PlacedRow, rules: LabelMap) -> ForeignLabel:
    found = {
        name: next(
            (value for path in paths if (value := row.at(path)) is not None),
            None,
        )
        for name, paths in rules.paths.items()
    }
    labels = found.get("label")
    listed = labels if isinstance(labels, list) else [labels]
    note = _text(found.get("note"))
    spans = _spans(row, rules)
    return ForeignLabel(
        row=number,
        item=_text(found.get("item")),
        labels=tuple(_text(one) for one in listed if one is not None),
        reason=_text(found.get("reason")),
        note="\n".join(filter(None, (note, spans)))[:_MOST_NOTE],
        showing=_text(found.get("showing")),
        annotator=_text(found.get("annotator")),
    )


def _spans(row: PlacedRow, rules: LabelMap) -> str:
    """The marked places of a text, each as the tool describes it, a line each."""
    found = row.at(rules.spans) if rules.spans else None
    lines = []
    for span in found if isinstance(found, list) else ():
        is_span = all(
            str(value_at(span, path)) in values
            for path, values in rules.span.items()
        )
        if is_span:
            told = value_at(span, "value") if isinstance(span, dict) else span
            lines.append(json.dumps(told or span, ensure_ascii=False))
    return "\n".join(lines)


def _text(value: Any) -> str:
    """A text, or another value as JSON; "" for none."""
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value)
