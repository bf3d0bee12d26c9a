"""Look for keys and passwords in the files of the checkout. Usage: tools/secret_scan.py [FILE...]; without files, all.

False findings are listed in .ci/no_secrets.toml, by file and by the digest of the text, with the reason.
Data and pins are left out: digests of others, by the thousand. A clean file is not read again until it changes: .venv
keeps its digest.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from detect_secrets import SecretsCollection
from detect_secrets.settings import default_settings

ROOT = Path(__file__).resolve().parents[1]
KNOWN = ROOT / ".ci" / "no_secrets.toml"
CLEAN = ROOT / ".venv" / "without-secrets.txt"
LEFT_OUT = (":!data", ":!docs", ":!requirements*.txt", ":!.ci/no_secrets.toml")


class Found(NamedTuple):
    """Something that looks like a secret; `digest` is the SHA-1 of its text."""

    file: str
    line: int
    kind: str
    digest: str


def found_in(file: str) -> list[Found]:
    """What looks like a secret in one file, its path relative to the checkout."""
    secrets = SecretsCollection(root=str(ROOT))
    with default_settings():
        secrets.scan_file(file)
    return [
        Found(file, secret.line_number, secret.type, secret.secret_hash)
        for _, secret in secrets
    ]


def known() -> dict[str, set[str]]:
    """Digests of false findings, by file."""
    entries = tomllib.loads(KNOWN.read_text("utf-8"))["known"]
    return {entry["file"]: set(entry["digests"]) for entry in entries}


def files() -> list[str]:
    """Every file that is tracked or would be, but for data and pins."""
    command = [
        "git",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "--",
        ".",
        *LEFT_OUT,
    ]
    listed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [name for name in listed.split("\0") if (ROOT / name).is_file()]


def scanned(names: list[str]) -> Iterator[tuple[str, list[Found]]]:
    """Each file with what looks like a secret in it and is not a known false finding."""
    harmless = known()
    with ProcessPoolExecutor() as pool:
        for name, entries in zip(
            names, pool.map(found_in, names, chunksize=16), strict=True
        ):
            yield (
                name,
                [
                    one
                    for one in entries
                    if one.digest not in harmless.get(name, set())
                ],
            )


def state_of(name: str) -> str:
    """Name, content and what is known, in one digest."""
    return hashlib.sha256(
        b"\0".join(
            [name.encode(), (ROOT / name).read_bytes(), KNOWN.read_bytes()]
        )
    ).hexdigest()


def main(names: list[str]) -> int:
    kept = set(CLEAN.read_text("utf-8").split()) if CLEAN.is_file() else set()
    states = {name: state_of(name) for name in names or files()}
    results = dict(
        scanned([name for name, state in states.items() if state not in kept])
    )
    if not names and CLEAN.parent.is_dir():
        clean = [
            state for name, state in states.items() if not results.get(name)
        ]
        CLEAN.write_text("\n".join(clean) + "\n", "utf-8")
    found = sorted(one for entries in results.values() for one in entries)
    for one in found:
        print(
            f"{one.file}:{one.line}: {one.kind}, digest {one.digest}",
            file=sys.stderr,
        )
    if found:
        print(
            f"Take them out, or add a false finding, with the reason, to {KNOWN.relative_to(ROOT)}.",
            file=sys.stderr,
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
