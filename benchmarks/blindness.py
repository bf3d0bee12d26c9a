"""How much the texts that annotators read tell about the model behind them, although names are masked.

    python -m benchmarks.blindness

For the study's detected crashes: how often a classifier names the model, learned on the cases of other folds (five
folds by case), from the number of texts of an item alone, from all masked texts, from the one that is drawn, and from
its first sentence. The most frequent model is what guessing reaches.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks._archive import imported
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, Item, Kind, Population, Texts
from crane_core.pipeline.campaigns.campaigns import drawn_plan
from crane_core.pipeline.campaigns.cards import Text, card
from crane_core.pipeline.loading.load import prepare
from crane_core.storage.store import Store

STUDY = Population("junobench", "crane-llm-2025-10")
SEED = 20260101
FOLDS = 5


class Read(NamedTuple):
    """An item, and what an annotator would read of it."""

    item: Item
    all_texts: tuple[Text, ...]
    drawn: str


def everything_read(store: Store) -> list[Read]:
    """Every detected crash of the study, with all its texts and with the one that is drawn."""
    every, one = (
        drawn_plan(store, CampaignRequest("blindness", ("ana",), STUDY, Design(kind=Kind.ALL, texts=texts), SEED))
        for texts in (Texts.ALL, Texts.ONE)
    )
    return [
        Read(item, card(store, every, item.item).texts, card(store, one, item.item).texts[0].text)
        for item in every.items
    ]


def share_named(features: list[str], read: list[Read], *, as_category: bool = False) -> float:
    """Share of items whose model is named rightly from `features`, one string per item."""
    models = np.array([one.item.verdict.detector for one in read])
    cases = np.array([one.item.verdict.case_id for one in read])
    reader = OneHotEncoder(handle_unknown="ignore") if as_category else TfidfVectorizer(ngram_range=(1, 2), min_df=2)
    model = make_pipeline(reader, LogisticRegression(max_iter=2000, C=10.0))
    x: NDArray[np.str_] = np.array(features)
    named = cross_val_predict(model, x.reshape(-1, 1) if as_category else x, models, groups=cases, cv=GroupKFold(FOLDS))
    return float(np.mean(named == models))


def first_sentence(text: str) -> str:
    return text.partition(". ")[0]


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        store = prepare(imported(Path(scratch) / "data"))
        read = everything_read(store)
        store.close()
    models = [one.item.verdict.detector for one in read]
    most = max(models.count(model) for model in set(models)) / len(models)
    print(f"{len(read)} items of {len(set(models))} models; guessing the most frequent one: {most:.1%}")
    counts = [str(len(one.all_texts)) for one in read]
    joined = ["\n".join(text.text for text in one.all_texts) for one in read]
    drawn = [one.drawn for one in read]
    print(f"  from the number of texts alone:  {share_named(counts, read, as_category=True):.1%}")
    print(f"  from all masked texts:           {share_named(joined, read):.1%}")
    print(f"  from the one drawn text:         {share_named(drawn, read):.1%}")
    print(f"  from its first sentence:         {share_named([first_sentence(text) for text in drawn], read):.1%}")


if __name__ == "__main__":
    main()
