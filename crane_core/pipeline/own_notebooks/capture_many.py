"""Many notebooks captured into a folder, a JSON file each: here, several at once, or on the workers of a Dask cluster.

A notebook whose file is there already, and not older than the notebook, is left out: so the same command resumes an
earlier one that was stopped.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple
from uuid import uuid4

from crane_core.domain import JsonObject
from crane_core.errors import CraneError, NotebookError
from crane_core.pipeline.dask.cluster import Cluster
from crane_core.pipeline.dask.sent_folder import Sent, received, sent
from crane_core.pipeline.dask.work import WorkPiece, spread
from crane_core.pipeline.dask.worker import Lines
from crane_core.pipeline.own_notebooks.capture import (
    document_of,
    write_document,
)
from crane_core.runtime.capture import capture

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
