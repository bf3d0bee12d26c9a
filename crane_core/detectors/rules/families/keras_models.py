"""Models of Keras: making them, what they are given in fit, evaluate and predict, whether they are compiled.

Knows Sequential and Functional models by exact type. Refuses models of the notebook's own classes. Layers and losses
are tried one by one, as if the notebook called them.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import whole
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation, version_of
from crane_core.detectors.rules.shapes import Length, Shape, differ, shown

RULES = Family("keras models")

_SYMBOLIC: Final = "keras.src.backend.common.keras_tensor.KerasTensor"
_SEQUENTIAL: Final = "keras.src.models.sequential.Sequential"
_FUNCTIONAL: Final = "keras.src.models.functional.Functional"
_ARRAYS: Final = (
    ("numpy", "ndarray"),
    ("pandas", "DataFrame"),
    ("pandas", "Series"),
    ("tensorflow", "EagerTensor"),
)
_ITERATORS: Final = (
    "DirectoryIterator",
    "DataFrameIterator",
    "NumpyArrayIterator",
)
_LOSSES: Final = {
    "mse": "MeanSquaredError",
    "mae": "MeanAbsoluteError",
    "bce": "BinaryCrossentropy",
}
_RECURRENT: Final = ("LSTM", "GRU", "SimpleRNN")
"""Layers that Keras builds without looking at the last length of what they get."""
_FIRST_TENSORFLOW: Final = (2, 16)
"""The first version that comes with Keras 3."""


def _method(*names: str) -> Callable[[Rule], Rule]:
    def registered(rule: Rule) -> Rule:
        return RULES.method("keras.Functional", *names)(
            RULES.method("keras.Sequential", *names)(rule)
        )

    return registered


# Layers: Keras itself says what they make of a shape, and refuse. Here is what a call leaves of them.


@RULES.method("keras.*", "__call__")
def layer_called(operation: Operation) -> Answer:
    """A layer that Keras made of what is known is built for the shape of the first symbolic tensor that it gets."""
    layer, given = operation.receiver, operation.first
    if (
        "config" not in layer.facts
        or given.type != _SYMBOLIC
        or not given.shape
    ):
        return UNKNOWN
    # Keras builds the weights at the first call only: a later tensor must fit them.
    # The batch stays open, because any number of samples fits the same weights.
    layer.facts.setdefault("takes", (None, *given.shape[1:]))
    return UNCHANGED


# Models


@RULES.function("keras.Sequential", "keras.models.Sequential")
def sequential_made(operation: Operation) -> Answer:
    """A row of layers; shapes are followed as soon as the input is known."""
    bound = operation.arguments.bound("layers=None, trainable=True, name=None")
    if bound is None:
        return UNKNOWN
    facts = {"built": False, "compiled": False, "origin": "target"}
    made = AbstractValue(_SEQUENTIAL, facts, items=[], words=operation.text)
    given = bound.get("layers")
    # Layers from a function or a comprehension: their number and order are unknown.
    if given is not None and given.items is None:
        return AbstractValue(
            _SEQUENTIAL, {"compiled": False}, words=operation.text
        )
    for layer in (given.items if given is not None else None) or ():
        _add(operation, made, layer)
    return made


@RULES.method("keras.Sequential", "add")
def added(operation: Operation) -> Answer:
    """add(layer) returns None; raises Crash for all but layers, and for one that does not fit."""
    if len(operation.arguments.positional) != 1:
        return UNKNOWN
    _add(operation, operation.receiver, operation.first)
    return AbstractValue("NoneType", literal=None)


def _add(
    operation: Operation, model: AbstractValue, layer: AbstractValue
) -> None:
    """Append a layer; with a known shape before it, what it refuses shows at once."""
    if layer.type in ("list", "tuple", "str", "int", "NoneType"):
        operation.crash(
            "ValueError",
            f"only instances of keras.Layer can be added to a Sequential model, not {layer.type}",
            fact=f"{layer.named('it')} is of type {layer.type}",
            remedy="unpack it, and add the layers one by one",
        )
    if (
        model.fact("origin") != "target" or model.items is None
    ):  # after layers that the state tells of
        after = _step(operation, layer, _shape(model.fact("output_shape")))
        # Both describe the model before this layer was added.
        model.facts = {
            name: fact
            for name, fact in model.facts.items()
            if name not in ("layers", "n_parameters")
        }
        model.facts["output_shape"], model.items = after, None
        return
    stated = _input_of(layer)
    if not model.items and stated is not None:
        model.facts.update(input_shape=stated, output_shape=stated, built=True)
    model.items.append(layer)
    # An input has no weights and changes no shape: it is the model's input, noted above.
    if layer.class_name not in ("KerasTensor", "InputLayer"):
        model.facts["output_shape"] = _step(
            operation, layer, model.fact("output_shape")
        )


def _input_of(layer: AbstractValue) -> Shape | None:
    """The shape that a first layer states for the model's input."""
    if layer.class_name == "InputLayer":
        return _shape(layer.mapping("config").get("batch_shape"))
    return (
        layer.shape
        if layer.class_name == "KerasTensor"
        else _shape(layer.fact("stated_input"))
    )


def _step(
    operation: Operation, layer: AbstractValue, shape: Shape | None
) -> Shape | None:
    """What a layer makes of what comes before it: it is tried, as if it were called."""
    # A layer of another package or of the notebook may reshape as it likes.
    if shape is None or layer.path or layer.package != "keras":
        return None
    before = AbstractValue(
        _SYMBOLIC,
        {"shape": shape, "dtype": "float32"},
        words="what the layer gets",
    )
    return operation.call(layer, [before], {}).shape


def _shape(known: Any) -> Shape | None:
    is_one = isinstance(known, (list, tuple)) and all(
        size is None or type(size) is int for size in known
    )
    return tuple(known) if is_one and known else None


@RULES.function("keras.Model", "keras.models.Model")
def model_made(operation: Operation) -> Answer:
    """Model(inputs, outputs) of symbolic tensors."""
    bound = operation.arguments.bound(
        "inputs, outputs, name=None, trainable=True, **more"
    )
    if bound is None:
        return UNCHANGED
    ends = [bound["inputs"], bound["outputs"]]
    # Model([a], [b]) with lists of one is the same model as Model(a, b).
    ends = [
        end.items[0] if end.items is not None and len(end.items) == 1 else end
        for end in ends
    ]
    shapes = [
        end.shape if end.class_name == "KerasTensor" else None for end in ends
    ]
    facts = known_facts(
        compiled=False,
        built=True,
        input_shape=shapes[0],
        output_shape=shapes[1],
    )
    return AbstractValue(_FUNCTIONAL, facts, words=operation.text)


@_method("compile")
def compiled(operation: Operation) -> Answer:
    """The model counts as compiled; its loss is kept where it is one of Keras."""
    bound = (
        operation.arguments.bound("optimizer='rmsprop', loss=None, **more")
        or {}
    )
    loss = bound.get("loss", AbstractValue())
    said = (
        loss.literal
        if isinstance(loss.literal, str)
        else loss.path or loss.type
    )
    # A loss function of the notebook takes labels of any shape, so only losses of Keras are kept.
    is_of_keras = isinstance(loss.literal, str) or said.startswith("keras.")
    operation.receiver.facts.update(
        compiled=True, loss=said if is_of_keras else None
    )
    return AbstractValue("NoneType", literal=None)


# Data


class ModelBatch(NamedTuple):
    """What a model is given: the shapes of a batch of inputs and of labels, how many samples, the labels' range."""

    inputs: Shape
    labels: Shape | None = None
    n: Length = None
    label_range: Any = None


def _array_shape(value: AbstractValue | None) -> Shape | None:
    """The shape of an array, frame or series."""
    if value is None or not any(
        value.is_a(package, name) for package, name in _ARRAYS
    ):
        return None
    if (
        value.shape is None
        and value.is_a("pandas", "Series")
        and type(value.fact("length")) is int
    ):
        return (value.fact("length"),)
    return value.shape


def _given(
    inputs: AbstractValue, labels: AbstractValue | None
) -> ModelBatch | None:
    x, y = _array_shape(inputs), _array_shape(labels)
    if x:
        ends = labels.fact("value_range") if labels is not None else None
        return ModelBatch(
            _unbatched(x), _unbatched(y) if y else None, x[0], ends
        )
    # flow_from_directory and similar: the state has their image shape and class mode.
    if inputs.class_name in _ITERATORS and inputs.package in (
        "keras",
        "tf_keras",
    ):
        return _of_iterator(inputs)
    # Two parts are data and labels; a third would be sample weights.
    spec = inputs.fact("element_spec")
    if (
        inputs.package == "tensorflow"
        and isinstance(spec, (list, tuple))
        and len(spec) == 2
    ):
        shapes = [
            _shape(part["shape"])
            if isinstance(part, dict) and part.keys() == _SPEC
            else None
            for part in spec
        ]
        return (
            ModelBatch(_unbatched(shapes[0]), _unbatched(shapes[1]))
            if shapes[0] and shapes[1]
            else None
        )
    return None


_SPEC: Final = {"shape", "dtype"}


def _of_iterator(value: AbstractValue) -> ModelBatch | None:
    """Batches of images and labels, by the rule of the class mode."""
    image, mode, n_classes = (
        value.fact(name)
        for name in ("image_shape", "class_mode", "num_classes")
    )
    if not isinstance(image, (list, tuple)):
        return None
    # "categorical" labels are one-hot rows; "binary" and "sparse" ones are a number for each image.
    labels = (
        (None, n_classes)
        if mode == "categorical" and type(n_classes) is int
        else None
    )
    return ModelBatch(
        (None, *image), (None,) if mode in ("binary", "sparse") else labels
    )


def _unbatched(shape: Shape) -> Shape:
    """A batch may be of any length."""
    return (None, *shape[1:])


# Judging


def _is_keras_3(operation: Operation, model: AbstractValue) -> bool:
    """Keras 2 compares less before it computes."""
    keras, tensorflow = (
        version_of(operation, "keras"),
        version_of(operation, "tensorflow"),
    )
    if keras is not None or tensorflow is not None:
        return (
            # Without a version of Keras the one of TensorFlow decides.
            keras[0] == 3
            if keras is not None
            else tensorflow is not None and tensorflow >= _FIRST_TENSORFLOW
        )
    # Keras 2 had these classes in keras.src.engine, and before 2.13 in keras.engine.
    return model.type.startswith("keras.src.models.")


def _through_model(
    operation: Operation, model: AbstractValue, data: Shape, what: str
) -> Shape | None:
    """What the model makes of data of this shape; it refuses what does not fit. Raises Crash."""
    wanted = _shape(model.fact("input_shape"))
    flowing: Shape | None = data
    if wanted is not None:
        fitted = _with_rank(data, wanted)
        # A Functional model compares every length. A Sequential leaves that to its layers:
        # one that pools over all places takes images of any size.
        # Recurrent layers build without looking at the last length, so it is compared here.
        first = (
            1
            if model.class_name == "Functional"
            else len(wanted) - (_first_layer(model).class_name in _RECURRENT)
        )
        is_other = fitted is not None and any(
            map(differ, wanted[first:], fitted[first:])
        )
        # Keras 2 brings data to the model's rank: a model for (None, 4) takes (12,) and (12, 3, 4).
        if (fitted is None or is_other) and _is_keras_3(operation, model):
            operation.crash(
                "ValueError",
                f"the model expects inputs of shape {shown(wanted)}, but gets {shown(data)}",
                fact=f"{what} has shape {shown(data)}, and {model.named('the model')} expects {shown(wanted)}",
                remedy=f"reshape the data to {shown(wanted)} (np.expand_dims), or build the model for {shown(data)}",
            )
        flowing = data if fitted is None else fitted
    layers = _layers(model) if model.class_name == "Sequential" else None
    for layer in layers or ():
        flowing = _step(operation, layer, flowing)
    return (
        flowing
        if layers and flowing is not None
        else _shape(model.fact("output_shape"))
    )


def _with_rank(data: Shape, model: Shape) -> Shape | None:
    """The data as a model with this input takes it: a last axis of 1 may be missing or too much. None: not at all."""
    # Functional._adjust_input_rank squeezes or adds a last axis of 1; None may turn out to be 1.
    if len(data) == len(model) + 1 and data[-1] in (1, None):
        return data[:-1]
    if len(data) == len(model) - 1 and model[-1] in (1, None):
        return (*data, 1)
    return data if len(data) == len(model) else None


def _layers(model: AbstractValue) -> list[AbstractValue] | None:
    """The layers of a Sequential, in order; None if they are not all known."""
    found = model.items
    # A state cuts deep models: a chain with gaps would end at the wrong shape.
    if found is None and not model.fact("layers_not_shown"):
        known = model.mapping("layers").values()
        found = [
            AbstractValue(f"keras.layers.{facts.get('type')}", dict(facts))
            for facts in known
        ]
    return found and [
        layer
        for layer in found
        if layer.class_name not in ("KerasTensor", "InputLayer")
    ]


def _first_layer(model: AbstractValue) -> AbstractValue:
    return next(iter(_layers(model) or ()), AbstractValue())


def _judge_labels(
    operation: Operation,
    model: AbstractValue,
    given: ModelBatch,
    output: Shape,
    what: str,
) -> None:
    """The loss is tried, as if it were called."""
    loss = model.mapping("loss").get("type", model.fact("loss"))
    if given.labels is None or not isinstance(loss, str):
        return
    name = loss.rpartition(".")[2]
    # The text "sparse_categorical_crossentropy" names the class SparseCategoricalCrossentropy.
    name = _LOSSES.get(
        name, name.title().replace("_", "") if name.islower() else name
    )
    shapes = {what: given.labels, "the output of the model": _unbatched(output)}
    # Symbolic tensors have a shape and no values: enough for what a loss refuses before training.
    symbols = [
        AbstractValue(
            _SYMBOLIC, {"shape": shape, "dtype": "float32"}, words=words
        )
        for words, shape in shapes.items()
    ]
    operation.call(AbstractValue(f"keras.losses.{name}"), symbols, {})
    # TensorFlow looks at the values of labels only while it computes, so the loss accepts them.
    if name == "SparseCategoricalCrossentropy":
        _refuse_beyond(
            operation,
            given.label_range,
            output[-1],
            f"label value {{}} is not in [0, {output[-1]})",
            what,
        )


def _refuse_beyond(
    operation: Operation, ends: Any, n: Any, why: str, what: str
) -> None:
    """Numbers of classes, or of words, of which there are fewer."""
    if (
        type(n) is not int
        or not isinstance(ends, (list, tuple))
        or any(type(end) not in (int, float) for end in ends)
    ):
        return
    if (
        # The upper end first: labels that count from 1 are the usual case. NaN is in no range.
        beyond := next(
            (end for end in reversed(ends) if end == end and not 0 <= end < n),
            None,
        )
    ) is not None:
        operation.crash(
            "InvalidArgumentError",
            why.format(beyond),
            fact=f"{what} ranges from {ends[0]} to {ends[1]}",
            remedy="number them from 0, or create the layer for more of them",
        )


def _judge(
    operation: Operation,
    model: AbstractValue,
    x: AbstractValue,
    y: AbstractValue | None,
) -> None:
    given = _given(x, y)
    if given is None:
        return
    output = _through_model(operation, model, given.inputs, x.named("x"))
    first = _first_layer(model)
    # Keras builds for any integers: an index beyond input_dim fails in the first lookup.
    if first.class_name == "Embedding" and x.is_a("numpy", "ndarray"):
        n = first.fact("input_dim", first.mapping("config").get("input_dim"))
        _refuse_beyond(
            operation,
            x.fact("value_range"),
            n,
            f"index {{}} is not in [0, {n}) of the embedding",
            "x",
        )
    if output is not None:
        _judge_labels(
            operation,
            model,
            given,
            output,
            (y.words if y is not None else x.words) or "y",
        )


# Steps


_EVALUATE: Final = "x=None, y=None, batch_size=None, verbose='auto', sample_weight=None, **more"
_FIT: Final = (
    "x=None, y=None, batch_size=None, epochs=1, verbose='auto', callbacks=None, validation_split=0.0,"
    " validation_data=None, **more"
)


@_method("fit", "evaluate")
def fitted(operation: Operation) -> Answer:
    """Data and labels against the model; the model has other weights then, and is what it was."""
    model = operation.receiver
    bound = operation.arguments.bound(
        {"fit": _FIT, "evaluate": _EVALUATE}[operation.name]
    )
    if bound is None or "x" not in bound:
        return UNKNOWN
    # Keras 2 raised RuntimeError here, Keras 3 raises ValueError.
    if model.fact("compiled") is False:
        operation.crash(
            "ValueError" if _is_keras_3(operation, model) else "RuntimeError",
            f"the model must be compiled before {operation.name}",
            fact=f"{model.named('the model')} is not compiled",
            remedy="call model.compile(optimizer=..., loss=...) first",
        )
    validation = bound.get("validation_data", AbstractValue())
    # validation_data is (x, y) or (x, y, sample_weight); datasets and generators are left out.
    pairs = [(bound["x"], bound.get("y"))]
    if (
        validation.type == "tuple"
        and validation.items is not None
        and len(validation.items) in (2, 3)
    ):
        pairs.append((validation.items[0], validation.items[1]))
    # Training data first: Keras meets them before the validation data.
    for x, y in pairs:
        _refuse_lengths(operation, x, y)
        _judge(operation, model, x, y)
    is_fit = operation.name == "fit"
    return (
        AbstractValue(
            "keras.src.callbacks.history.History", words=operation.text
        )
        if is_fit
        else UNCHANGED
    )


def _refuse_lengths(
    operation: Operation, x: AbstractValue, y: AbstractValue | None
) -> None:
    one, other = _array_shape(x), _array_shape(y)
    # Generators and datasets bring their own labels: only arrays and tables are counted.
    if y is not None and one and other and differ(one[0], other[0]):
        operation.crash(
            "ValueError",
            "data cardinality is ambiguous: data and labels must have the same number of samples",
            fact=f"{x.named('x')} holds {one[0]}, {y.named('y')} holds {other[0]}",
            remedy="find the split or filter that was applied to only one of them",
        )


@_method("predict", "__call__", "predict_on_batch")
def predicted(operation: Operation) -> Answer:
    """The output's shape, of as many samples as were given; a model may be a layer of another one."""
    model, bound = operation.receiver, operation.arguments.bound("x, **others")
    if bound is None:
        return UNCHANGED
    data = bound["x"]
    is_symbolic = (
        data.class_name == "KerasTensor" and operation.name == "__call__"
    )
    given = (
        ModelBatch(data.shape)
        if is_symbolic and data.shape
        else _given(data, None)
    )
    output = (
        _through_model(operation, model, given.inputs, data.named("the input"))
        if given is not None
        else None
    )
    if operation.name == "__call__":
        return AbstractValue(
            _SYMBOLIC if is_symbolic else "", known_facts(shape=output)
        )
    # predict joins all batches in one NumPy array; a call returns one tensor for what it got.
    shape = (
        (given.n, *output[1:])
        if given is not None and output is not None
        else None
    )
    return AbstractValue(
        "numpy.ndarray", known_facts(shape=shape), words=operation.text
    )


@RULES.method("keras.Sequential", "build")
def built(operation: Operation) -> Answer:
    """build((None, 40)): the layers meet the shape."""
    given = operation.first
    flowing = (
        None
        if given.items is None
        else _shape([item.literal for item in given.items])
    )
    for layer in (
        (_layers(operation.receiver) or ())
        # With an Input in front, the layers met their shapes when they were added.
        if operation.receiver.fact("input_shape") is None
        else ()
    ):
        flowing = _step(operation, layer, flowing)
    return AbstractValue("NoneType", literal=None)


@_method(
    "summary",
    "get_layer",
    "count_params",
    "get_weights",
    "save",
    "save_weights",
)
def looked_at(operation: Operation) -> Answer:
    """Methods that read a model, or write files, and leave it as it is."""
    return UNCHANGED


_GONE: Final = {
    "predict_classes": "use model.predict(x).argmax(axis=1), or (model.predict(x) > 0.5) for one output",
    "predict_proba": "use model.predict(x)",
    **{
        f"{name}_generator": f"use model.{name}(generator)"
        for name in ("fit", "evaluate", "predict")
    },
    "load": "use keras.models.load_model(path), or model.load_weights(path)",
    "score": "use model.evaluate(x, y)",
}


@RULES.attribute("keras.Sequential", *_GONE)
@RULES.attribute("keras.Functional", *_GONE)
def method_gone(operation: Operation) -> Answer:
    """What models of older Keras, or of other libraries, have; the path of the class tells Keras 3."""
    model, name = operation.receiver, operation.name
    is_of_3 = model.type.startswith("keras.src.models.")
    # A notebook may give the model such a method itself: model.predict_classes = ...
    if (
        not is_of_3
        or name in model.attributes
        or operation.may_give_attribute(name)
    ):
        return UNKNOWN
    fact = f"{model.named('the model')} is of type {model.class_name}"
    operation.crash(
        "AttributeError",
        f"a Keras 3 model has no attribute {name}",
        fact=fact,
        remedy=_GONE[name],
    )


# Classes as columns


@RULES.function(
    "keras.utils.to_categorical",
    "keras.utils.np_utils.to_categorical",
    "keras.utils.numerical_utils.to_categorical",
)
def to_columns(operation: Operation) -> Answer:
    """A column for each class: a class beyond them has none."""
    given = operation.arguments.bound("x, num_classes=None, **others")
    n_classes = None if given is None else whole(given.get("num_classes"))
    if given is None or n_classes is None:
        return UNKNOWN
    x = given["x"]
    known = x.fact("value_range") if x.type == "numpy.ndarray" else x.literal
    # A tensor becomes rows of zeros there, without an exception.
    if not isinstance(known, (list, tuple)) or not known:
        return UNKNOWN
    if any(type(each) is not int for each in known):
        return UNKNOWN
    if (most := max(known)) >= n_classes:
        operation.crash(
            "IndexError",
            f"index {most} is out of bounds for axis 1 with size {n_classes}",
            fact=f"{x.named('the classes')} goes up to {most}, and num_classes is {n_classes}",
            remedy=f"use num_classes={most + 1}, or number the classes from 0",
        )
    return UNKNOWN
