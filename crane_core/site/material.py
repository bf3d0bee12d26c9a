"""What the pages of the site are made from: the material, and every statistic of it by kind."""

from __future__ import annotations

from typing import NamedTuple

from crane_core.pipeline.exported_statistic import ExportedStatistic, Material


class Collected(NamedTuple):
    """Collected once, shown on every page. `with_texts`: whether texts of notebooks and answers may be shown."""

    material: Material
    found: dict[str, list[ExportedStatistic]]
    with_texts: bool
