"""GLAD and MACE by crowd-kit: its own posteriors, abilities of simulated annotators, bounds, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from crane_core.errors import CampaignError
from crane_core.pipeline.agreement import crowd_kit
from crane_core.pipeline.agreement.crowd_kit import (
    CROWD_MODELS,
    MACE,
    crowd_fit,
    fit_here,
    is_installed,
)
from crane_core.stats.dawid_skene import NONE, dawid_skene
from tests.optional import later, needing

# Crowd-kit uses what pandas will leave out, thousands of times in a fit.
pytestmark = pytest.mark.filterwarnings("ignore:The .* keyword")

ABILITIES = (0.9, 0.7, 0.45)
aggregation = later("crowdkit.aggregation")
pandas = later("pandas")


def simulated(n: int, seed: int = 5) -> tuple[NDArray[np.int64], ...]:
    """Truth, and labels of which the last annotator's begin with gaps."""
    chance = np.random.default_rng(seed)
    truth = chance.integers(0, 3, n)
    others = (truth[:, None] + chance.integers(1, 3, (n, 3))) % 3
    is_right = chance.random((n, 3)) < ABILITIES
    labels = np.where(is_right, truth[:, None], others)
    labels[:3, 2] = NONE
    return truth, labels


def long(labels: NDArray[np.int64]):
    """As crowd-kit wants it, and sorted so that names appear in their order, on which its MACE depends."""
    item, annotator = np.nonzero(labels != NONE)
    rows = {
        "task": item,
        "worker": annotator,
        "label": labels[item, annotator],
    }
    return pandas.DataFrame(rows)


def in_order(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renamed labels, so that 0 appears first and 2 last."""
    seen = list(dict.fromkeys(labels[labels != NONE].tolist()))
    return np.where(labels == NONE, NONE, np.argsort(seen)[labels])


@pytest.fixture
def few_refits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd_kit, "N_REFITS", 3)
    monkeypatch.setattr(crowd_kit, "FEWEST_REFITS", 3)


@needing("crowdkit")
@pytest.mark.parametrize("model", CROWD_MODELS)
def test_posteriors_are_those_of_crowd_kit(
    model: str, few_refits: None
) -> None:
    labels = in_order(simulated(24)[1])
    theirs = getattr(aggregation, model)().fit_predict_proba(long(labels))
    ours = fit_here(model, labels, 3, range(24), seed=1)
    assert ours.posterior == pytest.approx(
        theirs.sort_index()[[0, 1, 2]].to_numpy(), abs=1e-9
    )


@needing("crowdkit")
def test_other_names_of_labels_give_the_same_posteriors(
    few_refits: None,
) -> None:
    labels = simulated(40)[1]
    renamed = np.where(labels == NONE, NONE, np.array([2, 0, 1])[labels])
    found = fit_here(MACE, labels, 3, range(40), seed=1).posterior
    other = fit_here(MACE, renamed, 3, range(40), seed=1).posterior
    assert other[:, [2, 0, 1]] == pytest.approx(found)


@needing("crowdkit")
@pytest.mark.slow
@pytest.mark.parametrize("model", CROWD_MODELS)
def test_simulated_abilities_are_found_in_their_order(model: str) -> None:
    truth, labels = simulated(150)
    found = crowd_fit(model, labels, 3, np.arange(150) // 2, seed=1)
    assert np.mean(found.posterior.argmax(axis=1) == truth) > 0.85
    assert (np.diff(found.ability) < 0).all()
    assert (np.diff(found.parameter) < 0).all()
    bounds = found.bounds
    assert (bounds.ability_low <= found.ability).all()
    assert (found.ability <= bounds.ability_high).all()
    assert (bounds.posterior_low <= bounds.posterior_high).all()
    assert bounds.ability_low[0] > bounds.ability_high[2]


@needing("crowdkit")
def test_one_label_alone_is_certain(few_refits: None) -> None:
    for model in CROWD_MODELS:
        found = fit_here(model, np.ones((6, 3)), 3, range(6), seed=1)
        assert (found.posterior.argmax(axis=1) == 1).all()
        assert (found.ability > 0.9).all()


@needing("crowdkit")
def test_dawid_and_skene_of_ours_agrees_with_theirs() -> None:
    # Few items leave the likelihood flat, where both may stop at different places.
    labels = simulated(400)[1]
    theirs = aggregation.DawidSkene(n_iter=300, tol=1e-9)
    posterior = theirs.fit_predict_proba(long(labels)).sort_index()
    ours = dawid_skene(labels, 3, smoothing=0).posterior
    # Theirs stops by its likelihood.
    assert ours == pytest.approx(posterior[[0, 1, 2]].to_numpy(), abs=0.005)


@pytest.mark.skipif(is_installed(), reason="crowd-kit is installed")
def test_without_crowd_kit_the_remedy_is_to_install_it() -> None:
    with pytest.raises(CampaignError, match="crowd-kit") as caught:
        crowd_fit(MACE, [[0, 0, 1]], 2, [0], seed=1)
    assert "[labels]" in caught.value.remedy


def test_a_fit_that_fails_or_takes_too_long_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(crowd_kit, "is_installed", lambda: True)
    with pytest.raises(CampaignError, match="could not fit"):
        crowd_fit(MACE, [[NONE, NONE, NONE]], 2, [0], seed=1)
    with pytest.raises(CampaignError, match="no answer within"):
        crowd_fit(MACE, [[0, 0, 1]], 2, [0], seed=1, limit_s=0.01)
