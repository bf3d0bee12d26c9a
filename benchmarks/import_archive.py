"""Importing the published archive against plain Python that reads the same files: at most three times as long.

python -m benchmarks.import_archive
"""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
from pathlib import Path

from benchmarks._archive import archive_or_exit
from benchmarks._timing import Times, machine, timed
from crane_core.domain import DetectorKind
from crane_core.pipeline.evaluate import verdict_frame
from crane_core.pipeline.load import Imported, import_paths, prepare
from crane_core.pipeline.places import DataFolder

ROUNDS = 5
LIMIT = 3.0


def read_plainly(archive: Path) -> int:
    """Read every file of the archive and `json.load` those named .json; how many files."""
    n_files = 0
    with tarfile.open(archive) as members:
        for member in members:
            file = members.extractfile(member)
            if file is None:
                continue
            data = file.read()
            n_files += 1
            if member.name.endswith(".json"):
                json.loads(data)
    return n_files


def import_afresh(archive: Path, prepared: Path, data: Path) -> tuple[float, Imported, int]:
    """Seconds of the import into a copy of a prepared store; what it did; how many of the runs are of LLMs."""
    shutil.copytree(prepared, data)
    folder = DataFolder(data)
    store = prepare(folder)
    try:
        seconds, entry = timed(lambda: import_paths([archive], folder, store))
        verdicts = verdict_frame(store)
        asked = verdicts[(verdicts["experiment"] == entry.kind) & (verdicts["detector_kind"] == DetectorKind.LLM)]
        n_llm_runs = int(asked[["n_crash", "n_safe", "n_unanswered"]].to_numpy().sum())
    finally:
        store.close()
    return seconds, entry, n_llm_runs


def main() -> None:
    archive = archive_or_exit()
    plain, ours = Times([]), Times([])
    with tempfile.TemporaryDirectory() as scratch:
        prepared = Path(scratch) / "prepared"
        prepared.mkdir()
        prepare(DataFolder(prepared)).close()
        for n in range(ROUNDS):
            seconds, n_files = timed(lambda: read_plainly(archive))
            plain.seconds.append(seconds)
            seconds, entry, n_llm_runs = import_afresh(archive, prepared, Path(scratch) / f"round-{n}")
            ours.seconds.append(seconds)
    counts = {added.record: added.n_read for added in entry.added}
    print(
        f"{counts['cases']} cases, {counts['instances']} instances, {counts['kernel_states']} runtime states, "
        f"{n_llm_runs:,} LLM runs, {len(entry.problems)} problems"
    )
    print(f"plain Python, {n_files:,} files read and parsed: median {plain.median:.2f} s of {ROUNDS}")
    print(f"import into a prepared store:                  median {ours.median:.2f} s of {ROUNDS}")
    print(f"ratio {ours.median / plain.median:.2f} (limit {LIMIT:.0f}); {machine()}")


if __name__ == "__main__":
    main()
