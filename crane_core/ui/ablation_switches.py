"""The switches of the ablations: which benchmark, whose runs, which rate."""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd
import streamlit as st

from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.results import setting_drops
from crane_core.pipeline.results.beside import OWN
from crane_core.pipeline.results.setting_drops import reference_of
from crane_core.stats.equivalence import SMALLEST_EFFECT
from crane_core.ui import caption, data, keys, result_switches
from crane_core.ui.drops_words import left_out_words
from crane_core.ui.url_state import switch
from crane_core.ui.words import KIND_WORDS, experiment_words

RATES = ("Accuracy", "F1")
SOURCE_HELP = """Whose runs are compared: those of an imported release, or your own. A detector counts where it has runs
in two inputs or more; where local runs repeat an input, the largest counts, then the latest."""


class Ablated(NamedTuple):
    """What the switches say. It alone decides which rows are meant, so it is the key of what is kept of them.

    source: an experiment or OWN; empty, as `kind` is, where no detector of the benchmark has runs in two inputs.
    """

    benchmark: str
    source: str
    kind: str
    rate: str
    bound: float = SMALLEST_EFFECT

    @property
    def rate_words(self) -> str:
        """The rate within a sentence."""
        return self.rate if self.rate == "F1" else self.rate.lower()

    def of_all_kinds(self) -> pd.DataFrame:
        """The rows of the verdict frame that the source has, of every kind of detector."""
        return _runs(self.benchmark, self.source).rows

    def rows(self) -> pd.DataFrame:
        """Those of the kind that is compared."""
        rows = self.of_all_kinds()
        return rows[rows["detector_kind"] == self.kind]

    def asked(self) -> pd.DataFrame:
        """Each detector, setting and experiment of `rows` once."""
        asked = _asked(self.benchmark, self.source)
        return asked[asked["detector_kind"] == self.kind]

    def reference(self) -> Setting:
        """The input that the others are compared with."""
        return _reference(self)

    def captioned(self, title: str, *sentences: str) -> caption.Caption:
        """The caption of a chart of these runs, which counts detection alone."""
        where = [] if self.source == OWN else [self.source]
        return caption.captioned(
            title,
            [*sentences, caption.LABEL_FREE],
            source=caption.source_words(
                data.benchmark_title(self.benchmark), *where
            ),
        )


@data.kept(data.answers, 8)
def _runs(benchmark: str, source: str) -> setting_drops.SettingRuns:
    return setting_drops.runs_of(
        data.verdicts(), data.run_list(), benchmark, source
    )


@data.kept(data.answers, 8)
def _asked(benchmark: str, source: str) -> pd.DataFrame:
    rows = _runs(benchmark, source).rows
    return rows[
        ["detector_kind", "detector", "setting", "experiment"]
    ].drop_duplicates()


@data.kept(data.answers, 16, copied=True)
def _reference(chosen: Ablated) -> Setting:
    return reference_of(chosen.rows())


@data.kept(data.answers, 8, copied=True)
def _sources(benchmark: str) -> list[str]:
    return setting_drops.sources(data.verdicts(), data.run_list(), benchmark)


def draw_ablation_switches() -> Ablated:
    """The switches in one row."""
    titles = data.benchmark_titles()
    with st.container(
        horizontal=True, vertical_alignment="top", key=keys.SWITCHES
    ):
        benchmark = result_switches.pick(
            "Benchmark", list(titles), keys.BENCHMARK, titles.__getitem__
        )
        found = _sources(benchmark)
        words = {
            name: "own runs" if name == OWN else experiment_words(name)
            for name in found
        }
        source = (
            result_switches.pick(
                "Runs of",
                found,
                keys.EXPERIMENT,
                words.__getitem__,
                SOURCE_HELP,
            )
            if found
            else ""
        )
        kind = _kind(benchmark, source) if source else ""
        rate = switch("Rate", RATES, key=keys.RATE)
        points = result_switches.pick(
            "Smallest effect of interest",
            list(result_switches.BOUNDS),
            keys.SMALLEST,
            result_switches.points_words,
            result_switches.BOUND_HELP,
        )
        of = KIND_WORDS[DetectorKind(kind)] if kind else "no runs"
        result_switches.draw_fold(titles[benchmark], of, rate)
    n_left_out = _runs(benchmark, source).n_left_out if source else 0
    if n_left_out:
        st.caption(left_out_words(n_left_out))
    return Ablated(benchmark, source, kind, rate, float(points) / 100)


def usual_ablations() -> Iterator[Ablated]:
    """What the switches say before anybody moves them, for every benchmark, source of runs and kind of detector."""
    for benchmark in data.benchmark_titles():
        for source in _sources(benchmark):
            for kind in _kinds(benchmark, source):
                yield Ablated(benchmark, source, kind, RATES[0])


def _kinds(benchmark: str, source: str) -> list[str]:
    present = set(_asked(benchmark, source)["detector_kind"])
    return [str(kind) for kind in KIND_WORDS if kind in present]


def _kind(benchmark: str, source: str) -> str:
    """The kind of detector; what is tested together is adjusted together."""
    kinds = _kinds(benchmark, source)
    return switch(
        "Detectors",
        kinds,
        key=keys.KIND,
        format_func=lambda name: KIND_WORDS[DetectorKind(name)],
        help=result_switches.KIND_HELP,
    )
