"""Diagnosis of the installation: what is installed, loaded, missing or contradictory, and what to do about it."""

import os
import platform
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from crane_core import __version__, ledger
from crane_core.ledger import manifest as ledger_manifest
from crane_core.pipeline.loading.losses import Loss
from crane_core.pipeline.places import CHECKOUT, IS_INSTALLED, DataFolder
from crane_core.pipeline.results.contradictions import contradictions
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.rows import as_rows
from crane_core.runtime.isolation import AS_ROOT, can_seal, is_root
from crane_core.runtime.kernel_side.crane_probe.kernel_copy import isolation
from crane_core.storage import cases, state
from crane_core.storage.store import DAMAGED_REMEDY, Store

EVIDENCE = "evidence"
"""The area of findings that mean lost evidence."""
DAMAGED = "damaged"
"""The area of findings that mean a database to be built again."""
ISOLATION = "isolation"
TOLD_PACKAGES = (
    "streamlit", "duckdb", "pandas", "altair", "nbclient", "openai", "scikit-learn", "tiktoken", "pylint", "pyright",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """A finding: `area` groups findings, `remedy` is empty if nothing has to be done."""

    area: str
    what: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything that `doctor` reports. `contradictions` are votes that the published human outcomes contradict."""

    versions: dict[str, str]
    counts: dict[str, int]
    sources: list[dict[str, Any]]
    problems: list[dict[str, Any]]
    contradictions: list[dict[str, Any]]
    findings: list[DoctorFinding] = field(default_factory=list)


def examine(
    store: Store,
    folder: DataFolder,
    lost: Sequence[Loss] = (),
    unreadable: str | None = None,
) -> Examination:
    """Examine the store, the ledger and the machine; changes nothing. `lost` is what `losses` found.

    `unreadable` is why the database itself cannot be opened; the store then holds what the files give.
    """
    damaged = _damaged(store)
    if damaged:
        # What can be asked of such a database may be wrong: the files, which are the truth, are examined alone.
        findings = [
            *_evidence(lost),
            *damaged,
            *_pins(),
            *_torn(folder),
            *_odd(folder),
        ]
        return Examination(_versions(), {}, [], [], [], findings)
    cursor = store.cursor()
    return Examination(
        versions=_versions(),
        counts=state.table_counts(cursor),
        sources=as_rows(state.sources(cursor)),
        problems=as_rows(state.load_problems(cursor)),
        contradictions=as_rows(contradictions(verdict_frame(store))),
        findings=[
            *_evidence(lost),
            *(
                [DoctorFinding(DAMAGED, unreadable, DAMAGED_REMEDY)]
                if unreadable
                else []
            ),
            *_pins(),
            *_isolation(),
            *_missing_texts(store),
            *_waiting(store),
            *_torn(folder),
            *_odd(folder),
        ],
    )


def _evidence(lost: Sequence[Loss]) -> list[DoctorFinding]:
    return [DoctorFinding(EVIDENCE, str(loss), loss.remedy) for loss in lost]


def _isolation() -> list[DoctorFinding]:
    """What of a notebook of others this machine cannot keep apart; nothing where it can."""
    found = []
    if not can_seal():
        found.append(
            DoctorFinding(
                ISOLATION,
                "Notebooks of others are not sealed off here: they see the files and the network of this user",
                "Install bubblewrap, and allow user namespaces.",
            )
        )
    elif is_root():
        found.append(
            DoctorFinding(
                ISOLATION,
                AS_ROOT.rstrip("."),
                "Start the program as an ordinary user.",
            )
        )
    if not isolation.has_landlock():
        found.append(
            DoctorFinding(
                ISOLATION,
                "A rehearsal refuses to write files instead of dropping what it writes: the system has no Landlock",
                "Use Linux 5.13 or later with Landlock.",
            )
        )
    return found


def _versions() -> dict[str, str]:
    return {
        "crane-workbench": __version__,
        "python": platform.python_version(),
    } | {name: _version(name) or "not installed" for name in TOLD_PACKAGES}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _pins() -> list[DoctorFinding]:
    """Packages whose installed version is not the pinned one. What pip installed from a wheel has no pins."""
    if IS_INSTALLED:
        return []
    wrong = []
    for line in (CHECKOUT / "requirements.txt").read_text("utf-8").splitlines():
        if line.startswith((" ", "#")):
            continue
        pin, _, marker = line.removesuffix(" \\").partition(";")
        name, _, wanted = pin.strip().partition("==")
        if name and not marker and _version(name) != wanted:
            wrong.append(
                DoctorFinding(
                    "installed",
                    f"{name} is {_version(name) or 'missing'}, but {wanted} is pinned",
                    "Run `make setup`.",
                )
            )
    return wrong


def _missing_texts(store: Store) -> list[DoctorFinding]:
    found = []
    for row in as_rows(cases.benchmarks(store.cursor())):
        listed = cases.case_list(store.cursor(), row["benchmark"])
        for column, what in (
            ("has_code", "code"),
            ("has_state", "runtime state"),
        ):
            n = int((~listed[column]).sum())
            if n:
                remedy = (
                    "Run `fetch`, or import the archive."
                    if row["benchmark"] == "junobench"
                    else ""
                )
                found.append(
                    DoctorFinding(
                        "missing",
                        f"{row['benchmark']}: {n} of {len(listed)} cases without {what}",
                        remedy,
                    )
                )
    return found


def _waiting(store: Store) -> list[DoctorFinding]:
    """Answers and labels of instances that are not imported."""
    return [
        DoctorFinding(
            "waiting",
            f"{problem.path}, {problem.place}: {problem.reason}",
            "Import their notebooks.",
        )
        for problem in state.without_instance(store.cursor())
    ]


def _damaged(store: Store) -> list[DoctorFinding]:
    """Tables of the database that cannot be read to their end."""
    return [
        DoctorFinding(
            DAMAGED,
            f"The table {table} of the database is damaged: {why}",
            DAMAGED_REMEDY,
        )
        for table, why in state.damaged_tables(store.bare_cursor()).items()
    ]


def _odd(folder: DataFolder) -> list[DoctorFinding]:
    """What lies in the ledger and is not of it."""
    return [
        DoctorFinding("ledger", f"ledger/{odd.name} {odd.what}", odd.remedy)
        for odd in odd_files(folder.ledger)
    ]


def _torn(folder: DataFolder) -> list[DoctorFinding]:
    found = []
    for file in ledger.files(folder.ledger):
        torn = ledger.tail(file).torn_bytes
        if torn:
            name = file.relative_to(folder.ledger).as_posix()
            found.append(
                DoctorFinding(
                    "ledger",
                    f"{name} ends in {torn} bytes of an unfinished line",
                    "Nothing to do: the line is ignored.",
                )
            )
    return found


_OURS = frozenset({".jsonl", ".batch", ".lock"})
"""Ledger files, and what is beside a run that waits for its batch or is being written."""
_BEGINNING = 64_000
"""Bytes in which a ledger file has a whole line, unless it holds an unusually long text."""


class OddFile(NamedTuple):
    """A file by its path in the ledger, and what is odd about it, as the end of a sentence."""

    name: str
    what: str
    remedy: str


def odd_files(top: Path) -> Iterator[OddFile]:
    """Everything below the ledger `top` that the app would not write there, by name."""
    manifest = top / ledger_manifest.FOLDER
    for folder, folders, names in os.walk(top):
        folders.sort()
        linked = [
            name for name in folders if (Path(folder) / name).is_symlink()
        ]
        for name in sorted([*names, *linked]):
            path = Path(folder) / name
            odd = (
                _odd_entry(path)
                if path.is_relative_to(manifest)
                else _odd_file(path)
            )
            if odd is not None:
                yield OddFile(path.relative_to(top).as_posix(), *odd)


def _odd_file(path: Path) -> tuple[str, str] | None:
    if not stat.S_ISREG(path.lstat().st_mode) and not path.is_file():
        return "is a device, pipe, socket or link, not a file", "Remove it."
    if path.suffix not in _OURS:
        return "is not a file of the ledger", "Move it out of the data folder."
    if (
        path.suffix == ".jsonl"
        and path.stat().st_size
        and not _has_record(path)
    ):
        return (
            "holds no line of a ledger",
            "Move it out of the data folder, or restore it from a copy.",
        )
    return None


def _has_record(path: Path) -> bool:
    with path.open("rb") as file:
        lines = file.read(_BEGINNING).splitlines(keepends=True)
    if lines and not lines[0].endswith(b"\n") and len(lines) == 1:
        return (
            True  # one line that is being written, or longer than what was read
        )
    return any(map(_is_record, lines))


def _is_record(line: bytes) -> bool:
    try:
        ledger.from_line(line)
    except ValueError:
        return False
    return True


def _odd_entry(path: Path) -> tuple[str, str] | None:
    if path.suffix != ".json" or path.parts[-2:] == (
        ledger_manifest.FOLDER,
        "roll.json",
    ):
        return None
    if not path.is_file():
        return "is a device, pipe, socket or link, not a file", "Remove it."
    if (
        path.parent.name == "sources"
        and path.parent.parent.name == ledger_manifest.FOLDER
    ):
        return None  # the copy of a source's own description, which `losses` compares
    if ledger_manifest.read(path) is not None:
        return None
    what = (
        "is empty"
        if not path.stat().st_size
        else "cannot be read as an entry of the manifest"
    )
    of = path.with_suffix(".jsonl").name
    return (
        f"{what}, so a loss in {of} would not be seen",
        f"Compare {of} with a backup; the entry is made again.",
    )
