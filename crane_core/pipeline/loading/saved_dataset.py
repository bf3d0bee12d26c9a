"""A folder that the library `datasets` saved (`save_to_disk`), as Parquet, which the importers read.

Knows that a folder is one; what its files hold is read by the library, which runs no code of a dataset for this.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crane_core.errors import SourceError

_OF_SPLITS = "dataset_dict.json"
_OF_ONE = ("state.json", "dataset_info.json")


def is_saved_dataset(path: Path) -> bool:
    """Whether `load_from_disk` reads this folder."""
    if (path / _OF_SPLITS).is_file():
        return True
    return all((path / name).is_file() for name in _OF_ONE)


@contextmanager
def readable(source: list[Path]) -> Iterator[list[list[Path]]]:
    """The source alone; of a saved dataset a source for each split, a Parquet file that is there until the body ends.

    Raises SourceError if it cannot be read.
    """
    if len(source) > 1 or not is_saved_dataset(source[0]):
        yield [source]
        return
    with tempfile.TemporaryDirectory() as place:
        yield [[file] for file in _as_parquet(source[0], Path(place))]


def _as_parquet(path: Path, place: Path) -> list[Path]:
    import pyarrow as pa
    from datasets import (
        Dataset,
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
        load_from_disk,
    )

    name = path.resolve().name
    # Its bars would come between the lines of the import.
    is_quiet = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        found = load_from_disk(str(path))
        splits = (
            {name: found}
            if isinstance(found, Dataset)
            else {f"{name}-{split}": rows for split, rows in found.items()}
        )
        files = []
        for title, rows in splits.items():
            files.append(place / f"{title}.parquet")
            rows.to_parquet(files[-1])
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        pa.ArrowException,
    ) as error:
        why = str(error).partition("\n")[0][:300]
        raise SourceError(
            f"{path} is a dataset that cannot be read: {why}.",
            remedy="Save it again with `save_to_disk`, or write it with `to_parquet`.",
        ) from error
    finally:
        if not is_quiet:
            enable_progress_bars()
    return files
