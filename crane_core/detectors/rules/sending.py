"""What is sent of operands when libraries are asked about a step: plain values, and facts about objects of libraries.

Knows what of an abstract value can be sent. Refuses operands of which too little is known, or too much.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.runtime.kernel_side.crane_surrogates import operations

LIBRARIES: Final = frozenset(operations.CALLS)
# An image that was read from a file has the class of its format, such as JpegImageFile.
_IMAGE: Final = {"PIL": "PIL.Image.Image"}
_TENSOR_WORDS: Final = "shape dtype device requires_grad grad_fn is_contiguous strides layout is_nested"
_TENSOR: Final = tuple(_TENSOR_WORDS.split())
_SYMBOLIC: Final = "keras.src.backend.common.keras_tensor.KerasTensor"
FACTS: Final[Mapping[str, tuple[str, ...]]] = {
    "numpy.ndarray": ("shape", "dtype", "writeable"),
    "numpy.ma.MaskedArray": ("shape", "dtype"),
    "PIL.Image.Image": ("mode", "size"),
    "torch.Tensor": _TENSOR,
    "torch.nn.parameter.Parameter": _TENSOR,
    _SYMBOLIC: ("shape", "dtype"),
    "tensorflow.python.framework.ops.EagerTensor": ("shape", "dtype"),
    "tensorflow.python.ops.resource_variable_ops.ResourceVariable": (
        "shape",
        "dtype",
    ),
}
"""What is sent of an object, by its type; the first two are needed."""
_N_NEEDED = 2
_NUMBERS: Final = ("int", "float", "bool")
_PLAIN: Final = (bool, int, float, str, type(None))
_MOST_PARTS = 400
_MOST_ELEMENTS = 1_000_000
_LONGEST_TEXT = 2_000
_Parts = TypeVar("_Parts")


class NotSentError(Exception):
    """So little is known of an operand, or so much, that no question about it is possible."""


def operation_of(of: AbstractValue | str, name: str) -> tuple[str, str]:
    """The package and dotted name of a function, or class and name of a method."""
    if isinstance(of, str):
        package, _, rest = of.partition(".")
        return package, rest
    return f"{of.package}.{of.class_name}", name


def library_of(value: AbstractValue) -> str:
    """The library whose object or type an operand is, or holds first; "" for Python's own."""
    waiting = [value]
    for each in waiting:
        head = each.path.partition(".")[0] if each.path else each.package
        if head in LIBRARIES:
            return head
        if each.type in ("list", "tuple") and len(waiting) < _MOST_PARTS:
            waiting += (each.items or ())[:50]
    return ""


def as_array(value: AbstractValue) -> AbstractValue:
    """What is drawn of a list of numbers, of which only their count is known."""
    length, types = value.fact("length"), value.item_types
    if (
        value.type == "list"
        and value.items is None
        and type(length) is int
        and types
        and types <= {*_NUMBERS}
    ):
        return AbstractValue(
            "numpy.ndarray",
            {"shape": (length,), "dtype": "float64"},
            words=value.words,
        )
    return value


def _are_integers(ends: Any) -> bool:
    return isinstance(ends, (list, tuple)) and all(
        type(end) is int for end in ends
    )


def _refuse_unknown(
    value: AbstractValue, known: Mapping[str, Any], names: Sequence[str]
) -> None:
    """Raises NotSentError if a fact is missing that every stand-in of the type needs."""
    # Of a tensor the dtype may be missing: float32, the default of torch,
    # stands for it.
    n_needed = 1 if names is _TENSOR else _N_NEEDED
    if not known.keys() >= set(names[:n_needed]):
        raise NotSentError
    # The first length of a symbolic tensor of Keras is that of the batch, which is open.
    n_open = 1 if value.type == _SYMBOLIC else 0
    if None in known.get("shape", ())[n_open:]:
        raise NotSentError


class Sender:
    """Writes operands for the worker.

    `may_guess`: a number whose value is not known may be any. `sends_ranges`: what is known of the values of tensors of
    integers counts. `devices` are those of tensors and of layers with weights, None for one that is not stated.
    """

    def __init__(self, *, may_guess: bool, sends_ranges: bool = False) -> None:
        self._may_guess = may_guess
        self._sends_ranges = sends_ranges
        self._n_parts = 0
        self.devices: set[str | None] = set()
        self._of_torch: list[dict[str, Any]] = []
        self.has_layer = False
        self.is_vague = False
        """A dtype that is not stated was taken for the usual one."""

    def is_moved(self, *, may_be_elsewhere: bool) -> bool:
        """Whether what was sent is on another device, or may be. Raises NotSentError for several, or another kind."""
        # Operands on two devices are refused for that alone, which one processor cannot show.
        known = {str(each) for each in self.devices if each is not None}
        if len(known) > 1 or not all(
            each == "cpu" or each.startswith("cuda") for each in known
        ):
            raise NotSentError
        return (
            bool(known - {"cpu"}) or None in self.devices and may_be_elsewhere
        )

    def order(
        self,
        step: str,
        of: str,
        name: str,
        operands: Iterable[AbstractValue],
        keywords: Mapping[str, AbstractValue],
    ) -> dict[str, Any]:
        """Raises NotSentError."""
        held = {key: self.sent(each) for key, each in keywords.items()}
        return {
            "step": step,
            "of": of,
            "name": name,
            "operands": list(map(self.sent, operands)),
            "keywords": held,
        }

    def sent(self, value: AbstractValue) -> dict[str, Any]:
        """Raises NotSentError."""
        self._n_parts += 1
        if self._n_parts > _MOST_PARTS:
            raise NotSentError
        if value.path:
            return {"named": value.path}
        if value.type in ("torch.dtype", "torch.Size"):
            return (
                {"named": _known(value.fact("value"))}
                if value.type == "torch.dtype"
                else {"tuple": self._parts(value)}
            )
        if value.package in (*LIBRARIES, "PIL"):
            known = self._facts(
                value
            )  # the very dict: `is_large` changes those of tensors afterwards
            known["type"] = _IMAGE.get(value.package, value.type)
            return {"facts": known}
        if value.type in ("list", "tuple", "slice", "range", "dict"):
            return {value.type: self._parts(value)}
        if (
            value.literal is NOT_KNOWN
            and value.type in _NUMBERS
            and self._may_guess
        ):
            return {"any": value.type}
        return _value(value.literal)

    def _parts(self, value: AbstractValue) -> list[Any]:
        """What a container holds; of a range its bounds."""
        if value.type == "range":
            return [
                _value(value.fact(name, NOT_KNOWN))
                for name in ("start", "stop", "step")
            ]
        if value.type == "dict":
            return [
                [_value(key), self.sent(part)]
                for key, part in _known(value.members).items()
            ]
        return [self.sent(part) for part in _known(value.items)]

    def _facts(self, value: AbstractValue) -> dict[str, Any]:
        if value.type.startswith("torch.nn.") and value.type not in FACTS:
            return self._layer(value)
        if value.package in _BY_PACKAGE and value.type != _SYMBOLIC:
            return _BY_PACKAGE[value.package](value)
        kind = value.type if value.package != "PIL" else "PIL.Image.Image"
        names = FACTS.get(kind, ())
        known = {
            name: fact
            for name in names
            if (fact := value.fact(name)) is not None
        }
        _refuse_unknown(value, known, names)
        if names is _TENSOR:
            self._take_tensor(known, value.fact("value_range"))
        return known

    def _layer(self, value: AbstractValue) -> dict[str, Any]:
        """A layer or loss of torch."""
        known = _plain_facts(value)
        self._of_torch.append(known)
        # ReLU holds no weights, and so has neither dtype nor device.
        if known.get("n_parameters") != 0 and ".loss." not in value.type:
            self._take_dtype(known)
            self.has_layer = True
            self.devices.add(known.pop("device", None))
        return known

    def _take_tensor(self, known: dict[str, Any], ends: Any) -> None:
        self._take_dtype(known)
        self._of_torch.append(known)
        self.devices.add(known.pop("device", None))
        if not known.get("is_contiguous", True):
            known.pop("is_contiguous")
        # The largest index decides: `nn.Embedding(10, 4)` has no entry 10 or 11.
        if self._sends_ranges and _are_integers(ends):
            known["value_range"] = list(ends)

    @property
    def device_elsewhere(self) -> str | None:
        """The device of all that was sent, if it is known and not the processor."""
        return (
            next(iter(self.devices - {"cpu"}), None)
            if len(self.devices) == 1
            else None
        )

    def is_large(self) -> bool:
        """Whether tensors are too large to be computed with; they are then sent as such."""
        is_large = any(
            math.prod(known.get("shape", ())) > _MOST_ELEMENTS
            for known in self._of_torch
        )
        for known in self._of_torch if is_large else ():
            # 20,000 x 20,000 floats fill 1.6 GB. On `meta`, torch computes shapes without elements.
            known["device"] = "meta"
        return is_large

    def _take_dtype(self, known: dict[str, Any]) -> None:
        self.is_vague |= "dtype" not in known
        known.setdefault("dtype", "torch.float32")


def _known(parts: _Parts | None) -> _Parts:
    if parts is None:
        raise NotSentError
    return parts


def _pandas_facts(value: AbstractValue) -> dict[str, Any]:
    """The schema of a table or column, as far as it is known; of a table, the dtypes in the order of its columns."""
    facts: dict[str, Any] = {
        name: value.fact(name) for name in ("index", "name") if value.fact(name)
    }
    names = value.fact("index_names")
    if "index" not in facts and isinstance(names, tuple):
        facts["index"] = {"names": list(names)} if names else {}
    if value.type == "pandas.Series":
        return {**facts, "length": value.fact("length"), "dtype": _dtype(value)}
    return facts | _columns(value) if value.type == "pandas.DataFrame" else {}


def _dtype(column: AbstractValue) -> str:
    """Of a column of nothing but texts, one that says so."""
    dtype = str(column.fact("dtype") or "")
    # A missing value is a float (NaN), so a column with one holds more than texts.
    is_full = column.fact("has_nan") is False
    if is_full and (
        dtype == "str" or dtype == "object" and column.item_types == {"str"}
    ):
        return f"{dtype} of texts"
    return dtype


def _columns(value: AbstractValue) -> dict[str, Any]:
    """Raises NotSentError if they are not all known, or labels are neither texts nor integers."""
    labels = list(_known(value.fact("columns")))
    # Dates, periods and NaN match other labels than themselves: `by_day['2020']`, `spans[0.5]`.
    if any(type(label) not in (str, int) for label in labels):
        raise NotSentError
    dtypes = value.mapping("dtypes")
    shape = [(value.shape or (None,))[0], len(labels)]
    return {
        "shape": shape,
        "columns": labels,
        "dtypes": [dtypes.get(label) or "" for label in labels],
    }


def _settings(value: AbstractValue) -> dict[str, Any]:
    """The settings of a transform; models are not sent."""
    if not value.type.startswith("torchvision.transforms."):
        raise NotSentError
    return {
        name: fact
        for name, fact in value.facts.items()
        # docs is the documentation of the class, and no setting.
        if name != "docs" and not isinstance(fact, AbstractValue)
    }


def _plain_facts(value: AbstractValue) -> dict[str, Any]:
    """All that is known of a layer or loss, to be made again with all of it or not at all; forgotten ones lack both."""
    facts = dict(value.facts)
    # Made with half of its settings it would refuse other inputs: `nn.Upsample` without a size.
    if (
        not facts.keys() & {"training", "reduction"}
        or value.attributes
        or any(isinstance(fact, AbstractValue) for fact in facts.values())
    ):
        raise NotSentError
    return {
        name: fact
        for name, fact in facts.items()
        if fact is not None and name != "docs"
    }


def _of_layer(value: AbstractValue) -> dict[str, Any]:
    """All that is known of a layer of Keras, to be made again with all of it or not at all; of a loss its class."""
    if value.type.startswith("keras.losses."):
        return {}
    if not value.type.startswith(("keras.layers.", "keras.src.layers.")):
        raise NotSentError
    if (
        not value.facts
        or value.attributes
        or not all(map(_is_plain, value.facts.values()))
    ):
        raise NotSentError
    return {
        name: fact
        for name, fact in value.facts.items()
        if fact is not None and name not in ("docs", "type")
    }


def _is_plain(fact: Any) -> bool:
    parts = fact if isinstance(fact, (list, tuple)) else [fact]
    return not any(
        part is NOT_KNOWN or isinstance(part, AbstractValue) for part in parts
    )


_BY_PACKAGE: Final = {
    "torchvision": _settings,
    "keras": _of_layer,
    "pandas": _pandas_facts,
}


def _value(value: Any) -> dict[str, Any]:
    """A plain value as it is sent."""
    # JSON, in which a question is written, has no ellipsis and no complex
    # numbers.
    if value is Ellipsis:
        return {"ellipsis": True}
    if type(value) is complex:
        return {"complex": [value.real, value.imag]}
    if isinstance(value, (tuple, list, set)):
        return {type(value).__name__: [_value(part) for part in value]}
    if (
        isinstance(value, str)
        and len(value) > _LONGEST_TEXT
        or type(value) not in _PLAIN
    ):
        raise NotSentError
    return {"is": value}
