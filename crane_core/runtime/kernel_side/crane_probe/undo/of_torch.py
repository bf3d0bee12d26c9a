"""Tensors and random numbers of torch taken apart and put together again; torch itself is not imported."""

from __future__ import annotations

import sys
from typing import Any

from .kinds import NotComparableError, Parts, StateKind


def _tensor_parts(value: Any) -> Parts:
    torch = sys.modules["torch"]
    if value.device.type != "cpu" or value.layout != torch.strided:
        raise NotComparableError(f"a tensor on {value.device} ({value.layout})")
    if value.is_quantized:
        raise NotComparableError("a quantized tensor")
    bare = value.detach()
    form = (
        str(value.dtype),
        tuple(value.shape),
        tuple(value.stride()),
        int(value.storage_offset()),
        int(value.data_ptr()),
    )
    packed = bare.resolve_conj().resolve_neg().contiguous().reshape(-1)
    content = (
        memoryview(packed.view(torch.uint8).numpy()) if packed.numel() else b""
    )
    # Only a leaf keeps its gradient; asking others warns.
    gradient = value.grad if value.is_leaf else None
    is_graph = value.grad_fn is not None
    plain = (*form, bool(value.requires_grad), is_graph, content)
    return plain, [gradient, value._base]


def _restore_tensor(value: Any, plain: Any, children: list[Any]) -> None:
    if len(plain[-1]):
        value.detach().copy_(_content_of(value.dtype, plain))
    if value.is_leaf:
        if value.requires_grad != plain[5]:
            value.requires_grad_(plain[5])
        if value.grad is not children[0]:
            value.grad = children[0]
    elif plain[6] != (value.grad_fn is not None):
        raise ValueError("how it was computed is not known again")


def _content_of(dtype: Any, plain: Any) -> Any:
    torch = sys.modules["torch"]
    packed = torch.frombuffer(bytearray(plain[-1]), dtype=torch.uint8)
    return packed.view(dtype).reshape(plain[1])


def _build_tensor(kind: Any, plain: Any, children: list[Any]) -> Any:
    torch = sys.modules["torch"]
    dtype = getattr(torch, plain[0].rpartition(".")[2])
    if plain[6]:
        raise ValueError("how it was computed is not known again")
    base = children[1]
    if base is not None:
        # A view shows the memory of another, which is restored by itself.
        made = base.detach().as_strided(*plain[1:4])
    else:
        made = torch.empty_strided(plain[1], plain[2], dtype=dtype)
        if len(plain[-1]):
            made.copy_(_content_of(dtype, plain))
    if kind is torch.nn.Parameter:
        made = torch.nn.Parameter(made, requires_grad=plain[5])
    else:
        made.requires_grad_(plain[5])
    made.grad = children[0]
    return made


def _torch_random_parts(value: Any) -> Parts:
    return value.get_state().numpy().tobytes(), []


def _restore_torch_random(value: Any, plain: Any, _: list[Any]) -> None:
    torch = sys.modules["torch"]
    value.set_state(torch.frombuffer(bytearray(plain), dtype=torch.uint8))


_TENSOR = StateKind(
    "tensor",
    _tensor_parts,
    _restore_tensor,
    _build_tensor,
    n_fixed=5,
    owner_at=1,
)
KINDS: dict[tuple[str, str], StateKind] = {
    ("torch", "TensorBase"): _TENSOR,
    ("torch", "_TensorBase"): _TENSOR,
    ("torch", "Generator"): StateKind(
        "torch generator", _torch_random_parts, _restore_torch_random
    ),
}
