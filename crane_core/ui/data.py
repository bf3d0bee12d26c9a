"""What pages read, kept until something is loaded: the open store, and frames keyed by what it holds."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import pandas as pd
import streamlit as st

from crane_core.annotation.label_set import LabelSet
from crane_core.domain import Listed
from crane_core.identity.visitor import Role, Visitor
from crane_core.pipeline.campaigns import campaigns as stored_campaigns
from crane_core.pipeline.campaigns import label_sets
from crane_core.pipeline.detection import score
from crane_core.pipeline.detection.score import scores as job_scores
from crane_core.pipeline.inventory import inventory
from crane_core.pipeline.jobs.files import is_held
from crane_core.pipeline.judging import judged as judging
from crane_core.pipeline.judging import judges
from crane_core.pipeline.loading.load import catch_up, prepare
from crane_core.pipeline.places import DataFolder, data_folder
from crane_core.pipeline.results import evaluate
from crane_core.pipeline.results import run_list as runs
from crane_core.replica import writer
from crane_core.storage import cases as stored_cases
from crane_core.storage import jobs as stored_jobs
from crane_core.storage import state
from crane_core.storage.snapshot import Replica
from crane_core.storage.store import Store

P = ParamSpec("P")
T = TypeVar("T")


@st.cache_resource(
    show_spinner="Preparing the store: the first start loads the embedded data"
)
def _prepared(path: str) -> Store:
    return prepare(data_folder(path))


@st.cache_resource(show_spinner=False)
def _replica(path: str) -> Replica:
    return Replica(data_folder(path).replicas, data_folder(path).sources)


class _Opened(NamedTuple):
    store: Store
    folder: DataFolder


_opened_by_command: ContextVar[_Opened | None] = ContextVar(
    "opened_by_command", default=None
)


@contextmanager
def reading(opened: Store, of: DataFolder) -> Iterator[None]:
    """Within the block this module reads from `opened`: a command opens its own store."""
    token = _opened_by_command.set(_Opened(opened, of))
    try:
        yield
    finally:
        _opened_by_command.reset(token)


def folder() -> DataFolder:
    """The folder of what changes."""
    opened = _opened_by_command.get()
    return opened.folder if opened else data_folder()


def store() -> Store:
    """The open store of this process."""
    if opened := _opened_by_command.get():
        return opened.store
    path = str(folder().path)
    return _replica(path) if writer() else _prepared(path)


def refresh() -> None:
    """Load what other commands left on the disk since the last page view; in a replica, change to the newest copy."""
    opened = store()
    if isinstance(opened, Replica):
        opened.follow()
    else:
        catch_up(opened, folder())


def as_of() -> datetime:
    """The last time at which what this replica shows was known to be everything (UTC)."""
    return _replica(str(folder().path)).as_of


def kept(
    token: Callable[[], str],
    most: int = 2,
    *,
    copied: bool = False,
    spinner: str | bool = False,
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorator of a function whose results, at most so many of them, are kept while the token stays the same.

    copied: callers may change what they get, so each gets a copy; else they share it. Arguments are hashed.
    """
    # st.cache_data copies what it returns, st.cache_resource does not: a frame of all verdicts is large.
    cache: Any = st.cache_data if copied else st.cache_resource

    def keeping(compute: Callable[P, T]) -> Callable[P, T]:
        def at_token(now: str, *given: P.args, **named: P.kwargs) -> T:
            return compute(*given, **named)

        # Streamlit knows a cache by these names, and would take all that are made here for one.
        at_token.__module__ = compute.__module__
        at_token.__qualname__ = compute.__qualname__
        stored = cache(max_entries=most, show_spinner=spinner)(at_token)

        @wraps(compute)
        def read(*given: P.args, **named: P.kwargs) -> T:
            found: T = stored(token(), *given, **named)
            return found

        return read

    return keeping


def version() -> str:
    """The content of the store, as a token; it changes with everything that is loaded."""
    return store().version


@kept(version, 4)
def revision() -> str:
    """What is loaded, as a token: the cache key of everything about labels."""
    return state.revision(store().cursor())


@kept(version, 4)
def answers() -> str:
    """The same without labels of open campaigns: the cache key of answers and results."""
    return state.answers_token(store().cursor())


@kept(answers)
def verdicts() -> pd.DataFrame:
    """The verdict frame; see `pipeline.results.evaluate.verdict_frame`."""
    return evaluate.verdict_frame(store())


@kept(answers)
def conditions() -> pd.DataFrame:
    """The conditions; see `pipeline.results.evaluate.conditions`."""
    return evaluate.conditions(store())


def measured() -> pd.DataFrame:
    """What there is to choose from; see `pipeline.results.evaluate.measured`."""
    return evaluate.measured(conditions())


@kept(revision)
def labels() -> pd.DataFrame:
    """Every label of every annotator; see `pipeline.judging.judges.labels_with_pooled_judges`."""
    return judges.labels_with_pooled_judges(store(), folder())


@kept(revision)
def who_labelled() -> pd.DataFrame:
    """Which annotators there are; see `pipeline.judging.judges.who_labelled`."""
    return judges.who_labelled(store(), folder())


@kept(revision)
def _open_blind_campaigns() -> Mapping[str, tuple[str, ...]]:
    return stored_campaigns.open_blind_campaigns(folder())


def blind_campaigns() -> frozenset[str]:
    """Blind campaigns that are not locked."""
    return frozenset(_open_blind_campaigns())


def blinding(visitor: Visitor) -> list[str]:
    """Open blind campaigns in which this visitor labels; they close most pages to the visitor.

    Empty for leads, who see everything, and without logins, because the app does not know who labels.
    """
    if not visitor.is_known or visitor.may(Role.LEAD):
        return []
    of = _open_blind_campaigns()
    return sorted(
        name for name, annotators in of.items() if visitor.name in annotators
    )


@kept(revision)
def locked_campaigns() -> frozenset[str]:
    """Campaigns with final outcomes; see `pipeline.judging.judged.locked_campaigns`."""
    return judging.locked_campaigns(folder())


@kept(revision)
def judging_campaigns() -> frozenset[str]:
    """Campaigns whose final labels Results can count; see `pipeline.judging.judged.judging_campaigns`."""
    return judging.judging_campaigns(folder())


@kept(revision)
def campaign_labels() -> Mapping[str, LabelSet]:
    """Campaign to its label set."""
    return label_sets.label_sets(folder())


@kept(revision, 64)
def label_set_of(annotators: Iterable[str]) -> LabelSet:
    """The label set that annotators have in common; see `pipeline.campaigns.label_sets.common_set`."""
    return label_sets.common_set(
        who_labelled(), tuple(annotators), campaign_labels()
    )


def judged(rows: pd.DataFrame, annotator: str) -> pd.DataFrame:
    """Rows of the verdict frame with one annotator's labels; see `judging.judged.judged_rows`."""
    return judging.judged_rows(rows, labels(), annotator, folder())


@kept(answers)
def varied_benchmarks() -> dict[str, str]:
    """Benchmarks of copies and of their originals; see `storage.cases.varied_benchmarks`."""
    return stored_cases.varied_benchmarks(store().cursor())


@kept(answers, 8)
def dated_cases(benchmark: str) -> dict[str, str]:
    """When cases of a benchmark were written, where it is stated; see `storage.cases.dated_cases`."""
    return stored_cases.dated_cases(store().cursor(), benchmark)


@kept(answers)
def printed_numbers() -> pd.DataFrame:
    """All printed cells; see `pipeline.results.evaluate.printed_numbers`."""
    return evaluate.printed_numbers(store())


@kept(answers, 8)
def case_list(benchmark: str) -> pd.DataFrame:
    """Cases of a benchmark with their labels; see `storage.cases.case_list`."""
    return stored_cases.case_list(store().cursor(), benchmark)


@kept(answers)
def run_list() -> pd.DataFrame:
    """What ran; see `pipeline.results.run_list`."""
    return runs.run_list(store(), verdicts())


@kept(answers, 8)
def scores(job: str) -> list[score.ScoreRow]:
    """A job's rates beside the published ones; see `pipeline.detection.score.scores`."""
    return job_scores(store(), job)


def printed_rows(
    benchmark: str, rows: list[score.ScoreRow]
) -> list[score.PrintedRow]:
    """What the paper prints beside these rows; see `pipeline.detection.score.printed_beside`."""
    return score.printed_beside(store(), benchmark, rows)


@kept(revision)
def _run_titles() -> Mapping[str, str]:
    return {
        name: title
        for (kind, name), title in inventory(folder()).titles.items()
        if kind is Listed.RUN
    }


def run_title(experiment: str) -> str | None:
    """The name that a user chose for a run."""
    return _run_titles().get(experiment)


def is_running(job: str) -> bool:
    """Whether some process works on the job at this moment."""
    return is_held(folder(), job)


@kept(answers)
def judge_jobs() -> pd.DataFrame:
    """The jobs of judges; see `storage.jobs.judge_job_list`."""
    return stored_jobs.judge_job_list(store().cursor())


@kept(answers)
def benchmarks() -> pd.DataFrame:
    """Benchmarks in the store, the largest first."""
    return stored_cases.benchmarks(store().cursor())


@kept(version)
def table_counts() -> Mapping[str, int]:
    """Rows by table; see `storage.state.table_counts`."""
    return state.table_counts(store().cursor())


@kept(answers)
def benchmark_titles() -> dict[str, str]:
    """How the owners of the benchmarks write their names, by id; the largest first."""
    return stored_cases.benchmark_titles(store().cursor())


def benchmark_title(benchmark: str) -> str:
    """How its owners write its name; the id of one that is not loaded."""
    return benchmark_titles().get(benchmark, benchmark)


def detector_titles() -> dict[str, str]:
    """How the owners of the detectors write their names, by id."""
    known = verdicts()[["detector", "detector_title"]].drop_duplicates(
        "detector"
    )
    return dict(zip(known["detector"], known["detector_title"], strict=True))
