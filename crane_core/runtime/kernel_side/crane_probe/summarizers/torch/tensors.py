"""Tensors of torch: shape, dtype, device, gradient; range and NaN by the same memory seen as a numpy array.

Knows `torch.Tensor` itself. Refuses to let a subclass compute, to copy a tensor, to read another device, and to record
anything for a gradient.

What numpy cannot see (bfloat16 and smaller) is read by torch, piece by piece: a piece is all that is ever copied.
"""

from __future__ import annotations

import sys
from typing import Any, Iterator

from ...anatomy import mro_of, name_of, overriders, package_of
from ...bounds import Facts, merged
from ...contents import arrays
from ...contents.arrays import Ranges
from ..tensor_values import of_array, of_ranges

PIECE = 1 << 15
"""Elements that are looked at together: so few that torch does not hand them to its threads, which may be busy."""
_NS_PER_VALUE = 2


def torch() -> Any:
    """The torch that the notebook has loaded."""
    return sys.modules["torch"]


def tensor(value: Any, look: Any) -> Facts:
    """Shape, dtype, device, requires_grad, has_nan, of a flat one distinct values; range and layout as additions."""
    # __torch_dispatch__ sees every operation, even those in C.
    if any(
        package_of(kind) != "torch"
        for kind in overriders(value, "__torch_dispatch__")
    ):
        return {
            "plus": {
                "values": {
                    "not_computed": "its class computes everything with its own code"
                }
            }
        }
    # Else a subclass's __torch_function__ would see each of these.
    with torch()._C.DisableTorchFunction():
        if is_uninitialized(value):
            return {
                "representation": _representation(value),
                "plus": {"values": {"uninitialized": True}},
            }
        if torch().Tensor.is_nested.__get__(value):
            return _nested(value)
        summary = {
            "structure": {"shape": shape_of(value)},
            "representation": _representation(value),
        }
        more = {"structure": _layout(value), "representation": _gradient(value)}
        found: Facts = look.in_time(
            merged(summary, {"plus": more}), lambda: _values(value, look)
        )
        return found


def is_uninitialized(value: Any) -> bool:
    """True for the parameters of a lazy layer, which have no shape before the first call."""
    return any(
        name_of(kind) == "UninitializedTensorMixin"
        for kind in mro_of(type(value))
    )


def shape_of(value: Any) -> list[int]:
    """The shape of a tensor as a list."""
    return list(torch().Tensor.shape.__get__(value))


def _representation(value: Any) -> Facts:
    kind = torch().Tensor
    facts = {
        name: str(getattr(kind, name).__get__(value))
        for name in ("dtype", "device")
    }
    return dict(facts, requires_grad=kind.requires_grad.__get__(value))


def _nested(value: Any) -> Facts:
    layout = str(torch().Tensor.layout.__get__(value))
    return {
        "representation": _representation(value),
        "plus": {"representation": {"is_nested": True, "layout": layout}},
    }


def _layout(value: Any) -> Facts:
    """Strides where the elements do not lie in order (`view` then refuses); the number of stored ones if sparse."""
    kind = torch().Tensor
    if kind.layout.__get__(value) is not torch().strided:
        n_stored = kind._nnz(value) if kind.is_sparse.__get__(value) else None
        return {} if n_stored is None else {"n_stored": n_stored}
    if kind.is_contiguous(value):
        return {}
    return {"is_contiguous": False, "strides": list(kind.stride(value))}


def _gradient(value: Any) -> Facts:
    """What decides on `backward` and `numpy`, where it is out of the ordinary."""
    kind = torch().Tensor
    facts: Facts = {}
    if kind.layout.__get__(value) is not torch().strided:
        facts["layout"] = str(kind.layout.__get__(value))
    # The name alone: a grad_fn holds the whole graph of what made the tensor.
    if not kind.is_leaf.__get__(value):
        facts["grad_fn"] = type(kind.grad_fn.__get__(value)).__name__
    elif kind.requires_grad.__get__(value):
        facts["has_grad"] = kind.grad.__get__(value) is not None
    # An inference tensor cannot take part in a later backward().
    return dict(facts, is_inference=True) if kind.is_inference(value) else facts


# Values


def _values(value: Any, look: Any) -> Facts:
    kind = torch().Tensor
    # Quantized numbers have no plain memory.
    if kind.layout.__get__(
        value
    ) is not torch().strided or kind.is_quantized.__get__(value):
        return {}
    device = kind.device.__get__(value).type
    if device != "cpu":
        # To read a single value of a GPU would wait for the work that is queued there.
        why = (
            "a tensor of device meta has no values"
            if device == "meta"
            else f"values on {device} are not read"
        )
        return {"plus": {"values": {"not_computed": why}}}
    # detach: the same memory without a graph.
    plain = kind.detach(value)
    array = as_array(plain)
    return _numbers(plain, look) if array is None else of_array(array, look)


def as_array(plain: Any) -> Any:
    """The same memory as a numpy array; None where numpy cannot see it: another device, a type that it lacks."""
    kind = torch().Tensor
    # Conjugation and negation are flags of a view: the memory has other values.
    if (
        kind.device.__get__(plain).type != "cpu"
        or kind.is_conj(plain)
        or kind.is_neg(plain)
    ):
        return None
    try:
        return kind.numpy(plain)
    except (TypeError, RuntimeError):
        return None  # bfloat16 and the types of eight bits and less; a torch that was built without numpy.


def _numbers(plain: Any, look: Any) -> Facts:
    """NaN and range of what numpy cannot see."""
    kind = torch().Tensor
    if not kind.is_floating_point(plain) or kind.is_complex(plain):
        return {
            "plus": {
                "values": {
                    "not_computed": f"the range of {kind.dtype.__get__(plain)}"
                }
            }
        }
    size = kind.numel(plain)
    return of_ranges(ranges_of(plain, look) if size else None, size, look)


def plain_scalar(value: Any) -> Any:
    """A tensor of no dimensions as Python's number; another one as it is."""
    if not is_single(value):
        return value
    with torch()._C.DisableTorchFunction():
        array = as_array(torch().Tensor.detach(value))
    return value if array is None else array.item()


def is_single(value: Any) -> bool:
    """Whether an object is a plain tensor without dimensions."""
    kind = torch().Tensor
    return (
        type(value) is kind
        and kind.layout.__get__(value) is torch().strided
        and kind.dim(value) == 0
    )


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
