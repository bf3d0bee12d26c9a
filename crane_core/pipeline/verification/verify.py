"""Every pair of a benchmark executed: does the crashing notebook crash as recorded, and does the fixed one run through?

Each notebook runs in its own kernel and its own copy of its folder. Outcomes go to the ledger as they come, so that a
second run resumes where the first was stopped. On the workers of a Dask cluster each pair is executed once, too; one
with another Python or other packages executes nothing: its outcomes would be of another environment.
"""

import hashlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event
from typing import NamedTuple
from uuid import uuid4

from crane_core import ledger
from crane_core.domain import Verification, VerifiedAs, Version
from crane_core.errors import (
    ClusterError,
    KernelError,
    KernelStartError,
    NotebookError,
)
from crane_core.importers.published_detectors import slug
from crane_core.pipeline.dask.cluster import Cluster
from crane_core.pipeline.dask.sent_folder import Sent, received, sent
from crane_core.pipeline.dask.work import WorkPiece, spread
from crane_core.pipeline.dask.worker import Lines
from crane_core.pipeline.jobs.files import alone, job_file, now, sayable
from crane_core.pipeline.loading.sources import fingerprint
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.verification import pair_claims
from crane_core.pipeline.verification.where import Bench, Pair, own_copy
from crane_core.runtime.endings import short
from crane_core.runtime.environment import Environment, environment_of
from crane_core.runtime.execute import Execution, execute
from crane_core.runtime.isolation import is_small
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.program import Program, program

OPEN = frozenset({VerifiedAs.CANNOT_RUN, VerifiedAs.STOPPED})
"""Outcomes that say nothing of the pair; the next run tries again."""
Progress = Callable[[int, int, Sequence[Verification]], None]
"""Receives the number of pairs that are done, of all, and the notebooks of one that was executed now."""


class VerifyOptions(NamedTuple):
    """With what notebooks are executed. `limits.cell_s` holds for a whole notebook, `n_jobs` of which run at once."""

    program: Program
    environment: Environment
    limits: KernelLimits
    n_jobs: int = 1
    again: bool = False


class OpenPair(NamedTuple):
    """A pair of which something is to be executed: what it claims, the digest of each notebook, and what is known."""

    pair: Pair
    claims: dict[Version, pair_claims.PairClaim | pair_claims.Borne]
    contents: dict[Version, str]
    reused: list[Verification]

    @property
    def versions(self) -> list[Version]:
        """The notebooks to execute."""
        known = {one.version for one in self.reused}
        return [version for version in Version if version not in known]


Executed = Iterator[tuple[OpenPair, list[Verification]]]
"""Pairs with what was executed of them, as they are done."""
Executor = Callable[
    [Bench, VerifyOptions, Iterable[OpenPair], threading.Event], Executed
]
"""Executes pairs until the event is set."""


def verify(
    bench: Bench,
    folder: DataFolder,
    how: VerifyOptions,
    *,
    stop: threading.Event,
    progress: Progress = lambda *_: None,
    executor: Executor | None = None,
) -> list[Verification]:
    """The outcome of every notebook of the bench, in its order; a missing half has one too.

    What an earlier run found out in the same environment about the same files is not executed again, unless
    `how.again`. When `stop` is set, the rest is left out. Raises KernelStartError if no kernel comes up, and
    LedgerError.
    """
    job = job_of(bench, how)
    # Two processes would execute everything twice and write one file.
    with alone(folder, job):
        known = {} if how.again else _known(job_file(folder, job))
        found: dict[str, list[Verification]] = {}
        for done, fresh in (executor or in_threads)(
            bench, how, _open(bench, known, found), stop
        ):
            ledger.append(job_file(folder, job), *fresh)
            case = done.pair.case_id
            found[case] = sorted(
                [*done.reused, *fresh],
                key=lambda one: list(Version).index(one.version),
            )
            progress(len(found), len(bench.pairs), found[case])
    return [one for pair in bench.pairs for one in found.get(pair.case_id, [])]


def job_of(bench: Bench, how: VerifyOptions) -> str:
    """The name of the ledger file of a benchmark in an environment."""
    return f"verify-{slug(bench.benchmark)}-{how.environment.digest}"


Key = tuple[str, Version, str]
"""Case, version, and the digest of what was executed."""


def _known(path: Path) -> dict[Key, Verification]:
    records = ledger.tail(path).records if path.exists() else []
    return {
        (record.case_id, record.version, record.content): record
        for record in records
        if isinstance(record, Verification) and record.outcome not in OPEN
    }


def _open(
    bench: Bench,
    known: dict[Key, Verification],
    found: dict[str, list[Verification]],
) -> Iterator[OpenPair]:
    """Pairs of which not everything is known; the others are found already."""
    for pair in bench.pairs:
        beside = {
            path.parent: _digest_beside(path.parent)
            for path in pair.paths.values()
        }
        claims = _claims(pair)
        contents = {
            version: _digest(pair.paths.get(version), beside, claims[version])
            for version in Version
        }
        keys = [
            (pair.case_id, version, content)
            for version, content in contents.items()
        ]
        reused = [known[key] for key in keys if key in known]
        if len(reused) == len(keys):
            found[pair.case_id] = reused
        else:
            yield OpenPair(pair, claims, contents, reused)


def in_threads(
    bench: Bench,
    how: VerifyOptions,
    pairs: Iterable[OpenPair],
    stop: threading.Event,
) -> Executed:
    """Pairs as they are executed on this machine, `how.n_jobs` at once."""
    failed = threading.Event()
    pool = ThreadPoolExecutor(how.n_jobs, thread_name_prefix="verify")
    try:
        work = {
            pool.submit(executed, bench, pair, how, _Either(stop, failed)): pair
            for pair in pairs
        }
        for done in as_completed(work):
            try:
                yield work[done], done.result()
            # No kernel comes up at all, so every further pair would fail alike.
            except KernelStartError:
                raise
            except KernelError:
                if not stop.is_set():
                    raise
    finally:
        # The other threads stop at their next look instead of finishing in vain.
        failed.set()
        pool.shutdown(cancel_futures=True)


class _Either(threading.Event):
    """Set when one of two events is."""

    def __init__(self, *events: threading.Event) -> None:
        super().__init__()
        self._events = events

    def is_set(self) -> bool:
        """Whether either of the events is."""
        return any(event.is_set() for event in self._events)


def executed(
    bench: Bench, pair: OpenPair, how: VerifyOptions, stop: threading.Event
) -> list[Verification]:
    """The outcomes of the pair's open notebooks, executed now."""
    fresh = []
    for version in pair.versions:
        path, claim = pair.pair.paths.get(version), pair.claims[version]
        if isinstance(claim, pair_claims.Borne) or path is None:
            assert isinstance(claim, pair_claims.Borne)
            fresh.append(
                verification(
                    bench,
                    pair,
                    version=version,
                    how=how,
                    borne=claim,
                    recorded=None,
                    went=None,
                )
            )
            continue
        # A notebook that writes files must not change what the next one finds.
        with own_copy(bench.root, path.parent) as own:
            went = execute(
                path.name,
                claim.cells,
                own,
                how.program,
                how.limits,
                tolerated=claim.tolerates,
                stop=stop,
            )
        fresh.append(
            verification(
                bench,
                pair,
                version=version,
                how=how,
                borne=pair_claims.borne_out(claim, went),
                recorded=claim.exception,
                went=went,
            )
        )
    return fresh


def _claims(
    pair: Pair,
) -> dict[Version, pair_claims.PairClaim | pair_claims.Borne]:
    """What each notebook claims, or why it claims nothing that can be verified: then the other does neither."""
    try:
        if pair.fault:
            raise NotebookError(f"{pair.fault}.", remedy="")
        crashing, target = pair_claims.crashing_claim(
            pair.paths[Version.REPRODUCED], pair.exception
        )
        return {
            Version.REPRODUCED: crashing,
            Version.FIXED: pair_claims.fixed_claim(
                pair.paths[Version.FIXED], target
            ),
        }
    except NotebookError as error:
        return dict.fromkeys(
            Version,
            pair_claims.Borne(VerifiedAs.NOT_A_PAIR, short(str(error.args[0]))),
        )


def verification(
    bench: Bench,
    pair: OpenPair,
    version: Version,
    how: VerifyOptions,
    borne: pair_claims.Borne,
    recorded: str | None,
    went: Execution | None,
) -> Verification:
    """The outcome of one notebook; `went` is None where it was not executed."""
    return Verification(
        benchmark=bench.benchmark,
        case_id=pair.pair.case_id,
        version=version,
        environment=how.environment.digest,
        content=pair.contents[version],
        python=how.environment.python,
        outcome=borne.outcome,
        verified_at=now(),
        seconds=round(went.seconds, 3) if went else None,
        recorded=recorded,
        exception=went.exception if went else None,
        message=sayable(short(went.message))
        if went and went.exception
        else None,
        cell=borne.cell,
        why=sayable(borne.why) if borne.why else None,
    )


def _digest(
    path: Path | None,
    beside: dict[Path, str],
    claim: pair_claims.PairClaim | pair_claims.Borne,
) -> str:
    """sha256 over everything that shapes the outcome: the notebook, the files beside it, and the claim."""
    digest = hashlib.sha256()
    if path is not None:
        digest.update(f"{fingerprint(path)}\0{beside[path.parent]}\0".encode())
    claimed = (
        claim.why
        if isinstance(claim, pair_claims.Borne)
        else f"{claim.target} {claim.exception}"
    )
    digest.update(sayable(str(claimed)).encode())
    cells = [] if isinstance(claim, pair_claims.Borne) else claim.cells
    # Earlier releases ran cells whatever their tags and language: of such a notebook they found out something else.
    if any(cell.may_raise for cell in cells):
        digest.update(b"\0tags")
    if any(cell.is_skipped for cell in cells):
        digest.update(b"\0left out")
    return digest.hexdigest()


def _digest_beside(folder: Path) -> str:
    """sha256 over the other files of a folder: names with content, or with size and time where they are large."""
    digest = hashlib.sha256()
    # Data of gigabytes are not read to the end at each start.
    small = is_small(folder)
    for file in sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".ipynb"
    ):
        stat = file.stat()
        told = (
            fingerprint(file) if small else f"{stat.st_size} {stat.st_mtime_ns}"
        )
        digest.update(
            f"{file.relative_to(folder).as_posix()}\0{told}\n".encode(
                "utf-8", "surrogateescape"
            )
        )
    return digest.hexdigest()


class VerificationWork(NamedTuple):
    """What a worker is given: a pair with paths below its root, and with what it is executed.

    `python` is the interpreter that was named, None: that of the worker. `sent` is None where nothing is executed.
    """

    benchmark: str
    pair: OpenPair
    how: VerifyOptions
    python: str | None
    sent: Sent | None


def on_cluster(cluster: Cluster) -> Executor:
    """Executes pairs on the cluster."""

    def execute(
        bench: Bench,
        how: VerifyOptions,
        pairs: Iterable[OpenPair],
        stop: Event,
    ) -> Executed:
        # A worker answers a piece that it did before, by the job's name too, from its own file; `again` means
        # to execute.
        job = job_of(bench, how) + (f"-{uuid4().hex}" if how.again else "")
        out: dict[str, OpenPair] = {}

        def pieces() -> Iterator[WorkPiece]:
            for pair in pairs:
                out[pair.pair.case_id] = pair
                yield WorkPiece(
                    pair.pair.case_id,
                    _given(bench, how, pair, is_local=cluster.is_local),
                )

        for done in spread(cluster, job, outcomes, pieces(), stop):
            pair = out.pop(done.name)
            if done.error is None:
                yield pair, _merged(bench, how, pair, done.lines)
            elif isinstance(done.error, ClusterError):
                yield pair, _not_executed(bench, how, pair, done.error)
            elif isinstance(done.error, KernelStartError) or not stop.is_set():
                raise done.error

    return execute


def _given(
    bench: Bench,
    how: VerifyOptions,
    pair: OpenPair,
    *,
    is_local: bool,
) -> VerificationWork:
    paths = pair.pair.paths
    is_executed = any(
        not isinstance(pair.claims[version], pair_claims.Borne)
        for version in pair.versions
    )
    # A pair of which all is known before execution needs no files there.
    files = (
        sent(bench.root, list(paths.values()), is_local=is_local)
        if is_executed
        else None
    )
    # The worker has the files elsewhere: only paths below the folder mean the same there.
    below = {
        version: path.resolve().relative_to(bench.root.resolve())
        for version, path in paths.items()
    }
    named = None if how.program == program() else how.program.argv[0]
    return VerificationWork(
        bench.benchmark,
        pair._replace(pair=pair.pair._replace(paths=below)),
        how,
        named,
        files,
    )


def outcomes(given: VerificationWork, stop: Event) -> Lines:
    """On a worker: the ledger lines of the pair's open notebooks. Raises KernelError when `stop` is set."""
    how, pair = given.how, given.pair
    if given.sent is None:
        return _lines(
            executed(Bench(given.benchmark, Path(), []), pair, how, stop)
        )
    kernel = program(python=given.python)
    _check_environment(kernel.argv[0], how.environment)
    with received(given.sent) as root:
        paths = {
            version: root / path for version, path in pair.pair.paths.items()
        }
        here = pair._replace(pair=pair.pair._replace(paths=paths))
        return _lines(
            executed(
                Bench(given.benchmark, root, []),
                here,
                how._replace(program=kernel),
                stop,
            )
        )


def _lines(fresh: list[Verification]) -> Lines:
    return [ledger.to_line(one).decode() for one in fresh]


@cache
def _check_environment(python: str, wanted: Environment) -> None:
    found = environment_of(program(python=python))
    if found != wanted:
        raise ClusterError(
            f"{python} on {socket.gethostname()} is Python {found.python} with other packages ({found.digest}) than "
            f"the driver's ({wanted.python}, {wanted.digest}).",
            remedy="Install the same packages on every worker, or name their interpreter with --python.",
        )


def _merged(
    bench: Bench, how: VerifyOptions, pair: OpenPair, lines: Lines
) -> list[Verification]:
    """The outcomes of a pair, which are about the notebooks that were sent and no others."""
    found = [
        one
        for line in lines
        if isinstance(one := ledger.from_line(line.encode()), Verification)
    ]
    asked = [
        (bench.benchmark, pair.pair.case_id, one, how.environment.digest)
        for one in pair.versions
    ]
    if [
        (one.benchmark, one.case_id, one.version, one.environment)
        for one in found
    ] != asked:
        raise ClusterError(
            f"A worker answered something other than {pair.pair.case_id}.",
            remedy="Check who uses the cluster.",
        )
    return [replace(one, content=pair.contents[one.version]) for one in found]


def _not_executed(
    bench: Bench,
    how: VerifyOptions,
    pair: OpenPair,
    error: ClusterError,
) -> list[Verification]:
    """The cluster could not do it, which says nothing of the pair; the next run tries again."""
    why = pair_claims.Borne(VerifiedAs.CANNOT_RUN, short(str(error)))
    return [
        verification(
            bench,
            pair,
            version=version,
            how=how,
            borne=why,
            recorded=None,
            went=None,
        )
        for version in pair.versions
    ]
