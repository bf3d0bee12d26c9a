"""Matrices over a few shared effects and many small blocks of own ones, of which no two meet: what they cost is linear.

A mixed model of nested units has them: effects of a case and of its instances meet those of another case nowhere but in
the effects that all share. So the blocks are eliminated one by one, and what is left is a small matrix.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crane_core.stats.arrays import Array


class Nested(NamedTuple):
    """A symmetric matrix of p shared effects and blocks of m own ones; all other elements are 0.

    shared: (p, p). across: (k, m, p), of own by shared effects. own: (k, m, m). times: (k,), how many equal blocks
    each of the k represents.
    """

    shared: Array
    across: Array
    own: Array
    times: Array

    def plus_diagonal(self, diagonal: Array) -> Nested:
        """With numbers added to the diagonal, shape (p + k m,), shared effects first."""
        k, m, p = self.across.shape
        of_shared = np.diag(diagonal[:p])
        of_own = diagonal[p:].reshape(k, m, 1) * np.eye(m)
        return self._replace(
            shared=self.shared + of_shared,
            own=self.own + of_own,
        )

    def diagonal(self) -> Array:
        """Shared effects first, shape (p + k m,)."""
        shared = np.diag(self.shared)
        own = np.diagonal(self.own, axis1=1, axis2=2)
        return np.concatenate([shared, own.ravel()])


class Entries(NamedTuple):
    """Elements of the rows of a sparse design, equally many in each: columns and values, both of shape (n, a)."""

    columns: NDArray[np.int64]
    values: Array


class NestedDesign:
    """A sparse design whose rows each name shared effects, and own effects of one block.

    Blocks with equal rows have equal effects wherever a posterior is most probable, so that one may represent all.
    """

    def __init__(
        self,
        shared: Entries,
        own: Entries,
        n_shared: int,
        block: int,
        times: Array,
    ) -> None:
        """Columns of own effects count from 0, block by block; times: of each block, how many it represents.

        Raises ValueError on a row of two blocks.
        """
        from scipy import sparse

        self.of_block = own.columns[:, 0] // block
        """Of each row, shape (n,)."""
        blocks = own.columns // block
        if (blocks != self.of_block[:, None]).any():
            raise ValueError("a row names own effects of two blocks")
        self.shared = shared
        self.own = own
        self.n_shared = n_shared
        self.block = block
        self.times = times
        own_columns = own.columns + n_shared
        columns = np.hstack([shared.columns, own_columns])
        values = np.hstack([shared.values, own.values])
        n, in_row = columns.shape
        n_own = len(times) * block
        self.matrix = sparse.csr_matrix(
            (
                values.ravel(),
                columns.ravel(),
                np.arange(0, n * in_row + 1, in_row),
            ),
            shape=(n, n_shared + n_own),
        )
        """Shape (n, p + k m), shared effects first."""
        self.times_of_row = times[self.of_block]
        of_own = np.repeat(times, block)
        self.times_of_effect = np.concatenate([np.ones(n_shared), of_own])

    @cached_property
    def _products(self) -> tuple[Any, Any, Any]:
        """What turns weights of rows into the three parts of X' W X; made where they are needed, since it is large."""
        n_shared = self.n_shared
        n_own = len(self.times) * self.block
        columns = self.own.columns % self.block
        within = Entries(columns, self.own.values)
        return (
            _crossed(self.shared, self.shared, n_shared, n_shared),
            _crossed(self.own, self.shared, n_own, n_shared),
            _crossed(self.own, within, n_own, self.block),
        )

    def pulled(self, of_rows: Array) -> Array:
        """X' v of a vector over the rows, shape (p + k m,): all blocks in the shared effects, and one of each kind."""
        one_of_each = self.matrix.T @ of_rows
        every = self.matrix.T @ (self.times_of_row * of_rows)
        shared = every[: self.n_shared]
        own = one_of_each[self.n_shared :]
        return np.concatenate([shared, own])

    def weighted(self, weights: Array) -> Nested:
        """X' W X of the design X; weights: the diagonal of W, shape (n,)."""
        k = len(self.times)
        m = self.block
        p = self.n_shared
        of_shared, of_across, of_own = self._products
        shared = of_shared @ (self.times_of_row * weights)
        across = of_across @ weights
        own = of_own @ weights
        return Nested(
            shared=shared.reshape(p, p),
            across=across.reshape(k, m, p),
            own=own.reshape(k, m, m),
            times=self.times,
        )

    def variances(self, of: Nested) -> Array:
        """x' M x of every row x of the design, shape (n,)."""
        of_shared, of_across, of_own = self._products
        shared = of_shared.T @ of.shared.ravel()
        across = of_across.T @ of.across.ravel()
        own = of_own.T @ of.own.ravel()
        return np.asarray(shared + 2 * across + own)


def _crossed(left: Entries, right: Entries, n_left: int, n_right: int) -> Any:
    """The sparse matrix that turns weights of rows into the elements of left' W right, (n_left n_right, n)."""
    from scipy import sparse

    n, in_left = left.columns.shape
    before = left.columns[:, :, None] * n_right
    places = before + right.columns[:, None, :]
    values = left.values[:, :, None] * right.values[:, None, :]
    in_row = in_left * right.columns.shape[1]
    rows = np.repeat(np.arange(n), in_row)
    return sparse.csr_matrix(
        (values.ravel(), (places.ravel(), rows)),
        shape=(n_left * n_right, n),
    )


class Factor:
    """A positive definite `Nested` matrix as U' U, U upper triangular with the own effects first."""

    def __init__(self, of: Nested) -> None:
        """Raises numpy.linalg.LinAlgError if it is not positive definite."""
        lower = np.linalg.cholesky(of.own)
        # Blocks are small, and every product below needs these.
        self._own = np.linalg.inv(lower)
        self._reach = self._own @ of.across
        self._times = of.times
        k, m, p = of.across.shape
        reach = self._reach.reshape(k * m, p)
        times = np.repeat(of.times, m)
        pulled = reach.T @ (times[:, None] * reach)
        self._shared = np.linalg.cholesky(of.shared - pulled)
        of_own = np.diagonal(lower, axis1=1, axis2=2)
        of_shared = np.diag(self._shared)
        own = np.log(of_own).sum(axis=1)
        shared = np.log(of_shared).sum()
        self.half_log_det = float(of.times @ own + shared)

    def solve(self, right: Array) -> Array:
        """The x of M x = right, shape (p + k m,); both of one block of each kind."""
        from scipy.linalg import solve_triangular

        k, m, p = self._reach.shape
        own = self._own @ right[p:].reshape(k, m, 1)
        pulled = np.einsum(
            "k,kmp,kmd->pd",
            self._times,
            self._reach,
            own,
        )
        shared = solve_triangular(
            self._shared,
            right[:p, None] - pulled,
            lower=True,
        )
        found = self.spread(
            shared,
            own.reshape(k * m, 1),
            kinds=np.arange(k),
        )
        return found[:, 0]

    def spread(
        self, shared: Array, own: Array, kinds: NDArray[np.int64]
    ) -> Array:
        """The x of U x = noise, shape (p + b m, n_draws): of standard normal noise, draws with covariance M^-1.

        shared: noise of shape (p, n_draws). own: noise of shape (b m, n_draws), for b blocks, of which `kinds` says
        which of the k represents them.
        """
        moved = self.spread_shared(shared)
        n, n_draws = own.shape
        rest = own.reshape(len(kinds), -1, n_draws)
        rest = rest - self._reach[kinds] @ moved
        turned = self._own[kinds].transpose(0, 2, 1)
        found = turned @ rest
        return np.concatenate([moved, found.reshape(n, n_draws)])

    def spread_shared(self, shared: Array) -> Array:
        """The shared effects of `spread` alone, which those of no block change; shape (p, n_draws)."""
        from scipy.linalg import solve_triangular

        moved: Array = solve_triangular(
            self._shared,
            shared,
            lower=True,
            trans="T",
        )
        return moved

    def inverse(self) -> Nested:
        """The elements of M^-1 that `Nested` holds; those of two blocks, which are not 0 there, are left out."""
        from scipy.linalg import cho_solve

        p = len(self._shared)
        shared = cho_solve((self._shared, True), np.eye(p))
        turned = self._own.transpose(0, 2, 1)
        gained = turned @ self._reach
        # One product of two matrices is faster than one per block.
        product = gained.reshape(-1, p) @ shared
        across = -product.reshape(gained.shape)
        of_shared = across @ gained.transpose(0, 2, 1)
        return Nested(
            shared=shared,
            across=across,
            own=turned @ self._own - of_shared,
            times=self._times,
        )
