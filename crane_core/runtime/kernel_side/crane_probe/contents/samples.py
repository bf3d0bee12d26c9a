"""What a dataset holds: its length, shapes, types and range of its first samples, the batch that is made of them.

Knows samples as trees of dicts, tuples and lists with arrays at their ends. It runs `__len__`, `__getitem__` and the
collating function, so it is called where that is harmless (see kernel_copy/foreign.py), or for classes of
torch alone.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Iterator, Mapping, NamedTuple

from .. import bounds
from ..anatomy import type_name
from ..bounds import Facts
from ..kernel_copy import foreign
from ..kernel_copy.forked import Tell
from ..kinds import NUMBERS, PLAIN, ROWS, Kinds

MOST = 10
"""Samples that are indexed (the paper's number)."""
_DEEPEST = 4
_MOST_PARTS = 30
_LONGEST_TREE = 8
_MOST_RANGED = 4_000_000
"""Elements of one part of a sample beyond which its range is not looked for."""
_MESSAGE = 400
_SIZED = Kinds(list, tuple, str, dict)
_FACTS = ("type", "shape", "dtype", "length", "size", "mode")


class LoaderBatching(NamedTuple):
    """How a loader makes a batch: of how many samples (None: it hands out single ones), by which function.

    `indices` holds those of the first batch where a sampler of the notebook chooses them.
    """

    size: int | None
    collate: Callable[[Any], Any]
    indices: Callable[[], list[Any]] | None = None


def tell_of(
    dataset: Any,
    batching: LoaderBatching | None,
    tell: Tell,
    until: float,
    most: int = MOST,
) -> None:
    """Tells n_samples, n_indexed, parts by their name, batch and ranges; `<what>_error` where something is raised.

    `draws` is stated where indexing draws random numbers: the same samples come out otherwise then.
    """
    n = _length(dataset, tell)
    # Compared afterwards: a random transform makes other samples each time.
    generators = foreign.generator_states()
    samples = _indexed(dataset, _indices(n, batching)[:most], tell, until)
    tell("n_indexed", len(samples))
    tell(
        "parts",
        {name: _alike(parts) for name, parts in _named_parts(samples).items()},
    )
    if batching is not None and samples:
        _tell_batch(samples, batching, tell)
    if generators != foreign.generator_states():
        tell("draws", "random numbers for each sample")
    # Told before it starts, so that a reason names what the time ran out in.
    tell("doing", "the range of its samples")
    ranges = {
        name: range_of(parts) for name, parts in _named_parts(samples).items()
    }
    tell(
        "ranges",
        {name: found for name, found in ranges.items() if found is not None},
    )


def message(error: Exception) -> str:
    """What code of the notebook raised, as text of a bounded length."""
    return bounds.why(error, _MESSAGE)


def _length(dataset: Any, tell: Tell) -> int | None:
    tell("doing", "its length")
    try:
        n = len(dataset)
    except Exception as error:  # noqa: BLE001 - the notebook's code may raise anything, which is the fact
        tell("length_error", message(error))
        return None
    tell("n_samples", n)
    return n


def _indices(n: int | None, batching: LoaderBatching | None) -> list[Any]:
    # A sampler of the notebook picks other samples than the first ones.
    if batching is not None and batching.indices is not None:
        return list(batching.indices())[:MOST]
    most = (
        MOST
        if batching is None or batching.size is None
        else min(MOST, batching.size)
    )
    # A dataset without a length can still be indexed.
    return list(range(most if n is None else min(n, most)))


def _indexed(
    dataset: Any, indices: list[Any], tell: Tell, until: float
) -> list[Any]:
    """The samples, as many as the time allows; the first error ends it and is stated."""
    samples: list[Any] = []
    for index in indices:
        # One sample at least, whatever the time: without one nothing is known of its parts.
        if samples and time.perf_counter() > until:
            return samples
        tell("doing", f"dataset[{bounds.scalar(index, 40)!r}]")
        try:
            samples.append(dataset[index])
        except Exception as error:  # noqa: BLE001 - as above
            tell(
                "sample_error",
                f"dataset[{bounds.scalar(index, 40)!r}] raises {message(error)}",
            )
            # The error ends it, as it would end the loop over the dataset.
            return samples
    return samples


def _tell_batch(
    samples: list[Any], batching: LoaderBatching, tell: Tell
) -> None:
    tell("doing", "collating a batch")
    try:
        # Without automatic batching, torch's loader collates each sample by itself.
        batch = batching.collate(
            samples[0] if batching.size is None else samples
        )
    except Exception as error:  # noqa: BLE001 - as above
        tell("batch_error", f"collate_fn failed: {message(error)}")
        return
    tell("batch_type", type_name(type(batch)))
    tell("batch", {name: _leaf(part) for name, part in leaves(batch, "batch")})


# Trees


def _named_parts(samples: list[Any]) -> dict[str, list[Any]]:
    """The same part of all samples, by its name."""
    met: dict[str, list[Any]] = {}
    for sample in samples:
        for name, part in _named(sample):
            met.setdefault(name, []).append(part)
    return met


def _named(sample: Any) -> Iterator[tuple[str, Any]]:
    """Parts by the names of the published extractor: `input` and `label` of a pair; keys of a dict."""
    # A pair is (input, label) in the paper's extractor, whatever the notebook calls them.
    if type(sample) in ROWS and len(sample) == 2:
        names = ["input", "label"]
        for name, part in zip(names, sample):
            yield from leaves(part, name)
    elif type(sample) in ROWS:
        yield from leaves(sample, "sample")
    elif isinstance(sample, Mapping):
        for key, part in list(sample.items())[:_MOST_PARTS]:
            yield from leaves(part, bounds.key_text(key, 60))
    else:
        yield "input", sample


def leaves(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The ends of a tree by the way to them: `batch[0]`, `batch['image']`."""
    if isinstance(value, Mapping) and depth < _DEEPEST:
        for key, part in list(value.items())[:_MOST_PARTS]:
            yield from leaves(
                part, f"{name}[{bounds.scalar(key, 60)!r}]", depth + 1
            )
    # Named tuples and lists alike, as torch's collating takes them apart.
    elif (
        isinstance(value, (tuple, list))
        and _is_branch(value)
        and depth < _DEEPEST
    ):
        for at, part in enumerate(value):
            yield from leaves(part, f"{name}[{at}]", depth + 1)
    else:
        yield name, value


def _is_branch(value: Any) -> bool:
    """True for a short row of things; a row of plain numbers or texts is an end."""
    # A row of a hundred numbers is one part, not a hundred.
    return 0 < len(value) <= _LONGEST_TREE and not all(
        type(part) in PLAIN for part in value
    )


def _leaf(value: Any) -> Facts:
    """{"type", "shape", "dtype"} of one end, as far as it has them."""
    facts: Facts = {"type": type_name(type(value))}
    if _is_array(value):
        return dict(
            facts, shape=[int(n) for n in value.shape], dtype=str(value.dtype)
        )
    if type(value) in _SIZED:
        return dict(facts, length=len(value))
    # An image of PIL has these two, and no shape.
    size, mode = getattr(value, "size", None), getattr(value, "mode", None)
    return (
        dict(facts, size=list(size), mode=mode)
        if type(size) is tuple and type(mode) is str
        else facts
    )


def _is_array(value: Any) -> bool:
    # By the packages of its parents, since a subclass of Tensor is still one.
    tops = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    return (
        bool(tops & {"torch", "numpy", "tensorflow"})
        and hasattr(value, "shape")
        and hasattr(value, "dtype")
    )


def _alike(parts: list[Any]) -> Facts:
    """The distinct facts of the same part of several samples, sorted, so that they come out the same each time."""
    facts = [_leaf(part) for part in parts]
    there = {key: [one[key] for one in facts if key in one] for key in _FACTS}
    return {key: _distinct(values) for key, values in there.items() if values}


def _distinct(values: list[Any]) -> list[Any]:
    # `in`, because lists of sizes cannot be hashed.
    once = (
        value for at, value in enumerate(values) if value not in values[:at]
    )
    return sorted(once, key=lambda value: (str(type(value)), value))


# Ranges


def range_of(parts: list[Any]) -> list[Any] | str | None:
    """Least and greatest number of the parts, "NaN" where there is one; None if one is not a number, or too long."""
    found = [_ends(part) for part in parts]
    ends = [both for both in found if both is not None]
    # One part without numbers makes the range of the rest misleading.
    if not ends or len(ends) < len(found):
        return None
    # NaN is the only number that is not itself.
    if any(low != low for low, _ in ends):
        return "NaN"
    return [min(low for low, _ in ends), max(high for _, high in ends)]


def _ends(value: Any) -> tuple[Any, Any] | None:
    if type(value) in NUMBERS:
        return value, value
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        return _ends_of_tensor(value)
    if (
        numpy is not None
        and isinstance(value, (numpy.ndarray, numpy.generic))
        and value.dtype.kind in "biuf"
    ):
        return (
            (value.min().item(), value.max().item())
            if 0 < value.size <= _MOST_RANGED
            else None
        )
    return None


def _ends_of_tensor(value: Any) -> tuple[Any, Any] | None:
    # Reading from a GPU would wait for all work that it has to do.
    if not 0 < value.numel() <= _MOST_RANGED or value.device.type != "cpu":
        return None
    plain = value.detach()
    try:
        low, high = plain.aminmax()
        return low.item(), high.item()
    except (RuntimeError, TypeError):
        return (
            None  # Complex, sparse and very small types have no order in torch.
        )
