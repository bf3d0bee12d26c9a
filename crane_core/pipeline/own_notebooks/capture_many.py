"""Captured states as files, a notebook in and a JSON file out that `import` reads: one, or many into a folder.

Many run here, several at once, or on the workers of a Dask cluster. A notebook whose file is there already, and not
older than the notebook, is left out: so the same command resumes an earlier one that was stopped.

The file of one is there from the beginning, so that a folder that cannot be written is known before the cells have run,
and gets its name at the end, so that no reader sees half of one.
"""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import IO, Any, NamedTuple
from uuid import uuid4

from crane_core.domain import JsonObject
from crane_core.errors import CraneError, NotebookError
from crane_core.pipeline.dask.cluster import Cluster
from crane_core.pipeline.dask.sent_folder import Sent, received, sent
from crane_core.pipeline.dask.work import WorkPiece, spread
from crane_core.pipeline.dask.worker import Lines
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


_CHECKPOINTS = ".ipynb_checkpoints"


class CaptureRequest(NamedTuple):
    """A notebook and the file that its state goes to; `target` where it is another cell than the options say."""

    notebook: Path
    out: Path
    target: int | None = None

    @property
    def is_done(self) -> bool:
        """Whether the file is there and not older than the notebook."""
        return (
            self.out.exists()
            and self.out.stat().st_mtime_ns >= self.notebook.stat().st_mtime_ns
        )


class CapturedNotebook(NamedTuple):
    """A notebook that was captured, with the document that was written, or the error that there is none."""

    of: CaptureRequest
    document: JsonObject | None
    error: CraneError | None


class ManyCaptureOptions(NamedTuple):
    """With what notebooks are captured: `options` as in runtime.capture, `n_jobs` at once on this machine."""

    benchmark: str | None
    options: Mapping[str, Any]
    n_jobs: int


class CaptureWork(NamedTuple):
    """What a worker is given."""

    sent: Sent
    benchmark: str | None
    options: Mapping[str, Any]


def notebooks_in(named: Sequence[Path], out: Path) -> list[CaptureRequest]:
    """Each notebook that is named or lies in a folder that is, with its file below `out`. Raises NotebookError."""
    found: dict[Path, Path] = {}
    for path in named:
        top = path if path.is_dir() else path.parent
        for notebook in _notebooks(path):
            file = (out / notebook.relative_to(top)).with_suffix(".json")
            if (other := found.setdefault(file, notebook)) != notebook:
                raise NotebookError(
                    f"{other} and {notebook} would both go to {file}.",
                    remedy="Capture them into two folders.",
                )
    return [CaptureRequest(notebook, file) for file, notebook in found.items()]


def _notebooks(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(
        file
        # Jupyter keeps an older copy of each notebook in this folder.
        for file in path.rglob("*.ipynb")
        if file.is_file() and _CHECKPOINTS not in file.parts
    )
    if not found:
        raise NotebookError(
            f"{path} holds no notebook.",
            remedy="Name a folder with .ipynb files.",
        )
    return found


def capture_each(
    requests: Sequence[CaptureRequest],
    how: ManyCaptureOptions,
    cluster: Cluster | None,
    stop: Event,
) -> Iterator[CapturedNotebook]:
    """Each notebook once, its file written, as they are done, until `stop` is set. Raises OSError or ClusterError."""
    by_name = {str(one.notebook): one for one in requests}
    pieces = (
        WorkPiece(name, _given(one, how, cluster))
        for name, one in by_name.items()
    )
    done = (
        _here(pieces, how.n_jobs, stop)
        if cluster is None
        else _on_cluster(cluster, pieces, stop)
    )
    for name, said in done:
        one = by_name[name]
        if isinstance(said, CraneError):
            yield CapturedNotebook(one, None, said)
            continue
        document = json.loads(said[0])
        one.out.parent.mkdir(parents=True, exist_ok=True)
        write_document(one.out, document)
        yield CapturedNotebook(one, document, None)


def _given(
    one: CaptureRequest, how: ManyCaptureOptions, cluster: Cluster | None
) -> CaptureWork:
    is_local = cluster is None or cluster.is_local
    options = (
        how.options
        if one.target is None
        else {**how.options, "target": one.target}
    )
    return CaptureWork(
        sent(one.notebook.parent, [one.notebook], is_local=is_local),
        how.benchmark,
        options,
    )


def document(given: CaptureWork, stop: Event) -> Lines:
    """One line: the document of a notebook that was captured now. Raises NotebookError or KernelError."""
    with received(given.sent) as root:
        [name] = given.sent.notebooks
        captured = capture(root / name, stop=stop, **given.options)
    return [json.dumps(document_of(captured, given.benchmark), allow_nan=False)]


CaptureOutcome = tuple[str, Lines | CraneError]


def _here(
    pieces: Iterator[WorkPiece], n_jobs: int, stop: Event
) -> Iterator[CaptureOutcome]:
    pool = ThreadPoolExecutor(n_jobs, thread_name_prefix="capture")
    ended = Event()
    try:
        work = {
            pool.submit(_unless, piece, stop, ended): piece.name
            for piece in pieces
        }
        for done in as_completed(work):
            if (said := done.result()) is not None and not stop.is_set():
                yield work[done], said
    finally:
        ended.set()
        pool.shutdown(cancel_futures=True)


def _unless(
    piece: WorkPiece, stop: Event, ended: Event
) -> Lines | CraneError | None:
    """The document of a piece, unless it is no longer wanted."""
    if stop.is_set() or ended.is_set():
        return None
    try:
        return document(piece.given, stop)
    except CraneError as error:
        return error


def _on_cluster(
    cluster: Cluster, pieces: Iterator[WorkPiece], stop: Event
) -> Iterator[CaptureOutcome]:
    for done in spread(
        cluster, f"capture-{uuid4().hex}", document, pieces, stop
    ):
        if done.error is None:
            yield done.name, done.lines
        elif not isinstance(done.error, CraneError):
            raise done.error
        elif not stop.is_set():
            yield done.name, done.error
