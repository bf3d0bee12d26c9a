"""A person's keys at the desks, kept in the ledger beside all campaigns: they enter no label and no export of one.

ledger/keys/<person>.jsonl    every choice; the last one is in force
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crane_core import ledger
from crane_core.annotation.chosen_keys import checked_keys
from crane_core.annotation.plan import NAME
from crane_core.domain import KeyChoice
from crane_core.errors import CampaignError
from crane_core.ledger.chain import whole_lines
from crane_core.pipeline.places import DataFolder


def key_file(folder: DataFolder, person: str) -> Path | None:
    """The file of a person; None if the name cannot be that of a file."""
    return (
        folder.ledger / "keys" / f"{person}.jsonl"
        if NAME.fullmatch(person)
        else None
    )


def own_keys(folder: DataFolder, person: str) -> dict[str, Any] | None:
    """The choice in force, None if there is none. Raises CampaignError if it cannot be read."""
    file = key_file(folder, person)
    if file is None or not file.is_file():
        return None
    try:
        lines = whole_lines(file.read_bytes()).splitlines()
        return _chosen(lines[-1]) if lines else None
    except (ValueError, RecursionError, OSError) as error:
        raise CampaignError(
            f"The keys kept for {person} cannot be read, so the standard keys are on: {error}.",
            remedy="Choose them again in the list of keys.",
        ) from error


def _chosen(line: bytes) -> dict[str, Any]:
    record = ledger.from_line(line)
    if not isinstance(record, KeyChoice):
        raise ValueError("the last line is not a choice of keys")
    return checked_keys(json.loads(record.chosen))


def keep_keys(folder: DataFolder, person: str, body: Any) -> None:
    """Store a choice that differs from the one in force.

    Raises CampaignError if it is invalid or of a person who cannot have a file, LedgerError if the disk refuses.
    """
    file = key_file(folder, person)
    if file is None:
        raise CampaignError(
            f"{person[:40]!r} is not a name that keys are kept for.",
            remedy="Log in, or correct it.",
        )
    try:
        chosen = checked_keys(body)
    except ValueError as error:
        raise CampaignError(
            f"These keys cannot be kept: {error}.", remedy="Choose others."
        ) from error
    try:
        is_kept = own_keys(folder, person) == chosen
    except CampaignError:
        is_kept = False  # what cannot be read is replaced by what can
    if not is_kept:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        ledger.append(
            file,
            KeyChoice(
                person,
                now,
                json.dumps(chosen, ensure_ascii=False, sort_keys=True),
            ),
        )
