"""A campaign as files for other tools: tidy labels, every act, the plan, and the meaning of the columns.

From the ledger alone, so it works at any time and beside the running app. Before the lock of a blind campaign nothing
in it tells detector, setting or case, nor how two annotators labelled one item: see `export.table` and `blind_plan`.
"""

import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from crane_core import ledger
from crane_core.annotation.guideline import GuidelineVersion
from crane_core.pipeline.campaigns import blind_plan, gold_scores
from crane_core.pipeline.campaigns.export import readme, schema, table
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.sheet_text import csv_text

GUIDELINES = "guidelines.csv"
"""The file that lists the versions of the guideline."""
GOLD = "gold.csv"
"""The file of gold items and the labels that annotators gave them; not before the lock of a blind campaign."""
MESSAGES = "messages.jsonl"
"""The file of what annotators and leads wrote to each other."""


def export_files(folder: DataFolder, campaign: str) -> table.Files:
    """The files by name, without texts. Raises CampaignError if there is no such campaign."""
    return table_files(table.snapshot(folder, campaign))


def table_files(taken: table.LedgerSnapshot) -> table.Files:
    """The files by name."""
    hidden = taken.finals is None
    plan = (
        blind_plan.blind_plan_file(taken.plan, taken.plan_text)
        if hidden
        else blind_plan.plan_file(taken.plan_text)
    )
    guidelines = {
        entry.version: entry.text.encode()
        for entry in _in_force_or_stamped(taken)
    }
    told = readme.readme(
        taken.plan,
        taken.lock,
        taken.guidelines,
        hidden=hidden,
        stamped=_stamped(taken),
        lost=_without_text(taken),
        columns=taken.columns,
    )
    return {
        "README.txt": lambda: _whole(told.encode()),
        "labels.csv": lambda: _labels(taken),
        "labels.schema.json": lambda: _whole(
            schema.as_file(schema.row_schema(taken.columns, taken.plan.labels))
        ),
        "acts.jsonl": lambda: _acts(taken),
        "acts.schema.json": lambda: _whole(
            schema.as_file(schema.act_schema(taken.plan.labels))
        ),
        "plan.json": lambda: _whole(plan),
        "rounds.jsonl": lambda: _rounds(taken),
        MESSAGES: lambda: _messages(taken),
        GUIDELINES: lambda: _guidelines(taken),
        **(
            {GOLD: lambda: _gold(taken)}
            if taken.plan.gold and not hidden
            else {}
        ),
    } | {
        guideline_file(version): partial(_whole, text)
        for version, text in guidelines.items()
    }


FORM = table.LabelForm(
    "tables",
    "tidy CSV, every action as JSON lines, the plan, JSON Schemas",
    table_files,
)


def guideline_file(version: str) -> str:
    """The name of the file with the text of a version."""
    return f"guideline-{version}.md"


def export_zip(folder: DataFolder, campaign: str) -> bytes:
    """The same files in one archive, under a folder of the campaign's name."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in export_files(folder, campaign).items():
            with archive.open(f"{campaign}/{name}", "w") as file:
                file.writelines(content())
    return stream.getvalue()


def _stamped(taken: table.LedgerSnapshot) -> Counter[str]:
    """How many acts were done under each version of the guideline."""
    return Counter(
        act.guideline
        for acts in (*taken.acts.values(), taken.decisions)
        for act in acts
    )


def _in_force_or_stamped(taken: table.LedgerSnapshot) -> list[GuidelineVersion]:
    """The versions with a text, in order; the replacement of a text that was not stored, only if it was read."""
    first, *later = taken.guidelines
    counts = first.version == taken.plan.guideline or first.version in _stamped(
        taken
    )
    return [*([first] if counts else []), *later]


def _without_text(taken: table.LedgerSnapshot) -> set[str]:
    """The plan's version and those of acts whose text was not stored."""
    return {taken.plan.guideline, *_stamped(taken)} - {
        entry.version for entry in _in_force_or_stamped(taken)
    }


def _guidelines(taken: table.LedgerSnapshot) -> Iterator[bytes]:
    """The versions in the order of their times; the last is the one in force."""
    yield _line(("version", "since", "by", "file"))
    for entry in _in_force_or_stamped(taken):
        yield _line(
            (
                entry.version,
                entry.since,
                entry.by,
                guideline_file(entry.version),
            )
        )


def _whole(content: bytes) -> Iterator[bytes]:
    yield content


def _acts(taken: table.LedgerSnapshot) -> Iterator[bytes]:
    for acts in (*taken.acts.values(), taken.decisions):
        for act in acts:
            yield ledger.to_line(
                replace(act, item=taken.shown_name(act.annotator, act.item))
            )


def _gold(taken: table.LedgerSnapshot) -> Iterator[bytes]:
    yield _line(gold_scores.COLUMNS)
    yield from (_line(row) for row in taken.gold)


def _messages(taken: table.LedgerSnapshot) -> Iterator[bytes]:
    for message in taken.messages:
        yield ledger.to_line(
            replace(
                message, item=taken.shown_name(message.annotator, message.item)
            )
        )


def _rounds(taken: table.LedgerSnapshot) -> Iterator[bytes]:
    """Every change of who labels what; before the lock without the names of items."""
    for entry in taken.plan.rounds:
        if taken.finals is None:
            # The names of items are those that annotators know; until the lock nobody may match them.
            entry = replace(entry, orders={}, again={}, items=(), second={})
        yield (entry.to_json() + "\n").encode()


def _labels(taken: table.LedgerSnapshot) -> Iterator[bytes]:
    yield _line(taken.columns)
    for row in table.rows(taken):
        yield _line(tuple(row[column] for column in taken.columns))


def _line(cells: tuple[Any, ...]) -> bytes:
    """One line as RFC 4180 has it; its line end makes the writer quote a lone carriage return in a note, too."""
    return csv_text([cells], line_end="\r\n").encode()
