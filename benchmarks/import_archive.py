"""Importing the published archive against plain Python that reads the same files: at most twice as long.

    python -m benchmarks.import_archive

The archive is given once more when it is known: within a second the import says so.
"""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks._data import archive_or_exit, embedded_only
from benchmarks._figures import figure, tell
from benchmarks._timing import machine, timed
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.places import DataFolder

ROUNDS = 5
KNOWN_LIMIT_S = 1.0


def read_plainly(archive: Path) -> None:
    """Read every file of the archive and `json.load` those named .json."""
    with tarfile.open(archive) as members:
        for member in members:
            file = members.extractfile(member)
            if file is None:
                continue
            data = file.read()
            if member.name.endswith(".json"):
                json.loads(data)


def main() -> None:
    archive = archive_or_exit()
    rounds = []
    with tempfile.TemporaryDirectory() as scratch:
        prepared = embedded_only(Path(scratch) / "prepared").path
        for n in range(ROUNDS):
            plain_s, _ = timed(lambda: read_plainly(archive))
            copy = shutil.copytree(prepared, prepared.with_name(f"round-{n}"))
            folder = DataFolder(Path(copy))
            store = prepare(folder)
            bring_in = partial(import_paths, [archive], folder, store)
            ours_s, _ = timed(bring_in)
            again_s, known = timed(bring_in)
            store.close()
            if not known.already_loaded:
                raise SystemExit("the archive was loaded twice")
            rounds.append((plain_s, ours_s, again_s))
    plain, ours, again = zip(*rounds, strict=True)
    print(machine())
    tell(
        figure(
            "import of the published archive",
            ours,
            median(plain),
            peer="plain Python",
        )
    )
    tell(figure("import of an archive that is known", again, KNOWN_LIMIT_S))


if __name__ == "__main__":
    main()
