"""The page Ablations of the site: categories left out, documentation added, what it costs in tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
from markupsafe import Markup

from crane_core.charts.printed import printed_bars
from crane_core.pipeline.exported_statistic import ExportedStatistic
from crane_core.pipeline.table_cells import PERCENT, printed_value
from crane_core.site.blocks import figure, heading, paragraph
from crane_core.site.material import Collected
from crane_core.site.numbers import statistics_table
from crane_core.ui.words import percent

SECTIONS = {
    "categories": "One category of runtime state left out",
    "documentation": "API documentation added",
    "tokens": "What the documentation costs in tokens",
}
REFERENCE = "+RT"
COLUMNS = ("Group", "Statistic", "Value", "Stated", "n", "Note")
_ACCURACY = re.compile(r"^Accuracy \((?P<setting>[^)]+)\)$")


def ablations_blocks(collected: Collected) -> Iterator[Markup]:
    """Every statistic of the page, by its sections."""
    rows = [one for kind in collected.found.values() for one in kind if one.page == "Ablations"]
    yield paragraph("S is structure (shapes, sizes, counts), R representation and types, V values and object state.")
    for section in dict.fromkeys(one.section for one in rows):
        mine = [one for one in rows if one.section == section]
        yield heading(SECTIONS.get(section, section.capitalize()), anchor=section)
        bars = _bars(mine)
        if bars is not None:
            caption = "Dashed: full runtime state. p: printed in the paper, without the runs behind it."
            yield figure(f"ablation-{section}", bars, caption)
        yield statistics_table(mine, COLUMNS)


def _bars(rows: list[ExportedStatistic]) -> Any:
    """Accuracy per setting; None where the section is about something else."""
    found = [(one, match["setting"].replace("-", "−")) for one in rows if (match := _ACCURACY.match(one.statistic))]
    if not found:
        return None
    drawn = pd.DataFrame(
        [(one.group, setting, _share(one), one.value is None) for one, setting in found],
        columns=["detector_title", "setting", "value", "is_printed"],
    )
    full = drawn[drawn["setting"] == REFERENCE].set_index("detector_title")["value"]
    marks = drawn["is_printed"].map({True: " p", False: ""})
    drawn = drawn.assign(
        reference_value=drawn["detector_title"].map(full),
        text=[percent(value) + mark for value, mark in zip(drawn["value"], marks, strict=True)],
    )
    settings = list(dict.fromkeys(drawn["setting"]))
    return printed_bars(drawn, settings=settings, rate="accuracy, detection only", reference=REFERENCE)


def _share(one: ExportedStatistic) -> float:
    value = one.value if one.value is not None else float(printed_value(one.stated or "0"))
    return value / PERCENT
