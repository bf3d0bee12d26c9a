"""Every statistic that pages show, collected from the files of pipeline/statistics."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Protocol, cast

from crane_core.pipeline import statistics
from crane_core.pipeline.export.exported_statistic import ExportedStatistic, Material
from crane_core.pipeline.export.sample_notes import sample_notes, with_sample_note


class StatisticsModule(Protocol):
    """What a file of pipeline/statistics holds."""

    def collect(self, material: Material) -> Iterator[ExportedStatistic]: ...


def statistics_modules() -> dict[str, StatisticsModule]:
    """Every kind of statistic by its name; the folder is the list."""
    names = [found.name for found in pkgutil.iter_modules(statistics.__path__)]
    return {
        name: cast("StatisticsModule", import_module(f"{statistics.__name__}.{name}"))
        for name in names
    }


def all_statistics(
    material: Material, progress: Callable[[str], None] = lambda _: None
) -> dict[str, list[ExportedStatistic]]:
    """The statistics of everything that is loaded, by kind; a note tells where labels are a sample."""
    found = {}
    notes = sample_notes(material)
    for name, module in statistics_modules().items():
        progress(f"Statistics: {name.replace('_', ' ')}")
        found[name] = [with_sample_note(row, notes) for row in module.collect(material)]
    return found
