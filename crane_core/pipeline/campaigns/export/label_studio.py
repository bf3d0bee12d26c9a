"""A campaign for Label Studio: tasks with their annotations, and the labeling configuration that they fit.

Format: Label Studio, "Basic Label Studio JSON format" and its tags Text, Choices and TextArea. Its import refuses
annotators whose address it does not know, so the person is a part of the annotation's result, not its author. First
showings only: a hidden repeat is not a second opinion. The final label is an annotation marked as ground truth.
"""

import json
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from crane_core.annotation.label_set import LabelSet
from crane_core.pipeline.campaigns.export import table

LABEL, REASON, NOTE, PERSON = "label", "reason", "note", "annotator"
FINAL = "final"
"""The person of the final label."""
HEADINGS = {
    "ground_truth": "What happened",
    "message": "Error message",
    "target_code": "Target cell",
    "diagnosis": "Diagnosis",
}
_DATA = ("campaign", "item", *table.COLUMNS_AFTER_LOCK[:8])
_README = """Campaign {campaign} for Label Studio.

config.xml  the labeling configuration: paste it into Settings > Labeling Interface > Code
tasks.json  the tasks with the labels given so far: import it into the project

Each annotation holds its person, label, reason and note. Label Studio lists the person who imports the file as the
author of all annotations. Hidden repeats, times and undone labels are in the export with --form tables.
{texts}
To bring labels back: export JSON from Label Studio, then
  crane_core campaign labels {campaign} --file EXPORT.json --annotator WHO
"""
_WITHOUT = "The texts are left out, because they belong to their authors; --with-texts includes them.\n"
_WITH = "The texts belong to their authors; they are as annotators saw them.\n"


def label_studio_files(taken: table.LedgerSnapshot) -> table.Files:
    """The files by name."""
    has_texts = taken.texts is not None
    told = _README.format(
        campaign=taken.plan.campaign, texts=_WITH if has_texts else _WITHOUT
    )
    return {
        "README.txt": lambda: iter([told.encode()]),
        "config.xml": lambda: iter(
            [_config(taken.plan.labels, has_texts=has_texts)]
        ),
        "tasks.json": lambda: _tasks(taken),
    }


FORM = table.LabelForm(
    "label-studio",
    "tasks with annotations and the labeling configuration",
    label_studio_files,
)


def _config(labels: LabelSet, *, has_texts: bool) -> bytes:
    """What is shown, and the controls: one label, a reason where labels have any, a note, the person."""
    view = ElementTree.Element("View")
    # Else HTML folds the line breaks of code and tracebacks.
    ElementTree.SubElement(
        view, "Style"
    ).text = ".htx-text { white-space: pre-wrap; }"
    for name in table.TEXT_COLUMNS if has_texts else ("item",):
        ElementTree.SubElement(view, "Header", value=HEADINGS.get(name, "Item"))
        ElementTree.SubElement(view, "Text", name=name, value=f"${name}")
    about = _about(has_texts=has_texts)
    _choices(
        view,
        LABEL,
        about,
        {label.code: label.word for label in labels.labels},
        required="true",
    )
    if labels.reasons:
        _choices(view, REASON, about, labels.reason_words, required="false")
    for name, heading in ((NOTE, "Note"), (PERSON, "Annotator")):
        ElementTree.SubElement(view, "Header", value=heading)
        ElementTree.SubElement(
            view, "TextArea", name=name, toName=about, maxSubmissions="1"
        )
    ElementTree.indent(view)
    return f"{ElementTree.tostring(view, encoding='unicode')}\n".encode()


def _about(*, has_texts: bool) -> str:
    """The object that is labelled."""
    return "diagnosis" if has_texts else "item"


def _choices(
    view: ElementTree.Element,
    name: str,
    about: str,
    words: dict[str, str],
    *,
    required: str,
) -> None:
    """`words` by the value that is stored."""
    ElementTree.SubElement(view, "Header", value=name.capitalize())
    choices = ElementTree.SubElement(
        view,
        "Choices",
        name=name,
        toName=about,
        choice="single",
        required=required,
    )
    # An alias is what Label Studio stores of a choice; where code and word are the same it would say nothing.
    for code, said in words.items():
        ElementTree.SubElement(
            choices,
            "Choice",
            {"value": said} | ({} if code == said else {"alias": code}),
        )


def _tasks(taken: table.LedgerSnapshot) -> Iterator[bytes]:
    """A JSON list, one task per line."""
    tasks: dict[str, dict[str, Any]] = {}
    for row in table.rows(taken):
        if row["showing"] == 1:
            task = tasks.setdefault(row["item"], _task(taken, row))
            if row["label"] is not None:
                task["annotations"].append(
                    _annotation(taken, row, row["annotator"], row["label"])
                )
    lines = (json.dumps(task, ensure_ascii=False) for task in tasks.values())
    yield ("[\n" + ",\n".join(lines) + "\n]\n").encode()


def _task(taken: table.LedgerSnapshot, row: table.Row) -> dict[str, Any]:
    data = {name: row[name] for name in _DATA if row[name] is not None}
    if taken.texts is not None:
        data |= {name: row[name] or "" for name in table.TEXT_COLUMNS}
    final = row["final_label"]
    decided = (
        _annotation(taken, row, FINAL, final) | {"ground_truth": True}
        if final is not None
        else None
    )
    return {"data": data, "annotations": [decided] if decided else []}


def _annotation(
    taken: table.LedgerSnapshot, row: table.Row, person: str, label: str
) -> dict[str, Any]:
    # The final label belongs to the lead: reason and time of the annotator's row are not of it.
    own = (
        row
        if person != FINAL
        else {"reason": None, "note": row["decision_note"], "seconds": None}
    )
    about = _about(has_texts=taken.texts is not None)
    said: list[tuple[str, str, Any]] = [
        (LABEL, "choices", [label]),
        (PERSON, "text", [person]),
    ]
    said += [(REASON, "choices", [own["reason"]])] if own["reason"] else []
    said += [(NOTE, "text", [own["note"]])] if own["note"] else []
    results = [
        {
            "id": f"{row['item']}-{person}-{name}",
            "from_name": name,
            "to_name": about,
            "type": "choices" if kind == "choices" else "textarea",
            "value": {kind: value},
        }
        for name, kind, value in said
    ]
    return {"result": results} | (
        {"lead_time": own["seconds"]} if own["seconds"] is not None else {}
    )
