"""What statistics are made from: the frames of what is loaded, and whose labels judge which answers.

Open blind campaigns are not in it: their totals, read after each label, would reveal single labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from crane_core.pipeline.campaigns.campaigns import (
    kept_campaign,
    open_blind_campaigns,
)
from crane_core.pipeline.judging import judged
from crane_core.pipeline.judging.judges import labels_with_pooled_judges
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results import measures
from crane_core.pipeline.results.evaluate import printed_numbers, verdict_frame
from crane_core.pipeline.results.exported_statistic import Judging
from crane_core.storage.store import Store
from crane_core.storage.verdicts import PUBLISHED_HUMAN


@dataclass(frozen=True)
class Material:
    """What statistics are made from: the frames of what is loaded, each made once."""

    store: Store
    folder: DataFolder

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """The verdict frame of everything that is loaded, read once."""
        return verdict_frame(self.store)

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """Every printed cell of the publications, read once."""
        return printed_numbers(self.store)

    @cached_property
    def labels(self) -> pd.DataFrame:
        """Without open blind campaigns: their totals may not be exported."""
        labels = labels_with_pooled_judges(self.store, self.folder)
        return labels[
            ~labels["campaign"].isin(list(open_blind_campaigns(self.folder)))
        ]

    @cached_property
    def judgings(self) -> list[Judging]:
        """Every experiment and kind of detector, with each annotator who can judge it; see `Judging`."""
        return list(self._judgings())

    def _judgings(self) -> Iterator[Judging]:
        judging = judged.judging_campaigns(self.folder)
        by = ["benchmark", "experiment", "detector_kind"]
        for (benchmark, experiment, kind), rows in self.verdicts.groupby(
            by, sort=False
        ):
            who = judged.annotators_of(self.labels, rows, judging)
            main = (
                measures.Credit.DETECTION,
                *(
                    (measures.Credit.STRICT, measures.Credit.HALF)
                    if who
                    else ()
                ),
            )
            # Where no labels fit there is still detection, which needs none.
            for place, judge in enumerate(who or [PUBLISHED_HUMAN]):
                yield Judging(
                    benchmark=str(benchmark),
                    experiment=str(experiment),
                    kind=str(kind),
                    judge=judge,
                    rows=self.judged_by(judge).loc[rows.index],
                    credits=main
                    if place == 0
                    else (measures.Credit.STRICT, measures.Credit.HALF),
                    is_main=place == 0,
                )

    @cached_property
    def _frames(self) -> dict[str, pd.DataFrame]:
        return {PUBLISHED_HUMAN: self.verdicts}

    def judged_by(self, judge: str) -> pd.DataFrame:
        """The verdicts as this annotator judged them, made once: every experiment takes its rows from it."""
        if judge not in self._frames:
            is_mine = self.labels["annotator"] == judge
            campaigns = (
                self.labels.loc[is_mine, "campaign"].dropna().unique().tolist()
            )
            plan = (
                kept_campaign(self.folder, campaigns[0]).plan
                if campaigns
                else None
            )
            frame = judged.judged_by(self.verdicts, self.labels, judge, plan)
            # By the index of the verdicts, because `_judgings` takes the rows of an experiment by it.
            self._frames[judge] = frame.set_axis(self.verdicts.index)
        return self._frames[judge]
