"""What verifications say of pairs: a pair is what it claims to be when both of its notebooks are.

Used by `verify` for what it executed and by the app for what is stored.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

import pandas as pd

from crane_core.domain import Verification, VerifiedAs
from crane_core.storage import cases
from crane_core.storage.store import Store

APART = (VerifiedAs.STOPPED, VerifiedAs.CANNOT_RUN)
"""Outcomes that say nothing of the pair, the weaker first."""
WRONG = tuple(
    outcome
    for outcome in VerifiedAs
    if outcome not in (*APART, VerifiedAs.AS_RECORDED)
)
"""Outcomes with which a pair is not what it claims to be."""
_WEIGHT = {
    outcome: weight
    for weight, outcome in enumerate((VerifiedAs.AS_RECORDED, *APART, *WRONG))
}


class VerifiedPair(NamedTuple):
    """A pair with the outcome that counts, which is the worse of its two notebooks'; `of` is the one that has it."""

    benchmark: str
    case_id: str
    outcome: VerifiedAs
    of: Verification

    @property
    def is_wrong(self) -> bool:
        """Whether the pair is not what it claims to be; a pair that cannot run here is not counted as wrong."""
        return self.outcome in WRONG


def pairs_of(verifications: Iterable[Verification]) -> list[VerifiedPair]:
    """The pairs of verifications whose halves follow each other."""
    found = []
    for (benchmark, case_id), halves in groupby(
        verifications, lambda one: (one.benchmark, one.case_id)
    ):
        worst = max(halves, key=lambda one: _WEIGHT[one.outcome])
        found.append(VerifiedPair(benchmark, case_id, worst.outcome, worst))
    return found


def counts_of(pairs: Iterable[VerifiedPair]) -> dict[VerifiedAs, int]:
    """Pairs by outcome, in the order of the vocabulary; without those that no pair has."""
    counts = Counter(pair.outcome for pair in pairs)
    return {
        outcome: counts[outcome] for outcome in VerifiedAs if counts[outcome]
    }


class Summary(NamedTuple):
    """The newest verification of a benchmark in one environment. Counts are of pairs, `last_at` is ISO 8601 in UTC."""

    benchmark: str
    python: str
    environment: str
    last_at: str
    pairs: list[VerifiedPair]

    def n(self, *outcomes: VerifiedAs) -> int:
        """How many pairs have one of these outcomes."""
        return sum(pair.outcome in outcomes for pair in self.pairs)


def summaries(store: Store) -> list[Summary]:
    """What is stored, by benchmark and environment; the newest first."""
    listed = cases.verifications(store.cursor())
    found = []
    for (benchmark, environment), halves in groupby(
        listed, lambda one: (one.benchmark, one.environment)
    ):
        rows = list(halves)
        last = max(row.verified_at for row in rows)
        found.append(
            Summary(
                benchmark, rows[0].python, environment, last, pairs_of(rows)
            )
        )
    return sorted(found, key=lambda one: one.last_at, reverse=True)


COLUMNS = (
    "benchmark",
    "case_id",
    "version",
    "outcome",
    "recorded",
    "exception",
    "message",
    "cell",
    "why",
    "seconds",
)


def as_table(verifications: Iterable[Verification]) -> pd.DataFrame:
    """One row per notebook, with COLUMNS, python, environment and verified_at."""
    columns = [*COLUMNS, "python", "environment", "verified_at"]
    rows: list[dict[str, Any]] = [
        {name: getattr(one, name) for name in columns} for one in verifications
    ]
    return pd.DataFrame(rows, columns=columns).astype({"cell": "Int64"})
