"""How large the store is beside the gzip of the sources that it holds: at most three times.

python -m benchmarks.store_size
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks._data import archive_or_exit, imported
from benchmarks._figures import figure, tell
from crane_core.pipeline.loading.sources import pack
from crane_core.pipeline.places import embedded


def sources_bytes(archive: Path) -> int:
    """Bytes of the published archive as it is, and of the embedded data packed as a folder is that one imports."""
    data = {
        f"{name}/{file.relative_to(folder).as_posix()}": file.read_bytes()
        for name, folder in embedded().items()
        for file in folder.rglob("*")
        if file.is_file()
    }
    return archive.stat().st_size + len(pack(data))


def main() -> None:
    archive = archive_or_exit()
    with tempfile.TemporaryDirectory() as scratch:
        n_bytes = imported(Path(scratch) / "data").database.stat().st_size
    tell(
        figure(
            "bytes of the store",
            [n_bytes / 1e6],
            sources_bytes(archive) / 1e6,
            peer="gzip",
            unit="MB",
        )
    )


if __name__ == "__main__":
    main()
