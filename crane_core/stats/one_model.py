"""One model of right and wrong: detector x input fixed, groups partially pooled, cases and instances as random effects.

    logit P(right) = a_d + b_d t + sum_g (v_g + w_g t) + u_case + s_case t + q_instance

t is 1 with the treatment. Each family of effects is normal with an own standard deviation, which has a half-normal
prior. The posterior is Laplace's approximation at each of several standard deviations, drawn from a normal around
their most probable logarithms. What is reported is about a new case, not about those that were drawn: effects of cases
and instances are integrated out (Zeger, Liang and Albert 1988), as in the estimating equations of `stats.gee`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

FIXED_SD = 2.5
"""Of the normal prior of fixed effects, in log odds: weak (Gelman et al. 2008)."""
PRIOR_SCALES = (1.0, 0.5, 2.0)
"""Of the half-normal prior of standard deviations, in log odds; the usual first; the others show what it decides."""
N_FITS, N_DRAWS = 8, 128
"""Standard deviations that are drawn, and draws of the effects at each of them."""
SEED = 20251018
_ZEGER = (16 * np.sqrt(3) / (15 * np.pi)) ** 2
"""A logistic curve averaged over normal effects of variance s is one with its slope divided by sqrt(1 + _ZEGER s)."""
_MOST_NEWTON, _CLOSE = 30, 1e-8
_LOG_SD = (-4.0, 2.0)
"""Range of the logarithms of standard deviations: below, effects of a family are all 0 for any purpose."""
_STEP = 0.05
_ONE_AT_A_TIME = threading.Lock()
"""The limit of threads is the process's: two that set it at once would leave it set."""
_MOST_SPREAD = 1.0
"""Of a drawn logarithm: a flat posterior would go far beyond what the approximation holds for."""


class GainsOf(NamedTuple):
    """Gains in shares by name, all of shape (k,): observed, and of the model with the 95% interval of its posterior.

    is_expected: whether new outcomes for the same cases, drawn from the model, would be like the observed gain (within
    their central 95%), which is the posterior check.
    """

    names: tuple[str, ...]
    observed: Array
    value: Array
    low: Array
    high: Array
    is_expected: NDArray[np.bool_]


class OneModel(NamedTuple):
    """The posterior of the model.

    detectors and groups (by the name of the grouping): gains. odds_ratio: of each detector's treatment, averaged over
    cases, with low and high, shape (n_detectors, 3). sd: of each family of effects, in log odds.
    """

    detectors: GainsOf
    odds_ratio: Array
    groups: dict[str, GainsOf]
    sd: dict[str, float]


class _Family(NamedTuple):
    """Effects with one standard deviation: the columns from `start` to `end` of the design."""

    name: str
    start: int
    end: int


class _Design(NamedTuple):
    """The sparse matrix of all effects, shape (n, p), its families, and the outcomes."""

    matrix: Any
    families: list[_Family]
    right: Array
    n_fixed: int

    def precision(self, log_sd: Array) -> Array:
        """Of the prior of every effect, shape (p,)."""
        found = np.full(self.matrix.shape[1], FIXED_SD**-2)
        for family, value in zip(self.families, log_sd, strict=True):
            found[family.start : family.end] = np.exp(-2 * value)
        return found


class _Mode(NamedTuple):
    """The most probable effects, the upper Cholesky factor of their precision, and the log of the evidence."""

    effects: Array
    factor: Array
    evidence: float


def one_model(
    right: ArrayLike,
    treated: ArrayLike,
    detector: Sequence[str],
    case: Sequence[str],
    instance: Sequence[str],
    groupings: Mapping[str, Sequence[str]],
    *,
    prior_scale: float = PRIOR_SCALES[0],
) -> OneModel:
    """Fit the model; every array has shape (n,), right in 0..1, treated a boolean.

    groupings: of each way of grouping, the group of every outcome. Repeated answers to one question have to be one
    outcome (a vote, or a share), since they are below the instance. Raises ValueError on unequal lengths, outcomes
    outside 0..1, or a detector or group that lacks outcomes with or without the treatment.
    """
    y = np.asarray(right, dtype=np.float64)
    with_it = np.asarray(treated, dtype=np.float64)
    lengths = {len(one) for one in (y, with_it, detector, case, instance)}
    lengths |= {len(of) for of in groupings.values()}
    if len(lengths) > 1:
        raise ValueError("unequal lengths")
    if not ((y >= 0) & (y <= 1)).all():
        raise ValueError("an outcome must be between 0 and 1")
    from threadpoolctl import (  # type: ignore[import-untyped]
        threadpool_limits,
    )

    design = _design(y, with_it, detector, case, instance, groupings)
    # Matrices of a few hundred rows: where processors are busy, more threads wait for each other for minutes.
    with _ONE_AT_A_TIME, threadpool_limits(1):
        return _fitted(design, with_it, detector, groupings, prior_scale)


def _fitted(
    design: _Design,
    with_it: Array,
    detector: Sequence[str],
    groupings: Mapping[str, Sequence[str]],
    prior_scale: float,
) -> OneModel:
    y = design.right
    log_sd, spread = _standard_deviations(design, prior_scale)
    rng = np.random.default_rng(SEED)
    contrasts = {
        name: _contrasts(names, with_it)
        for name, names in {"": detector, **groupings}.items()
    }
    drawn = []
    for _ in range(N_FITS):
        moved = log_sd + spread @ rng.normal(size=len(log_sd))
        drawn.append(_draws(design, np.clip(moved, *_LOG_SD), rng, with_it))
    average = np.vstack([one for one, _ in drawn])
    again = np.vstack([one for _, one in drawn])
    gains = {
        name: _gains(names, sides, y, average, again)
        for name, (names, sides) in contrasts.items()
    }
    without, with_ = (average @ side.T for side in contrasts[""][1])
    ratios = with_ / (1 - with_) / (without / (1 - without))
    return OneModel(
        detectors=gains.pop(""),
        odds_ratio=np.quantile(ratios, [0.5, 0.025, 0.975], axis=0).T,
        groups=gains,
        sd={
            family.name: float(np.exp(value))
            for family, value in zip(design.families, log_sd, strict=True)
        },
    )


def _design(
    y: Array,
    with_it: Array,
    detector: Sequence[str],
    case: Sequence[str],
    instance: Sequence[str],
    groupings: Mapping[str, Sequence[str]],
) -> _Design:
    """Fixed effects first, then the families; those of cases and instances come last, so that they can be cut off."""
    from scipy import sparse

    ones = np.ones_like(y)
    blocks = [_indicators(detector, ones), _indicators(detector, with_it)]
    n_fixed = sum(block.shape[1] for block in blocks)
    named = []
    for name, of in groupings.items():
        named += [(name, of, ones), (f"{name} x input", of, with_it)]
    named += [
        ("case", case, ones),
        ("case x input", case, with_it),
        ("instance", instance, ones),
    ]
    families, start = [], n_fixed
    for name, of, times in named:
        blocks.append(_indicators(of, times))
        families.append(_Family(name, start, start + blocks[-1].shape[1]))
        start = families[-1].end
    matrix = sparse.hstack(blocks, format="csr")
    return _Design(matrix, families, y, n_fixed)


def _indicators(names: Sequence[str], times: Array) -> Any:
    """A column per name, which holds `times` where the outcome is of it."""
    from scipy import sparse

    known, place = np.unique(np.asarray(names, dtype=str), return_inverse=True)
    rows = np.arange(len(place))
    return sparse.csr_matrix((times, (rows, place)), (len(place), len(known)))


def _mode(design: _Design, log_sd: Array, start: Array | None = None) -> _Mode:
    """Newton's method on the log posterior at these standard deviations, and Laplace's evidence there."""
    from scipy.linalg import cho_solve, cholesky
    from scipy.special import expit

    matrix, y = design.matrix, design.right
    prior = design.precision(log_sd)
    effects = np.zeros(matrix.shape[1]) if start is None else start
    for _ in range(_MOST_NEWTON):
        chance = expit(matrix @ effects)
        weighted = matrix.multiply((chance * (1 - chance))[:, None])
        precision = (matrix.T @ weighted).toarray()
        precision[np.diag_indices_from(precision)] += prior
        factor = cholesky(precision, check_finite=False)
        gradient = matrix.T @ (y - chance) - prior * effects
        step = cho_solve((factor, False), gradient, check_finite=False)
        effects = effects + step
        # The squared length of the step in the posterior's own scale.
        if float(step @ gradient) < _CLOSE:
            break
    linear = matrix @ effects
    fit = float(y @ linear - np.logaddexp(0, linear).sum())
    penalty = 0.5 * float(np.log(prior).sum() - prior @ effects**2)
    evidence = fit + penalty - float(np.log(np.diag(factor)).sum())
    return _Mode(effects, factor, evidence)


def _evidence_slopes(design: _Design, log_sd: Array, mode: _Mode) -> Array:
    """The derivative of the evidence by each logarithm (Rasmussen and Williams 2006, section 5.5.1), shape (k,)."""
    from scipy.linalg import cho_solve
    from scipy.special import expit

    matrix, prior = design.matrix, design.precision(log_sd)
    size = len(mode.effects)
    covariance = cho_solve(
        (mode.factor, False), np.eye(size), check_finite=False
    )
    chance = expit(matrix @ mode.effects)
    # How the weight of an outcome changes as its log odds move, times the variance of those.
    bend = chance * (1 - chance) * (1 - 2 * chance)
    of_outcomes = np.asarray(matrix.multiply(matrix @ covariance).sum(axis=1))
    pull = matrix.T @ (of_outcomes.ravel() * bend)
    moved = covariance @ pull
    found = []
    for family in design.families:
        mine = slice(family.start, family.end)
        shrunk = prior[mine] * (
            mode.effects[mine] ** 2 + np.diag(covariance)[mine]
        )
        indirect = prior[mine] * mode.effects[mine] * moved[mine]
        found.append(
            shrunk.sum() - (family.end - family.start) - indirect.sum()
        )
    return np.array(found)


def _standard_deviations(
    design: _Design, prior_scale: float
) -> tuple[Array, Array]:
    """The most probable logarithms of the standard deviations, and a square root of their covariance, (k, k)."""
    from scipy.optimize import minimize

    k = len(design.families)
    last: list[Array] = []

    def badness(log_sd: Array) -> tuple[float, Array]:
        mode = _mode(design, log_sd, last[-1] if last else None)
        last[:] = [mode.effects]
        # Half-normal in the standard deviation; its density by the logarithm has the factor sd.
        squared = (np.exp(log_sd) / prior_scale) ** 2
        value = mode.evidence + float((log_sd - 0.5 * squared).sum())
        slopes = _evidence_slopes(design, log_sd, mode) + 1 - squared
        return -value, -slopes

    found = minimize(
        badness,
        np.full(k, np.log(0.5 * prior_scale)),
        method="L-BFGS-B",
        jac=True,
        bounds=[_LOG_SD] * k,
        options={"maxiter": 40, "ftol": 1e-7},
    )
    best = np.asarray(found.x)
    here = badness(best)[1]
    steps = _STEP * np.eye(k)
    curvature = np.array([badness(best + step)[1] - here for step in steps])
    values, axes = np.linalg.eigh((curvature + curvature.T) / (2 * _STEP))
    least = _MOST_SPREAD**-2
    root: Array = axes / np.sqrt(np.maximum(values, least))
    return best, root


def _draws(
    design: _Design, log_sd: Array, rng: np.random.Generator, with_it: Array
) -> tuple[Array, Array]:
    """The chance of each outcome in a new case, and drawn outcomes of the same cases; both of shape (N_DRAWS, n)."""
    from scipy.linalg import solve_triangular
    from scipy.special import expit

    mode = _mode(design, log_sd)
    noise = rng.normal(size=(len(mode.effects), N_DRAWS))
    effects = mode.effects[:, None] + solve_triangular(mode.factor, noise)
    case = design.families[-3]
    of_case, of_slope, of_instance = np.exp(2 * log_sd[-3:])
    # Effects of cases are integrated out: the next case has others.
    known = (design.matrix[:, : case.start] @ effects[: case.start]).T
    variance = of_case + of_instance + of_slope * with_it
    average = expit(known / np.sqrt(1 + _ZEGER * variance))
    chance = expit((design.matrix @ effects).T)
    again = (rng.random(chance.shape) < chance).astype(np.float64)
    return average, again


def _contrasts(
    names: Sequence[str], with_it: Array
) -> tuple[tuple[str, ...], tuple[Array, Array]]:
    """The names, and of each the weights of its outcomes' mean without and with the treatment: two of shape (k, n)."""
    known, place = np.unique(np.asarray(names, dtype=str), return_inverse=True)
    sides = []
    for side in (0, 1):
        weights = np.zeros((len(known), len(place)))
        is_here = np.flatnonzero(with_it == side)
        weights[place[is_here], is_here] = 1
        n_of = weights.sum(axis=1, keepdims=True)
        if (n_of == 0).any():
            raise ValueError("no outcomes with or without the treatment")
        sides.append(weights / n_of)
    return tuple(map(str, known)), (sides[0], sides[1])


def _gains(
    names: tuple[str, ...],
    sides: tuple[Array, Array],
    y: Array,
    average: Array,
    again: Array,
) -> GainsOf:
    weights = (sides[1] - sides[0]).T
    observed = y @ weights
    low, value, high = np.quantile(
        average @ weights, [0.025, 0.5, 0.975], axis=0
    )
    least, most = np.quantile(again @ weights, [0.025, 0.975], axis=0)
    return GainsOf(
        names,
        observed,
        value,
        low,
        high,
        is_expected=(least <= observed) & (observed <= most),
    )
