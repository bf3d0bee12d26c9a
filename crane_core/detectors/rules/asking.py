"""What a library itself says of a step: asked on surrogates with the schema of the operands, in a separate process.

Knows what of an abstract value can be sent, and what an answer means. Asks only where an interpreter here has the very
versions of the kernel; else nothing is said, but of shapes that torch refuses where a kernel tells no versions at all.
What may be asked stands in kernel_side/crane_surrogates/operations.py.
"""

from __future__ import annotations

import json
import math
import re
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.asking_sklearn import Learning, NotSentError
from crane_core.detectors.rules.finding import Crash, RefusedParameter
from crane_core.detectors.rules.from_state import value_from_facts
from crane_core.detectors.rules.operation import Arguments
from crane_core.runtime.interpreters import assumed, interpreters, versions
from crane_core.runtime.kernel_side.crane_surrogates import operations, tables
from crane_core.runtime.library_worker import LibraryWorker, library_worker

LIBRARIES: Final = tuple(operations.CALLS)
_TENSOR_WORDS: Final = "shape dtype device requires_grad grad_fn is_contiguous strides layout is_nested"
_TENSOR: Final = tuple(_TENSOR_WORDS.split())
_SYMBOLIC: Final = "keras.src.backend.common.keras_tensor.KerasTensor"
_FACTS: Final[Mapping[str, tuple[str, ...]]] = {
    "numpy.ndarray": ("shape", "dtype", "writeable"),
    "numpy.ma.MaskedArray": ("shape", "dtype"),
    "PIL.Image.Image": ("mode", "size"),
    "torch.Tensor": _TENSOR,
    "torch.nn.parameter.Parameter": _TENSOR,
    _SYMBOLIC: ("shape", "dtype"),
    "tensorflow.python.framework.ops.EagerTensor": ("shape", "dtype"),
    "tensorflow.python.ops.resource_variable_ops.ResourceVariable": ("shape", "dtype"),
}
"""What is sent of an object, by its type; the first two are needed."""
_N_NEEDED = 2
_CHANGING: Final = frozenset(["out", "copy", "inplace", "overwrite_input", "where"])
"""Arguments with which a function may change what it is given."""
_DATA: Final = ("numpy.ndarray", "pandas.DataFrame", "pandas.Series", "list")
_NO_LABELS: Final = ("RangeIndex", "DatetimeIndex", "TimedeltaIndex", "PeriodIndex", "IntervalIndex")
"""Indices of which no label can be the name of an attribute."""
_NUMBERS: Final = ("int", "float", "bool")
_PLAIN: Final = (bool, int, float, str, type(None))
_MOST_PARTS = 400
_MOST_ELEMENTS = 1_000_000
_MOST_LABELS = 12
_LONGEST_TEXT = 2_000
_MOST_MESSAGE = 400
_NOISE: Final = re.compile(r"\{\{.*?\}\}|\x1b\[\d*m")
"""Nodes of TensorFlow's graphs, and colours of a terminal."""
_ASKED: Final = tuple(sorted({*LIBRARIES, *operations.BOUND}))
_BOUND: Final = operations.BOUND | operations.PYTHON
_DISTRIBUTIONS: Final = {"sklearn": ("scikit-learn",), "tensorflow": ("tensorflow", "tensorflow-cpu")}
_REMEDIES: Final = Path(__file__).with_name("remedies.toml")


_Parts = TypeVar("_Parts")


class Patience(NamedTuple):
    """Seconds that are waited: for one answer, for a worker that starts, and for all answers about one target."""

    answer_s: float
    start_s: float
    total_s: float


UNHURRIED: Final = Patience(answer_s=5.0, start_s=30.0, total_s=20.0)
LIVE: Final = Patience(answer_s=0.25, start_s=0.0, total_s=0.3)
"""Beside a cell that somebody is about to run: a worker that is not there yet is not waited for."""


class Said(NamedTuple):
    """What a library says of a step: `crash` where it refuses it, else what it `gives`.

    `left` is what the first operand is afterwards, of a step that changes it.
    """

    crash: Crash | None
    gives: AbstractValue
    left: AbstractValue | None = None


class Order(NamedTuple):
    """One line to the worker, the libraries that it needs, and what of the answer is certain beside a refusal."""

    sent: Mapping[str, Any]
    libraries: frozenset[str]
    tells: bool = False
    untold: frozenset[str] = frozenset()
    is_typed: bool = False
    """Whether the type of what is given is certain, if no more of it is."""
    learning: Learning | None = None
    is_vague: bool = False
    """Devices, dtypes or the version of torch may be others: of what torch refuses, only shapes count."""
    is_large: bool = False
    """Sent without elements: of refusals only those of a usual class count."""
    device: str | None = None
    """Where the results are, if not on the processor."""
    more: Mapping[str, Any] = MappingProxyType({})
    """Facts of the result beside the answer."""


class Question(NamedTuple):
    """What is asked about one step, in turn, until something is answered; what is known of the operands, in words."""

    orders: Sequence[Order]
    described: str
    result: Mapping[str, Any]
    """How the worker can make what the step gives, or another object of its class; empty if it cannot."""


class Asker:
    """Asks about the steps of one target. `packages` are the kernel's versions; with no such worker it is silent.

    `may_be_extended`: classes and modules may have names by packages that the worker does not load.
    """

    patience: Patience = UNHURRIED

    def __init__(
        self, packages: Mapping[str, str], mentions: Callable[[str], bool], *, may_be_extended: bool = False
    ) -> None:
        self._packages = packages
        self._mentions = mentions
        self._may_be_extended = may_be_extended
        self._is_of_any_version = not packages
        knows = _who_knows if packages else _who_knows_torch
        python, self._libraries = knows(tuple(sorted(packages.items())), interpreters())
        self._worker: LibraryWorker | None = library_worker(python) if self._libraries else None
        self._seconds_left = self.patience.total_s
        self._answers: dict[str, Mapping[str, Any]] = {}

    def question(
        self,
        step: str,
        of: AbstractValue | str,
        name: str,
        receiver: AbstractValue | None,
        arguments: Arguments,
        made: Mapping[str, Any] | None = None,
    ) -> Question | None:
        """What there is to ask about a step, as its operands are now: a rule may change them. None: nothing.

        `made` is the `result` of the step whose result the receiver is, with nothing between.
        """
        if self._worker is None or not arguments.is_complete or self._seconds_left <= 0:
            return None
        operands = [*arguments.positional, *arguments.keywords.values()]
        if receiver is not None and step != "call":
            operands = [receiver, *operands]
        holder, asked = _operation(of, name)
        if (
            step == "item"
            and receiver is not None
            and (indexer := operations.INDEXERS.get(receiver.type))
            and receiver.bound_to is not None
        ):
            step, holder, asked = "located", receiver.bound_to.type, indexer
            operands[0] = receiver.bound_to
        if self._is_of_any_version:
            orders = list(self._tried(step, holder, asked, operands, arguments.keywords))
        elif step == "attribute" and not isinstance(of, str) and of.path:
            orders = list(self._of_module(of.path, name))
        elif step == "attribute" and not isinstance(of, str) and of.type == "method":
            orders = list(self._of_method(of, name))
        else:
            orders = [
                *self._tried(step, holder, asked, operands, arguments.keywords),
                *self._bound(step, of, name, arguments),
                *self._of_object(step, of, name),
                *self._of_made(step, name, arguments, made or {}),
                *self._of_learning(step, of, name, arguments),
            ]
        if not orders:
            return None
        described = "; ".join(dict.fromkeys(filter(None, map(_described, operands))))
        return Question(orders, described, _result(step, of, orders))

    def refused_parameter(self, path: str, step: str, given: Mapping[str, Any]) -> RefusedParameter | None:
        """The first of some plain values that scikit-learn refuses in a "call" or "fit"; None if none for certain."""
        library = path.partition(".")[0]
        if library not in self._libraries or self._seconds_left <= 0 or self._may_be_changed([library]):
            return None
        order = {"step": "parameters", "of": path, "name": step, "given": dict(given)}
        said = self._answer(order, [library]) if given else {}
        if "raised" not in said:
            return None
        return RefusedParameter(str(said["name"]), str(said["raised"]), str(said["message"]), tuple(said["options"]))

    def about(self, question: Question) -> Said | None:
        """What the library says; None if it says nothing."""
        for order in question.orders:
            answer = self._answer(order.sent, order.libraries)
            if self._may_be_extended and _lacks_name(order.sent, answer):
                continue
            library = max(order.libraries & set(_ASKED), key=_ASKED.index, default="python")
            if order.learning is not None:
                answer = order.learning.restored(answer)
            if "raised" in answer:
                raised, message = str(answer["raised"]), str(answer["message"])
                takes = answer.get("takes")
                known = f"in {library} {self._packages[library]} it takes {takes}" if takes else question.described
                is_tried = isinstance(order.sent.get("operands"), list) and order.learning is None
                is_elsewhere = order.is_vague and not operations.is_about_shapes(raised, message)
                is_elsewhere |= order.is_large and raised not in ("RuntimeError", "ValueError")
                if not is_elsewhere and not (is_tried and _speaks_of_values(message)):
                    return Said(
                        _crash(library, self._packages.get(library, ""), raised, message, known), AbstractValue()
                    )
            facts = answer.get("gave")
            if not isinstance(facts, dict):
                continue
            if order.is_typed and "type" in facts:
                return Said(None, AbstractValue(str(facts["type"])))
            if facts and (order.tells or facts.get("type") == "method") or answer.get("left"):
                gives, left = (_given(_certain(each, order)) for each in (facts, answer.get("left") or {}))
                gives.facts |= order.more
                return Said(None, gives, left if left.type else None)
        return None

    def _tried(
        self,
        step: str,
        holder: str,
        asked: str,
        operands: Sequence[AbstractValue],
        keywords: Mapping[str, AbstractValue],
    ) -> Iterator[Order]:
        """The order to try the step on surrogates; `operands` are those by position, then those by name."""
        libraries = {library for each in operands if (library := _library_of(each))}
        libraries |= {holder.partition(".")[0]} & set(LIBRARIES)
        if not libraries or not libraries <= self._libraries or self._may_be_changed(libraries):
            return
        may_be_elsewhere = any(map(self._mentions, operations.OTHER_DEVICES))
        sender = _Sender(may_guess=step == "operator", sends_ranges=operations.takes_indices(step, asked))
        is_placed = "device" in keywords and libraries == {"torch"}
        named = {key: each for key, each in keywords.items() if not (is_placed and key == "device")}
        given = list(operands[: len(operands) - len(keywords)])
        if holder.startswith("matplotlib") and asked.rpartition(".")[2] in operations.DRAWS_PAIRS:
            first = int(step == "method")
            given[first : first + 2] = map(_as_array, given[first : first + 2])
        with suppress(NotSentError):
            sent = sender.order(step, holder, asked, given, named)
            if "torch" in libraries:
                unknown = operations.NOT_RECORDING + (operations.FREEZING if sender.has_layer else ())
                sent["is_recording"] = not any(map(self._mentions, unknown))
            if operations.is_asked(sent):
                is_kept = _CHANGING.isdisjoint(keywords)
                tells = is_kept and operations.tells_result(step, holder, asked)
                is_typed = is_kept and operations.tells_type(holder, asked)
                is_moved = is_placed or sender.is_moved(may_be_elsewhere=may_be_elsewhere)
                is_large = sender.is_large()
                may_move = is_moved or is_large or None in sender.devices or may_be_elsewhere and not sender.devices
                untold = frozenset([*tables.untold(sent), *["device"] * may_move, *["dtype"] * sender.is_vague])
                is_vague = is_moved or is_large or sender.is_vague or self._is_of_any_version
                more, device = _kept(step, asked, operands), sender.device_elsewhere
                yield Order(
                    sent,
                    frozenset(libraries),
                    tells,
                    untold,
                    is_typed=is_typed,
                    is_vague=is_vague,
                    is_large=is_large,
                    device=device,
                    more=more,
                )

    def _of_module(self, path: str, name: str) -> Iterator[Order]:
        """The order to look for a name in a module."""
        library = path.partition(".")[0]
        if library in operations.LAZY & self._libraries and not self._may_be_changed([library]):
            yield Order({"step": "member", "of": path, "name": name}, frozenset([library]))

    def _of_method(self, method: AbstractValue, name: str) -> Iterator[Order]:
        """The order to look for a name in a method that was not called."""
        path = method.fact("of")
        library = path.partition(".")[0] if isinstance(path, str) else ""
        if library in self._libraries and not self._may_be_changed([library]):
            yield Order({"step": "of method", "of": path, "name": name}, frozenset([library]))

    def _of_object(self, step: str, of: AbstractValue | str, name: str) -> Iterator[Order]:
        """The order to look for a name in the class of an object."""
        if step != "attribute" or isinstance(of, str) or of.attributes.get(name) is not None:
            return
        library = of.package
        if library in operations.BOUND & self._libraries and not self._may_be_changed([library]):
            sent = {"of": of.type, "name": name, "is_made": False, "is_label": _may_be_label(of, name)}
            yield Order({"step": "of object", **sent}, frozenset([library]))

    def _of_made(self, step: str, name: str, arguments: Arguments, made: Mapping[str, Any]) -> Iterator[Order]:
        """The orders about the result of another step: of what it is an object, and what it makes of its arguments."""
        path = made.get("class") or made.get("of", "")
        library = path.partition(".")[0]
        if step not in ("attribute", "method") or not library:
            return
        given = [*arguments.positional, *arguments.keywords.values()]
        libraries = frozenset([library, *filter(None, map(_library_of, given))])
        if not libraries <= self._libraries or self._may_be_changed(libraries):
            return
        if "class" not in made:
            sender = _Sender(may_guess=False)
            with suppress(NotSentError):
                sent = sender.order(step, library, name, arguments.positional, arguments.keywords)
                yield Order({**sent, "operands": [{"made": made}, *sent["operands"]]}, libraries)
        elif step == "attribute":
            yield Order({"step": "of object", "of": path, "name": name, "is_made": True, "is_label": True}, libraries)
        else:
            yield Order(_binding(f"{path}.{name}", "method of made", arguments), libraries)

    def _bound(self, step: str, of: AbstractValue | str, name: str, arguments: Arguments) -> Iterator[Order]:
        """The order to bind the arguments of a call; nothing is called, but wrapped functions of a few libraries."""
        path = of if isinstance(of, str) else f"{_path_of_class(of)}.{name}"
        library = path.partition(".")[0]
        if step not in ("call", "method") or library not in _BOUND & self._libraries:
            return
        if self._may_be_changed([library]):
            return
        first = arguments.positional[0].type if arguments.positional else ""
        kind = "call of data" if step == "call" and first in _DATA else step
        yield Order(_binding(path, kind, arguments), frozenset([library]))
        if step == "call" and library in operations.TRIED:
            sender = _Sender(may_guess=True)
            with suppress(NotSentError):
                sent = sender.order("wrapped", path, "", arguments.positional, arguments.keywords)
                yield Order(sent, frozenset([library]))

    def _of_learning(self, step: str, of: AbstractValue | str, name: str, arguments: Arguments) -> Iterator[Order]:
        """The order about a method of an estimator, or a function of scikit-learn, on data."""
        if (of if isinstance(of, str) else name) not in operations.LEARNING.get(step, ()):
            return
        operands = [*([] if isinstance(of, str) else [of]), *arguments.positional]
        if "sklearn" not in self._libraries or self._may_be_changed(["sklearn", "numpy", "pandas"]):
            return
        given = [*operands, *arguments.keywords.values()]
        with suppress(NotSentError):
            tells = step == "method" and not any(map(self._mentions, operations.OUTPUT_SETTINGS))
            learning = Learning(given)
            sent = learning.order(of if isinstance(of, str) else "", name, operands, arguments.keywords)
            yield Order(sent, frozenset(["sklearn"]), tells, learning=learning)

    def _may_be_changed(self, libraries: Iterable[str]) -> bool:
        """Whether the notebook spells what may change what operations of these libraries do."""
        spelled = [text for each in ("", *libraries) for text in operations.UNLESS_MENTIONED.get(each, ())]
        return any(map(self._mentions, spelled))

    def _answer(self, order: Mapping[str, Any], libraries: Iterable[str]) -> Mapping[str, Any]:
        key = json.dumps(order, default=str)
        if key not in self._answers:
            assert self._worker is not None
            wait = self.patience
            started = time.perf_counter()
            if self._worker.is_ready(libraries, start_s=wait.start_s):
                started = time.perf_counter()  # loading is not taken from the time for answers
            answer = self._worker.ask(order, libraries, seconds=wait.answer_s, start_s=0.0)
            self._answers[key] = answer or {}
            self._seconds_left -= time.perf_counter() - started
        return self._answers[key]


def versions_asked() -> list[dict[str, str]]:
    """Versions of Python and of the libraries in each interpreter that is asked where a kernel has the same."""
    return [found for python in interpreters() if (found := _versions(python))]


@cache
def _who_knows(packages: tuple[tuple[str, str], ...], asked: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    """The interpreter that has the most libraries in a kernel's own versions, under its Python, and which these are."""
    kernel = dict(packages)
    best, shared = "", set[str]()
    for python in asked if "python" in kernel else ():
        here = _versions(python)
        if _minor(here.get("python", "")) == _minor(kernel["python"]):
            same = {each for each in _ASKED if each in here and _public(here[each]) == _public(kernel.get(each, ""))}
            best, shared = (python, same) if not best or len(same) > len(shared) else (best, shared)
    return best, frozenset(shared | operations.PYTHON if best else ())


@cache
def _who_knows_torch(_packages: object, asked: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    """An interpreter that has torch, for a kernel that tells no versions: of shapes every version says the same."""
    python = next((each for each in asked if "torch" in _versions(each)), "")
    return python, frozenset(["torch"] if python else [])


def _minor(python: str) -> str:
    """3.11 of 3.11.7: what a library refuses does not change with a correction of Python."""
    return python.rpartition(".")[0]


def _public(version: str) -> str:
    """2.2.2 of 2.2.2+cu121: torch tells the devices it is built for, its distribution may not."""
    return version.partition("+")[0]


def _versions(python: str) -> dict[str, str]:
    """By package; several distributions may provide one."""
    named = {each: _DISTRIBUTIONS.get(each, (each,)) for each in _ASKED}
    read = versions(python, tuple(each for distributions in named.values() for each in distributions))
    of_libraries = {each: read[one] for each, ones in named.items() for one in reversed(ones) if one in read}
    return {"python": read["python"], **of_libraries} if of_libraries else {}


def assumed_packages() -> Mapping[str, str]:
    """Versions that a kernel is taken to have where its state tells none: those of the interpreter that was named."""
    python = assumed()
    return _versions(python) if python else {}


def start_beside() -> None:
    """Start the worker of this interpreter before anybody asks; it is not waited for."""
    library_worker(sys.executable).start()


def _binding(path: str, kind: str, arguments: Arguments) -> dict[str, Any]:
    """What is sent to bind arguments: how many there are, and the names of others."""
    n_positional, keywords = len(arguments.positional), sorted(arguments.keywords)
    return {"step": "binds", "of": path, "name": kind, "operands": n_positional, "keywords": keywords}


def _path_of_class(value: AbstractValue) -> str:
    return f"builtins.{value.type}" if value.package == "builtins" else value.type


def _may_be_label(of: AbstractValue, name: str) -> bool:
    """Whether a table or column may have this label, with which it shows an element or column as an attribute."""
    if of.is_a("pandas", "Series"):
        return str(of.mapping("index").get("type")) not in _NO_LABELS
    columns = of.fact("columns")
    return columns is None or name in columns


def _result(step: str, of: AbstractValue | str, orders: Sequence[Order]) -> Mapping[str, Any]:
    """How the worker makes what a step gives: by the order to try it, or as some object of the class that is called."""
    tried = [each.sent for each in orders if each.sent.get("step") == step and operations.is_made_again(each.sent)]
    if tried:
        return tried[-1]  # the one on a result, of which more may be known
    if step == "call" and isinstance(of, str) and of.partition(".")[0] == operations.MADE_OF_ANYTHING:
        return {"class": of}
    return {}


_LOOKS_FOR_NAME: Final = ("attribute", "member", "method", "of object")


def _lacks_name(sent: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Whether an object or module lacks a name in the worker, which has not all packages of the kernel."""
    is_lack = answer.get("raised") == "AttributeError" and "has no attribute" in answer.get("message", "")
    return is_lack and sent["step"] in _LOOKS_FOR_NAME


# What is sent


def _operation(of: AbstractValue | str, name: str) -> tuple[str, str]:
    """The package and dotted name of a function, or class and name of a method."""
    if isinstance(of, str):
        package, _, rest = of.partition(".")
        return package, rest
    return f"{of.package}.{of.class_name}", name


def _library_of(value: AbstractValue) -> str:
    """The library whose object or type an operand is, or holds first; "" for Python's own."""
    head = value.path.partition(".")[0] if value.path else value.package
    if head in LIBRARIES:
        return head
    parts = value.items if value.type in ("list", "tuple") else None
    return next((library for part in (parts or ())[:50] if (library := _library_of(part))), "")


def _kept(step: str, name: str, operands: Sequence[AbstractValue]) -> dict[str, Any]:
    """The range of integers that a method of a tensor hands on."""
    if step != "method" or name not in operations.KEEPING or not operands[0].is_a("torch", "Tensor"):
        return {}
    ends = operands[0].fact("value_range")
    if name in ("long", "int") and isinstance(ends, (list, tuple)):
        ends = [int(end) if type(end) is float and math.isfinite(end) else end for end in ends]
    return {"value_range": ends} if _are_integers(ends) else {}


def _as_array(value: AbstractValue) -> AbstractValue:
    """What is drawn of a list of numbers, of which only their count is known."""
    length, types = value.fact("length"), value.item_types
    if value.type == "list" and value.items is None and type(length) is int and types and types <= {*_NUMBERS}:
        return AbstractValue("numpy.ndarray", {"shape": (length,), "dtype": "float64"}, words=value.words)
    return value


def _are_integers(ends: Any) -> bool:
    return isinstance(ends, (list, tuple)) and all(type(end) is int for end in ends)


class _Sender:
    """Writes operands for the worker.

    `may_guess`: a number whose value is not known may be any. `sends_ranges`: what is known of the values of tensors of
    integers counts. `devices` are those of tensors and of layers with weights, None for one that is not told.
    """

    def __init__(self, *, may_guess: bool, sends_ranges: bool = False) -> None:
        self._may_guess = may_guess
        self._sends_ranges = sends_ranges
        self._n_parts = 0
        self.devices: set[str | None] = set()
        self._of_torch: list[dict[str, Any]] = []
        self.has_layer = False
        self.is_vague = False
        """A dtype that is not told was taken for the usual one."""

    def is_moved(self, *, may_be_elsewhere: bool) -> bool:
        """Whether what was sent is on another device, or may be. Raises NotSentError for several, or another kind."""
        known = {str(each) for each in self.devices if each is not None}
        if len(known) > 1 or not all(each == "cpu" or each.startswith("cuda") for each in known):
            raise NotSentError
        return bool(known - {"cpu"}) or None in self.devices and may_be_elsewhere

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
        return {"step": step, "of": of, "name": name, "operands": list(map(self.sent, operands)), "keywords": held}

    def sent(self, value: AbstractValue) -> dict[str, Any]:
        """Raises NotSentError."""
        self._n_parts += 1
        if self._n_parts > _MOST_PARTS:
            raise NotSentError
        if value.path:
            return {"named": value.path}
        if value.type == "torch.dtype":
            return {"named": _known(value.fact("value"))}
        if value.type == "torch.Size":
            return {"tuple": [self.sent(part) for part in _known(value.items)]}
        if value.package in (*LIBRARIES, "PIL"):
            known = self._facts(value)
            known["type"] = value.type if value.package != "PIL" else "PIL.Image.Image"
            return {"facts": known}
        if value.type in ("list", "tuple", "slice"):
            return {value.type: [self.sent(part) for part in _known(value.items)]}
        if value.type == "range":
            return {"range": [_value(value.fact(name, NOT_KNOWN)) for name in ("start", "stop", "step")]}
        if value.type == "dict":
            return {"dict": [[_value(key), self.sent(part)] for key, part in _known(value.members).items()]}
        if value.literal is NOT_KNOWN and value.type in _NUMBERS and self._may_guess:
            return {"any": value.type}
        return _value(value.literal)

    def _facts(self, value: AbstractValue) -> dict[str, Any]:
        if value.type.startswith("torch.nn.") and value.type not in _FACTS:
            known = _plain_facts(value)
            self._of_torch.append(known)
            if known.get("n_parameters") != 0 and ".loss." not in value.type:
                self._take_dtype(known)
                self.has_layer = True
                self.devices.add(known.pop("device", None))
            return known
        if value.package == "torchvision":
            return _settings(value)
        if value.package == "keras" and value.type != _SYMBOLIC:
            return _of_layer(value)
        if value.package == "pandas":
            return _pandas_facts(value)
        names = _FACTS.get(value.type if value.package != "PIL" else "PIL.Image.Image", ())
        known = {name: fact for name in names if (fact := value.fact(name)) is not None}
        n_needed = 1 if names is _TENSOR else _N_NEEDED
        n_open = 1 if value.type == _SYMBOLIC else 0  # of the batch
        if not known.keys() >= set(names[:n_needed]) or None in known.get("shape", ())[n_open:]:
            raise NotSentError
        if names is _TENSOR:
            self._take_dtype(known)
            self._of_torch.append(known)
            self.devices.add(known.pop("device", None))
            ends = value.fact("value_range")
            if not known.get("is_contiguous", True):
                known.pop("is_contiguous")
            if self._sends_ranges and _are_integers(ends):
                known["value_range"] = list(ends)
        return known

    @property
    def device_elsewhere(self) -> str | None:
        """The device of all that was sent, if it is known and not the processor."""
        return next(iter(self.devices - {"cpu"}), None) if len(self.devices) == 1 else None

    def is_large(self) -> bool:
        """Whether tensors are too large to be computed with; they are then sent as such."""
        is_large = any(math.prod(known.get("shape", ())) > _MOST_ELEMENTS for known in self._of_torch)
        for known in self._of_torch if is_large else ():
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
    facts: dict[str, Any] = {name: value.fact(name) for name in ("index", "name") if value.fact(name)}
    names = value.fact("index_names")
    if "index" not in facts and isinstance(names, tuple):
        facts["index"] = {"names": list(names)} if any(name is not None for name in names) else {}
    if value.type == "pandas.Series":
        return {**facts, "length": value.fact("length"), "dtype": value.fact("dtype") or ""}
    if value.type != "pandas.DataFrame":
        return {}
    labels = list(_known(value.fact("columns")))
    if any(type(label) not in (str, int) for label in labels):
        raise NotSentError
    dtypes = value.mapping("dtypes")
    shape = [(value.shape or (None,))[0], len(labels)]
    return {**facts, "shape": shape, "columns": labels, "dtypes": [dtypes.get(label) or "" for label in labels]}


def _settings(value: AbstractValue) -> dict[str, Any]:
    """The settings of a transform; models are not sent."""
    if not value.type.startswith("torchvision.transforms."):
        raise NotSentError
    return {name: fact for name, fact in value.facts.items() if name != "docs" and not isinstance(fact, AbstractValue)}


def _plain_facts(value: AbstractValue) -> dict[str, Any]:
    """All that is known of a layer or loss, to be made again with all of it or not at all; forgotten ones lack both."""
    facts = dict(value.facts)
    if (
        not facts.keys() & {"training", "reduction"}
        or value.attributes
        or any(isinstance(fact, AbstractValue) for fact in facts.values())
    ):
        raise NotSentError
    return {name: fact for name, fact in facts.items() if fact is not None and name != "docs"}


def _of_layer(value: AbstractValue) -> dict[str, Any]:
    """All that is known of a layer of Keras, to be made again with all of it or not at all; of a loss its class."""
    if value.type.startswith("keras.losses."):
        return {}
    if not value.type.startswith(("keras.layers.", "keras.src.layers.")):
        raise NotSentError
    told = [part for fact in value.facts.values() for part in (fact if isinstance(fact, (list, tuple)) else [fact])]
    is_known = not any(part is NOT_KNOWN or isinstance(part, AbstractValue) for part in told)
    if not value.facts or value.attributes or not is_known:
        raise NotSentError
    return {name: fact for name, fact in value.facts.items() if fact is not None and name not in ("docs", "type")}


def _value(value: Any) -> dict[str, Any]:
    """A plain value as it is sent."""
    if value is Ellipsis:
        return {"ellipsis": True}
    if type(value) is complex:
        return {"complex": [value.real, value.imag]}
    if isinstance(value, (tuple, list, set)):
        return {type(value).__name__: [_value(part) for part in value]}
    if isinstance(value, str) and len(value) > _LONGEST_TEXT or type(value) not in _PLAIN:
        raise NotSentError
    return {"is": value}


# What an answer means


class _Remedy(NamedTuple):
    exception: str
    message: re.Pattern[str]
    words: str


@cache
def _table() -> tuple[tuple[_Remedy, ...], tuple[re.Pattern[str], ...]]:
    """Remedies in the order in which they are tried, and messages that speak of values."""
    read = tomllib.loads(_REMEDIES.read_text("utf-8"))
    remedies = [_Remedy(each["exception"], re.compile(each["message"]), each["words"]) for each in read["remedy"]]
    return tuple(remedies), tuple(map(re.compile, read["of_values"]))


def _speaks_of_values(message: str) -> bool:
    return any(pattern.search(message) for pattern in _table()[1])


def _crash(library: str, version: str, exception: str, message: str, described: str) -> Crash:
    """The crash that a library announces."""
    remedies, _ = _table()
    words = next(
        (each.words for each in remedies if each.exception in (exception, "*") and each.message.search(message)), ""
    )
    said = " ".join(_NOISE.sub("", message).split())
    crash = Crash(
        exception,
        (said if len(said) <= _MOST_MESSAGE else said[: _MOST_MESSAGE - 1] + "\u2026") or exception,
        fact=described or f"{library} {version} refuses this",
        remedy=words,
    )
    crash.family = f"{library}: asked"
    return crash


def _described(value: AbstractValue) -> str:
    """What is known of an operand, for evidence; "" where its own text says it."""
    if isinstance(labels := value.fact("columns"), tuple) and value.package == "pandas":
        rest = f" and {len(labels) - _MOST_LABELS} more" if len(labels) > _MOST_LABELS else ""
        return f"{value.named('the table')} has the columns {', '.join(map(repr, labels[:_MOST_LABELS]))}{rest}"
    if value.type not in _FACTS:
        return ""
    known = {"shape": value.fact("shape"), "dtype": value.fact("dtype")}
    told = [f"the {name} {_spelled(fact)}" for name, fact in known.items() if fact is not None]
    return f"{value.words or 'the array'} has {' and '.join(told)}"


def _spelled(fact: Any) -> str:
    return str(tuple(fact)) if isinstance(fact, (list, tuple)) else str(fact)


def _certain(told: Mapping[str, Any], order: Order) -> dict[str, Any]:
    """What holds of a result, and of its parts, wherever the operands are and whatever dtype they have."""
    facts = {name: fact for name, fact in told.items() if name not in order.untold}
    if "device" in told and order.device is not None:
        facts["device"] = order.device
    if isinstance(parts := told.get("items"), dict):
        facts["items"] = {at: _certain(part, order) for at, part in parts.items()}
    return facts


def _given(told: Mapping[str, Any]) -> AbstractValue:
    facts = {name: fact for name, fact in told.items() if name != "type"}
    kind = str(told.get("type", ""))
    if kind == "torch.Tensor":
        facts.setdefault("is_contiguous", False)
    if kind == "NoneType":
        return AbstractValue("NoneType", literal=None)
    if kind.startswith("pandas."):
        return _given_table(kind, facts)
    parts = facts.pop("items") if kind not in ("list", "tuple") and "items" in facts else None
    value = value_from_facts(kind, facts, words="", is_captured=True)
    if parts is not None:
        value.items = list(map(_given, parts.values()))
    return value


def _given_table(kind: str, facts: dict[str, Any]) -> AbstractValue:
    """A table, column or index with its facts in the form of those of a state."""
    if isinstance(labels := facts.get("columns"), list):
        dtypes = zip(labels, facts.pop("dtypes", ()), strict=False)
        facts |= {"columns": tuple(labels), "column_labels": frozenset(labels)}
        facts["dtypes"] = {label: dtype for label, dtype in dtypes if dtype is not None}
    if isinstance(shape := facts.get("shape"), list):
        facts["shape"] = tuple(shape)
    if isinstance(names := facts.pop("index_names", None), list):
        facts["index_names"] = tuple(names) if any(name is not None for name in names) else ()
    return AbstractValue(kind, {name: fact for name, fact in facts.items() if fact is not None})


__all__ = [
    "LIBRARIES",
    "LIVE",
    "UNHURRIED",
    "Asker",
    "Patience",
    "Said",
    "assumed_packages",
    "start_beside",
    "versions_asked",
]
