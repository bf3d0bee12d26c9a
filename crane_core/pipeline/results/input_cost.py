"""How many tokens a detector's input has, and what they cost at list price: the mean over a benchmark's instances.

Of texts that are in the store, tokens are counted; of the study's inputs without their texts, they are facts that ship
(data/published/input_tokens.csv). Output is not counted: the published answers do not say how long they were.
"""

from __future__ import annotations

import csv
from math import nan
from pathlib import Path

import pandas as pd

from crane_core.domain import DetectorKind
from crane_core.llm.prices import list_price
from crane_core.pipeline.places import embedded
from crane_core.pipeline.results.measures import Credit, VoteRule, rate_table
from crane_core.prompts.tokens_apart import count_apart
from crane_core.stats.pareto import pareto_front
from crane_core.storage import inputs
from crane_core.storage.store import Store

FACTS = "input_tokens.csv"
KEY = ["experiment", "detector", "setting"]
QUESTIONS = 1_000
"""Prices are for this many questions; a question is one run on one instance."""


def published_tokens(path: Path | None = None) -> pd.DataFrame:
    """The facts that ship: experiment, setting, instance_id, tokens."""
    with (path or embedded()["published"] / FACTS).open(
        encoding="utf-8", newline=""
    ) as file:
        rows = [
            (r["experiment"], r["setting"], r["instance"], int(r["tokens"]))
            for r in csv.DictReader(file)
        ]
    return pd.DataFrame(
        rows, columns=["experiment", "setting", "instance_id", "tokens"]
    )


def tokens_of_inputs(
    store: Store,
    benchmark: str,
    experiments: list[str],
) -> pd.DataFrame:
    """A row per experiment, setting and instance with a known input: columns as `published_tokens`, and is_exact.

    A text in the store takes precedence over a shipped fact; where an instance was shown several texts, their mean
    counts.
    """
    shown = inputs.shown_addresses(store.cursor(), benchmark, experiments)
    texts = inputs.texts(store.cursor(), shown["sha256"].unique().tolist())
    counted = dict(zip(texts, count_apart(list(texts.values())), strict=True))
    of = [counted[sha] for sha in shown["sha256"]]
    found = shown.assign(
        tokens=[one.n for one in of], is_exact=[one.is_exact for one in of]
    )
    key = ["experiment", "setting", "instance_id"]
    by_text = found.groupby(key, as_index=False).agg(
        tokens=("tokens", "mean"), is_exact=("is_exact", "all")
    )
    facts = published_tokens().assign(is_exact=True)
    facts = facts[facts["experiment"].isin(experiments)]
    return pd.concat([by_text, facts]).drop_duplicates(key, ignore_index=True)


def cost_table(
    rows: pd.DataFrame,
    tokens: pd.DataFrame,
    *,
    rate: str,
) -> pd.DataFrame:
    """One row per detector and setting: its rate with interval, and what its input costs.

    rows: of `setting_runs.runs_of`; tokens: of `tokens_of_inputs`. Columns: KEY, detector_title, value, low, high, n,
    n_cases, tokens (mean per question over the instances in the run; 0 without a model, nan if an input
    is not known), is_exact, usd (QUESTIONS inputs at list price, nan if no price is listed). Detection alone.
    """
    by = [*KEY, "detector_title", "detector_kind"]
    table = rate_table(
        rows,
        by=by,
        rate=rate,
        rule=VoteRule.MAJORITY,
        credit=Credit.DETECTION,
    )
    known = rows.merge(
        tokens, on=["experiment", "setting", "instance_id"], how="left"
    )
    known["is_exact"] = known["is_exact"].isna() | known["is_exact"].eq(
        other=True
    )
    per = known.groupby(KEY).agg(
        tokens=("tokens", _mean_of_all), is_exact=("is_exact", "all")
    )
    table = table.merge(per.reset_index(), on=KEY, how="left")
    is_model = table["detector_kind"] == DetectorKind.LLM
    table["tokens"] = table["tokens"].where(is_model, 0.0)
    table["is_exact"] = table["is_exact"].where(is_model, other=True)
    table["usd"] = [
        _usd(detector, mean) if model else 0.0
        for detector, mean, model in zip(
            table["detector"],
            table["tokens"],
            is_model,
            strict=True,
        )
    ]
    return table


def _mean_of_all(tokens: pd.Series[float]) -> float:
    """nan if one is missing: the others are another population."""
    return float(tokens.mean(skipna=False))


def _usd(detector: str, mean: float) -> float:
    price = list_price(detector)
    return nan if price is None else QUESTIONS * mean * price.input / 1_000_000


def with_front(table: pd.DataFrame, cost: str) -> pd.DataFrame:
    """The rows whose cost and value are known, with `cost` and `is_front`, the cheapest first."""
    known = table[table[cost].notna() & table["value"].notna()].sort_values(
        [cost, "value"], kind="stable"
    )
    return known.assign(
        cost=known[cost], is_front=pareto_front(known[cost], known["value"])
    )
