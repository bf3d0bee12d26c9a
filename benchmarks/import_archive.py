"""Importing the published archive against plain Python that reads the same files: at most twice as long.

    python -m benchmarks.import_archive

Both are measured in processor time as well: it hardly changes with other work on the machine. The archive is given once
more when it is known: within a second the import says so.
"""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks._archive import archive_or_exit
from benchmarks._figures import figure, tell
from benchmarks._timing import Times, machine, timed
from crane_core.domain import DetectorKind
from crane_core.pipeline.loading.load import Imported, import_paths, prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame

ROUNDS = 5
KNOWN_LIMIT_S = 1.0


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


class Taken(NamedTuple):
    """Seconds of one import, processor seconds of it, seconds of the same archive once more, and what came in."""

    seconds: float
    processor_s: float
    again_s: float
    entry: Imported
    n_llm_runs: int


def import_afresh(archive: Path, prepared: Path, data: Path) -> Taken:
    """The import into a copy of a prepared store, and the same once more."""
    shutil.copytree(prepared, data)
    folder = DataFolder(data)
    store = prepare(folder)
    try:
        processor = time.process_time()
        seconds, entry = timed(lambda: import_paths([archive], folder, store))
        processor = time.process_time() - processor
        again, known = timed(lambda: import_paths([archive], folder, store))
        if not known.already_loaded:
            raise SystemExit("the archive was loaded twice")
        verdicts = verdict_frame(store)
        asked = verdicts[
            (verdicts["experiment"] == entry.kind)
            & (verdicts["detector_kind"] == DetectorKind.LLM)
        ]
        n_llm_runs = int(asked[["n_crash", "n_safe", "n_unanswered"]].to_numpy().sum())
    finally:
        store.close()
    return Taken(seconds, processor, again, entry, n_llm_runs)


def main() -> None:
    archive = archive_or_exit()
    plain, plain_processor, ours = Times([]), Times([]), []
    with tempfile.TemporaryDirectory() as scratch:
        prepared = Path(scratch) / "prepared"
        prepared.mkdir()
        prepare(DataFolder(prepared)).close()
        for n in range(ROUNDS):
            processor = time.process_time()
            seconds, n_files = timed(lambda: read_plainly(archive))
            plain_processor.seconds.append(time.process_time() - processor)
            plain.seconds.append(seconds)
            ours.append(import_afresh(archive, prepared, Path(scratch) / f"round-{n}"))
    entry = ours[-1].entry
    counts = {added.record: added.n_read for added in entry.added}
    print(
        f"{counts['cases']} cases, {counts['instances']} instances, {counts['kernel_states']} runtime states, "
        f"{ours[-1].n_llm_runs:,} LLM runs, {len(entry.problems)} problems; plain Python read {n_files:,} files"
    )
    ratio = Times([one.processor_s for one in ours]).median / plain_processor.median
    print(f"processor time: {ratio:.2f} times plain Python's; {machine()}")
    tell(
        figure(
            "import of the published archive",
            [one.seconds for one in ours],
            plain.median,
            peer="plain Python",
        )
    )
    tell(
        figure(
            "import of an archive that is known",
            [one.again_s for one in ours],
            KNOWN_LIMIT_S,
        )
    )


if __name__ == "__main__":
    main()
