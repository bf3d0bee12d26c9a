"""Every figure of what is loaded, as the pages draw it before anybody moves a switch, with the address of its view."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from crane_core.domain import EXECUTED_KINDS
from crane_core.pipeline.results.beside import OWN
from crane_core.ui import ablation_view, drops_view, keys, together_view
from crane_core.ui.ablation_switches import Ablated, usual_ablations
from crane_core.ui.agreement import computed
from crane_core.ui.agreement.groups import GROUPINGS as AGREEMENT_GROUPINGS
from crane_core.ui.agreement.groups import group_figure
from crane_core.ui.agreement.judges import judges_figure
from crane_core.ui.breakdown_view import breakdown_figure
from crane_core.ui.breakdown_words import GROUPINGS
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.five_runs_view import has_repeats, votes_figure
from crane_core.ui.gains_view import compared, gain_figure
from crane_core.ui.leaderboard_view import board_figure, board_of
from crane_core.ui.model_across_view import across_figure
from crane_core.ui.pareto_view import cost_figure
from crane_core.ui.pareto_words import COSTS
from crane_core.ui.result_switches import ResultChoice, usual_choices
from crane_core.ui.specification_view import choices_figure
from crane_core.ui.study_view import tables
from crane_core.ui.worth_view import time_figures, worth_figure


class PlacedFigure(NamedTuple):
    """A figure and its place in the app.

    page: the page's name in the address; of: what it is about, as ids of benchmark, experiment and the like; query: the
    rest of the address.
    """

    page: str
    of: tuple[str, ...]
    query: Mapping[str, str | list[str]]
    figure: ChartFigure

    @property
    def address(self) -> str:
        """The view within the app's address."""
        return f"{self.page}?{urlencode(self.query, doseq=True)}"


def study_figures() -> Iterator[PlacedFigure]:
    """Leaderboards and results by benchmark and experiment, then ablations, then agreement."""
    boards: set[str] = set()
    experiments: set[tuple[str, str]] = set()
    for chosen in usual_choices():
        if chosen.kind in EXECUTED_KINDS:
            continue
        if chosen.benchmark not in boards:
            boards.add(chosen.benchmark)
            yield from _board(chosen)
        yield from _results(chosen)
        experiment = (chosen.benchmark, chosen.experiment)
        if experiment not in experiments:
            experiments.add(experiment)
            yield from _combinations(chosen)
    sources: set[tuple[str, str]] = set()
    for ablated in usual_ablations():
        yield from _ablations(ablated)
        source = (ablated.benchmark, ablated.source)
        if source not in sources:
            # Of all kinds of detectors together.
            sources.add(source)
            yield from _costs(ablated)
    yield from _printed()
    if compared_labels := computed.usual_choice():
        yield from _agreement(compared_labels)


def _board(chosen: ResultChoice) -> Iterator[PlacedFigure]:
    board = board_of(chosen)
    if len(board.ranked):
        query = {keys.BENCHMARK: chosen.benchmark, keys.PART: "Leaderboard"}
        yield PlacedFigure("results", (), query, board_figure(board))


def _results(chosen: ResultChoice) -> Iterator[PlacedFigure]:
    if not compared(chosen).rates.empty:
        yield _result(chosen, "Runtime state", gain_figure(chosen))
        if across := across_figure(chosen):
            yield _result(chosen, "Runtime state", across)
    for by in GROUPINGS:
        if bars := breakdown_figure(chosen, by=by, rate="Accuracy"):
            yield _result(chosen, "Kinds of crash", bars, {keys.GROUP_BY: by})
    if has_repeats(chosen):
        yield _result(chosen, "Stability", votes_figure(chosen, None))
    if curve := choices_figure(chosen):
        yield _result(chosen, "Robustness", curve)
    if worthy := worth_figure(chosen):
        yield _result(chosen, "Time", worthy)
    for figure in time_figures(chosen):
        yield _result(chosen, "Time", figure)


def _combinations(chosen: ResultChoice) -> Iterator[PlacedFigure]:
    if len(together_view.names_of(chosen)) < 2:
        return
    for figure in (
        together_view.rules_first_figure(chosen),
        together_view.together_figure(chosen),
    ):
        if figure:
            yield _result(chosen, "Combinations", figure)


def _result(
    chosen: ResultChoice,
    part: str,
    figure: ChartFigure,
    more: Mapping[str, str] | None = None,
) -> PlacedFigure:
    of = (chosen.benchmark, chosen.experiment, str(chosen.kind))
    query = dict(
        zip((keys.BENCHMARK, keys.EXPERIMENT, keys.KIND), of, strict=True)
    )
    query |= {keys.PART: part} | dict(more or {})
    return PlacedFigure("results", of, query, figure)


def _costs(chosen: Ablated) -> Iterator[PlacedFigure]:
    of = (chosen.benchmark, _source(chosen))
    for cost in COSTS:
        if figure := cost_figure(chosen, cost):
            query = {
                keys.BENCHMARK: chosen.benchmark,
                keys.EXPERIMENT: chosen.source,
                keys.COST: cost,
            }
            yield PlacedFigure("ablations", of, query, figure)


def _source(chosen: Ablated) -> str:
    return "own" if chosen.source == OWN else chosen.source


def _ablations(chosen: Ablated) -> Iterator[PlacedFigure]:
    of = (chosen.benchmark, _source(chosen), chosen.kind)
    query = {
        keys.BENCHMARK: chosen.benchmark,
        keys.EXPERIMENT: chosen.source,
        keys.KIND: chosen.kind,
    }
    measured = drops_view.measured_drops(chosen)
    if measured.empty:
        return
    yield PlacedFigure("ablations", of, query, drops_view.drops_figure(chosen))
    for setting in dict.fromkeys(measured["setting"]):
        for by in GROUPINGS:
            if figure := drops_view.groups_figure(
                chosen, by=by, setting=setting
            ):
                more = {keys.SETTING: str(setting), keys.GROUP_BY: by}
                yield PlacedFigure("ablations", of, query | more, figure)


def _agreement(chosen: computed.AgreementChoice) -> Iterator[PlacedFigure]:
    coefficient = computed.main_names(chosen)[0]
    query = {keys.ANNOTATORS: list(chosen.annotators)}
    for by in AGREEMENT_GROUPINGS:
        if figure := group_figure(chosen, coefficient, by):
            yield PlacedFigure(
                "agreement", (), query | {keys.GROUPS: by}, figure
            )
    if judges := computed.with_judges(chosen):
        yield PlacedFigure("agreement", (), query, judges_figure(judges))


def _printed() -> Iterator[PlacedFigure]:
    known = tables()
    for name in ablation_view.ABLATIONS:
        if known[name].cells:
            yield PlacedFigure(
                "ablations",
                (),
                {},
                ablation_view.ablation_figure(known[name], "Accuracy"),
            )
    if known["5"].cells:
        yield PlacedFigure(
            "ablations", (), {}, ablation_view.token_figure(known["5"])
        )
