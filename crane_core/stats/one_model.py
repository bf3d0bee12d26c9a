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

from crane_core.stats.arrays import Array, floats
from crane_core.stats.nested import Entries, Factor, NestedDesign

FIXED_SD = 2.5
"""Of the normal prior of fixed effects, in log odds: weak (Gelman et al. 2008)."""
PRIOR_SCALES = (1.0, 0.5, 2.0)
"""Of the half-normal prior of standard deviations, in log odds; the usual first; the others show what it decides."""
N_FITS, N_DRAWS = 8, 128
"""Standard deviations that are drawn, and draws of the effects at each of them."""
MOST_AGAIN = 2**24
"""Outcomes that the posterior check draws at most: of 66,600 a quarter of the draws is enough for its two ends."""
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

    least and most: of the model's values under all scales of the prior. is_expected: whether new outcomes for the same
    cases, drawn from the model, would be like the observed gain (within their central 95%), the posterior check.
    """

    names: tuple[str, ...]
    observed: Array
    value: Array
    low: Array
    high: Array
    least: Array
    most: Array
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
    """Effects with one standard deviation, by their columns of the design."""

    name: str
    columns: NDArray[np.int64]


class _Alike(NamedTuple):
    """Outcomes whose shared effects are the same: one of each kind, shape (n_kinds,), and an (n, n_kinds) indicator."""

    one: NDArray[np.int64]
    kinds: Any


class _Design(NamedTuple):
    """The effects of the n outcomes, their families, and the outcomes; the first `n_fixed` effects are fixed."""

    effects: NestedDesign
    families: list[_Family]
    right: Array
    n_fixed: int
    alike: _Alike

    def precision(self, log_sd: Array) -> Array:
        """Of the prior of every effect, shape (p,); a column that no outcome has gets 1, which changes nothing."""
        found = np.ones(self.effects.matrix.shape[1])
        found[: self.n_fixed] = FIXED_SD**-2
        for family, value in zip(self.families, log_sd, strict=True):
            found[family.columns] = np.exp(-2 * value)
        return found


class _Mode(NamedTuple):
    """The most probable effects, the factor of their precision, and the log of the evidence."""

    effects: Array
    factor: Factor
    evidence: float


class _Contrast(NamedTuple):
    """The names of a grouping, and of each the weights of its outcomes' mean without and with the treatment, (k, n)."""

    names: tuple[str, ...]
    without: Any
    with_it: Any

    @property
    def difference(self) -> Any:
        """The weights of what the treatment changes, shape (k, n)."""
        return self.with_it - self.without

    def means(self, alike: _Alike, of_kinds: Array) -> _Means:
        """The means of every draw, from those of each kind of outcome."""
        without = self.without @ alike.kinds @ of_kinds
        with_it = self.with_it @ alike.kinds @ of_kinds
        return _Means(without.T, with_it.T)


class _Means(NamedTuple):
    """The mean chances of a new case of k groups without and with the treatment, of shape (n_draws, k)."""

    without: Array
    with_it: Array


class _Spread(NamedTuple):
    """The most probable logarithms of the standard deviations, and a square root of their covariance, (k, k)."""

    log_sd: Array
    root: Array


def one_model(
    right: ArrayLike,
    treated: ArrayLike,
    detector: Sequence[str],
    case: Sequence[str],
    instance: Sequence[str],
    groupings: Mapping[str, Sequence[str]],
    *,
    prior_scales: Sequence[float] = PRIOR_SCALES,
) -> OneModel:
    """Fit the model; every array has shape (n,), right in 0..1, treated a boolean.

    groupings: of each way of grouping, the group of every outcome. Repeated answers to one question have to be one
    outcome (a vote, or a share), since they are below the instance. prior_scales: the first is reported, the others
    tell what it decides. Raises ValueError on unequal lengths, outcomes
    outside 0..1, or a detector or group that lacks outcomes with or without the treatment.
    """
    y = floats(right)
    with_it = floats(treated)
    columns = (
        with_it,
        detector,
        case,
        instance,
        *groupings.values(),
    )
    if any(len(column) != len(y) for column in columns):
        raise ValueError("unequal lengths")
    is_share = (y >= 0) & (y <= 1)
    if not is_share.all():
        raise ValueError("an outcome must be between 0 and 1")
    from threadpoolctl import (  # type: ignore[import-untyped]
        threadpool_limits,
    )

    design = _design(y, with_it, detector, case, instance, groupings)
    # Small matrices: where processors are busy, more threads wait for each other for minutes.
    with _ONE_AT_A_TIME, threadpool_limits(1):
        return _fitted(design, with_it, detector, groupings, prior_scales)


def _fitted(
    design: _Design,
    with_it: Array,
    detector: Sequence[str],
    groupings: Mapping[str, Sequence[str]],
    prior_scales: Sequence[float],
) -> OneModel:
    contrasts = {"": _contrast(detector, with_it)}
    for name, names in groupings.items():
        contrasts[name] = _contrast(names, with_it)
    kinds, kind_of_case = _kinds_of_cases(design)
    spreads = [_standard_deviations(kinds, scale) for scale in prior_scales]
    draws = {name: _Draws(of, len(spreads)) for name, of in contrasts.items()}
    rng = np.random.default_rng(SEED)
    for _ in range(N_FITS):
        direction = rng.normal(size=len(design.families))
        noise = rng.normal(size=(design.effects.n_shared, N_DRAWS))
        for place, (best, root) in enumerate(spreads):
            log_sd = np.clip(best + root @ direction, *_LOG_SD)
            mode = _mode(kinds, log_sd)
            average = _averages(
                design,
                log_sd,
                with_it,
                mode,
                noise,
            )
            for drawn in draws.values():
                drawn.add_means(place, design.alike, average)
            # The check is of the scale that is reported.
            if place == 0:
                moved = _drawn_again(
                    design,
                    mode,
                    kind_of_case,
                    noise,
                    rng,
                )
                for drawn in draws.values():
                    drawn.add_again(moved)
    gains = {name: drawn.gains(design.right) for name, drawn in draws.items()}
    usual = draws[""].of_scale(0)
    odds = usual.with_it / (1 - usual.with_it)
    odds_without = usual.without / (1 - usual.without)
    ratios = odds / odds_without
    return OneModel(
        detectors=gains.pop(""),
        odds_ratio=np.quantile(ratios, [0.5, 0.025, 0.975], axis=0).T,
        groups=gains,
        sd=_sd_of_families(design, spreads[0]),
    )


def _sd_of_families(design: _Design, spread: _Spread) -> dict[str, float]:
    """The most probable standard deviation of each family, by its name."""
    found = {}
    sds = np.exp(spread.log_sd)
    for family, sd in zip(design.families, sds, strict=True):
        found[family.name] = float(sd)
    return found


class _Draws:
    """What the draws of the posterior say of one grouping: means by scale of the prior, and gains drawn again."""

    def __init__(self, contrast: _Contrast, n_scales: int) -> None:
        self._contrast = contrast
        self._means: list[list[_Means]] = [[] for _ in range(n_scales)]
        self._again: list[Array] = []

    def add_means(self, place: int, alike: _Alike, of_kinds: Array) -> None:
        """More draws of the means, from the scale at this place."""
        means = self._contrast.means(alike, of_kinds)
        self._means[place].append(means)

    def add_again(self, outcomes: Array) -> None:
        """Gains in outcomes that were drawn again, of shape (n, n_draws)."""
        gains = self._contrast.difference @ outcomes
        self._again.append(gains.T)

    def of_scale(self, place: int) -> _Means:
        """All draws of the means with the scale at this place."""
        without = [means.without for means in self._means[place]]
        with_it = [means.with_it for means in self._means[place]]
        return _Means(np.vstack(without), np.vstack(with_it))

    def gains(self, right: Array) -> GainsOf:
        """The first scale is reported; the others show what it decides."""
        observed = self._contrast.difference @ right
        medians = []
        for place in range(len(self._means)):
            means = self.of_scale(place)
            moved = means.with_it - means.without
            medians.append(np.quantile(moved, 0.5, axis=0))
        usual = self.of_scale(0)
        low, value, high = np.quantile(
            usual.with_it - usual.without,
            [0.025, 0.5, 0.975],
            axis=0,
        )
        again = np.vstack(self._again)
        least, most = np.quantile(again, [0.025, 0.975], axis=0)
        return GainsOf(
            names=self._contrast.names,
            observed=observed,
            value=value,
            low=low,
            high=high,
            least=np.min(medians, axis=0),
            most=np.max(medians, axis=0),
            is_expected=(least <= observed) & (observed <= most),
        )


def _design(
    y: Array,
    with_it: Array,
    detector: Sequence[str],
    case: Sequence[str],
    instance: Sequence[str],
    groupings: Mapping[str, Sequence[str]],
) -> _Design:
    """The effects of a case are a block: its own, its slope, and one of each of its instances.

    Raises ValueError if an instance is of two cases.
    """
    ones = np.ones_like(y)
    columns = []
    values = []
    families = []
    n_shared = 0

    def share(names: Sequence[str], times: Array) -> NDArray[np.int64]:
        """A column per name, which holds `times` where the outcome is of it."""
        nonlocal n_shared
        known, place = _numbered(names)
        columns.append(n_shared + place)
        values.append(times)
        mine = np.arange(n_shared, n_shared + len(known))
        n_shared += len(known)
        return mine

    share(detector, ones)
    share(detector, with_it)
    n_fixed = n_shared
    for name, of in groupings.items():
        families.append(_Family(name, share(of, ones)))
        families.append(_Family(f"{name} x input", share(of, with_it)))
    cases, of_case = _numbered(case)
    nth, n_most = _nth_of_its_case(of_case, instance)
    block = 2 + n_most
    start = of_case * block
    own = {
        "case": start,
        "case x input": start + 1,
        "instance": start + 2 + nth,
    }
    own_columns = np.stack(list(own.values()), axis=1)
    own_values = np.stack([ones, with_it, ones], axis=1)
    effects = NestedDesign(
        shared=Entries(
            columns=np.stack(columns, axis=1),
            values=np.stack(values, axis=1),
        ),
        own=Entries(own_columns, own_values),
        n_shared=n_shared,
        block=block,
        times=np.ones(len(cases)),
    )
    for name, mine in own.items():
        families.append(_Family(name, np.unique(n_shared + mine)))
    of_outcomes = np.column_stack([*columns, with_it])
    return _Design(
        effects=effects,
        families=families,
        right=y,
        n_fixed=n_fixed,
        alike=_alike(of_outcomes),
    )


def _kinds_of_cases(
    design: _Design,
) -> tuple[_Design, NDArray[np.int64]]:
    """The design of one case of each kind, which represents all with the same outcomes, and the kind of every case.

    The most probable effects of such cases are equal, so that a fit need not look at each of them.
    """
    effects = design.effects
    shared = effects.shared
    own = effects.own
    of_case = effects.of_block
    within = own.columns % effects.block
    row = _numbered_rows(
        shared.columns,
        shared.values,
        within,
        own.values,
        design.right,
    )
    order = np.lexsort((row, of_case))
    n_of = np.bincount(of_case, minlength=len(effects.times))
    begins = np.cumsum(n_of) - n_of
    place = np.arange(len(row)) - np.repeat(begins, n_of)
    shape = len(n_of), int(n_of.max())
    rows_of_case = np.full(shape, -1)
    rows_of_case[of_case[order], place] = row[order]
    _, first, kind, times = np.unique(
        rows_of_case,
        axis=0,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    kept = np.isin(of_case, first)
    start = kind[of_case[kept]] * effects.block
    of_kinds = NestedDesign(
        shared=Entries(
            columns=shared.columns[kept],
            values=shared.values[kept],
        ),
        own=Entries(
            columns=start[:, None] + within[kept],
            values=own.values[kept],
        ),
        n_shared=effects.n_shared,
        block=effects.block,
        times=times.astype(np.float64),
    )
    n_own = own.columns.shape[1]
    families = design.families[:-n_own]
    families_of_case = design.families[-n_own:]
    own_columns = effects.n_shared + of_kinds.own.columns
    for family, mine in zip(families_of_case, own_columns.T, strict=True):
        families.append(_Family(family.name, np.unique(mine)))
    design_of_kinds = design._replace(
        effects=of_kinds,
        families=families,
        right=design.right[kept],
    )
    return design_of_kinds, kind


def _numbered_rows(*of_rows: NDArray[np.generic]) -> NDArray[np.int64]:
    """A number per row, the same for equal rows; arrays of shape (n,) or (n, a)."""
    number = np.zeros(len(of_rows[0]), dtype=np.int64)
    for column in np.column_stack(of_rows).T:
        _, value = np.unique(column, return_inverse=True)
        both = number * (value.max() + 1) + value
        _, number = np.unique(both, return_inverse=True)
    return number


def _alike(rows: Array) -> _Alike:
    from scipy import sparse

    kind = _numbered_rows(rows)
    one = np.unique(kind, return_index=True)[1]
    place = np.arange(len(kind))
    ones = np.ones(len(kind))
    kinds = sparse.csr_matrix(
        (ones, (place, kind)),
        shape=(len(kind), len(one)),
    )
    return _Alike(one, kinds)


def _numbered(
    names: Sequence[str],
) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """The names in order, and the place of each outcome's among them."""
    return np.unique(np.asarray(names, dtype=str), return_inverse=True)


def _nth_of_its_case(
    of_case: NDArray[np.int64], instance: Sequence[str]
) -> tuple[NDArray[np.int64], int]:
    """Of each outcome, which of its case's instances it is of, from 0; and the most that a case has."""
    known, of_instance = _numbered(instance)
    case_of = np.zeros(len(known), dtype=np.int64)
    case_of[of_instance] = of_case
    if (case_of[of_instance] != of_case).any():
        raise ValueError("an instance is of two cases")
    order = np.argsort(case_of, kind="stable")
    _, first, n_of = np.unique(
        case_of[order],
        return_index=True,
        return_counts=True,
    )
    nth = np.empty(len(known), dtype=np.int64)
    begins = np.repeat(first, n_of)
    nth[order] = np.arange(len(known)) - begins
    return nth[of_instance], int(n_of.max())


def _mode(design: _Design, log_sd: Array, start: Array | None = None) -> _Mode:
    """Newton's method on the log posterior at these standard deviations, and Laplace's evidence there."""
    from scipy.special import expit

    of = design.effects
    y = design.right
    prior = design.precision(log_sd)
    if start is None:
        start = np.zeros_like(prior)
    effects = start
    for _ in range(_MOST_NEWTON):
        chance = expit(of.matrix @ effects)
        likelihood = of.weighted(chance * (1 - chance))
        factor = Factor(likelihood.plus_diagonal(prior))
        gradient = of.pulled(y - chance) - prior * effects
        step = factor.solve(gradient)
        effects = effects + step
        # The squared length of the step in the posterior's own scale.
        if float(of.times_of_effect @ (step * gradient)) < _CLOSE:
            break
    linear = of.matrix @ effects
    log_likelihood = y * linear - np.logaddexp(0, linear)
    log_prior = np.log(prior) - prior * effects**2
    fit = of.times_of_row @ log_likelihood
    penalty = of.times_of_effect @ log_prior
    evidence = float(fit + 0.5 * penalty) - factor.half_log_det
    return _Mode(effects, factor, evidence)


def _evidence_slopes(design: _Design, log_sd: Array, mode: _Mode) -> Array:
    """The derivative of the evidence by each logarithm (Rasmussen and Williams 2006, section 5.5.1), shape (k,)."""
    from scipy.special import expit

    of = design.effects
    prior = design.precision(log_sd)
    covariance = mode.factor.inverse()
    chance = expit(of.matrix @ mode.effects)
    # How the weight of an outcome changes as its log odds move, times the variance of those.
    weight = chance * (1 - chance)
    bend = weight * (1 - 2 * chance)
    pull = of.pulled(of.variances(covariance) * bend)
    second_moment = mode.effects**2 + covariance.diagonal()
    shrunk = prior * second_moment - 1
    solved = mode.factor.solve(pull)
    indirect = prior * mode.effects * solved
    slopes = of.times_of_effect * (shrunk - indirect)
    return np.array(
        [slopes[family.columns].sum() for family in design.families]
    )


def _standard_deviations(design: _Design, prior_scale: float) -> _Spread:
    from scipy.optimize import minimize

    k = len(design.families)
    last: list[Array] = []

    def badness(log_sd: Array) -> tuple[float, Array]:
        mode = _mode(design, log_sd, last[-1] if last else None)
        last[:] = [mode.effects]
        # Half-normal in the standard deviation; its density by the logarithm has the factor sd.
        squared = (np.exp(log_sd) / prior_scale) ** 2
        log_prior = log_sd - 0.5 * squared
        value = mode.evidence + float(log_prior.sum())
        slopes = _evidence_slopes(design, log_sd, mode)
        slopes = slopes + 1 - squared
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
    _, here = badness(best)
    curvature = np.empty((k, k))
    for place, step in enumerate(_STEP * np.eye(k)):
        _, there = badness(best + step)
        curvature[place] = there - here
    symmetric = curvature + curvature.T
    values, axes = np.linalg.eigh(symmetric / (2 * _STEP))
    least = _MOST_SPREAD**-2
    bounded = np.maximum(values, least)
    root: Array = axes / np.sqrt(bounded)
    return _Spread(best, root)


def _averages(
    design: _Design,
    log_sd: Array,
    with_it: Array,
    mode: _Mode,
    noise: Array,
) -> Array:
    """The chances of a new case, of one outcome of each kind of `design.alike`, shape (n_kinds, N_DRAWS)."""
    from scipy.special import expit

    n_shared = design.effects.n_shared
    one = design.alike.one
    moved = mode.factor.spread_shared(noise)
    shared = mode.effects[:n_shared, None] + moved
    variances = np.exp(2 * log_sd[-3:])
    of_case, of_slope, of_instance = variances
    # Effects of cases are integrated out: the next case has others. What is left is the same for many outcomes.
    rows = design.effects.matrix[one, :n_shared]
    known = rows @ shared
    variance = of_case + of_instance + of_slope * with_it[one]
    flatter = np.sqrt(1 + _ZEGER * variance)
    average: Array = expit(known / flatter[:, None])
    return average


def _drawn_again(
    design: _Design,
    mode: _Mode,
    kind_of_case: NDArray[np.int64],
    noise: Array,
    rng: np.random.Generator,
) -> Array:
    """Outcomes for the same cases, drawn with some of the draws of the shared effects; shape (n, at most N_DRAWS)."""
    from scipy.special import expit

    of = design.effects
    n = len(design.right)
    n_affordable = MOST_AGAIN // (n * N_FITS)
    n_draws = min(N_DRAWS, max(n_affordable, 1))
    n_own = of.matrix.shape[1] - of.n_shared
    own = rng.normal(size=(n_own, n_draws))
    moved = mode.factor.spread(
        noise[:, :n_draws],
        own,
        kind_of_case,
    )
    shared, of_kinds = np.split(mode.effects, [of.n_shared])
    blocks = of_kinds.reshape(-1, of.block)
    of_cases = blocks[kind_of_case].ravel()
    usual = np.concatenate([shared, of_cases])
    effects = usual[:, None] + moved
    chance: Array = expit(of.matrix @ effects)
    is_right = rng.random(chance.shape) < chance
    return is_right.astype(np.float64)


def _contrast(names: Sequence[str], with_it: Array) -> _Contrast:
    from scipy import sparse

    known, place = _numbered(names)
    sides = []
    for side in (0, 1):
        here = np.flatnonzero(with_it == side)
        group = place[here]
        n_of = np.bincount(group, minlength=len(known))
        if (n_of == 0).any():
            raise ValueError("no outcomes with or without the treatment")
        weights = 1 / n_of[group]
        matrix = sparse.csr_matrix(
            (weights, (group, here)),
            shape=(len(known), len(place)),
        )
        sides.append(matrix)
    names = tuple(map(str, known))
    return _Contrast(names, *sides)
