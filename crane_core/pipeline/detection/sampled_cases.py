"""Which cases a first look at a benchmark includes: the first ones, or a random sample, alike in every library.

Knows cases with their labels. Refuses to split a case: its crashing and its fixed notebook are compared with each
other, and intervals count cases.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

import pandas as pd


class SampledBy(StrEnum):
    """Groups of cases of which a sample has the same share as the benchmark."""

    LIBRARY = "library"
    ROOT_CAUSE = "root_cause"


class CaseSample(NamedTuple):
    """At most `n_cases`: drawn with `seed`, or the first in the order of names where it is None."""

    n_cases: int
    seed: int | None = None
    by: SampledBy | None = None


def of_sampled_cases(
    instances: Sequence[str], known: pd.DataFrame, sample: CaseSample
) -> list[str]:
    """The instances of the cases in the sample, in their present order.

    known: of `storage.jobs.cases_of_instances`. Cases are drawn from those that have one of `instances`.
    """
    rows = known[known["instance_id"].isin(set(instances))]
    case_of = dict(zip(rows["instance_id"], rows["case_id"], strict=True))
    cases = rows.drop_duplicates("case_id")
    labels = (
        [""] * len(cases)
        if sample.by is None
        else [str(label) for label in cases[sample.by]]
    )
    group_of = dict(zip(cases["case_id"], labels, strict=True))
    chosen = set(_ordered(group_of, sample.seed)[: sample.n_cases])
    return [name for name in instances if case_of[name] in chosen]


def _ordered(group_of: dict[str, str], seed: int | None) -> list[str]:
    """All cases, ordered so that every beginning is a sample too.

    A larger sample with the same seed therefore contains the smaller one, whose answers are kept. In each group the
    k-th of n cases takes the place (k - u) / n, with one random u in 0..1 per group: each case is as likely as any
    other to come early, and a beginning has each group's share to within about one case (systematic sampling;
    Cochran 1977, section 8.1).
    """
    if seed is None:
        return sorted(group_of)
    by_chance = sorted(group_of, key=lambda case: _chance(seed, "case", case))
    n_of = Counter(group_of.values())
    start_of = {group: _chance(seed, "group", group) for group in n_of}
    seen: Counter[str] = Counter()
    place: dict[str, float] = {}
    for case in by_chance:
        group = group_of[case]
        seen[group] += 1
        place[case] = (seen[group] - start_of[group]) / n_of[group]
    return sorted(by_chance, key=place.__getitem__)


def _chance(seed: int, kind: str, name: str) -> float:
    """Uniform in 0..1, and the same on every machine and in every release of Python."""
    digest = sha256(f"{seed} {kind} {name}".encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48
