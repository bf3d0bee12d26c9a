"""The choices for a campaign's population: benchmarks, experiments, and the values of each filter in them."""

from typing import NamedTuple

import pandas as pd

from crane_core.annotation.plan import Population
from crane_core.domain import DetectorKind
from crane_core.errors import CampaignError
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.study.table_scores import STUDY
from crane_core.storage import diagnoses
from crane_core.storage.store import Store

FILTERS = {
    "detectors": "detector",
    "settings": "setting",
    "libraries": "library",
    "root_causes": "root_cause",
}
"""Member of a population to column of the verdict frame."""


class PopulationChoices(NamedTuple):
    """The models' verdicts of one experiment on one benchmark; `values` by member of a population, sorted.

    has_texts: whether any diagnosis of them is loaded here, so that it can be labelled.
    """

    benchmark: str
    experiment: str
    n_verdicts: int
    values: dict[str, tuple[str, ...]]
    has_texts: bool


def population_choices(
    store: Store, verdicts: pd.DataFrame | None = None
) -> list[PopulationChoices]:
    """One entry per benchmark and experiment with verdicts of models; those with texts first, then by size.

    verdicts: the verdict frame, where the caller has it.
    """
    frame = verdict_frame(store) if verdicts is None else verdicts
    frame = frame[frame["detector_kind"] == DetectorKind.LLM]
    found = []
    for (benchmark, experiment), rows in frame.groupby(
        ["benchmark", "experiment"], sort=True
    ):
        values = {
            name: tuple(sorted(rows[column].dropna().unique()))
            for name, column in FILTERS.items()
        }
        has_texts = diagnoses.has_answers_with_text(
            store.cursor(), str(benchmark), str(experiment)
        )
        found.append(
            PopulationChoices(
                str(benchmark), str(experiment), len(rows), values, has_texts
            )
        )
    return sorted(
        found, key=lambda entry: (not entry.has_texts, -entry.n_verdicts)
    )


def usual_experiment(store: Store, benchmark: str) -> str:
    """The study's on its benchmark; of another benchmark the only one that there is.

    Raises CampaignError if another benchmark has several: any of them could be meant.
    """
    here = [
        entry.experiment
        for entry in population_choices(store)
        if entry.benchmark == benchmark
    ]
    if STUDY in here or not here:
        return STUDY
    if len(here) > 1:
        raise CampaignError(
            f"Models have verdicts on {benchmark!r} in {len(here)} experiments.",
            remedy=f"Choose one with --experiment: {', '.join(here)}.",
        )
    return here[0]


def check_asked(store: Store, wanted: Population) -> None:
    """Raises CampaignError for a name that no verdict has: a misspelt filter would just make the population smaller."""
    known = population_choices(store)
    here = next(
        (
            c
            for c in known
            if (c.benchmark, c.experiment)
            == (wanted.benchmark, wanted.experiment)
        ),
        None,
    )
    if here is None:
        there = (
            ", ".join(
                f"{entry.benchmark} {entry.experiment}" for entry in known
            )
            or "none"
        )
        raise CampaignError(
            f"No model has verdicts on the benchmark {wanted.benchmark!r} in the experiment {wanted.experiment!r}.",
            remedy=f"Benchmarks and experiments with verdicts: {there}. `detect` makes verdicts of others.",
        )
    for name, values in here.values.items():
        if strange := [
            value for value in getattr(wanted, name) if value not in values
        ]:
            raise CampaignError(
                f"{strange[0]!r} is not among the {name.replace('_', ' ')} of {here.benchmark}, {here.experiment}.",
                remedy=f"Available: {', '.join(values)}.",
            )
