"""What the records of a table are called in sentences."""

from __future__ import annotations

_ONE = {"diagnoses": "diagnosis", "replies": "reply", "judge_replies": "judge reply"}
"""One record of a table, where that is not its name without the s."""


def noun(n: int, records: str) -> str:
    """The name of a table as so many of its records are called."""
    return (
        _ONE.get(records, records.removesuffix("s")) if n == 1 else records
    ).replace("_", " ")
