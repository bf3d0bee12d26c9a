"""Matrices of nested effects against numpy's, which know nothing of blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.stats.nested import Entries, Factor, Nested, NestedDesign

N = 60


def drawn(
    n_shared: int, n_blocks: int, block: int, seed: int
) -> tuple[NestedDesign, np.random.Generator]:
    """Rows that name two shared effects and two own ones of a block, with any values."""
    rng = np.random.default_rng(seed)
    of_row = rng.integers(n_blocks, size=N) * block
    own = np.stack([rng.permutation(block)[:2] for _ in range(N)])
    shared = np.stack([rng.permutation(n_shared)[:2] for _ in range(N)])
    design = NestedDesign(
        Entries(shared, rng.normal(size=shared.shape)),
        Entries(of_row[:, None] + own, rng.normal(size=own.shape)),
        n_shared,
        block,
        np.ones(n_blocks),
    )
    return design, rng


def dense(of: Nested) -> np.ndarray:
    k, m, p = of.across.shape
    matrix = np.zeros((p + k * m, p + k * m))
    matrix[:p, :p] = of.shared
    matrix[p:, :p] = of.across.reshape(k * m, p)
    matrix[:p, p:] = matrix[p:, :p].T
    for place in range(k):
        mine = slice(p + place * m, p + (place + 1) * m)
        matrix[mine, mine] = of.own[place]
    return matrix


@given(
    st.integers(2, 5),
    st.integers(1, 6),
    st.integers(2, 4),
    st.integers(0, 2**32),
)
def test_blocks_give_what_the_dense_matrix_gives(
    n_shared: int, n_blocks: int, block: int, seed: int
) -> None:
    design, rng = drawn(n_shared, n_blocks, block, seed)
    weights = rng.random(N)
    prior = 0.5 + rng.random(design.matrix.shape[1])
    x = design.matrix.toarray()
    whole = x.T @ (weights[:, None] * x) + np.diag(prior)
    nested = design.weighted(weights).plus_diagonal(prior)
    np.testing.assert_allclose(dense(nested), whole, atol=1e-12)
    np.testing.assert_allclose(nested.diagonal(), np.diag(whole))

    factor = Factor(nested)
    inverse = np.linalg.inv(whole)
    right = rng.normal(size=len(prior))
    np.testing.assert_allclose(factor.solve(right), inverse @ right, atol=1e-9)
    assert 2 * factor.half_log_det == pytest.approx(
        np.linalg.slogdet(whole).logabsdet
    )
    # Noise of each direction alone gives a root of the inverse.
    one, other = np.split(np.eye(len(prior)), [n_shared])
    root = factor.spread(one, other, np.arange(n_blocks))
    np.testing.assert_allclose(root @ root.T, inverse, atol=1e-9)
    np.testing.assert_allclose(
        design.variances(factor.inverse()),
        np.einsum("ij,jk,ik->i", x, inverse, x),
        atol=1e-9,
    )


@given(st.integers(1, 4), st.integers(0, 2**32))
def test_a_block_represents_those_that_are_equal(
    n_equal: int, seed: int
) -> None:
    """The same numbers as with each of the blocks by itself."""
    rng = np.random.default_rng(seed)
    one, block, n_shared = 6, 2, 3
    columns = np.stack([rng.permutation(n_shared)[:2] for _ in range(one)])
    values, of_own = rng.normal(size=(2, one, 2))
    own = np.repeat([[0, 1]], one, axis=0)
    designs = [
        NestedDesign(
            Entries(np.tile(columns, (n, 1)), np.tile(values, (n, 1))),
            Entries(
                np.vstack([own + block * place for place in range(n)]),
                np.tile(of_own, (n, 1)),
            ),
            n_shared,
            block,
            np.full(n, times, dtype=float),
        )
        for n, times in ((n_equal, 1), (1, n_equal))
    ]
    weights, right = rng.random((2, one))
    found = []
    for design in designs:
        n = len(design.times)
        prior = np.ones(design.matrix.shape[1])
        nested = design.weighted(np.tile(weights, n)).plus_diagonal(prior)
        factor = Factor(nested)
        pulled = design.pulled(np.tile(right, n))
        kept = n_shared + block
        found.append(
            [
                factor.half_log_det,
                *pulled[:kept],
                *factor.solve(pulled)[:kept],
                *factor.inverse().diagonal()[:kept],
            ]
        )
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-12)


def test_a_row_of_two_blocks_is_refused() -> None:
    shared = Entries(np.array([[0]]), np.array([[1.0]]))
    own = Entries(np.array([[1, 2]]), np.array([[1.0, 1.0]]))
    with pytest.raises(ValueError, match="two blocks"):
        NestedDesign(shared, own, 1, 2, np.ones(2))


def test_what_is_not_positive_definite_is_refused() -> None:
    design, _ = drawn(3, 2, 2, seed=1)
    size = design.matrix.shape[1]
    with pytest.raises(np.linalg.LinAlgError):
        Factor(design.weighted(np.ones(N)).plus_diagonal(np.full(size, -9.0)))
