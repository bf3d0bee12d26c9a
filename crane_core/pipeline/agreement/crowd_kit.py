"""GLAD and MACE, fitted by crowd-kit, an optional library: the only file that knows it.

It is imported in a separate process, which ends with its answer: the import takes seconds and brings transformers.
Knows places of labels on a scale; refuses to know what a label says.
"""

import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from crane_core import helper_process
from crane_core.errors import CampaignError
from crane_core.pipeline.places import install_words
from crane_core.stats.arrays import Array
from crane_core.stats.dawid_skene import NONE, Bounds, bounds_of
from crane_core.stats.resampling import resampled_rows

Places = NDArray[np.intp]
GLAD, MACE = CROWD_MODELS = ("GLAD", "MACE")
N_REFITS = 50
MOST_LABELS = 120_000
"""Labels in all refits together: 50 fits of 189 items by three take GLAD a minute on a busy machine, MACE seconds."""
FEWEST_REFITS = 20
"""With fewer, the ends of 95% bounds would be single fits."""
LIMIT_S = 600.0


class CrowdFit(NamedTuple):
    """posterior: shape (n_items, n_labels). ability, parameter: (n_annotators,).

    ability: the mean probability that an annotator's label is right. parameter: what the model calls it, alpha of
    GLAD and the competence of MACE.
    """

    posterior: Array
    ability: Array
    parameter: Array
    bounds: Bounds
    n_refits: int


def is_installed() -> bool:
    """Whether crowd-kit is there."""
    return find_spec("crowdkit") is not None


def crowd_fit(
    model: str,
    labels: ArrayLike,
    n_labels: int,
    cluster: ArrayLike,
    *,
    seed: int,
    limit_s: float = LIMIT_S,
) -> CrowdFit:
    """The fit of one of CROWD_MODELS, with bounds from fits on resampled clusters.

    labels: shape (n_items, n_annotators), places 0..n_labels-1, or NONE; each item has one. cluster: (n_items,).
    Raises CampaignError without crowd-kit, and where it fails or takes longer than `limit_s`.
    """
    if not is_installed():
        raise CampaignError(
            f"{model} needs the library crowd-kit, which is not installed.",
            remedy=install_words("labels"),
        )
    given = np.asarray(labels, dtype=np.intp)
    _, cluster = np.unique(np.asarray(cluster), return_inverse=True)
    asked = [model, given.tolist(), n_labels, cluster.tolist(), seed]
    try:
        answer = helper_process.answer(
            helper_process.own_module(__name__),
            given=json.dumps(asked).encode("ascii"),
            seconds=limit_s,
        )
    except OSError as error:
        raise CampaignError(
            f"crowd-kit could not fit {model}: {error}.",
            remedy="Use the model of Dawid and Skene.",
        ) from error
    posterior, ability, parameter, bounds, n_refits = json.loads(answer)
    return CrowdFit(
        np.array(posterior),
        np.array(ability),
        np.array(parameter),
        Bounds(*map(np.array, bounds)),
        n_refits,
    )


def fit_here(
    model: str, labels: ArrayLike, n_labels: int, cluster: ArrayLike, seed: int
) -> CrowdFit:
    """`crowd_fit` in this process."""
    given = np.asarray(labels, dtype=np.intp)
    n_given = int((given != NONE).sum())
    n_refits = max(FEWEST_REFITS, min(N_REFITS, MOST_LABELS // n_given))
    draws = list(resampled_rows(cluster, seed, n_refits))
    posterior, parameter = _fitted(model, [given], n_labels)
    # One fit of all resamples, each with separate annotators: both models know an item by its annotators
    # alone. It takes MACE a tenth, and GLAD a quarter of the time of one after the other.
    stacked, _ = _fitted(model, [given[rows] for rows in draws], n_labels)
    ends = np.cumsum([len(rows) for rows in draws])
    refits = np.full((n_refits, len(given), n_labels), np.nan)
    abilities = []
    for refit, rows, found in zip(
        refits, draws, np.split(stacked, ends[:-1]), strict=True
    ):
        refit[rows] = found
        abilities.append(_ability(found, given[rows]))
    return CrowdFit(
        posterior,
        _ability(posterior, given),
        parameter,
        bounds_of(refits, abilities),
        n_refits,
    )


def _fitted(
    model: str, tables: Sequence[Places], n_labels: int
) -> tuple[Array, Array]:
    """Posteriors of the items of all tables, shape (n_items, n_labels), and a parameter per table and annotator."""
    from crowdkit import aggregation

    n_annotators = tables[0].shape[1]
    stacked = np.concatenate(tables)
    table = np.repeat(np.arange(len(tables)), [len(one) for one in tables])
    item, annotator = np.nonzero(stacked != NONE)
    # Crowd-kit 1.4.2 adds up MACE's counts by sorted names and reads them in the order in which names appear, so
    # names are numbers in that order.
    label, labels = pd.factorize(stacked[item, annotator])
    worker, workers = pd.factorize(table[item] * n_annotators + annotator)
    frame = pd.DataFrame({"task": item, "worker": worker, "label": label})
    fit: Any
    if model == GLAD:
        # All labels of the scale, also those that are never given: of one label alone it has no logarithm.
        prior = pd.Series(1 / n_labels, index=range(n_labels))
        fit = aggregation.GLAD(labels_priors=prior).fit(frame)
        own = fit.alphas_.sort_index().to_numpy()
    else:
        # Its restarts all begin alike, from one seed, so that more than one changes nothing.
        fit = aggregation.MACE(n_restarts=1).fit(frame)
        own = fit.spamming_[:, 1] / fit.spamming_.sum(axis=1)
    found = fit.probas_.sort_index().to_numpy()
    order = [*labels, *(k for k in range(n_labels) if k not in labels)]
    posterior = np.zeros((len(stacked), n_labels))
    posterior[:, order[: found.shape[1]]] = found
    parameter = np.full(len(tables) * n_annotators, np.nan)
    parameter[workers] = own
    return posterior, parameter


def _ability(posterior: Array, given: Places) -> Array:
    """The mean posterior of the labels that each annotator gave, nan of who gave none."""
    is_given = given != NONE
    items = np.arange(len(given))[:, None]
    right = np.where(is_given, posterior[items, given], 0).sum(axis=0)
    n = is_given.sum(axis=0)
    found: Array = np.divide(right, n, out=np.full(len(n), np.nan), where=n > 0)
    return found


if __name__ == "__main__":
    fitted = fit_here(*json.load(sys.stdin.buffer))
    json.dump(fitted, sys.stdout, default=np.ndarray.tolist)
