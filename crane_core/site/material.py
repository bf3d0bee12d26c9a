"""What the pages of the site are made from: the material, and every statistic of it by kind."""

import re
from typing import NamedTuple

import pandas as pd

from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.results import exported_statistic, setting_drops
from crane_core.pipeline.results.leaderboard import Board, usual_boards
from crane_core.pipeline.results.run_list import run_list
from crane_core.storage.cases import benchmark_titles


class Collected(NamedTuple):
    """Collected once, shown on every page. `with_texts`: whether texts of notebooks and answers may be shown."""

    material: Material
    found: dict[str, list[exported_statistic.ExportedStatistic]]
    with_texts: bool

    @property
    def boards(self) -> list[Board]:
        """The leaderboards of every benchmark."""
        material = self.material
        runs = run_list(material.store, material.verdicts)
        return usual_boards(material.verdicts, runs)

    @property
    def titles(self) -> dict[str, str]:
        """The names of benchmarks by id."""
        return benchmark_titles(self.material.store.cursor())


class RunSource(NamedTuple):
    """Runs in several settings of one benchmark and source; see `setting_runs.runs_of`."""

    benchmark: str
    experiment: str
    rows: pd.DataFrame
    n_left_out: int

    @property
    def name(self) -> str:
        """The prefix of chart ids."""
        return plain_name(f"{self.benchmark}-{self.experiment}")


def source_of(
    collected: Collected, benchmark: str, experiment: str
) -> RunSource:
    """The runs behind the statistics of the page Ablations."""
    verdicts = collected.material.verdicts
    found = setting_drops.runs_of(
        verdicts,
        run_list(collected.material.store, verdicts),
        benchmark,
        experiment,
    )
    return RunSource(benchmark, experiment, found.rows, found.n_left_out)


def name_of(judging: exported_statistic.Judging) -> str:
    """The common part of the ids of charts and anchors of these answers."""
    return plain_name(f"{judging.experiment}-{judging.kind}")


def plain_name(text: str) -> str:
    """The text as part of an id: every character other than a letter or digit becomes a hyphen."""
    return re.sub(r"[\W_]", "-", text)
