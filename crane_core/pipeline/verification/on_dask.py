"""Pairs executed on the workers of a Dask cluster: the same outcomes as on this machine, each pair once.

A worker with another Python or other packages executes nothing: its outcomes would be of another environment.
"""

import socket
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event
from typing import NamedTuple
from uuid import uuid4

from crane_core import ledger
from crane_core.domain import Verification, VerifiedAs
from crane_core.errors import ClusterError, KernelStartError
from crane_core.pipeline.dask.cluster import Cluster
from crane_core.pipeline.dask.sent_folder import Sent, received, sent
from crane_core.pipeline.dask.work import WorkPiece, spread
from crane_core.pipeline.dask.worker import Lines
from crane_core.pipeline.verification import pair_claims, verify
from crane_core.pipeline.verification.where import Bench
from crane_core.runtime.endings import short
from crane_core.runtime.environment import Environment, environment_of
from crane_core.runtime.program import program


class VerificationWork(NamedTuple):
    """What a worker is given: a pair with paths below its root, and with what it is executed.

    `python` is the interpreter that was named, None: that of the worker. `sent` is None where nothing is executed.
    """

    benchmark: str
    pair: verify.OpenPair
    how: verify.VerifyOptions
    python: str | None
    sent: Sent | None


def on_cluster(cluster: Cluster) -> verify.Executor:
    """Executes pairs on the cluster."""

    def execute(
        bench: Bench,
        how: verify.VerifyOptions,
        pairs: Iterable[verify.OpenPair],
        stop: Event,
    ) -> verify.Executed:
        # A worker answers a piece that it did before, by the job's name too, from its own file; `again` means
        # to execute.
        job = verify.job_of(bench, how) + (
            f"-{uuid4().hex}" if how.again else ""
        )
        out: dict[str, verify.OpenPair] = {}

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
    how: verify.VerifyOptions,
    pair: verify.OpenPair,
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
            verify.executed(Bench(given.benchmark, Path(), []), pair, how, stop)
        )
    kernel = program(python=given.python)
    _check_environment(kernel.argv[0], how.environment)
    with received(given.sent) as root:
        paths = {
            version: root / path for version, path in pair.pair.paths.items()
        }
        here = pair._replace(pair=pair.pair._replace(paths=paths))
        return _lines(
            verify.executed(
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
    bench: Bench, how: verify.VerifyOptions, pair: verify.OpenPair, lines: Lines
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
    how: verify.VerifyOptions,
    pair: verify.OpenPair,
    error: ClusterError,
) -> list[Verification]:
    """The cluster could not do it, which says nothing of the pair; the next run tries again."""
    why = pair_claims.Borne(VerifiedAs.CANNOT_RUN, short(str(error)))
    return [
        verify.verification(
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
