"""Datasets and loaders of torch: length, sample shapes, the batch that a loader makes, with dtypes.

Knows how the published extractor words these facts. Refuses to advance an iterable dataset; samples of others come from
sampling.py.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ...anatomy import instance_dict, is_kind, type_name
from ...bounds import Facts, merged
from ...brief import attributes_held
from ...kinds import ROWS
from .sampling import default_collate, drawing_of, told
from .tensors import shape_of, torch

# Subsets of subsets, as splits of splits make them.
_MOST_PARTS_OF_PARTS = 8


def _data() -> Any:
    return torch().utils.data


# Datasets


def dataset(value: Any, look: Any) -> Facts:
    """Length, sample shapes and types (the paper, 3.1); dtypes and range of the samples, attributes as additions."""
    facts = told(value, None, look)
    length = {
        "structure": {"length": facts["n_samples"]}
        if "n_samples" in facts
        else {}
    }
    sure = merged(length, _of_samples(facts))
    found: Facts = look.in_time(
        sure, lambda: {"plus": _attributes(value, look)}
    )
    return found


def subset(value: Any, look: Any) -> Facts:
    """Besides: which dataset it is a part of."""
    source = instance_dict(value).get("dataset")
    kind = {
        "representation": {
            "underlying_dataset": {"type": type_name(type(source))}
        }
    }
    own = {
        group: {"underlying_dataset": facts}
        for group, facts in _info(source).items()
    }
    return merged(dataset(value, look), merged(kind, own))


def concatenated(value: Any, look: Any) -> Facts:
    """Besides: which datasets it is made of."""
    parts: Any = instance_dict(value).get("datasets")
    kinds = (
        [type_name(type(part)) for part in parts] if type(parts) in ROWS else []
    )
    return merged(
        dataset(value, look), {"plus": {"representation": {"datasets": kinds}}}
    )


def iterable_dataset(value: Any, look: Any) -> Facts:
    """By its attributes alone: iterating would consume it."""
    return {
        "plus": merged(
            {"values": {"advanced": "not by looking"}}, _attributes(value, look)
        )
    }


def _info(value: Any) -> Facts:
    """The published `dataset_info`: the attributes of a dataset by type, tensors by shape and dtype."""
    if not is_kind(value, _data().Dataset):
        return {}
    shapes, dtypes, types = {}, {}, {}
    for name, item in instance_dict(value).items():
        # Only exact tensors: a subclass may compute its shape.
        if type(item) is torch().Tensor:
            shapes[name] = {"dataset_shape": shape_of(item)}
            dtypes[name] = {"dtype": str(torch().Tensor.dtype.__get__(item))}
        else:
            types[name] = {"type": type_name(type(item))}
    facts = {"structure": shapes, "representation": {**types, **dtypes}}
    return {
        group: {"dataset_info": found}
        for group, found in facts.items()
        if found
    }


def _attributes(value: Any, look: Any) -> Facts:
    """A word on each attribute; of the tensors of a TensorDataset what they hold from the first to the last."""
    about = attributes_held(value, look)
    held = instance_dict(_whole(value))
    if type(held.get("tensors")) is not tuple:
        return about
    first = held["tensors"][: look.limits.items]
    parts = ((str(at), one) for at, one in enumerate(first))
    return merged(about, look.inside_as("tensors", parts))


def _whole(value: Any) -> Any:
    """The TensorDataset, whatever parts of it were taken one after the other; None if it is none."""
    for _ in range(_MOST_PARTS_OF_PARTS):
        # Only torch's own class: a subclass may map indices in another way.
        if type(value) is not _data().Subset:
            break
        value = instance_dict(value).get("dataset")
    return value if type(value) is _data().TensorDataset else None


# Loaders


def loader(value: Any, look: Any) -> Facts:
    """num_batches, num_examples, batch_size and the dataset's shapes; the batch as it really comes as an addition."""
    held = instance_dict(value)
    source = held.get("dataset")
    base = {
        "structure": {"batch_size": look.scalar(held.get("batch_size"))},
        "plus": _about(held, look),
    }
    # Its iterator may read a file or a network, and cannot be put back.
    if is_kind(source, _data().IterableDataset):
        return merged(
            base, {"plus": {"values": {"advanced": "not by looking"}}}
        )
    facts = told(source, value, look)
    counts = {
        "num_batches": facts.get("n_batches"),
        "num_examples": facts.get("n_samples"),
    }
    structure = {
        name: count for name, count in counts.items() if count is not None
    }
    return merged(
        merged(base, {"structure": structure}),
        merged(_published(facts, source), _batch(facts, value)),
    )


def _published(facts: Facts, source: Any) -> Facts:
    """What the published extractor puts under `dataset`, each fact in its group; additions stay beside it."""
    found = merged(_info(source), _of_samples(facts))
    plus = {"plus": found.pop("plus", {})}
    shapes = {
        name: part.get("shape", part["type"])
        for name, part in facts.get("batch", {}).items()
    }
    shapes = (
        {"error": facts["batch_error"]} if "batch_error" in facts else shapes
    )
    under = merged(found, {"structure": {"batch_shapes": shapes}})
    return merged(
        {group: {"dataset": part} for group, part in under.items()}, plus
    )


def _batch(facts: Facts, owner: Any) -> Facts:
    """Dtypes of a batch; its shapes at full size where torch's own collating makes them predictable; the last batch."""
    batch, size, n = (
        facts.get("batch", {}),
        drawing_of(owner).size,
        facts.get("n_drawn"),
    )
    if not batch:
        return {}
    dtypes = {
        name: part["dtype"] for name, part in batch.items() if "dtype" in part
    }
    held = instance_dict(owner)
    structure: Facts = {}
    if size and type(n) is int:
        # Fewer samples were indexed than a batch has: at most ten are.
        is_short = min(size, n) > facts["n_indexed"]
        structure = (
            {
                "dataset": _full_size(
                    batch, min(size, n), facts["n_indexed"], held
                )
            }
            if is_short
            else {}
        )
        structure.update(
            {"last_batch_size": n % size}
            if n % size and held.get("drop_last") is False
            else {}
        )
    representation = {
        "batch_dtypes": dtypes,
        "batch_container": facts["batch_type"],
    }
    return {"plus": {"structure": structure, "representation": representation}}


def _full_size(
    batch: Facts, size: int, n_collated: int, held: dict[str, Any]
) -> Facts:
    # torch stacks along a new first axis; a function of the notebook may do anything.
    if held.get("collate_fn") is not default_collate():
        return {
            "batch_shapes_of": f"{n_collated} samples, of the {size} of a batch"
        }
    shapes = {
        name: part["shape"] for name, part in batch.items() if "shape" in part
    }
    return {
        "batch_shapes": {
            name: [size, *shape[1:]] for name, shape in shapes.items()
        }
    }


def _about(held: dict[str, Any], look: Any) -> Facts:
    """The loader's own settings, and the attributes of its dataset."""
    source, sampler, collate = (
        held.get(name) for name in ("dataset", "sampler", "collate_fn")
    )
    name = (
        collate.__name__
        if type(collate) is FunctionType
        else type_name(type(collate))
    )
    settings = {
        key: look.scalar(held[key])
        for key in ("drop_last", "num_workers")
        if held.get(key)
    }
    about = {
        "representation": {
            "dataset": {"type": type_name(type(source))},
            "sampler": type_name(type(sampler)),
            "collate_fn": name,
        },
        "values": settings,
    }
    attributes = (
        _attributes(source, look) if is_kind(source, _data().Dataset) else {}
    )
    return merged(
        about,
        {group: {"dataset": facts} for group, facts in attributes.items()},
    )


# What is told of samples


def _of_samples(facts: Facts) -> Facts:
    """Shapes and types by part; dtypes, sizes of images and range as additions; why there is no sample."""
    parts = facts.get("parts", {})
    shapes = {
        name: part["shape"] for name, part in parts.items() if "shape" in part
    }
    types = {name: part["type"] for name, part in parts.items()}
    # The error takes the place of shapes, as in the published extractor.
    if not parts and ("sample_error" in facts or "unfinished" in facts):
        shapes = {"error": facts.get("sample_error") or _unfinished(facts)}
    base = {
        "structure": {"sample_shapes": shapes},
        "representation": {"sample_types": types},
    }
    return merged(base, {"plus": _more_of_samples(facts, parts)})


def _more_of_samples(facts: Facts, parts: dict[str, Any]) -> Facts:
    kinds = {
        "structure": {"sample_lengths": "length", "image_sizes": "size"},
        "representation": {"sample_dtypes": "dtype", "image_modes": "mode"},
    }
    more: Facts = {
        group: {
            title: {
                name: part[key] for name, part in parts.items() if key in part
            }
            for title, key in keys.items()
        }
        for group, keys in kinds.items()
    }
    failed: Facts = {
        name: facts[name]
        for name in ("batches_error", "length_error", "sample_error", "draws")
        if name in facts
    }
    failed.update(
        {"unfinished": _unfinished(facts)} if "unfinished" in facts else {}
    )
    n_indexed = (
        {"n_indexed": facts["n_indexed"]} if facts.get("n_indexed") else {}
    )
    found = {
        "structure": n_indexed,
        "values": dict(failed, sample_ranges=facts.get("ranges", {})),
    }
    return merged(more, found)


def _unfinished(facts: Facts) -> str:
    return f"{facts.get('doing', 'looking')}: {facts['unfinished']}"
