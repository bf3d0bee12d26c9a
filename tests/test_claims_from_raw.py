"""Claims about gains and counts, made again from the published raw files with code that shares nothing with the app."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from crane_core.pipeline.claims.claims import (
    CheckedClaim,
    checked_claims,
    loaded_in,
    published_claims,
)
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.storage.store import Store
from tests.test_csv_from_raw import PARTS, archive, change, counts, raw, store  # noqa: F401 - fixtures

pytestmark = pytest.mark.corpus

GEMINI, QWEN, GPT = "Gemini 2.5 Flash", "Qwen2.5-32B-Instruct", "GPT-5"
EVERY = (GEMINI, QWEN, GPT)
STRICT, DETECTION = Credit.STRICT, Credit.DETECTION


class Gain(NamedTuple):
    """Which gain with runtime state a claim is about; `only` is a column of the raw rows and its values."""

    rate: str
    models: tuple[str, ...] = EVERY
    credit: Credit = STRICT
    only: tuple[str, tuple[str, ...]] | None = None
    told: Callable[[list[float]], Iterable[float]] = list


def of_library(*names: str) -> tuple[str, tuple[str, ...]]:
    return "library_group", names


def of_cause(name: str) -> tuple[str, tuple[str, ...]]:
    return "root_cause", (name,)


GAINS = {
    "a-3": Gain("Accuracy"),
    "a-4": Gain("F1"),
    "5.1-1": Gain("Accuracy"),
    "5.1-2": Gain("F1"),
    "5.1-3": Gain("Accuracy", told=lambda g: [g[1] - g[0], g[1] - g[2]]),
    "5.1-4": Gain("F1", told=lambda g: [g[1] - g[0], g[1] - g[2]]),
    "5.1-5": Gain("Accuracy", (QWEN,)),
    "5.1-6": Gain("F1", (QWEN,)),
    "5.1-7": Gain("Accuracy", (GPT,)),
    "5.1-8": Gain("F1", (GPT,)),
    "5.1-9": Gain("Accuracy", (GEMINI,)),
    "5.1-10": Gain("F1", (GEMINI,)),
    "5.1-11": Gain("Precision"),
    "5.1-12": Gain("Recall"),
    "5.1-13": Gain("Recall", (GEMINI,)),
    "5.1-14": Gain("Precision", (GEMINI,)),
    "5.1-15": Gain("Recall", (GPT,)),
    "5.1-16": Gain("Precision", (GPT,)),
    "5.1-17": Gain("Recall", (QWEN,)),
    "5.1-18": Gain("Precision", (QWEN,)),
    "5.1-26": Gain("Accuracy", credit=DETECTION),
    "5.1-27": Gain("F1", credit=DETECTION),
    "5.2-1": Gain("Accuracy", only=of_library("torch")),
    "5.2-2": Gain("Accuracy", only=of_library("sklearn")),
    "5.2-3": Gain("Accuracy", only=of_library("pandas")),
    "5.2-4": Gain("Accuracy", only=of_library("other")),
    "5.2-5": Gain("Accuracy", (QWEN, GPT), only=of_library("tensorflow")),
    "5.2-6": Gain("Accuracy", (GEMINI,), only=of_library("tensorflow")),
    "5.2-7": Gain("Accuracy", (GEMINI, GPT), only=of_library("NBspecific")),
    "5.2-8": Gain("Accuracy", (QWEN,), only=of_library("numpy")),
    "5.2-9": Gain("Accuracy", (GEMINI, GPT), only=of_library("numpy")),
    "5.2-10": Gain("Recall", only=of_library("torch")),
    "5.2-11": Gain("Recall", only=of_library("sklearn")),
    "5.2-12": Gain("Recall", only=of_library("pandas")),
    "5.2-13": Gain("Recall", only=of_library("other")),
    "5.2-22": Gain("Recall", only=of_cause("API misuse")),
    "5.2-23": Gain("Recall", only=of_cause("data confusion")),
    "5.2-24": Gain("Recall", only=of_cause("implementation error")),
}
LARGEST = {
    "5.2-14": ("Recall", EVERY, ("torch", "sklearn")),
    "5.2-15": ("Recall", EVERY, ()),
    "5.2-16": ("Recall", (GPT,), ("torch", "sklearn")),
    "5.2-17": ("Recall", (GEMINI,), ("torch", "sklearn")),
    "5.2-18": ("Accuracy", EVERY, ()),
}
"""Claim to a rate, models and libraries (none: all) among which it names the largest gain."""


@pytest.fixture(scope="module")
def claims(
    store: Store,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, CheckedClaim]:
    loaded = loaded_in(store, DataFolder(tmp_path_factory.mktemp("claims")))
    return {
        one.claim.id: one for one in checked_claims(loaded, published_claims())
    }


def of_model(
    raw: pd.DataFrame,  # noqa: F811
    gain: Gain,
    model: str,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The counted rows of a model without and with runtime state."""
    rows = counts(
        raw[(raw["kind"] == "llm") & (raw["detector_title"] == model)],
        VoteRule.MAJORITY,
        gain.credit,
    )
    if gain.only:
        rows = rows[rows[gain.only[0]].isin(gain.only[1])]
    return rows[rows["setting"] == "code"], rows[rows["setting"] == "runtime"]


def points(raw: pd.DataFrame, gain: Gain) -> list[float]:  # noqa: F811
    """The gain of each model in percentage points, in the order of `gain.models`."""
    found = []
    for model in gain.models:
        parts = [PARTS[gain.rate](of) for of in of_model(raw, gain, model)]
        without, with_it = (part.sum() / whole.sum() for part, whole in parts)
        found.append(100 * (with_it - without))
    return found


def values(claim: CheckedClaim) -> list[float]:
    return sorted(float(estimate.value) for estimate in claim.estimates)


@pytest.mark.parametrize("name", GAINS)
def test_a_claim_about_gains(
    claims: dict[str, CheckedClaim],
    raw: pd.DataFrame,  # noqa: F811
    name: str,
) -> None:
    gain = GAINS[name]
    found = points(raw, gain)
    assert values(claims[name]) == pytest.approx(
        sorted(gain.told(found)), abs=1e-9
    )
    if gain.rate == "Accuracy" and gain.told is list:
        ends = [change(*of_model(raw, gain, model)) for model in gain.models]
        expected = sorted((100 * one["low"], 100 * one["high"]) for one in ends)
        shown = sorted(
            (estimate.low, estimate.high) for estimate in claims[name].estimates
        )
        assert shown == [pytest.approx(one, abs=1e-9) for one in expected]


@pytest.mark.parametrize("name", LARGEST)
def test_a_claim_about_the_largest_gain(
    claims: dict[str, CheckedClaim],
    raw: pd.DataFrame,  # noqa: F811
    name: str,
) -> None:
    rate, models, libraries = LARGEST[name]
    among = libraries or tuple(sorted(set(raw["library_group"])))
    found = [
        points(raw, Gain(rate, models, only=of_library(library)))
        for library in among
    ]
    assert values(claims[name]) == pytest.approx(
        [max(map(max, found))], abs=1e-9
    )


@pytest.mark.parametrize(
    ("name", "rate"), [("5.1-28", "Accuracy"), ("5.1-29", "F1")]
)
def test_a_claim_about_diagnosis_against_detection(
    claims: dict[str, CheckedClaim],
    raw: pd.DataFrame,  # noqa: F811
    name: str,
    rate: str,
) -> None:
    more = np.subtract(
        points(raw, Gain(rate)), points(raw, Gain(rate, credit=DETECTION))
    )
    assert values(claims[name]) == pytest.approx(sorted(more), abs=1e-9)
    mean = {"Accuracy": "a-5", "F1": "a-6"}[rate]
    assert values(claims[mean]) == pytest.approx([more.mean()], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "model", "sign"),
    [("5.1-19", GEMINI, 1), ("5.1-20", GPT, 1), ("5.1-21", QWEN, -1)],
)
def test_a_claim_about_recall_against_precision(
    claims: dict[str, CheckedClaim],
    raw: pd.DataFrame,  # noqa: F811
    name: str,
    model: str,
    sign: int,
) -> None:
    (recall,), (precision,) = (
        points(raw, Gain(rate, (model,))) for rate in ("Recall", "Precision")
    )
    assert values(claims[name]) == pytest.approx(
        [sign * (recall - precision)], abs=1e-9
    )


def test_claims_about_counts(
    claims: dict[str, CheckedClaim],
    raw: pd.DataFrame,  # noqa: F811
) -> None:
    llms = raw[raw["kind"] == "llm"]
    cases = llms.drop_duplicates("case")["library_group"].value_counts()
    detected = llms[llms["truth"] & (2 * llms["votes"] > llms["runs"])]
    expected = {
        "a-1": llms["instance"].nunique(),
        "a-2": llms["case"].nunique(),
        "4.2-1": cases["tensorflow"],
        "4.2-2": cases["torch"],
        "4.2-3": cases["sklearn"],
        "4.2-4": cases["numpy"],
        "4.2-5": cases["pandas"],
        "4.2-6": cases["other"],
        "4.2-8": cases["NBspecific"],
        "4.3-1": llms["runs"].max(),
        "4.5-1": len(llms),
        "4.5-2": len(detected),
    }
    assert {name: set(values(claims[name])) for name in expected} == {
        name: {n} for name, n in expected.items()
    }


def test_the_claim_that_gains_in_recall_are_like_those_in_accuracy(
    claims: dict[str, CheckedClaim],
    raw: pd.DataFrame,  # noqa: F811
) -> None:
    expected = []
    for library in ("torch", "sklearn", "pandas", "other"):
        recall, accuracy = (
            points(raw, Gain(rate, only=of_library(library)))
            for rate in ("Recall", "Accuracy")
        )
        expected.append(np.mean(np.subtract(recall, accuracy)))
    assert values(claims["5.2-26"]) == pytest.approx(sorted(expected), abs=1e-9)


def test_the_claim_that_crashes_of_the_notebook_itself_are_found_from_the_code(
    claims: dict[str, CheckedClaim],
    raw: pd.DataFrame,  # noqa: F811
) -> None:
    expected = []
    for model in EVERY:
        own, *others = (
            recall_from_code(raw, model, cause)
            for cause in (
                "NB specific",
                "API misuse",
                "data confusion",
                "implementation error",
            )
        )
        expected += [100 * (own - other) for other in others]
    assert values(claims["5.2-27"]) == pytest.approx(sorted(expected), abs=1e-9)


def recall_from_code(raw: pd.DataFrame, model: str, cause: str) -> float:  # noqa: F811
    without, _ = of_model(raw, Gain("Recall", only=of_cause(cause)), model)
    part, whole = PARTS["Recall"](without)
    return float(part.sum() / whole.sum())


@pytest.mark.parametrize(
    ("name", "case"), [("6.1-6", "sklearn_6"), ("6.4-6", "torchvision_1")]
)
def test_a_claim_about_a_crash_found_from_the_code(
    claims: dict[str, CheckedClaim],
    raw: pd.DataFrame,  # noqa: F811
    name: str,
    case: str,
) -> None:
    asked = raw[
        (raw["kind"] == "llm")
        & (raw["instance"] == f"{case}_reproduced")
        & (raw["setting"] == "code")
    ]
    found = (2 * asked["votes"] > asked["runs"]) & (
        asked["outcome"] == "correct"
    )
    assert len(asked) == 3
    assert values(claims[name]) == [found.sum()]
