"""How each kind of record is stored: columns, key, and which columns are facts that sources must agree on."""

import json
from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from crane_core import domain


def stays(fact: str, kept: Any, refused: Any, source: str) -> str | None:
    """Why the fact of a later source is left out; None if it says the same in other words."""
    return f"{fact} is {_short(refused)} here but {_short(kept)} in an earlier source, which is kept"


def _looked_again(
    fact: str, kept: str, refused: str, source: str
) -> str | None:
    """For two captures of one instance; their times and durations are not part of the facts."""
    looks = [json.loads(text) for text in (kept, refused)]
    differing = sorted(
        {
            name
            for look in looks
            for name in look
            # When and how fast a capture ran differs each time and contradicts nothing.
            if name != "captured" and looks[0].get(name) != looks[1].get(name)
        }
    )
    if not differing:
        return None
    return (
        f"this instance was looked at before, and that state, of {source}, stays; {', '.join(differing)} differ. "
        f"To have this state, take {source} out of the folder of sources, where it was imported, and run `rebuild`"
    )


def _short(value: object, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


class Table(NamedTuple):
    """A table and the mapping from a record to its row.

    `facts` are the columns where two sources may not differ; the columns that are neither key nor fact are filled
    in by whichever source has them first. With `keeps_order` the table has a column `ordinal`, the record's place in
    its source. `contradiction` describes how a later source differs.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    facts: tuple[str, ...]
    row: Callable[[Any], tuple[Any, ...]]
    keeps_order: bool = False
    contradiction: Callable[[str, Any, Any, str], str | None] = stays

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that are not part of the key."""
        return tuple(
            column for column in self.columns if column not in self.key
        )


def _plain(
    name: str, record: type, *, key: tuple[str, ...], facts: tuple[str, ...]
) -> Table:
    columns = tuple(field.name for field in fields(record))
    return Table(name, columns, key, facts, attrgetter(*columns))


def _without(table: Table, *columns: str) -> Table:
    """The table without members of the ledger that no query asks for, such as the order of what one device made."""
    others = tuple(column for column in table.columns if column not in columns)
    return table._replace(columns=others, row=attrgetter(*others))


def _instance_row(instance: domain.Instance) -> tuple[Any, ...]:
    return (
        instance.benchmark,
        instance.case_id,
        str(instance.version),
        instance.instance_id,
        instance.crashes,
        instance.remark,
    )


def _state_row(state: domain.KernelState) -> tuple[Any, ...]:
    text = json.dumps(state.to_json(), ensure_ascii=False, allow_nan=False)
    where = (
        state.benchmark,
        state.instance_id,
        str(state.setting),
        state.origin,
    )
    return (*where, text, len(state.variables), state.is_literal)


INSTANCE = ("benchmark", "instance_id")
ANSWER = (*INSTANCE, "detector", "setting", "experiment")

TABLES: dict[type, Table] = {
    domain.Benchmark: _plain(
        "benchmarks", domain.Benchmark, key=("benchmark",), facts=()
    ),
    domain.Case: _plain(
        "cases",
        domain.Case,
        key=("benchmark", "case_id"),
        facts=(
            "library",
            "root_cause",
            "exception",
            "crash_type",
            "stage",
            "message",
            "created",
        ),
    ),
    domain.Instance: Table(
        "instances",
        ("benchmark", "case_id", "version", "instance_id", "crashes", "remark"),
        INSTANCE,
        ("crashes",),
        _instance_row,
    ),
    domain.Cell: _plain(
        "cells",
        domain.Cell,
        key=(*INSTANCE, "origin", "position"),
        facts=("code", "role"),
    ),
    domain.KernelState: Table(
        "kernel_states",
        (
            "benchmark",
            "instance_id",
            "setting",
            "origin",
            "state",
            "n_variables",
            "is_literal",
        ),
        (*INSTANCE, "setting", "origin"),
        ("state",),
        _state_row,
        contradiction=_looked_again,
    ),
    domain.Prompt: _plain(
        "prompts",
        domain.Prompt,
        key=(*INSTANCE, "setting", "origin", "sha256"),
        facts=("text",),
    ),
    domain.Detector: _plain(
        "detectors", domain.Detector, key=("detector",), facts=("kind",)
    ),
    domain.Run: _plain(
        "runs", domain.Run, key=(*ANSWER, "run_index"), facts=("crashes",)
    ),
    domain.Job: _plain("jobs", domain.Job, key=("job",), facts=("options",)),
    domain.Reply: _plain(
        "replies",
        domain.Reply,
        key=("job", *INSTANCE, "run_index"),
        facts=("text",),
    ),
    domain.Reread: _plain(
        "rereads",
        domain.Reread,
        key=("job", *INSTANCE, "run_index", "read_at"),
        facts=("crashes_after",),
    ),
    domain.Judgement: _plain(
        "judgements",
        domain.Judgement,
        key=(*ANSWER, "annotator", "run_index", "repetition", "presentation"),
        facts=("label",),
    ),
    domain.JudgeJob: _plain(
        "judge_jobs", domain.JudgeJob, key=("job",), facts=("options",)
    ),
    domain.JudgeReply: _plain(
        "judge_replies",
        domain.JudgeReply,
        key=("job", *ANSWER, "run_index", "repetition", "presentation"),
        facts=("text",),
    ),
    domain.Campaign: _plain(
        "campaigns", domain.Campaign, key=("campaign",), facts=("plan",)
    ),
    domain.CampaignGuideline: _plain(
        "campaign_guidelines",
        domain.CampaignGuideline,
        key=("campaign", "changed_at", "changed_by"),
        facts=("text",),
    ),
    domain.CampaignRound: _plain(
        "campaign_rounds",
        domain.CampaignRound,
        key=("campaign", "made_at"),
        facts=("round",),
    ),
    domain.CampaignLock: _plain(
        "campaign_locks", domain.CampaignLock, key=("campaign",), facts=()
    ),
    domain.Annotation: _without(
        _plain(
            "annotations",
            domain.Annotation,
            key=("campaign", "annotator", "event"),
            facts=(),
        ),
        "device",
        "number",
        "is_as_before",
    ),
    domain.CampaignMessage: _plain(
        "campaign_messages",
        domain.CampaignMessage,
        key=("campaign", "event"),
        facts=("text",),
    ),
    domain.KeyChoice: _plain(
        "key_choices",
        domain.KeyChoice,
        key=("annotator", "chosen_at"),
        facts=("chosen",),
    ),
    domain.Verification: _plain(
        "verifications",
        domain.Verification,
        key=("benchmark", "case_id", "version", "environment"),
        facts=("outcome",),
    ),
    domain.InventoryAct: _plain(
        "inventory_acts",
        domain.InventoryAct,
        key=("kind", "name", "acted_at", "action"),
        facts=(),
    ),
    domain.PublishedNumber: _plain(
        "published_numbers",
        domain.PublishedNumber,
        key=("publication", "table_id", "row", "column"),
        facts=("printed",),
    )._replace(keeps_order=True),
}
"""Record type to table, in the order in which a batch is written."""


def table_rows(cursor: duckdb.DuckDBPyConnection, record: type) -> pa.Table:
    """Every row of the records of this type: the columns of its table, JSON as text."""
    table = TABLES[record]
    columns = ", ".join(
        f'"{name}"::VARCHAR AS "{name}"' if name == "state" else f'"{name}"'
        for name in table.columns
    )
    order = ", ".join(f'"{name}"' for name in table.key)
    by = "source_id, ordinal" if table.keeps_order else order
    return cursor.sql(
        f"SELECT {columns} FROM {table.name} ORDER BY {by}"
    ).to_arrow_table()


_ONE = {
    "diagnoses": "diagnosis",
    "replies": "reply",
    "judge_replies": "judge reply",
}
"""One record of a table, where that is not its name without the s."""


def noun(n: int, records: str) -> str:
    """The name of a table as so many of its records are called in a sentence."""
    return (
        _ONE.get(records, records.removesuffix("s")) if n == 1 else records
    ).replace("_", " ")
