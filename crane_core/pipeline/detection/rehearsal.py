"""The rehearsal as a detector: each target is executed in a copy of its kernel. What happened there, not a prediction.

Knows the notebooks of a benchmark, and when an outcome is a verdict. The cells before the target run for it, so it is
never done unless the operator allows that.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event
from typing import NamedTuple

from crane_core import domain, errors
from crane_core.detectors.registry import Prediction
from crane_core.pipeline.detection.detect import JobPlan
from crane_core.pipeline.detection.here import run_of
from crane_core.pipeline.jobs.ask_models import over_budget
from crane_core.pipeline.jobs.work import INTERRUPTED, Keep, Key, Worker
from crane_core.pipeline.own_notebooks.check import ALLOWED, execution_allowed
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.verification.where import named_benches, own_copy
from crane_core.runtime.capture import capture
from crane_core.runtime.environment import environment_of
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.program import program
from crane_core.runtime.rehearsal import Rehearsal, RehearsalEnd

NAME = "rehearsal"
DETECTOR = domain.Detector(
    NAME, "Rehearsal (executed in a copy)", domain.DetectorKind.REHEARSAL
)
USUAL_S = 10.0
_TRIED_AGAIN = "The same command tries again."


class Notebook(NamedTuple):
    """A notebook that is here; it may read what lies below `root`."""

    root: Path
    path: Path


class RehearsalOptions(NamedTuple):
    """`seconds` is what a target may take; `n_jobs` notebooks run at once, each within the limits."""

    seconds: float
    limits: KernelLimits
    n_jobs: int


def options(seconds: float) -> domain.JsonObject:
    """What shapes the outcomes: the time, and the libraries with which the notebooks run."""
    # With other libraries a target may do something else, so it is another run.
    where = environment_of(program())
    return {
        "seconds": seconds,
        "python": where.python,
        "environment": where.digest,
    }


def check_may_run(environment: Mapping[str, str]) -> None:
    """Raises DetectorError if the notebooks of benchmarks may not run."""
    if not execution_allowed(environment):
        raise errors.DetectorError(
            f"Notebooks would be executed, which {ALLOWED} does not allow.",
            remedy=f"Set {ALLOWED}=1 if you trust the benchmark's notebooks; see docs/engineer/rehearse.md.",
        )


def check_allowed(
    environment: Mapping[str, str], setting: domain.Setting
) -> None:
    """Raises DetectorError if notebooks may not run, and for what is not the live kernel."""
    check_may_run(environment)
    if setting is not domain.Setting.RUNTIME:
        raise errors.DetectorError(
            f"The rehearsal runs in the live kernel, of which the setting {setting} shows another part.",
            remedy=f"Use --setting {domain.Setting.RUNTIME}.",
        )


def notebooks_of(
    benchmark: str, folder: DataFolder, into: Path
) -> dict[str, Notebook]:
    """The notebooks by instance; archives are unpacked below `into`. Raises DetectorError if there are none."""
    found = {
        f"{pair.case_id}_{version}": Notebook(bench.root, path)
        for bench in named_benches(benchmark, folder, into)
        for pair in bench.pairs
        if pair.fault is None
        for version, path in pair.paths.items()
    }
    if not found:
        raise errors.DetectorError(
            f"{benchmark} has no notebooks here that could be executed, only what was published of them.",
            remedy="Import its notebooks (`import` or `fetch`), or use --benchmark minibench.",
        )
    return found


def rehearsing(
    plan: JobPlan, notebooks: Mapping[str, Notebook], how: RehearsalOptions
) -> Worker:
    """A worker that brings each open instance to its target in its own kernel, and rehearses the target."""

    def predict(instance_id: str, stop: Event) -> Prediction:
        return _predicted(plan, instance_id, notebooks, how, stop)

    return executing(plan, how.n_jobs, predict)


def executing(
    plan: JobPlan, n_jobs: int, predict: Callable[[str, Event], Prediction]
) -> Worker:
    """A worker that executes `n_jobs` open instances at once; `predict` raises CraneError if there is no verdict."""

    def work(items: Sequence[Key], keep: Keep, stop: Event) -> str | None:
        ended = Event()
        refused: list[str] = []
        pool = ThreadPoolExecutor(n_jobs, thread_name_prefix="executing")

        def one(key: Key) -> Prediction | errors.CraneError | None:
            if stop.is_set() or ended.is_set():
                return None
            try:
                return predict(key[0], stop)
            # No kernel comes up, so every further notebook would fail alike.
            except errors.KernelStartError:
                raise
            # No kernel is started for a question that would not be sent.
            except errors.BudgetSpentError as error:
                refused.append(str(error.args[0]))
                ended.set()
                return None
            except errors.CraneError as error:
                # An error of a notebook that was stopped is not an outcome.
                return None if stop.is_set() else error

        try:
            asked = {pool.submit(one, key): key for key in items}
            for done in as_completed(asked):
                if (said := done.result()) is not None:
                    keep(run_of(plan.job, asked[done], said), None)
        finally:
            ended.set()
            pool.shutdown(cancel_futures=True)
        if stop.is_set():
            return INTERRUPTED
        return over_budget(refused[0]) if refused else None

    return work


def found_in(notebooks: Mapping[str, Notebook], instance_id: str) -> Notebook:
    """The notebook of an instance. Raises DetectorError if it is not here."""
    notebook = notebooks.get(instance_id)
    if notebook is None:
        raise errors.DetectorError(
            "Its notebook is not here.", remedy="Import it."
        )
    return notebook


def _predicted(
    plan: JobPlan,
    instance_id: str,
    notebooks: Mapping[str, Notebook],
    how: RehearsalOptions,
    stop: Event,
) -> Prediction:
    """Raises DetectorError if there is no verdict, and what `capture` raises."""
    notebook = found_in(notebooks, instance_id)
    # The cells before the target write files, too, and another notebook may run in the same folder.
    with own_copy(notebook.root, notebook.path.parent) as own:
        captured = capture(
            own / notebook.path.name,
            target=target_in(plan, instance_id),
            limits=how.limits,
            rehearse_s=how.seconds,
            stop=stop,
        )
    told = captured.result.rehearsal
    assert told is not None
    return verdict(told)


def target_in(plan: JobPlan, instance_id: str) -> int | None:
    """The place of an instance's target among the code cells; None where its source does not say it."""
    given = plan.inputs[instance_id].input
    assert given is not None
    return next(
        cell.notebook_index
        for cell in given.cells
        if cell.role is domain.CellRole.TARGET
    )


def verdict(told: Rehearsal) -> Prediction:
    """A crash, or none if the target ran through. Raises DetectorError if the outcome decides neither."""
    if told.outcome is RehearsalEnd.RAN_THROUGH:
        return Prediction(
            False, f"{told.how}: {told.title}.", _diagnostics(told)
        )
    if told.outcome is RehearsalEnd.CRASH:
        place = (
            f"line {told.line}, `{told.code_line}`, raised"
            if told.line
            else "it raised"
        )
        return Prediction(
            True,
            f"{told.how}: {place} {told.exception}: {told.message}",
            _diagnostics(told),
        )
    raise errors.DetectorError(
        ": ".join(filter(None, (told.title, (told.why or "").rstrip("."))))
        + ".",
        remedy=_TRIED_AGAIN,
    )


def _diagnostics(told: Rehearsal) -> str:
    return json.dumps([told.to_json()], ensure_ascii=False)
