"""The page Ablations of the site: categories left out, documentation added, the cost in tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import altair as alt
import pandas as pd
from markupsafe import Markup

from crane_core.charts.printed import printed_bars
from crane_core.pipeline.export.exported_statistic import ExportedStatistic
from crane_core.pipeline.study.table_cells import PERCENT, printed_value
from crane_core.site.blocks import figure, folded, heading, paragraph
from crane_core.site.costs import cost_blocks
from crane_core.site.drops import drops_blocks
from crane_core.site.material import Collected, RunSource, plain_name, source_of
from crane_core.site.numbers import statistics_table
from crane_core.ui.words import count, experiment_words, percent

SECTIONS = {
    "drops": "Effect of each input, compared with full runtime state",
    "groups": "By library, root cause, crash type and stage",
    "cost": "Tokens and list price",
    "categories": "One category of runtime state removed",
    "documentation": "API documentation added",
    "tokens": "Token cost of the documentation",
}
REFERENCE = "+RT"
PRINTED = {"categories", "documentation", "tokens"}
"""Sections of printed tables; the others come from answers."""
COLUMNS = ("Group", "Statistic", "Value", "Stated", "n", "Note")
MEASURED = (
    "Detector", "Input", "Statistic", "Group", "Value", "95% interval", "Test", "p", "p adjusted", "Outcome", "n",
    "Cases",
)  # fmt: skip
DRAWN: dict[str, Callable[[Collected, RunSource], Iterator[Markup]]] = {
    "drops": drops_blocks,
    "cost": cost_blocks,
}
"""The content before the tables of a section."""
_ACCURACY = re.compile(r"^Accuracy \((?P<setting>[^)]+)\)$")


def ablations_blocks(collected: Collected) -> Iterator[Markup]:
    """Every statistic of the page, by its sections."""
    rows = [
        one
        for kind in collected.found.values()
        for one in kind
        if one.page == "Ablations"
    ]
    yield paragraph(
        "S is structure (shapes, sizes, counts), R representation and types, V values and object state."
    )
    for section, words in SECTIONS.items():
        mine = [one for one in rows if one.section == section]
        if not mine:
            continue
        yield heading(words, anchor=section)
        if section not in PRINTED:
            yield from _measured(collected, mine, section)
            continue
        caption = "Dashed: full runtime state. p: printed in the paper, without the runs behind it."
        for index, bars in enumerate(_bars(mine)):
            yield figure(f"ablation-{section}-{index}", bars, caption)
        yield statistics_table(mine, COLUMNS)


def _measured(
    collected: Collected, rows: list[ExportedStatistic], section: str
) -> Iterator[Markup]:
    """Per benchmark and source of runs: the finding and the chart of the section, if any, then its table, folded."""
    for of in dict.fromkeys((str(one.benchmark), str(one.experiment)) for one in rows):
        mine = [one for one in rows if (one.benchmark, one.experiment) == of]
        name = f"{of[0]}: {experiment_words(of[1])}"
        summary = f"{count(len(mine))} rows"
        if section in DRAWN:
            yield heading(name, 3, f"{section}-{plain_name(name)}")
            yield from DRAWN[section](collected, source_of(collected, *of))
        else:
            summary = f"{name}, {summary}"
        yield folded(summary, [statistics_table(mine, MEASURED)])


def _bars(rows: list[ExportedStatistic]) -> Iterator[alt.LayerChart]:
    """Accuracy per setting, a chart per detector; none if the section is about something else."""
    found = [
        (one, match["setting"].replace("-", "−"))
        for one in rows
        if (match := _ACCURACY.match(one.statistic))
    ]
    drawn = pd.DataFrame(
        [
            (one.group, setting, _share(one), one.value is None)
            for one, setting in found
        ],
        columns=["detector_title", "setting", "value", "is_printed"],
    )
    full = drawn[drawn["setting"] == REFERENCE].set_index("detector_title")["value"]
    marks = drawn["is_printed"].map({True: " p", False: ""})
    drawn = drawn.assign(
        reference_value=drawn["detector_title"].map(full),
        text=[
            percent(value) + mark
            for value, mark in zip(drawn["value"], marks, strict=True)
        ],
    )
    settings = list(dict.fromkeys(drawn["setting"]))
    for _, of in drawn.groupby("detector_title", sort=False):
        yield printed_bars(
            of, settings=settings, rate="accuracy, detection only", reference=REFERENCE
        )


def _share(one: ExportedStatistic) -> float:
    value = (
        one.value if one.value is not None else float(printed_value(one.stated or "0"))
    )
    return value / PERCENT
