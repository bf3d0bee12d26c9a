"""What a data folder holds, as data frames: cases, runs, verdicts, labels, and any question in SQL."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from crane_core.errors import StoreError
from crane_core.pipeline.places import DataFolder, data_folder, install_words

if TYPE_CHECKING:
    import pandas as pd

    from crane_core.storage.store import Store


class Data:
    """An open data folder; `open_data` makes it. Close it, or use it in a `with` block.

    The columns of every frame have their comments in docs/reference/schema.md and in `sql("DESCRIBE verdicts")`.
    """

    def __init__(self, store: Store, folder: DataFolder) -> None:
        self._store = store
        self._folder = folder

    def benchmarks(self) -> pd.DataFrame:
        """One row per benchmark: benchmark, title, licence, url, n_cases, n_instances."""
        from crane_core.storage.cases import benchmarks

        return benchmarks(self._store.cursor())

    def cases(self) -> pd.DataFrame:
        """One row per case: its labels, its crashing and its fixed instance (the view `pairs`)."""
        return self._all("pairs")

    def runs(self) -> pd.DataFrame:
        """One row per answer of a detector (the table `runs`)."""
        return self._all("runs")

    def verdicts(self) -> pd.DataFrame:
        """One row per instance, detector, setting and experiment: answers, vote, truth (the view `verdicts`)."""
        return self._all("verdicts")

    def labels(self) -> pd.DataFrame:
        """One row per verdict and annotator: imported people and judges, annotators and outcomes of campaigns.

        Columns: benchmark, instance_id, detector, setting, experiment, annotator, kind, label, campaign, provenance,
        why. Campaigns are in it once they are locked.
        """
        from crane_core.pipeline.campaigns.label_frame import label_frame
        from crane_core.pipeline.judging.judged import locked_campaigns

        labels = label_frame(self._store, self._folder)
        return labels[
            labels["campaign"].isna()
            | labels["campaign"].isin(locked_campaigns(self._folder))
        ]

    def leaderboard(
        self,
        benchmark: str,
        *,
        credit: str = "detection only",
        vote: str = "majority",
        annotator: str = "published human",
    ) -> pd.DataFrame:
        """One row per detector and input of a benchmark, the most accurate first, then those without a rank.

        credit: what a detected crash is worth, "detection only", "correct diagnosis" or "half credit for partial"; the
        last two need labels, of `annotator` (a name of `labels()`; a campaign must be locked). vote: "majority", "mean
        of answers" or "all answers". Columns, rates as shares: rank_best and rank_worst (ranks that the tests leave
        open), groups (rows that share a letter are not shown to differ), accuracy with low and high (95% by case),
        precision, recall, f1, n, n_cases, tokens, price and time per answer, why_unranked, and answers (the address of
        the answers within the app). Raises StoreError for what is not loaded or unknown.
        """
        from crane_core.pipeline.export.leaderboard_formats import board_frame
        from crane_core.pipeline.judging.judged import judged_rows
        from crane_core.pipeline.judging.judges import labels_with_pooled_judges
        from crane_core.pipeline.results.evaluate import verdict_frame
        from crane_core.pipeline.results.leaderboard import (
            BoardPolicy,
            leaderboard,
        )
        from crane_core.pipeline.results.measures import Credit, VoteRule
        from crane_core.pipeline.results.run_list import run_list

        verdicts = verdict_frame(self._store)
        refuse_unknown("benchmark", benchmark, verdicts["benchmark"].unique())
        refuse_unknown("credit", credit, Credit)
        refuse_unknown("vote", vote, VoteRule)
        rows = verdicts[verdicts["benchmark"] == benchmark]
        is_judged = credit != Credit.DETECTION
        if is_judged:
            refuse_unknown(
                "annotator", annotator, self.labels()["annotator"].unique()
            )
            labels = labels_with_pooled_judges(self._store, self._folder)
            rows = judged_rows(rows, labels, annotator, self._folder)
        policy = BoardPolicy(
            benchmark,
            VoteRule(vote),
            Credit(credit),
            annotator if is_judged else "",
        )
        runs = run_list(self._store, verdicts)
        return board_frame(leaderboard(rows, runs, policy))

    def sql(self, question: str) -> pd.DataFrame:
        """The rows of one SELECT, FROM, WITH, DESCRIBE, SHOW or SUMMARIZE. Raises StoreError for anything else."""
        from crane_core.storage.ask import answer

        return answer(self._store, question)

    def _all(self, name: str) -> pd.DataFrame:
        from crane_core.storage.ask import all_rows

        return all_rows(self._store, name)

    def close(self) -> None:
        """Let other processes open the database."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def refuse_unknown(what: str, value: str, known: Iterable[str]) -> None:
    """Raises StoreError for a value that is not known, with those that are."""
    names = sorted(map(str, known))
    if value not in names:
        raise StoreError(
            f"{value[:40]!r} is no {what} here.",
            remedy=f"Choose from: {', '.join(names) or 'nothing is loaded'}.",
        )


def open_data(path: str | Path | None = None) -> Data:
    """The data folder at `path`, by default CRANE_DATA or the one that commands use; brought up to date first.

    While another process, such as the app, holds the database, its content is read again in memory.
    Raises StoreError.
    """
    try:
        from crane_core.pipeline.loading.load import prepare_or_read
    except ModuleNotFoundError as error:
        raise StoreError(
            f"Data frames need the library {error.name}.",
            remedy=install_words("app"),
        ) from error
    folder = data_folder(path)
    return Data(prepare_or_read(folder), folder)
