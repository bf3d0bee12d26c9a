"""How samples of a torch dataset and a batch of its loader are had: which are harmless to index, which are foreign.

Knows torch's own datasets, samplers and collating, which run no code of the notebook. Everything else goes by way of
kernel_copy/foreign.py: at most ten samples, bounded in time, silent, every random state as it was. No worker is
started, and no sampler that shuffles is used.
"""

from __future__ import annotations

import time
from itertools import islice
from typing import Any, NamedTuple

from ...anatomy import instance_dict, package_of
from ...bounds import Facts
from ...contents import samples
from ...contents.samples import LoaderBatching
from ...kernel_copy import foreign
from ...kernel_copy.forked import Tell, Work
from ...kinds import ROWS, Kinds
from .tensors import torch

_SAMPLERS = (
    "SequentialSampler",
    "RandomSampler",
    "WeightedRandomSampler",
    "SubsetRandomSampler",
    "BatchSampler",
)
_INDICES = Kinds(list, range)
_SHARE_OF_TIME = 0.4
"""Of what the variable may still take, the part after which indexing makes do with the samples it has."""


def told(source: Any, owner: Any, look: Any) -> Facts:
    """What contents/samples.py tells of the dataset, and of the loader's batch where `owner` is a loader."""
    until = time.perf_counter() + look.seconds_left * _SHARE_OF_TIME
    # torch's own code may run in the kernel: it draws nothing and changes nothing.
    if is_harmless(source) and (owner is None or _is_plain_loader(owner)):
        facts: Facts = {}
        # Indexing a tensor that requires gradients would record a step.
        with torch().no_grad():
            _work(source, owner, _harmless_batching(owner), until)(
                facts.__setitem__
            )
        return facts
    return foreign.facts_of(_work(source, owner, _batching(owner), until), look)


def _work(
    source: Any, owner: Any, batching: LoaderBatching | None, until: float
) -> Work:
    def work(tell: Tell) -> None:
        if owner is not None:
            _tell_counts(owner, tell)
        samples.tell_of(source, batching, tell, until)

    return work


def _tell_counts(owner: Any, tell: Tell) -> None:
    """n_batches, and n_drawn, the number of samples that the sampler draws."""
    tell("doing", "the number of batches")
    try:
        tell("n_batches", len(owner))
        tell("n_drawn", len(drawing_of(owner).sampler))
    except Exception as error:  # noqa: BLE001 - a sampler of the notebook may raise anything, which is the fact
        tell("batches_error", samples.message(error))


class Drawing(NamedTuple):
    """How a loader draws: samples per batch (None if they come singly, or as `batches` wants), and from where."""

    size: int | None
    sampler: Any
    batches: Any


def drawing_of(owner: Any) -> Drawing:
    """A batch sampler of torch that was handed in says what the loader itself then leaves open."""
    held = instance_dict(owner)
    batches, size, sampler = (
        held.get("batch_sampler"),
        held.get("batch_size"),
        held.get("sampler"),
    )
    # Only torch's own: a subclass may choose its batches by code.
    if batches is not None and type(batches) is torch().utils.data.BatchSampler:
        inner = instance_dict(batches)
        size, sampler = inner.get("batch_size"), inner.get("sampler")
    return Drawing(size if type(size) is int else None, sampler, batches)


def _harmless_batching(owner: Any) -> LoaderBatching | None:
    if owner is None:
        return None
    drawing = drawing_of(owner)
    return LoaderBatching(
        drawing.size, _without_memory, _listed_indices(drawing)
    )


def _batching(owner: Any) -> LoaderBatching | None:
    """As the loader makes a batch; a sampler of the notebook chooses the indices where that leaves no trace."""
    if owner is None:
        return None
    collate: Any = instance_dict(owner).get("collate_fn")
    drawing = drawing_of(owner)
    # A batch sampler decides both how many and which.
    if foreign.leaves_no_trace() and not _is_of_torch(drawing.batches):
        return LoaderBatching(
            samples.MOST, collate, lambda: next(iter(drawing.batches))
        )
    if foreign.leaves_no_trace() and not _is_of_torch(drawing.sampler):
        return LoaderBatching(
            drawing.size,
            collate,
            lambda: list(islice(drawing.sampler, drawing.size or 1)),
        )
    return LoaderBatching(drawing.size, collate, _listed_indices(drawing))


def _listed_indices(drawing: Drawing) -> Any:
    """Those that a sampler shuffles, in the order in which it holds them; None for the first ones of the dataset.

    A shuffling sampler is not used: the samples must be the same each time.
    """
    if type(drawing.sampler) is not torch().utils.data.SubsetRandomSampler:
        return None
    chosen: Any = instance_dict(drawing.sampler)["indices"]
    return lambda: [
        chosen[at]
        for at in range(min(len(chosen), drawing.size or 1, samples.MOST))
    ]


def _is_of_torch(sampler: Any) -> bool:
    return (
        sampler is None
        or type(sampler).__name__ in _SAMPLERS
        and package_of(type(sampler)) == "torch"
    )


def _without_memory(batch: Any) -> Any:
    """Torch's own collating, of tensors that have shapes and no elements: nothing is copied."""
    return default_collate()(_shells(batch))


def _shells(value: Any) -> Any:
    if type(value) in ROWS:
        return type(value)(map(_shells, value))
    if type(value) is torch().Tensor:
        # Tensors of device meta have no memory.
        return torch().empty(value.shape, dtype=value.dtype, device="meta")
    return value


def default_collate() -> Any:
    """The function with which torch makes a batch where a loader was not handed another."""
    return torch().utils.data._utils.collate.default_collate


def is_harmless(source: Any) -> bool:
    """True for torch's own datasets of tensors, and parts of them: indexing them runs no code of the notebook."""
    data, kind, held = torch().utils.data, type(source), instance_dict(source)
    if kind is data.TensorDataset:
        return type(held.get("tensors")) is tuple and all(
            type(one) is torch().Tensor for one in held["tensors"]
        )
    if kind is data.Subset:
        # Indices of another kind may be an object of the notebook.
        return type(held.get("indices")) in _INDICES and is_harmless(
            held.get("dataset")
        )
    if kind is data.ConcatDataset:
        return type(held.get("datasets")) is list and all(
            map(is_harmless, held["datasets"])
        )
    return False


def _is_plain_loader(owner: Any) -> bool:
    """True when nothing but torch's own code takes part in making a batch."""
    drawing = drawing_of(owner)
    return (
        # A subclass may make batches in its own way.
        type(owner) is torch().utils.data.DataLoader
        and drawing.size is not None
        and _is_of_torch(drawing.batches)
        and _is_of_torch(drawing.sampler)
        and instance_dict(owner).get("collate_fn") is default_collate()
    )
