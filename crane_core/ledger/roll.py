"""The roll: with a key, the signed list of all ledger files and sources, so that none can go with its entry.

Lies in the manifest's folder. Without a key it is neither made nor changed. Refuses to know what files hold.
"""

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from crane_core.ledger.signature import fault, ledger_key, signature

FILE_NAME = "roll"


@dataclass(frozen=True, slots=True)
class Roll:
    """Names of ledger files, and the sha256 of each source by its id."""

    files: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    signature: str = ""

    @property
    def said(self) -> list[object]:
        """What is signed."""
        return ["roll", sorted(self.files), dict(self.sources)]


def read(manifest: Path) -> Roll | None:
    """The roll as it is; None if there is none that can be read."""
    try:
        body = json.loads((manifest / FILE_NAME).read_text("utf-8"))
        return Roll(
            tuple(body["files"]), dict(body["sources"]), str(body["signature"])
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None


def fault_of(roll: Roll | None) -> str | None:
    """What is wrong with its signature, in words."""
    return fault(roll.signature, roll.said) if roll else fault("", [])


def enter(
    manifest: Path, *files: str, sources: Mapping[str, str] | None = None
) -> bool:
    """Add what is new; whether it was. No file twice, and not to a roll that is gone or wrong: that stays, to tell."""
    if ledger_key() is None:
        return True
    with _locked(manifest):
        roll = read(manifest)
        if (
            roll is None
            and not (manifest / FILE_NAME).exists()
            and next(manifest.rglob("*.json"), None) is None
        ):
            roll = _signed(Roll())
        if fault_of(roll) or roll is None or set(files) & set(roll.files):
            return False
        _write(
            manifest,
            Roll((*roll.files, *files), {**(sources or {}), **roll.sources}),
        )
    return True


def replace(manifest: Path, roll: Roll) -> None:
    """Write another roll, signed where there is a key; without one there is none."""
    with _locked(manifest):
        if ledger_key() is None:
            (manifest / FILE_NAME).unlink(missing_ok=True)
        else:
            _write(manifest, roll)


def _signed(roll: Roll) -> Roll:
    key = ledger_key()
    return Roll(
        roll.files, roll.sources, signature(key, roll.said) if key else ""
    )


def _write(manifest: Path, roll: Roll) -> None:
    """The old roll or the new one is there at every moment."""
    signed = _signed(roll)
    body = {
        "files": sorted(signed.files),
        "sources": dict(signed.sources),
        "signature": signed.signature,
    }
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=manifest, prefix=".roll-", delete=False
    ) as file:
        json.dump(body, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(manifest / FILE_NAME)


@contextmanager
def _locked(manifest: Path) -> Iterator[None]:
    """One process at a time: the folder itself is the lock."""
    handle = os.open(manifest, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
