"""Image iterators and other sequences of batches of Keras: what a batch of theirs is, without taking one.

Knows the rules by which the iterators make labels (`class_mode`). A sequence of the notebook is indexed once, as
kernel_copy/foreign.py runs code of the notebook.
"""

from __future__ import annotations

import time
from typing import Any

from ...anatomy import (
    Names,
    instance_dict,
    is_kind,
    mro_of,
    name_of,
    owner_of,
    package_of,
)
from ...bounds import Facts, merged, stated
from ...brief import attributes_of, is_plain, plain, size_of
from ...contents import samples
from ...kernel_copy import foreign
from ...kernel_copy.forked import Tell
from .parts import PACKAGES, plain_dict

# Locks and generators of an iterator: looking at them says nothing, taking from them changes it.
_INNER = (
    "lock",
    "index_generator",
    "index_array",
    "filenames",
    "image_data_generator",
    "x_misc",
)

_CHANGES = (
    "rescale featurewise_center samplewise_center featurewise_std_normalization samplewise_std_normalization"
    " zca_whitening rotation_range width_shift_range height_shift_range brightness_range shear_range zoom_range"
    " channel_shift_range horizontal_flip vertical_flip data_format"
)


def iterator(value: Any, look: Any) -> Facts:
    """n_samples, num_classes, batch_size, image_shape; class_mode and the shape of a batch of labels with it."""
    held = instance_dict(value)
    is_frame = any(
        name_of(kind) == "DataFrameIterator" for kind in mro_of(type(value))
    )
    second = "samples" if is_frame else "target_size"
    sizes = {
        "n_samples": held.get("n"),
        **_kept(held, look, (second, "batch_size", "image_shape")),
    }
    base = {
        "structure": sizes,
        # The paper's extractor has other keys for an iterator over a frame.
        "values": _kept(
            held,
            look,
            ("num_classes", "class_mode") if is_frame else ("num_classes",),
        ),
    }
    if "num_classes" not in base["values"] and is_kind(
        held.get("class_indices"), dict
    ):
        base["values"]["num_classes"] = len(plain_dict(held["class_indices"]))
    return merged(
        base, {"plus": merged(_batches(held), {"values": _more(held, look)})}
    )


def _kept(held: Names, look: Any, names: tuple[str, ...]) -> Facts:
    settings = {
        name: held[name]
        for name in names
        # class_mode=None is a setting: batches then have no labels.
        if held.get(name) is not None or name == "class_mode" and name in held
    }
    return {
        name: plain(item, look)
        for name, item in settings.items()
        if is_plain(item)
    }


def _more(held: Names, look: Any) -> Facts:
    names = ("class_mode", "color_mode", "shuffle", "subset", "batch_index")
    classes = [
        look.scalar(name)
        for name in list(plain_dict(held.get("class_indices")))[
            : look.limits.names
        ]
    ]
    return dict(_kept(held, look, names), **stated(classes=classes))


def _batches(held: Names) -> Facts:
    """Number of batches, size of the last one, shapes and dtypes of a full one."""
    n, size = held.get("n"), held.get("batch_size")
    if type(n) is not int or type(size) is not int or size < 1:
        return {}
    parts = {"batch[0]": _images(held), **_labels(held)}
    # The last batch may be smaller; shapes are those of a full one.
    shapes = {
        name: [min(n, size), *part[0]]
        for name, part in parts.items()
        if part is not None
    }
    dtypes = {name: part[1] for name, part in parts.items() if part is not None}
    structure: Facts = {"num_batches": -(-n // size), "batch_shapes": shapes}
    structure.update({"last_batch_size": n % size} if n % size else {})
    return {"structure": structure, "representation": {"batch_dtypes": dtypes}}


def _images(held: Names) -> Any:
    """Shape of one image and the dtype of all."""
    shape = held.get("image_shape", (size_of(held.get("x")) or [])[1:])
    return [list(shape), str(held.get("dtype"))] if shape else None


def _labels(held: Names) -> Facts:
    """Shape of one label and its dtype, by the rule of the class mode; none if there are no labels."""
    if "class_mode" not in held:
        return _batch_of("batch[1]", held.get("y"))
    mode, dtype = held["class_mode"], str(held.get("dtype"))
    # "binary" and "sparse" give one number per image, of the dtype of the images.
    if mode in ("binary", "sparse"):
        return {"batch[1]": [[], dtype]}
    if mode == "categorical":
        return {
            "batch[1]": [[len(plain_dict(held.get("class_indices")))], dtype]
        }
    if mode == "input":
        return {"batch[1]": _images(held)}
    targets: Any = held.get("_targets")
    parts: dict[str, Any] = {}
    if mode == "multi_output" and type(targets) is list:
        for at, one in enumerate(targets):
            parts.update(_batch_of(f"batch[1][{at}]", one))
    return _batch_of("batch[1]", targets) if mode == "raw" else parts


def _batch_of(name: str, labels: Any) -> Facts:
    size = size_of(labels)
    return {name: [size[1:], str(labels.dtype)]} if size else {}


def generator(value: Any, look: Any) -> Facts:
    """What an ImageDataGenerator does to images, as far as it is set."""
    held = instance_dict(value)
    settings = {
        name: plain(held[name], look)
        for name in _CHANGES.split()
        if name in held and is_plain(held[name])
    }
    done = {
        name: fact
        for name, fact in settings.items()
        # What is off, or as Keras sets it itself, says nothing.
        if fact not in (None, 0, [1.0, 1.0], "channels_last")
    }
    split = look.scalar(held.get("_validation_split"))
    return {"plus": {"values": dict(done, **stated(validation_split=split))}}


# Sequences of the notebook


def sequence(value: Any, look: Any) -> Facts:
    """Number of batches, and the shapes and dtypes of the first one, had by indexing it."""
    held = {
        name: item
        for name, item in instance_dict(value).items()
        if name not in _INNER
    }
    plus = attributes_of(held, look)
    # Iterators of Keras are told without a batch: taking one would advance them.
    if not _is_of_notebook(value):
        return {"plus": plus}
    return {"plus": merged(plus, _first_batch(_told(value, look)))}


def _is_of_notebook(value: Any) -> bool:
    owner = owner_of(type(value), "__getitem__")
    return owner is not None and package_of(owner) not in PACKAGES


def _told(value: Any, look: Any) -> Facts:
    def work(tell: Tell) -> None:
        # One batch: a second one costs as much and says the same.
        samples.tell_of(value, None, tell, time.perf_counter(), most=1)

    return foreign.facts_of(work, look)


def _first_batch(facts: Facts) -> Facts:
    parts = facts.get("parts", {})
    shapes = {
        name: part["shape"][0]
        for name, part in parts.items()
        if "shape" in part
    }
    dtypes = {
        name: part["dtype"][0]
        for name, part in parts.items()
        if "dtype" in part
    }
    failed: Facts = {
        name: facts[name]
        for name in ("length_error", "sample_error", "unfinished")
        if name in facts
    }
    return {
        "structure": {
            "num_batches": facts.get("n_samples"),
            "batch_shapes": shapes,
        },
        "representation": {"batch_dtypes": dtypes},
        "values": dict(failed, batch_ranges=facts.get("ranges", {})),
    }
