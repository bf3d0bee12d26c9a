"""GLAD and MACE, fitted by crowd-kit, an optional library: the only file that knows it.

It is imported in a process of its own, which ends with its answer: the import takes seconds and brings transformers.
Knows places of labels on a scale; refuses to know what a label says.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from crane_core import helper_process
from crane_core.errors import CampaignError
from crane_core.pipeline.places import install_words
from crane_core.stats.dawid_skene import NONE, Bounds, bounds_of
from crane_core.stats.resampling import resampled_rows

Array = NDArray[np.float64]
Places = NDArray[np.intp]
GLAD, MACE = CROWD_MODELS = ("GLAD", "MACE")
N_STARTS = 10
"""Fits of MACE, as its authors make."""
N_REFITS = 50
MOST_LABELS = 120_000
"""Labels in all refits together: 50 fits of 222 items by three take either model 10 to 20 s."""
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
        done = helper_process.run(
            helper_process.own_module(__name__),
            given=json.dumps(asked).encode("ascii"),
            seconds=limit_s,
        )
    except subprocess.TimeoutExpired as error:
        raise CampaignError(
            f"{model} took longer than {limit_s:,.0f} s.",
            remedy="Use the model of Dawid and Skene, which is quicker.",
        ) from error
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise CampaignError(
            f"crowd-kit could not fit {model}: {last[-1][:300] if last else 'it printed nothing'}.",
            remedy="Use the model of Dawid and Skene.",
        )
    posterior, ability, parameter, bounds, n_refits = json.loads(done.stdout)
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
    # One fit of all resamples, in which each has annotators of its own: both models know an item by its annotators
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
    n_annotators = tables[0].shape[1]
    stacked = np.concatenate(tables)
    table = np.repeat(np.arange(len(tables)), [len(one) for one in tables])
    item, annotator = np.nonzero(stacked != NONE)
    # Crowd-kit 1.4.2 adds up MACE's counts by sorted names and reads them in the order in which names appear, so
    # names are numbers in that order.
    label, labels = pd.factorize(stacked[item, annotator])
    worker, workers = pd.factorize(table[item] * n_annotators + annotator)
    frame = pd.DataFrame({"task": item, "worker": worker, "label": label})
    if model == GLAD:
        found, own = _glad(frame, n_labels)
    else:
        found, own = _mace(frame, table, workers // n_annotators)
    order = [*labels, *(k for k in range(n_labels) if k not in labels)]
    posterior = np.zeros((len(stacked), n_labels))
    posterior[:, order[: found.shape[1]]] = found
    parameter = np.full(len(tables) * n_annotators, np.nan)
    parameter[workers] = own
    return posterior, parameter


def _glad(frame: pd.DataFrame, n_labels: int) -> tuple[Array, Array]:
    from crowdkit import aggregation

    # All labels of the scale, also those that are never given: of one label alone it has no logarithm.
    prior = pd.Series(1 / n_labels, index=range(n_labels))
    fit = aggregation.GLAD(labels_priors=prior).fit(frame)
    return fit.probas_.sort_index().to_numpy(), fit.alphas_.sort_index()


def _mace(
    frame: pd.DataFrame, table_of_task: Places, table_of_worker: Places
) -> tuple[Array, Array]:
    """Of each table the most likely of several fits.

    The restarts of crowd-kit 1.4.2 all begin alike, from one seed, and where one label is frequent some beginnings end
    at annotators who all guess.
    """
    from crowdkit import aggregation

    fits, likelihoods = [], []
    for seed in range(N_STARTS):
        fit = aggregation.MACE(n_restarts=1, random_state=seed)
        fit.fit(frame)
        fits.append(fit)
        likely = _likelihood(frame, fit.spamming_, fit.thetas_)
        likelihoods.append(np.bincount(table_of_task, likely))
    best = np.argmax(likelihoods, axis=0)
    posteriors = np.array([fit.probas_.sort_index() for fit in fits])
    spamming = np.array([fit.spamming_ for fit in fits])
    own = spamming[..., 1] / spamming.sum(axis=2)
    of_task, of_worker = best[table_of_task], best[table_of_worker]
    return (
        posteriors[of_task, np.arange(len(of_task))],
        own[of_worker, np.arange(len(of_worker))],
    )


def _likelihood(frame: pd.DataFrame, spamming: Array, thetas: Array) -> Array:
    """The log likelihood of the labels of each item, but for a constant (Hovy et al. 2013, equation 1)."""
    task, worker, label = frame.to_numpy().T
    chance = spamming[worker, 0] * thetas[worker, label]
    knows = label[:, None] == np.arange(thetas.shape[1])
    logs = np.log(chance[:, None] + spamming[worker, 1, None] * knows)
    of_truth = np.zeros((task.max() + 1, thetas.shape[1]))
    np.add.at(of_truth, task, logs)
    found: Array = np.logaddexp.reduce(of_truth, axis=1)
    return found


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
