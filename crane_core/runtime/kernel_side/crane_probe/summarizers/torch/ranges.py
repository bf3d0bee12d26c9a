"""Range and NaN of tensors that numpy cannot see: bfloat16 and smaller. By torch, piece by piece.

Knows plain strided tensors of real numbers in the machine's memory. A piece is all that is ever copied.
"""

from __future__ import annotations

import sys
from typing import Any, Iterator

from ...contents import arrays
from ...contents.arrays import Ranges

PIECE = 1 << 15
"""Elements that are looked at together: so few that torch does not hand them to its threads, which may be busy."""
_NS_PER_VALUE = 2


def ranges_of(plain: Any, look: Any) -> Ranges | None:
    """Range and NaN of all elements, each as an array of length one; None if the budget does not allow it."""
    torch, np = sys.modules["torch"], arrays.numpy()
    kind = torch.Tensor
    if not look.affords(kind.numel(plain) * _NS_PER_VALUE):
        return None
    low, high, n_nan = float("inf"), -float("inf"), 0
    for piece in _pieces(_in_order(plain), PIECE):
        look.check()
        least, greatest, n_missing = _ends(torch, _comparable(torch, piece))
        low, high, n_nan = (
            min(low, least),
            max(high, greatest),
            n_nan + n_missing,
        )
    return Ranges(np.array([low]), np.array([high]), np.array([n_nan]))


def _comparable(torch: Any, piece: Any) -> Any:
    """Types of eight bits and less have no order in torch."""
    is_small = piece.element_size() < 2 and piece.is_floating_point()
    return torch.Tensor.float(piece) if is_small else piece


def _ends(torch: Any, piece: Any) -> tuple[Any, Any, int]:
    """Least, greatest, and how many are NaN; of NaN alone the ends are infinite the wrong way round."""
    ends = torch.aminmax(piece)
    least, greatest = ends.min.item(), ends.max.item()
    # NaN is the only number that is not itself: aminmax spreads it.
    if least == least:
        return least, greatest, 0
    real = piece[~torch.isnan(piece)]
    n_nan = piece.numel() - real.numel()
    return (
        (*_ends(torch, real)[:2], n_nan)
        if real.numel()
        else (float("inf"), -float("inf"), n_nan)
    )


def _in_order(plain: Any) -> Any:
    """The same elements with the widest stride first, so that a transposed tensor lies in order again."""
    strides = plain.stride()
    return plain.permute(
        sorted(range(len(strides)), key=lambda axis: -strides[axis])
    )


def _pieces(plain: Any, size: int) -> Iterator[Any]:
    """Parts of at most so many elements, as views as far as they lie in order."""
    if plain.numel() <= size or plain.dim() == 0:
        yield plain
    elif plain.is_contiguous() and plain.dim() > 1:
        yield from _pieces(plain.view(-1), size)
    else:
        n_rows = plain.size(0)
        step = max(1, size * n_rows // plain.numel())
        for start in range(0, n_rows, step):
            part = plain.narrow(0, start, min(step, n_rows - start))
            # A single row may be larger than a piece.
            yield from (
                _pieces(part.select(0, 0), size)
                if step == 1 and part.dim() > 1
                else [part]
            )
