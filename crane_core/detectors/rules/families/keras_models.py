"""Models of Keras: making them, what they are given in fit, evaluate and predict, whether they are compiled.

Knows Sequential and Functional models by exact type. Refuses models of the notebook's own classes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import keras_losses, keras_sizes
from crane_core.detectors.rules.families.keras_api import has_keras_2
from crane_core.detectors.rules.families.keras_layers import SYMBOLIC, is_layer, through
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Length, Shape, differ, shown

RULES = Family("keras models")

_SEQUENTIAL: Final = "keras.src.models.sequential.Sequential"
_FUNCTIONAL: Final = "keras.src.models.functional.Functional"
_ARRAYS: Final = (("numpy", "ndarray"), ("pandas", "DataFrame"), ("pandas", "Series"), ("tensorflow", "EagerTensor"))
_ITERATORS: Final = ("DirectoryIterator", "DataFrameIterator", "NumpyArrayIterator")
_PRINTED_SPEC: Final = re.compile(r"TensorSpec\(shape=\((?P<shape>[^()]*)\)")
_USUAL_BATCH: Final = 32


# Making


@RULES.function("keras.Sequential", "keras.models.Sequential")
def sequential_made(operation: Operation) -> Answer:
    """A row of layers; shapes are followed as soon as the input is known."""
    bound = operation.arguments.bound("layers=None, trainable=True, name=None")
    if bound is None:
        return UNKNOWN
    made = AbstractValue(
        _SEQUENTIAL, {"built": False, "compiled": False, "origin": "target"}, items=[], words=operation.text
    )
    given = bound.get("layers")
    if given is None:
        return made
    if given.items is None:
        made.items = None
        made.facts = {"compiled": False}
        return made
    for layer in given.items:
        _add(operation, made, layer)
    return made


@RULES.method("keras.Sequential", "add")
def added(operation: Operation) -> Answer:
    model = operation.receiver
    if len(operation.arguments.positional) != 1:
        return UNKNOWN
    _add(operation, model, operation.first)
    return AbstractValue("NoneType", literal=None)


def _add(operation: Operation, model: AbstractValue, layer: AbstractValue) -> None:
    """Append a layer; with a known shape before it, what it refuses shows at once."""
    if layer.type in ("list", "tuple", "str", "int", "NoneType"):
        operation.crash(
            "ValueError",
            f"only instances of keras.Layer can be added to a Sequential model, not {layer.type}",
            fact=f"{layer.named('it')} is of type {layer.type}",
            remedy="unpack it, and add the layers one by one",
        )
    if model.fact("origin") != "target" or model.items is None:
        _add_to_built(operation, model, layer)
        return
    is_first = not model.items
    model.items.append(layer)
    stated = layer.fact("shape") if layer.fact("is_input") else layer.fact("stated_input")
    if is_first and isinstance(stated, tuple):
        model.facts.update(input_shape=stated, flowing=stated, built=True)
    if layer.fact("is_input"):
        return
    flowing = model.fact("flowing")
    model.facts["flowing"] = _step(operation, layer, flowing) if isinstance(flowing, tuple) else None
    model.facts["output_shape"] = model.facts["flowing"]


def _add_to_built(operation: Operation, model: AbstractValue, layer: AbstractValue) -> None:
    """A layer after those that the state tells of."""
    output = model.fact("output_shape")
    after = _step(operation, layer, tuple(output)) if isinstance(output, (list, tuple)) and is_layer(layer) else None
    for name in ("output_shape", "layers", "n_parameters"):
        model.facts.pop(name, None)
    model.items = None
    if after is not None:
        model.facts["output_shape"] = after


def _step(operation: Operation, layer: AbstractValue, shape: Shape) -> Shape | None:
    if not is_layer(layer):
        return None
    try:
        return through(layer, shape)
    except keras_sizes.Refusal as refusal:
        operation.crash(
            "ValueError",
            f"{layer.class_name}: {refusal.why}",
            fact=f"the previous layer outputs shape {shown(shape)}",
            remedy=refusal.remedy,
        )


@RULES.function("keras.Model", "keras.models.Model")
def model_made(operation: Operation) -> Answer:
    """Model(inputs, outputs) of symbolic tensors."""
    bound = operation.arguments.bound("inputs, outputs, name=None, trainable=True, **more")
    if bound is None:
        return UNCHANGED
    facts: dict[str, Any] = {"compiled": False, "built": True}
    for name, part in (("input_shape", bound["inputs"]), ("output_shape", bound["outputs"])):
        one = part.items[0] if part.type == "list" and part.items is not None and len(part.items) == 1 else part
        if one.class_name == "KerasTensor" and (shape := one.shape) is not None:
            facts[name] = shape
    return AbstractValue(_FUNCTIONAL, facts, words=operation.text)


@RULES.method("keras.Sequential", "compile")
@RULES.method("keras.Functional", "compile")
def compiled(operation: Operation) -> Answer:
    model = operation.receiver
    bound = operation.arguments.bound(
        "optimizer='rmsprop', loss=None, loss_weights=None, metrics=None, weighted_metrics=None, run_eagerly=False,"
        " steps_per_execution=1, jit_compile='auto', auto_scale_loss=True"
    )
    model.facts["compiled"] = True
    model.facts["loss"] = _loss_of(bound.get("loss")) if bound is not None else None
    return AbstractValue("NoneType", literal=None)


def _loss_of(value: AbstractValue | None) -> Any:
    if value is None:
        return None
    if isinstance(value.literal, str):
        return value.literal
    said = value.path or value.type
    return said if said.startswith("keras.") else None


# Data


class Given(NamedTuple):
    """What a model is given: the shapes of inputs and labels, how many samples, what is known of the labels' values."""

    inputs: Shape | None
    labels: Shape | None
    n: Length
    first_batch: Length
    label_range: Any = None
    is_array: bool = False


def _array_shape(value: AbstractValue | None) -> Shape | None:
    """The shape of an array, frame or series."""
    if value is None or not any(value.is_a(package, name) for package, name in _ARRAYS):
        return None
    shape = value.shape
    if shape is None and value.is_a("pandas", "Series") and type(value.fact("length")) is int:
        return (value.fact("length"),)
    return shape


def _given(inputs: AbstractValue, labels: AbstractValue | None, batch: Length) -> Given | None:
    x, y = _array_shape(inputs), _array_shape(labels)
    if x is not None:
        n = x[0] if x else None
        first = min(n, batch) if n is not None and batch is not None else None
        ends = labels.fact("value_range") if labels is not None else None
        return Given(x, y, n, first, ends, is_array=True)
    if inputs.class_name in _ITERATORS and inputs.package in ("keras", "tf_keras"):
        return _of_iterator(inputs)
    spec = inputs.fact("element_spec")
    return _of_spec(spec) if spec is not None and inputs.package == "tensorflow" else None


def _of_iterator(value: AbstractValue) -> Given | None:
    """Batches of images and labels, by the rule of the class mode."""
    batches, image = value.fact("batch_shapes"), value.fact("image_shape")
    if isinstance(batches, dict) and isinstance(batches.get("batch[0]"), (list, tuple)):
        x, y = tuple(batches["batch[0]"]), batches.get("batch[1]")
        return Given((None, *x[1:]), (None, *y[1:]) if isinstance(y, (list, tuple)) else None, None, None)
    if not isinstance(image, (list, tuple)):
        return None
    mode, n_classes = value.fact("class_mode"), value.fact("num_classes")
    labels: Shape | None = None
    if mode == "categorical" and type(n_classes) is int:
        labels = (None, n_classes)
    elif mode in ("binary", "sparse"):
        labels = (None,)
    return Given((None, *image), labels, None, None)


def _of_spec(spec: Any) -> Given | None:
    """The element of a tf.data dataset: of a capture a tree, of a published state as it is printed."""
    if isinstance(spec, str):
        return _of_printed_spec(spec)
    if isinstance(spec, (list, tuple)) and len(spec) == 2 and all(isinstance(one, dict) for one in spec):
        x, y = spec[0].get("shape"), spec[1].get("shape")
        if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)) and "type" not in spec[0] | spec[1]:
            return Given(_unbatched(tuple(x)), _unbatched(tuple(y)), None, None)
    return None


def _of_printed_spec(spec: str) -> Given | None:
    shapes = [_sizes(found["shape"]) for found in _PRINTED_SPEC.finditer(spec)]
    if spec.startswith("(TensorSpec") and len(shapes) == spec.count("Spec(") == 2:
        return Given(_unbatched(shapes[0]), _unbatched(shapes[1]), None, None)
    return None


def _unbatched(shape: Shape) -> Shape:
    """A batch may be smaller than the specification's; its length decides nothing."""
    return (None, *shape[1:]) if shape else shape


def _sizes(text: str) -> Shape:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return tuple(int(part) if part.isdigit() else None for part in parts)


# Judging


def _input_shape(model: AbstractValue) -> Shape | None:
    shape = model.fact("input_shape")
    is_one = isinstance(shape, (list, tuple)) and all(size is None or type(size) is int for size in shape)
    return tuple(shape) if is_one and shape else None


def _is_keras_3(model: AbstractValue, operation: Operation) -> bool:
    version = operation.packages.get("keras", "")
    return version.startswith("3") or (not version and model.type.startswith("keras.src.models."))


def _through_model(operation: Operation, model: AbstractValue, data: Shape, what: str) -> Shape | None:
    """What the model makes of data of this shape; it refuses what does not fit. Raises Crash."""
    wanted = _input_shape(model)
    try:
        flowing = data if wanted is None else _fitted(wanted, data, is_strict=_is_keras_3(model, operation))
        if wanted is not None and _is_keras_3(model, operation) and model.class_name == "Functional":
            _same_sizes(wanted, flowing)
        return _through_layers(model, flowing)
    except keras_sizes.Refusal as refusal:
        layers = f", and {model.named('the model')} expects {shown(wanted)}" if wanted is not None else ""
        operation.crash(
            "ValueError", refusal.why, fact=f"{what} has shape {shown(data)}{layers}", remedy=refusal.remedy
        )


def _fitted(wanted: Shape, data: Shape, *, is_strict: bool) -> Shape:
    """The data with a last axis of 1 more or less, if need be; early versions of Keras 2 warn of what does not fit."""
    try:
        fitted = keras_sizes.fitted(wanted, data)
    except keras_sizes.Refusal:
        if is_strict:
            raise
        return data
    return data if fitted is None else fitted


def _same_sizes(wanted: Shape, data: Shape) -> None:
    if any(None not in pair and pair[0] != pair[1] for pair in zip(wanted[1:], data[1:], strict=True)):
        raise keras_sizes.Refusal(
            f"the model expects inputs of shape {shown(wanted)}, but gets {shown(data)}",
            f"reshape the data to {shown(wanted)}, or build the model for {shown((None, *data[1:]))}",
        )


def _through_layers(model: AbstractValue, shape: Shape) -> Shape | None:
    output = model.fact("output_shape")
    known = tuple(output) if isinstance(output, (list, tuple)) and all(_is_size(size) for size in output) else None
    if model.class_name != "Sequential":
        return known
    flowing: Shape | None = shape
    for layer in _layers(model) or ():
        if flowing is None:
            break
        flowing = keras_sizes.given(layer.class_name, layer.facts, flowing)
    return flowing if flowing is not None and _layers(model) else known


def _is_size(size: Any) -> bool:
    return size is None or type(size) is int


def _layers(model: AbstractValue) -> list[AbstractValue] | None:
    """The layers of a Sequential, in order; None if they are not all known."""
    if model.items is not None:
        found = model.items
    else:
        known = model.fact("layers")
        if not isinstance(known, dict) or model.fact("layers_not_shown"):
            return None
        found = [
            AbstractValue(f"keras.layers.{facts.get('type')}", facts)
            for facts in known.values()
            if isinstance(facts, dict)
        ]
    return [layer for layer in found if not layer.fact("is_input") and layer.class_name != "InputLayer"]


def _judge_labels(operation: Operation, model: AbstractValue, given: Given, output: Shape | None, what: str) -> None:
    loss = keras_losses.name_of(model.fact("loss"))
    if loss is None or given.labels is None or output is None:
        return
    output = (None, *output[1:])
    labels = (None, *given.labels[1:]) if given.labels else given.labels
    complaint = keras_losses.complaint(loss, labels, output, batch=given.first_batch)
    fact = f"{what} has shape {shown(given.labels)}, the model outputs {shown(output)}, its loss is {loss}"
    # Keras 2 knows no shapes of what an iterator gives, and takes flat labels for a column.
    may_pass = has_keras_2(operation) and not (given.is_array and len(labels) == len(output))
    if complaint is not None and not may_pass:
        operation.crash(complaint.exception, complaint.why, fact=fact, remedy=complaint.remedy)
    if loss == "sparse_categorical_crossentropy" and given.is_array:
        _judge_numbers_of_classes(operation, given, output, what)


def _judge_numbers_of_classes(operation: Operation, given: Given, output: Shape, what: str) -> None:
    label = keras_losses.beyond(given.label_range, output)
    if label is not None:
        operation.crash(
            "InvalidArgumentError",
            f"label value {label} is outside the valid range [0, {output[-1] or 1})",
            fact=f"{what} ranges from {given.label_range[0]} to {given.label_range[1]}",
            remedy="number the classes from 0, or give the last layer more units",
        )


def _judge_indices(operation: Operation, model: AbstractValue, x: AbstractValue) -> None:
    """Numbers of words that an embedding right behind the input has no row for."""
    first = next(iter(_layers(model) or ()), AbstractValue())
    n, ends = first.fact("input_dim"), x.fact("value_range")
    if first.class_name != "Embedding" or type(n) is not int or not isinstance(ends, (list, tuple)):
        return
    if len(ends) == 2 and type(ends[1]) in (int, float) and ends[1] >= n and x.is_a("numpy", "ndarray"):
        operation.crash(
            "InvalidArgumentError",
            f"index {ends[1]} is not in [0, {n}) of the embedding",
            fact=f"{x.named('x')} ranges from {ends[0]} to {ends[1]}",
            remedy=f"create the embedding with input_dim={int(ends[1]) + 1}",
        )


# Steps


@RULES.method("keras.Sequential", "fit", "evaluate")
@RULES.method("keras.Functional", "fit", "evaluate")
def fitted(operation: Operation) -> Answer:
    """Data and labels against the model; the model has other weights then, and is what it was."""
    model = operation.receiver
    bound = _bound(operation)
    if bound is None or "x" not in bound:
        return UNKNOWN
    _compiled(operation, model)
    batch = _batch(bound)
    _refuse_types(operation, bound)
    _one_length(operation, bound["x"], bound.get("y"))
    _judge(operation, model, bound["x"], bound.get("y"), batch)
    if operation.name == "evaluate":
        return UNCHANGED
    validation = bound.get("validation_data")
    parts = validation.items if validation is not None and validation.type == "tuple" else None
    if parts is not None and len(parts) in (2, 3):
        _one_length(operation, parts[0], parts[1])
        _judge(operation, model, parts[0], parts[1], batch)
    return AbstractValue("keras.src.callbacks.history.History", words=operation.text)


def _bound(operation: Operation) -> dict[str, AbstractValue] | None:
    if operation.name == "evaluate":
        return operation.arguments.bound(
            "x=None, y=None, batch_size=None, verbose='auto', sample_weight=None, steps=None, callbacks=None,"
            " return_dict=False, **more"
        )
    return operation.arguments.bound(
        "x=None, y=None, batch_size=None, epochs=1, verbose='auto', callbacks=None, validation_split=0.0,"
        " validation_data=None, shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0,"
        " steps_per_epoch=None, validation_steps=None, validation_batch_size=None, validation_freq=1"
    )


def _batch(bound: dict[str, AbstractValue]) -> Length:
    if "validation_split" in bound:
        return None
    given = bound.get("batch_size")
    if given is None or given.literal is None:
        return _USUAL_BATCH
    return given.literal if type(given.literal) is int else None


def _compiled(operation: Operation, model: AbstractValue) -> None:
    if model.fact("compiled") is False:
        operation.crash(
            "RuntimeError" if has_keras_2(operation) else "ValueError",
            f"the model must be compiled before {operation.name}",
            fact=f"{model.named('the model')} is not compiled",
            remedy="call model.compile(optimizer=..., loss=...) first",
        )


def _refuse_types(operation: Operation, bound: dict[str, AbstractValue]) -> None:
    """Arrays of objects, which no tensor can hold."""
    for name in ("x", "y"):
        value = bound.get(name)
        if value is not None and value.is_a("numpy", "ndarray") and value.fact("dtype") == "object":
            operation.crash(
                "ValueError",
                "an array of dtype object cannot be converted to a tensor",
                fact=f"{value.named(name)} has dtype object",
                remedy="convert it first (astype('float32')), or pad its rows to the same length (pad_sequences)",
            )


def _one_length(operation: Operation, x: AbstractValue, y: AbstractValue | None) -> None:
    one, other = _array_shape(x), _array_shape(y)
    if one and other and differ(one[0], other[0]):
        operation.crash(
            "ValueError",
            "data cardinality is ambiguous: data and labels must have the same number of samples",
            fact=f"{x.named('x')} holds {one[0]}, {(y or AbstractValue()).words or 'y'} holds {other[0]}",
            remedy="find the split or filter that was applied to only one of them",
        )


def _judge(
    operation: Operation, model: AbstractValue, x: AbstractValue, y: AbstractValue | None, batch: Length
) -> None:
    given = _given(x, y, batch)
    if given is None or given.inputs is None:
        return
    inputs = (None, *given.inputs[1:]) if given.inputs else given.inputs
    output = _through_model(operation, model, inputs, x.named("x"))
    _judge_indices(operation, model, x)
    _judge_labels(operation, model, given, output, (y.words if y is not None else x.words) or "y")


@RULES.method("keras.Sequential", "predict", "__call__", "predict_on_batch")
@RULES.method("keras.Functional", "predict", "__call__", "predict_on_batch")
def predicted(operation: Operation) -> Answer:
    """The output's shape, of as many samples as were given."""
    model = operation.receiver
    if not operation.arguments.is_complete or not operation.arguments.positional:
        return UNCHANGED
    given = _given(operation.first, None, None)
    if given is None or given.inputs is None:
        return _symbolic(operation, model)
    inputs = given.inputs if operation.name == "__call__" else (None, *given.inputs[1:])
    output = _through_model(operation, model, inputs, operation.first.named("the input"))
    if operation.name == "__call__":
        return AbstractValue("", {"shape": output} if output is not None else {})
    facts: dict[str, Any] = {"shape": (given.n, *output[1:])} if output is not None else {}
    return AbstractValue("numpy.ndarray", facts, words=operation.text)


def _symbolic(operation: Operation, model: AbstractValue) -> AbstractValue:
    """A model as a layer of another one."""
    shape = operation.first.shape
    if operation.first.class_name != "KerasTensor" or operation.name != "__call__" or shape is None:
        return AbstractValue()
    output = _through_model(operation, model, shape, operation.first.named("the input"))
    return AbstractValue(SYMBOLIC, {"shape": output} if output is not None else {})


@RULES.method("keras.Sequential", "build")
def built(operation: Operation) -> Answer:
    """build((None, 40)): the layers meet the shape."""
    model, given = operation.receiver, operation.first
    if given.items is None:
        return UNKNOWN
    sizes = tuple(item.literal if type(item.literal) is int else None for item in given.items)
    layers = _layers(model)
    if layers is None or _input_shape(model) is not None:
        return AbstractValue("NoneType", literal=None)
    try:
        flowing: Shape | None = sizes
        for layer in layers:
            flowing = through(layer, flowing) if flowing is not None and is_layer(layer) else None
    except keras_sizes.Refusal as refusal:
        operation.crash("ValueError", refusal.why, fact=f"the model is built for {shown(sizes)}", remedy=refusal.remedy)
    return AbstractValue("NoneType", literal=None)


@RULES.method("keras.Sequential", "summary", "get_layer", "count_params", "get_weights", "save", "save_weights")
@RULES.method("keras.Functional", "summary", "get_layer", "count_params", "get_weights", "save", "save_weights")
def looked_at(operation: Operation) -> Answer:
    return UNCHANGED


@RULES.attribute("keras.Sequential", "input_shape", "output_shape")
@RULES.attribute("keras.Functional", "input_shape", "output_shape")
def ends(operation: Operation) -> Answer:
    shape = (operation.receiver).fact(operation.name)
    if not isinstance(shape, (list, tuple)) or not all(map(_is_size, shape)):
        return UNKNOWN
    return AbstractValue("tuple", items=_numbers(shape))


def _numbers(shape: Sequence[Any]) -> list[AbstractValue]:
    return [AbstractValue("NoneType" if size is None else "int", literal=size) for size in shape]
