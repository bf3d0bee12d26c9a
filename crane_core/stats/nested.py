"""Matrices over a few shared effects and many small blocks of own ones, of which no two meet: what they cost is linear.

A mixed model of nested units has them: effects of a case and of its instances meet those of another case nowhere but in
the effects that all share. So the blocks are eliminated one by one, and what is left is a small matrix.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Nested(NamedTuple):
    """A symmetric matrix of p shared effects and k blocks of m own ones; all other elements are 0.

    shared: (p, p). across: (k, m, p), of own by shared effects. own: (k, m, m).
    """

    shared: Array
    across: Array
    own: Array

    def plus_diagonal(self, diagonal: Array) -> Nested:
        """With numbers added to the diagonal, shape (p + k m,), shared effects first."""
        k, m, p = self.across.shape
        own = diagonal[p:].reshape(k, m, 1) * np.eye(m)
        return Nested(
            self.shared + np.diag(diagonal[:p]), self.across, self.own + own
        )

    def diagonal(self) -> Array:
        """Shared effects first, shape (p + k m,)."""
        own = np.diagonal(self.own, axis1=1, axis2=2)
        return np.concatenate([np.diag(self.shared), own.ravel()])


class Entries(NamedTuple):
    """Elements of the rows of a sparse design, equally many in each: columns and values, both of shape (n, a)."""

    columns: NDArray[np.int64]
    values: Array


class NestedDesign:
    """A sparse design whose rows each name shared effects, and own effects of one block."""

    def __init__(
        self,
        shared: Entries,
        own: Entries,
        n_shared: int,
        n_blocks: int,
        block: int,
    ) -> None:
        """Columns of own effects count from 0, block by block. Raises ValueError on a row of two blocks."""
        from scipy import sparse

        if (own.columns // block != own.columns[:, :1] // block).any():
            raise ValueError("a row names own effects of two blocks")
        n_own = n_blocks * block
        columns = np.hstack([shared.columns, own.columns + n_shared])
        values = np.hstack([shared.values, own.values])
        n, in_row = columns.shape
        self.matrix = sparse.csr_matrix(
            (
                values.ravel(),
                columns.ravel(),
                np.arange(0, n * in_row + 1, in_row),
            ),
            (n, n_shared + n_own),
        )
        """Shape (n, p + k m), shared effects first."""
        self.n_shared = n_shared
        within = Entries(own.columns % block, own.values)
        self._blocks = n_blocks, block
        self._shared = _crossed(shared, shared, n_shared, n_shared)
        self._across = _crossed(own, shared, n_own, n_shared)
        self._own = _crossed(own, within, n_own, block)

    def weighted(self, weights: Array) -> Nested:
        """X' W X of the design X; weights: the diagonal of W, shape (n,)."""
        (k, m), p = self._blocks, self.n_shared
        return Nested(
            (self._shared @ weights).reshape(p, p),
            (self._across @ weights).reshape(k, m, p),
            (self._own @ weights).reshape(k, m, m),
        )

    def variances(self, of: Nested) -> Array:
        """x' M x of every row x of the design, shape (n,)."""
        return np.asarray(
            self._shared.T @ of.shared.ravel()
            + 2 * (self._across.T @ of.across.ravel())
            + self._own.T @ of.own.ravel()
        )


def _crossed(left: Entries, right: Entries, n_left: int, n_right: int) -> Any:
    """The sparse matrix that turns weights of rows into the elements of left' W right, (n_left n_right, n)."""
    from scipy import sparse

    n = len(left.columns)
    places = left.columns[:, :, None] * n_right + right.columns[:, None, :]
    values = left.values[:, :, None] * right.values[:, None, :]
    rows = np.broadcast_to(np.arange(n)[:, None, None], places.shape)
    return sparse.csr_matrix(
        (values.ravel(), (places.ravel(), rows.ravel())), (n_left * n_right, n)
    )


class Factor:
    """A positive definite `Nested` matrix as U' U, U upper triangular with the own effects first."""

    def __init__(self, of: Nested) -> None:
        """Raises numpy.linalg.LinAlgError if it is not positive definite."""
        lower = np.linalg.cholesky(of.own)
        # Blocks are small, and every product below needs these.
        self._own = np.linalg.inv(lower)
        self._reach = self._own @ of.across
        reach = self._reach.reshape(-1, of.shared.shape[0])
        self._shared = np.linalg.cholesky(of.shared - reach.T @ reach)
        own = np.diagonal(lower, axis1=1, axis2=2)
        self.half_log_det = float(
            np.log(own).sum() + np.log(np.diag(self._shared)).sum()
        )

    def solve(self, right: Array) -> Array:
        """The x of M x = right, shape (p + k m,)."""
        from scipy.linalg import solve_triangular

        shared, own = self._parts(right[:, None])
        own = self._own @ own
        shared = shared - np.einsum("kmp,kmd->pd", self._reach, own)
        shared = solve_triangular(self._shared, shared, lower=True)
        return self._back(shared, own)[:, 0]

    def spread(self, noise: Array) -> Array:
        """The x of U x = noise, shape (p + k m, n_draws): of standard normal noise, draws with covariance M^-1."""
        return self._back(*self._parts(noise))

    def inverse(self) -> Nested:
        """The elements of M^-1 that `Nested` holds; those of two blocks, which are not 0 there, are left out."""
        from scipy.linalg import cho_solve

        p = len(self._shared)
        shared = cho_solve((self._shared, True), np.eye(p))
        turned = self._own.transpose(0, 2, 1)
        gained = turned @ self._reach
        across = -gained @ shared
        own = turned @ self._own - across @ gained.transpose(0, 2, 1)
        return Nested(shared, across, own)

    def _parts(self, of: Array) -> tuple[Array, Array]:
        k, m, p = self._reach.shape
        return of[:p], of[p:].reshape(k, m, -1)

    def _back(self, shared: Array, own: Array) -> Array:
        from scipy.linalg import solve_triangular

        shared = solve_triangular(self._shared, shared, lower=True, trans="T")
        own = self._own.transpose(0, 2, 1) @ (own - self._reach @ shared)
        return np.concatenate([shared, own.reshape(-1, shared.shape[1])])
