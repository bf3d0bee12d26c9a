"""Datasets and loaders of torch: what a loader hands out first, and batches that cannot be made.

Knows loaders by what the state tells of them: shapes and dtypes of a batch, errors met while making one.
"""

import math
import re
from collections.abc import Iterable
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.torch_tensors import tensor
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape

RULES = Family("torch data")

_PART: Final = re.compile(r"batch\[(?P<place>\d+)\]")
_KEY: Final = re.compile(r"batch\['(?P<key>[^']*)'\]")
_MOST_INDEXED: Final = 10
_MESSAGE: Final = re.compile(r"^collate_fn failed: (?:\w+: )?")
_MOST_BATCHES: Final = 50
_IN_ORDER: Final = "torch.utils.data.sampler.SequentialSampler"
_BY_CHANCE: Final = "torch.utils.data.sampler.RandomSampler"
_RAISED: Final = re.compile(r"(?P<name>[A-Z]\w*(?:Error|Exception))\b")
_SAMPLE: Final = re.compile(
    r"dataset\[0\] raises (?P<name>\w+)(?::.*)?", re.DOTALL
)
_OF_CODE: Final = (
    "KeyError",
    "IndexError",
    "TypeError",
    "AttributeError",
    "NameError",
)
# Messages of torch.stack, and of default_collate for lists.
_UNEQUAL: Final = (
    "stack expects each tensor to be equal size",
    "each element in list of batch should be of equal size",
)


@RULES.element("torch.DataLoader")
def first_batch(operation: Operation) -> Answer:
    """The first batch; a loader whose first batch cannot be collated raises instead."""
    loader = operation.receiver
    held = loader.fact("dataset")
    known = held if isinstance(held, dict) else {}
    # The target may have changed the dataset: loader.dataset.ragged = False makes all samples fit.
    if not operation.is_as_found():
        return UNKNOWN
    _refuse(operation, loader, known)
    size = loader.fact("batch_size")
    is_alike = (
        type(size) is int and size > 1
    )  # samples that are put together have one shape, whichever are drawn
    return (
        _batch(loader, known)
        if _has_batches(loader) and (is_alike or _begins_with_first(loader))
        else UNKNOWN
    )


@RULES.other("elements", "torch.DataLoader")
def every_batch(operation: Operation) -> Answer:
    """All batches of a short loader: as the first one, the last with the samples that are left."""
    loader = operation.receiver
    held = loader.fact("dataset")
    n, size = loader.fact("num_batches"), loader.fact("batch_size")
    is_plain = (
        isinstance(held, dict)
        and loader.fact("collate_fn") == "default_collate"
        and loader.fact("batch_sampler") is None
        and loader.fact("sampler") in (_IN_ORDER, _BY_CHANCE)
        # RandomSampler(num_samples=...) draws fewer, or more, than there are.
        and not operation.mentions("num_samples")
        and operation.is_as_found()
    )
    is_counted = type(n) is int and type(size) is int and size > 1
    if not is_plain or not is_counted or not 0 < n <= _MOST_BATCHES:
        return UNKNOWN
    last = loader.fact("last_batch_size", size)
    made = [_batch(loader, held) for _ in range(n)]
    batches = [
        each
        for each in made
        if isinstance(each, AbstractValue) and _is_of(each, size)
    ]
    if type(last) is not int or len(batches) < n:
        return UNKNOWN
    # BatchNorm refuses a last batch of one sample while it trains.
    for part in batches[-1].items or (batches[-1],):
        part.facts["shape"] = (last, *part.facts["shape"][1:])
    return AbstractValue("list", items=batches)


def _is_of(batch: AbstractValue, size: int) -> bool:
    """Whether all parts of a batch are tensors of so many samples."""
    parts = [batch] if batch.items is None else batch.items
    return bool(parts) and all(
        (part.shape or (None,))[0] == size for part in parts
    )


@RULES.function(
    "torch.utils.data.random_split", "torch.utils.data.dataset.random_split"
)
def split(operation: Operation) -> Answer:
    """Lengths add up to the dataset's length, or fractions to 1."""
    given = operation.arguments.bound("dataset, lengths, generator=None")
    lengths = given["lengths"].literal if given is not None else None
    if given is None or not isinstance(lengths, (list, tuple)):
        return UNKNOWN
    n, total = _n_samples(given["dataset"]), sum(lengths)
    is_fraction = math.isclose(total, 1) and total <= 1
    if n is not None and total != n and not is_fraction:
        operation.crash(
            "ValueError",
            "Sum of input lengths does not equal the length of the input dataset!",
            fact=f"the lengths add up to {total:g}, and {given['dataset'].named('the dataset')} has {n} samples",
            remedy="make the last length len(dataset) minus the others",
        )
    return UNKNOWN


def _n_samples(dataset: AbstractValue) -> int | None:
    if dataset.type in ("list", "tuple") and dataset.items is not None:
        return len(dataset.items)
    n = dataset.fact("length")
    return n if dataset.is_a("torch") and type(n) is int else None


def _has_batches(loader: AbstractValue) -> bool:
    n = loader.fact("num_batches")
    return type(n) is int and n > 0


def _refuse(
    operation: Operation, loader: AbstractValue, known: dict[str, Any]
) -> None:
    _refuse_sample(operation, loader)
    error = (
        known.get("batch_shapes", {}).get("error")
        if isinstance(known.get("batch_shapes"), dict)
        else None
    )
    # A loader that shuffles begins with other samples, which may fit together.
    if isinstance(error, str) and _begins_with_first(loader):
        is_unequal = any(text in error for text in _UNEQUAL)
        kind = _RAISED.search(error)
        if is_unequal or kind is not None:
            operation.crash(
                kind["name"] if kind is not None else "RuntimeError",
                _MESSAGE.sub("", error)
                or "the samples cannot be collated: they have different sizes or types",
                fact=f"{loader.named('the loader')}: {error[:200]}",
                remedy="make the samples the same size in the dataset, or pass the loader a collate_fn that pads",
            )


def _refuse_sample(operation: Operation, loader: AbstractValue) -> None:
    """The first sample, which a loader in order asks for first, raises. Other errors than these may be of the look."""
    known = _SAMPLE.fullmatch(str(loader.fact("sample_error", "")))
    if (
        known is None
        or known["name"] not in _OF_CODE
        or not _begins_with_first(loader)
    ):
        return
    operation.crash(
        known["name"],
        f"dataset[0] raises {known['name']}",
        fact=f"{loader.named('the loader')}: {loader.fact('sample_error')}",
        remedy="the label is not in the index: use reset_index(drop=True), .iloc[i] or .values"
        if known["name"] == "KeyError"
        else "fix __getitem__ of the dataset: try dataset[0] alone",
    )


def _begins_with_first(loader: AbstractValue) -> bool:
    """Whether its first batch is what the state says: of the first samples, of which nothing is left to chance."""
    # A dataset that draws by chance may raise once, and not the next time.
    is_in_order = (
        loader.fact("sampler") == _IN_ORDER
        and loader.fact("batch_sampler") is None
    )
    return is_in_order and _has_batches(loader) and loader.fact("draws") is None


def _batch(loader: AbstractValue, known: dict[str, Any]) -> Answer:
    """The batch by its parts, as default collation makes it."""
    shapes_told = known.get("batch_shapes")
    if not isinstance(shapes_told, dict) or not shapes_told:
        return UNCHANGED
    dtypes = loader.mapping("batch_dtypes")
    parts = {
        name: _part(loader, name, shape, dtypes.get(name))
        for name, shape in shapes_told.items()
    }
    # A dataset of single tensors collates to one tensor.
    if list(parts) == ["batch"]:
        return parts["batch"]
    places = _matched(_PART, parts)
    # A part that the state left out would move the others to other places.
    if [*map(int, places)] == [*range(len(parts))]:
        container = loader.fact("batch_container", "list")
        kind = container if container in ("list", "tuple") else ""
        return AbstractValue(kind, items=parts.values(), words=_said(loader))
    keys = _matched(_KEY, parts)
    if len(keys) < len(parts):
        return UNCHANGED
    kind = "dict" if loader.fact("batch_container", "dict") == "dict" else ""
    return AbstractValue(
        kind,
        members=dict(zip(keys, parts.values(), strict=True)),
        words=_said(loader),
    )


def _matched(pattern: re.Pattern[str], names: Iterable[str]) -> list[str]:
    return [found[1] for name in names if (found := pattern.fullmatch(name))]


def _said(loader: AbstractValue) -> str:
    return f"a batch of {loader.words}" if loader.words else "a batch"


def _part(
    loader: AbstractValue, name: str, shape: Any, dtype: Any
) -> AbstractValue:
    if not isinstance(shape, (tuple, list)):
        return AbstractValue(
            shape
            if isinstance(shape, str)
            and shape in ("list", "tuple", "dict", "str")
            else ""
        )
    known = _first_size(loader, tuple(shape))
    made = tensor(
        known,
        dtype if isinstance(dtype, str) else None,
        words=f"{name.replace('batch', _said(loader), 1)}",
    )
    # default_collate stacks into new memory; another function may return a transposed view.
    made.facts |= (
        {"is_contiguous": True}
        if loader.fact("collate_fn") == "default_collate"
        else {}
    )
    return made


def _first_size(loader: AbstractValue, shape: Shape) -> Shape:
    """The state collates at most ten samples; the first batch is larger where the loader says so."""
    size, n = loader.fact("batch_size"), loader.fact("num_examples")
    if not shape or loader.fact("batch_container") is not None:
        return shape
    if (
        type(size) is int
        and type(n) is int
        and shape[0] == min(size, n, _MOST_INDEXED)
    ):
        return (min(size, n), *shape[1:])
    return (None, *shape[1:])


@RULES.item("torch.DataLoader")
def no_item(operation: Operation) -> Answer:
    """loader[0]."""
    operation.crash(
        "TypeError",
        "'DataLoader' object is not subscriptable",
        fact=f"{operation.receiver.named('it')} is a DataLoader",
        remedy="use next(iter(loader)), or index loader.dataset",
    )
