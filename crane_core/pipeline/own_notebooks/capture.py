"""Captured states as files: a notebook in, a JSON file out that `import` reads.

The file is there from the beginning, so that a folder that cannot be written is known before the cells have run, and
gets its name at the end, so that no reader sees half of one.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from crane_core.domain import JsonObject
from crane_core.runtime.capture import Captured, capture


def capture_to_file(
    notebook: Path, out: Path, *, benchmark: str | None = None, **options: Any
) -> Captured:
    """Capture the state before the target of a notebook (`options` as in runtime.capture) and write it to `out`.

    `benchmark` is the one that the notebook belongs to, for the import. Raises NotebookError, KernelError or OSError;
    `out` is then as it was.
    """
    with _written(out) as file:
        captured = capture(notebook, **options)
        _write(document_of(captured, benchmark), file)
    return captured


def write_document(out: Path, document: JsonObject) -> None:
    """The contents of a file whose capture was made elsewhere. Raises OSError; `out` is then as it was."""
    with _written(out) as file:
        _write(document, file)


def _write(document: JsonObject, file: IO[str]) -> None:
    json.dump(document, file, indent=1, allow_nan=False)
    file.write("\n")


def document_of(captured: Captured, benchmark: str | None) -> JsonObject:
    """The contents of the file: the capture, and its benchmark if that is known."""
    return captured.to_json() | ({"benchmark": benchmark} if benchmark else {})


@contextmanager
def _written(path: Path) -> Iterator[IO[str]]:
    """A file that takes the place of `path` when the body is done; when the body raises, nothing has changed."""
    try:
        handle, name = tempfile.mkstemp(
            prefix=f".{path.name}.", dir=path.resolve().parent
        )
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    part = Path(name)
    try:
        with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - it is a handle
            yield file
            file.flush()
            os.fsync(file.fileno())
        # A temporary file is private; the result gets the rights of any file that the user makes.
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The user's umask; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
