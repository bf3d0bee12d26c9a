"""Work on a real Dask cluster: every notebook once, whatever happens to workers, to the scheduler or to the driver."""

from __future__ import annotations

import pickle
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import psutil
import pytest

from crane_core import __version__, ledger
from crane_core.detectors import rules_detector
from crane_core.detectors.registry import Prediction
from crane_core.domain import Cell, CellRole, Detector, Job, Run, Setting
from crane_core.errors import ClusterError
from crane_core.pipeline.dask import worker
from crane_core.pipeline.dask.cluster import LOCAL, Cluster, reached
from crane_core.pipeline.dask.work import FinishedPiece, WorkPiece, spread
from crane_core.pipeline.dask.worker import WorkerOrder
from crane_core.pipeline.detection.detect import (
    DetectorInput,
    JobPlan,
    JobQuestion,
    JobRequest,
)
from crane_core.pipeline.detection.here import run_of
from crane_core.pipeline.detection.on_dask import merged, on_cluster
from crane_core.pipeline.detection.prompt import Input
from crane_core.pipeline.jobs.files import encoded, job_file, standing
from crane_core.pipeline.jobs.work import (
    INTERRUPTED,
    JobProgress,
    Work,
    carry_out,
)
from crane_core.pipeline.places import DataFolder
from tests.dask_pieces import (
    Processes,
    dask_processes,
    fatal,
    fatal_beside,
    logged,
    raising,
    until_stopped,
)
from tests.patience import PATIENCE_S, once

N_NOTEBOOKS, N_FEWER = 500, 200
N_DONE = 80
"""Notebooks that are done when something is killed."""


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Processes of one test, which may kill them."""
    with dask_processes(tmp_path / "cache", 2) as running:
        yield running


@pytest.fixture
def shaken(processes: Processes) -> Iterator[Cluster]:
    """The cluster of those processes."""
    with connected(processes) as found:
        yield found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster that nobody harms."""
    with (
        dask_processes(tmp_path_factory.mktemp("dask"), 2) as running,
        connected(running) as found,
    ):
        yield found


@contextmanager
def connected(processes: Processes) -> Iterator[Cluster]:
    with reached(processes.address, 0) as found:
        found.client.wait_for_workers(2, timeout=PATIENCE_S)
        yield found


def plan_of(folder: DataFolder, n: int = N_NOTEBOOKS) -> JobPlan:
    """The rules on `n` notebooks, of which every second one divides by zero."""
    options = rules_detector.options()
    detector = Detector(
        rules_detector.NAME, rules_detector.TITLE, rules_detector.KIND
    )
    job = Job(
        "rules-code-made",
        "made",
        detector.detector,
        Setting.CODE,
        encoded(options),
        "2026-11-23T00:00:00Z",
    )
    inputs = {}
    for number in range(n):
        name = f"made_{number}"
        before = Cell(
            "made",
            name,
            "made",
            0,
            CellRole.EXECUTED,
            f"x = {number % 2}",
            1,
            0,
        )
        target = Cell(
            "made", name, "made", 1, CellRole.TARGET, "1 / x", None, 1
        )
        inputs[name] = DetectorInput(None, 0, Input([before, target], None))
    items = [JobQuestion(name, 1) for name in inputs]
    wanted = JobRequest(
        detector, Setting.CODE, "made", options, is_prompted=False
    )
    return JobPlan(
        wanted,
        job,
        Work(job, items, standing(folder, job.job), detector),
        inputs,
        {},
    )


def runs(folder: DataFolder, plan: JobPlan) -> list[Run]:
    return [
        one
        for one in ledger.tail(job_file(folder, plan.job.job)).records
        if isinstance(one, Run)
    ]


def assert_every_notebook_once(folder: DataFolder, plan: JobPlan) -> None:
    found = runs(folder, plan)
    assert Counter(run.instance_id for run in found) == Counter(
        list(plan.inputs)
    )
    assert all(
        run.crashes is (int(run.instance_id.removeprefix("made_")) % 2 == 0)
        for run in found
    )


def after(n: int, do: Callable[[], object]) -> Callable[[JobProgress], None]:
    """Hears of progress, and does something once when `n` answers are on the disk."""
    left = [do]

    def hear(now: JobProgress) -> None:
        if now.n_now >= n and left:
            left.pop()()

    return hear


@pytest.mark.slow
def test_500_notebooks_and_a_killed_worker_give_every_answer_once(
    processes: Processes, shaken: Cluster, tmp_path: Path
) -> None:
    folder = DataFolder(tmp_path)
    plan = plan_of(folder)
    kill = after(N_DONE, processes.workers[0].kill)
    outcome = carry_out(
        folder, plan.work, on_cluster(plan, shaken), progress=kill
    )
    assert processes.workers[0].wait(PATIENCE_S) == -signal.SIGKILL
    assert (outcome.n_answered, outcome.ended, outcome.troubles) == (
        N_NOTEBOOKS,
        None,
        Counter(),
    )
    assert_every_notebook_once(folder, plan)
    assert (
        list((tmp_path / "cache" / "crane-workbench" / "dask").rglob("*.jsonl"))
        == []
    )


@pytest.mark.slow
def test_only_what_a_killed_worker_had_is_begun_again(
    processes: Processes, shaken: Cluster, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    names = [f"n{number}" for number in range(N_NOTEBOOKS)]
    pieces = [WorkPiece(name, (log, name, 0.005)) for name in names]
    told: list[str] = []
    for done in spread(shaken, "logged", logged, pieces, Event()):
        told += done.lines
        if len(told) == N_DONE:
            processes.workers[0].kill()
    assert sorted(told) == sorted(names)
    begun: dict[str, list[int]] = {}
    for line in log.read_text("utf-8").splitlines():
        name, pid = line.split()
        begun.setdefault(name, []).append(int(pid))
    killed = processes.workers[0].pid
    assert sum(killed in pids for pids in begun.values()) > N_DONE // 4
    repeated = [pids for pids in begun.values() if len(pids) > 1]
    assert all(pids[:-1] == [killed] for pids in repeated)
    assert len(repeated) < 20


@pytest.mark.slow
def test_when_the_scheduler_goes_what_was_done_is_kept_and_the_next_start_continues(
    processes: Processes, shaken: Cluster, tmp_path: Path
) -> None:
    folder = DataFolder(tmp_path)
    plan = plan_of(folder, N_FEWER)
    with pytest.raises(ClusterError, match="has gone; what was done is saved"):
        carry_out(
            folder,
            plan.work,
            on_cluster(plan, shaken),
            progress=after(N_DONE, processes.scheduler.kill),
        )
    n_kept = len(runs(folder, plan))
    assert N_DONE <= n_kept < N_FEWER
    with (
        dask_processes(tmp_path / "cache", 1) as others,
        reached(others.address, 0) as second,
    ):
        again = plan_of(folder, N_FEWER)
        assert len(again.work.open) == N_FEWER - n_kept
        outcome = carry_out(folder, again.work, on_cluster(again, second))
    assert outcome.n_answered == N_FEWER
    assert_every_notebook_once(folder, plan)


@pytest.mark.slow
def test_a_stop_keeps_what_is_done_and_the_next_start_continues(
    cluster: Cluster, tmp_path: Path
) -> None:
    folder = DataFolder(tmp_path)
    plan = plan_of(folder, N_FEWER)
    stop = Event()
    outcome = carry_out(
        folder,
        plan.work,
        on_cluster(plan, cluster),
        progress=after(N_DONE, stop.set),
        stop=stop,
    )
    assert outcome.ended == INTERRUPTED
    assert N_DONE <= outcome.n_answered < N_FEWER
    again = plan_of(folder, N_FEWER)
    assert (
        carry_out(folder, again.work, on_cluster(again, cluster)).n_answered
        == N_FEWER
    )
    assert_every_notebook_once(folder, plan)


@pytest.mark.slow
def test_a_stop_reaches_what_is_being_done(
    cluster: Cluster, tmp_path: Path
) -> None:
    log, stop = tmp_path / "log", Event()

    def pieces() -> Iterator[WorkPiece]:
        yield from (
            WorkPiece(f"n{number}", (log, f"n{number}")) for number in range(2)
        )
        once(lambda: log.exists() and len(log.read_text().splitlines()) == 2)
        stop.set()
        yield WorkPiece("n2", (log, "n2"))

    done = [
        one.lines
        for one in spread(cluster, "stopped", until_stopped, pieces(), stop)
    ]
    assert sorted(done) == [["n0 stopped: True"], ["n1 stopped: True"]]
    assert log.read_text().split() == [
        "n0",
        "n1",
    ] or log.read_text().split() == [
        "n1",
        "n0",
    ]


@pytest.mark.slow
def test_a_piece_that_raises_is_told_as_such_and_ends_nothing(
    cluster: Cluster,
) -> None:
    told = {
        done.name: done.error
        for done in spread(
            cluster, "raising", raising, map_pieces("file", "page"), Event()
        )
    }
    assert {
        name: (type(error), str(error)) for name, error in told.items()
    } == {
        "file": (OSError, "no file"),
        "page": (OSError, "no page"),
    }


def map_pieces(*names: str) -> list[WorkPiece]:
    return [WorkPiece(name, name) for name in names]


@pytest.mark.slow
def test_a_piece_that_ends_every_worker_is_given_up_and_the_others_are_done(
    tmp_path: Path,
) -> None:
    with (
        dask_processes(tmp_path / "cache", 1, "--nanny") as running,
        reached(running.address, 0) as cluster,
    ):
        names = [f"n{number}" for number in range(20)]
        done = {
            one.name: one
            for one in spread(
                cluster, "fatal", fatal, map_pieces(*names, "fatal"), Event()
            )
        }
    assert "ended 4 workers, one after the other" in str(
        done.pop("fatal").error
    )
    assert {name: one.lines for name, one in done.items()} == {
        name: [name] for name in names
    }


@pytest.mark.slow
def test_a_piece_beside_one_that_ends_workers_is_not_given_up_with_it(
    tmp_path: Path,
) -> None:
    """Both are done at once by a worker of two threads, so that the scheduler blames both for every end."""
    options = ("--nanny", "--nthreads", "2")
    mark = tmp_path / "mark"
    with (
        dask_processes(tmp_path / "cache", 1, *options) as running,
        reached(running.address, 0) as cluster,
    ):
        pieces = [WorkPiece(name, (mark, name)) for name in ("beside", "fatal")]
        done = {
            one.name: one
            for one in spread(cluster, "both", fatal_beside, pieces, Event())
        }
    assert done["beside"].lines == ["beside"]
    assert "ended 4 workers" in str(done["fatal"].error)
    assert len(done) == 2


def test_lines_that_nobody_fetched_are_found_by_the_next_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    log = tmp_path / "log"
    order = WorkerOrder(
        "job",
        "start",
        __version__,
        "mark",
        pickle.dumps((logged, (log, "n0", 0.0))),
    )
    assert worker.do(order) == ["n0"]
    monkeypatch.setattr(
        worker, "_own", {}
    )  # another process knows the files alone
    assert worker.do(order._replace(start="later")) == ["n0"]
    assert len(log.read_text().splitlines()) == 1
    worker.forget("job", "later")
    assert worker.do(order._replace(start="last")) == ["n0"]
    assert len(log.read_text().splitlines()) == 2
    worker.forget("job", "last")


def test_a_worker_of_another_version_does_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    order = WorkerOrder(
        "job",
        "start",
        "0.0.1",
        "mark",
        pickle.dumps((logged, (log, "n0", 0.0))),
    )
    with pytest.raises(ClusterError, match=r"the driver 0\.0\.1"):
        worker.do(order)
    assert not log.exists()


def test_a_worker_that_answers_about_something_else_is_refused(
    tmp_path: Path,
) -> None:
    plan = plan_of(DataFolder(tmp_path), 2)
    asked, other = plan.work.open
    said = Prediction(crashes=True, reasoning=None, diagnostics=None)
    honest, foreign = (
        ledger.to_line(run_of(plan.job, key, said)).decode()
        for key in (asked, other)
    )
    assert [
        run.instance_id
        for run in merged(plan.job, [asked], FinishedPiece("n", [honest], None))
    ] == [asked[0]]
    for lines in ([], [foreign], [honest, honest], [honest, foreign]):
        with pytest.raises(
            ClusterError, match="answered something other than made_0"
        ):
            list(merged(plan.job, [asked], FinishedPiece("n", lines, None)))


@pytest.mark.slow
def test_a_local_cluster_listens_on_loopback_and_refuses_who_has_no_certificate() -> (
    None
):
    before = set(psutil.Process().children(recursive=True))
    with reached(LOCAL, 1) as cluster:
        assert cluster.address.startswith("tls://127.0.0.1:")
        ours = [
            psutil.Process(),
            *(set(psutil.Process().children(recursive=True)) - before),
        ]
        assert len(ours) > 1
        assert {
            address for process in ours for address in listening(process)
        } == {"127.0.0.1"}
        with (
            pytest.raises(ClusterError, match="No Dask scheduler answers"),
            reached(cluster.address.replace("tls", "tcp"), 0),
        ):
            pass
        with (
            pytest.raises(ClusterError, match="needs a certificate"),
            reached(cluster.address, 0),
        ):
            pass


def listening(process: psutil.Process) -> list[str]:
    """The addresses at which a process takes connections."""
    return [
        one.laddr.ip
        for one in process.net_connections("inet")
        if one.status == psutil.CONN_LISTEN
    ]


def test_without_the_library_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(
            ClusterError, match=r"Install it: pip install distributed\.$"
        ),
        reached("tcp://127.0.0.1:8786", 0),
    ):
        pass
