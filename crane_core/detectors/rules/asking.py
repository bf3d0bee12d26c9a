"""What a library itself says of a step: tried on surrogates with the schema of the operands, in a separate process.

Asks only where an interpreter here has the very versions of the kernel; of a kernel that tells no versions, NumPy,
torch, matplotlib and layers of Keras answer about shapes, scikit-learn about data that it has always refused. What
may be asked is listed in kernel_side/crane_surrogates/operations.py, and for each library in asked/of_<package>.py.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from typing import Any, Final, NamedTuple

from crane_core.detectors.rules import sending
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import RefusedParameter
from crane_core.detectors.rules.answers import (
    LibraryAnswer,
    crash_of,
    described,
    speaks_of_values,
    value_given,
)
from crane_core.detectors.rules.asking_sklearn import Learning
from crane_core.detectors.rules.operation import Arguments
from crane_core.detectors.rules.paths import public_path
from crane_core.runtime.interpreters import assumed, interpreters, versions
from crane_core.runtime.kernel_side.crane_surrogates import operations, tables
from crane_core.runtime.kernel_side.crane_surrogates.asked import (
    of_matplotlib,
    of_pandas,
    of_python,
    of_sklearn,
    of_torch,
)
from crane_core.runtime.library_worker import LibraryWorker, library_worker

_CHANGING: Final = frozenset(
    ["out", "copy", "inplace", "overwrite_input", "where"]
)
"""Arguments with which a function may change what it is given."""
_DATA: Final = ("numpy.ndarray", "pandas.DataFrame", "pandas.Series", "list")
# Labels of an index of texts are attributes of a Series: `t.value_counts().rename(...).order`.
_NO_LABELS: Final = (
    "RangeIndex",
    "DatetimeIndex",
    "TimedeltaIndex",
    "PeriodIndex",
    "IntervalIndex",
)
"""Indices of which no label can be the name of an attribute."""
_MOST_LEARNT: Final = 6
"""Questions about one method of one class of scikit-learn, each of which may fit three models: 1 s in all."""
_MOST_ASKED: Final = 600
"""Questions about one target: two loops over 50 shapes each had 8,506, and took 6 s."""
_ASKED: Final = tuple(sorted(operations.BOUND))
_BOUND: Final = operations.BOUND | of_python.MODULES


TITLES: Final = {
    "keras": "Keras",
    "lightgbm": "LightGBM",
    "matplotlib": "Matplotlib",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "sklearn": "scikit-learn",
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
}
"""Names of packages as their owners write them, where that is another name than the module's."""
_SLOW_TO_LOAD: Final = frozenset(["keras", "tensorflow"])
"""They have a separate worker, so that no question about another library waits for them."""


class AskingPatience(NamedTuple):
    """Seconds that are waited about one target: for one answer, for libraries to be loaded, and for everything.

    `answers_s` is the processor time of all answers together but the first of each library, which may load parts of it
    for that: the same work is done on a busy machine, where the others are the last stop.
    """

    answer_s: float
    start_s: float
    total_s: float
    answers_s: float = 1.5


UNHURRIED: Final = AskingPatience(answer_s=5.0, start_s=30.0, total_s=50.0)
WAITING: Final = AskingPatience(answer_s=5.0, start_s=5.0, total_s=10.0)
"""A person waits for the verdict on a cell and sees which library answers."""
HURRIED: Final = AskingPatience(answer_s=0.25, start_s=0.0, total_s=0.3)
"""Before a cell that is about to run: does not wait for a library that is not loaded."""
_patience: ContextVar[AskingPatience] = ContextVar(
    "patience", default=UNHURRIED
)
_on_wait: ContextVar[Callable[[str], None]] = ContextVar(
    "on_wait", default=lambda _library: None
)
_answered: ContextVar[dict[str, None] | None] = ContextVar(
    "answered", default=None
)


@contextmanager
def asking_with(
    patience: AskingPatience, on_wait: Callable[[str], None]
) -> Iterator[Mapping[str, None]]:
    """How long libraries are waited for meanwhile; `on_wait` receives the name of one that is waited for.

    Yields the names of those that answered, in their order; it grows meanwhile.
    """
    answered: dict[str, None] = {}
    was_patience, was_on_wait = _patience.set(patience), _on_wait.set(on_wait)
    was_answered = _answered.set(answered)
    try:
        yield answered
    finally:
        _patience.reset(was_patience)
        _on_wait.reset(was_on_wait)
        _answered.reset(was_answered)


class LibraryRequest(NamedTuple):
    """One line to the worker, the libraries that it needs, and what of the answer is certain beside a refusal."""

    sent: Mapping[str, Any]
    libraries: frozenset[str]
    tells: bool = False
    untold: Set[str] = frozenset()
    is_typed: bool = False
    """Whether the type of what is given is certain, if no more of it is."""
    learning: Learning | None = None
    is_vague: bool = False
    """Devices, dtypes or the version of torch may be others: of what torch refuses, only shapes count."""
    is_large: bool = False
    """Sent without elements: of refusals only those of a usual class count."""
    device: str | None = None
    """Where the results are, if not on the processor."""


class StepQuestion(NamedTuple):
    """Questions about one step, in turn, until one is answered; what is known of the operands, in words."""

    orders: Sequence[LibraryRequest]
    described: str
    result: Mapping[str, Any]
    """How the worker can make the result of the step, or another object of its class; empty if it cannot."""


class Asker:
    """Asks about the steps of one target. `packages` are the kernel's versions; with no such worker it is silent.

    `may_be_extended`: classes and modules may have names by packages that the worker does not load. `not_asked` are
    libraries that were not waited for, and `without_answer` those of which a question is given up. `changed` are
    libraries that the kernel has set in another way than the worker does.
    """

    def __init__(
        self,
        packages: Mapping[str, str],
        mentions: Callable[[str], bool],
        *,
        may_be_extended: bool = False,
        changed: Set[str] = frozenset(),
    ) -> None:
        self._packages = packages
        self._mentions = mentions
        self._may_be_extended = may_be_extended
        self._is_of_any_version = not packages
        # Without versions only what every release refuses counts: `np.arange(3) == np.arange(4)` is
        # an answer in some releases and an exception in others.
        knows = _who_knows if packages else _who_knows_shapes
        python, known = knows(tuple(sorted(packages.items())), interpreters())
        self._libraries = known - changed
        self._python = python
        self._patience = _patience.get()
        self._until: float | None = None
        """When the patience ends (time.monotonic); it begins with the first question."""
        self._spent_s = 0.0
        """How long answers took so far."""
        self._loaded: set[str] = set()
        self._n_learnt: Counter[tuple[str, ...]] = Counter()
        self._answers: dict[str, Mapping[str, Any]] = {}
        self.not_asked: dict[str, None] = {}
        self.without_answer: dict[str, None] = {}

    def question(
        self,
        step: str,
        of: AbstractValue | str,
        name: str,
        receiver: AbstractValue | None,
        arguments: Arguments,
        made: Mapping[str, Any] | None = None,
    ) -> StepQuestion | None:
        """What there is to ask about a step, as its operands are now: a rule may change them. None: nothing.

        `made` is the `result` of the step whose result the receiver is, with nothing between.
        """
        # A star of unknown length may bring any argument, and so decide everything.
        if not self._libraries or not arguments.is_complete:
            return None
        # Making a question takes as long as its answer, so none is made beyond the limit.
        if self._is_asked_out:
            return None
        operands = arguments.values
        if receiver is not None and step != "call":
            operands = [receiver, *operands]
        holder, asked = sending.operation_of(of, name)
        # `df.loc[...]` is asked of the table: the indexer between them holds no facts.
        if (
            step == "item"
            and (table := _table_of_indexer(operands[0])) is not None
        ):
            step, asked = "located", of_pandas.INDEXERS[operands[0].type]
            operands[0], holder = table, table.type
        tried = self._tried(step, holder, asked, operands, arguments.keywords)
        if self._is_of_any_version:
            orders = [*tried, *self._of_learning(step, of, name, arguments)]
        else:
            orders = list(
                self._all_of(tried, step, of, name, arguments, made or {})
            )
        if not orders:
            return None
        words = "; ".join(dict.fromkeys(filter(None, map(described, operands))))
        return StepQuestion(orders, words, _result(step, of, orders))

    def _all_of(
        self,
        tried: Iterable[LibraryRequest],
        step: str,
        of: AbstractValue | str,
        name: str,
        arguments: Arguments,
        made: Mapping[str, Any],
    ) -> Iterator[LibraryRequest]:
        """The order to try a step, and those about names, arguments, results of other steps, and data."""
        of_name: Iterable[LibraryRequest] = ()
        if step == "attribute" and not isinstance(of, str):
            of_name = self._of_name(of, name)
            tried = () if of.path or of.type == "method" else tried
        yield from tried
        yield from self._bound(step, of, name, arguments)
        yield from of_name
        yield from self._of_made(step, name, arguments, made)
        yield from self._of_learning(step, of, name, arguments)

    def refused_parameter(
        self, path: str, step: str, given: Mapping[str, Any]
    ) -> RefusedParameter | None:
        """The first of some plain values that scikit-learn refuses in a "call" or "fit"; None if none for certain."""
        library = path.partition(".")[0]
        if not self._may_be_asked({library}):
            return None
        # An estimator checks its parameters when it is fitted: `Ridge(alpha='three')` alone runs.
        order = {
            "step": "parameters",
            "of": path,
            "name": step,
            "given": dict(given),
        }
        said = self._answer(order, [library]) if given else {}
        if "raised" not in said:
            return None
        return RefusedParameter(
            str(said["name"]),
            str(said["raised"]),
            str(said["message"]),
            tuple(said["options"]),
        )

    def begin_again(self) -> None:
        """Another target, whose questions have all the patience; answers that are known stay."""
        self._until, self._spent_s = None, 0.0

    @property
    def unsure(self) -> tuple[str, ...]:
        """Questions that are open, in sentences."""
        waited_for = [f"not asked yet: {title}" for title in self.not_asked]
        if self._is_asked_out:
            waited_for.append(
                f"only the first {_MOST_ASKED} questions to libraries were asked"
            )
        return (
            *waited_for,
            *(f"no answer: {title}" for title in self.without_answer),
        )

    @property
    def _is_asked_out(self) -> bool:
        return len(self._answers) >= _MOST_ASKED

    def about(self, question: StepQuestion) -> LibraryAnswer | None:
        """What the library says; None if it says nothing."""
        for order in question.orders:
            answer = self._answer(order.sent, order.libraries)
            # cufflinks adds `df.iplot`, and the worker loads neither it nor files of the notebook.
            if self._may_be_extended and _lacks_name(order.sent, answer):
                continue
            if order.learning is not None:
                answer = order.learning.restored(answer)
            said = (
                self._refusal(order, answer, question.described)
                if "raised" in answer
                else _result_of(order, answer)
            )
            if said is not None:
                return said
        return None

    def _refusal(
        self, order: LibraryRequest, answer: Mapping[str, Any], words: str
    ) -> LibraryAnswer | None:
        """The crash that an answer means; None where it may be about what was not sent."""
        raised, message = str(answer["raised"]), str(answer["message"])
        # Only of what was tried: a message about arguments may name the method `duplicated`, which
        # reads like one about values.
        is_tried = (
            isinstance(order.sent.get("operands"), list)
            and order.learning is None
        )
        is_elsewhere = order.is_vague and not operations.is_about_shapes(
            order.sent,
            raised,
            message,
            is_of_any_version=self._is_of_any_version,
        )
        # A tensor without elements also refuses what it cannot compute, by other classes.
        is_elsewhere |= order.is_large and raised not in (
            "RuntimeError",
            "ValueError",
        )
        # The stand-in has other values: that its matrix is singular says nothing of the real one.
        if is_elsewhere or is_tried and speaks_of_values(message):
            return None
        # The last by name: pandas, sklearn, tensorflow and torch come after
        # NumPy, on which they stand.
        library = max(
            order.libraries & set(_ASKED), key=_ASKED.index, default="python"
        )
        if order.learning is not None:
            words = order.learning.evidence(message) or words
        version, takes = self._packages.get(library, ""), answer.get("takes")
        known = f"in {library} {version} it takes {takes}" if takes else words
        called = _name_asked(order.sent, library)
        crash = crash_of(raised, message, called=called, described=known)
        crash.family = f"{library}: asked"
        return LibraryAnswer(crash, AbstractValue())

    def _tried(
        self,
        step: str,
        holder: str,
        asked: str,
        operands: Sequence[AbstractValue],
        keywords: Mapping[str, AbstractValue],
    ) -> Iterator[LibraryRequest]:
        """The order to try the step on surrogates; `operands` are those by position, then those by name."""
        libraries = {
            library
            for each in operands
            if (library := sending.library_of(each))
        }
        libraries |= {holder.partition(".")[0]} & sending.LIBRARIES
        # In pandas 3 the layout of columns in memory decides whether `df.values` can be written.
        # A table that is made for a question is always laid out in one block.
        is_stored = operations.is_stored(step, asked)
        if is_stored and operands[0].fact("may_be_read_only"):
            return
        if not self._may_be_asked(libraries):
            return
        yield from self._on_surrogates(
            step, holder, asked, operands, keywords, libraries
        )

    def _on_surrogates(
        self,
        step: str,
        holder: str,
        asked: str,
        operands: Sequence[AbstractValue],
        keywords: Mapping[str, AbstractValue],
        libraries: Set[str],
    ) -> Iterator[LibraryRequest]:
        sender = sending.Sender(
            may_guess=step == "operator",
            sends_ranges=operations.takes_indices(step, asked),
        )
        # The worker may have no GPU: `torch.zeros(3, device='cuda')` is tried on the processor.
        is_placed = "device" in keywords and libraries == {"torch"}
        named = {**keywords}
        if is_placed:
            del named["device"]
        given = list(operands[: len(operands) - len(keywords)])
        first = int(step == "method")
        if _draws_pairs(holder, asked):
            given[first : first + 2] = map(
                sending.as_array, given[first : first + 2]
            )
        with suppress(sending.NotSentError):
            sent = sender.order(step, holder, asked, given, named)
            if "torch" in libraries:
                sent["is_recording"] = self._is_recording(
                    has_layer=sender.has_layer
                )
            if not operations.is_asked(sent):
                return
            # A notebook that spells `cuda` may have moved tensors whose device no state shows.
            may_be_elsewhere = any(map(self._mentions, of_torch.OTHER_DEVICES))
            is_moved = is_placed or sender.is_moved(
                may_be_elsewhere=may_be_elsewhere
            )
            order = self._order(
                sent,
                sender,
                is_moved=is_moved,
                may_be_elsewhere=may_be_elsewhere,
            )
            if "device" in keywords or asked in of_torch.MOVING:
                order = order._replace(device=None)
            # With `out=` or `inplace=` the result is not what the function returns elsewhere.
            if not _CHANGING.isdisjoint(keywords):
                order = order._replace(tells=False, is_typed=False)
            yield order._replace(libraries=frozenset(libraries))

    def _is_recording(self, *, has_layer: bool) -> bool:
        """Whether torch records gradients: under `no_grad`, or with frozen weights, `seq(X).numpy()` runs."""
        freezing = of_torch.FREEZING if has_layer else ()
        return not any(
            map(self._mentions, (*of_torch.NOT_RECORDING, *freezing))
        )

    def _may_be_asked(self, libraries: Set[str]) -> bool:
        return (
            bool(libraries)
            and libraries <= self._libraries
            and not self._may_be_changed(libraries)
        )

    def _order(
        self,
        sent: Mapping[str, Any],
        sender: sending.Sender,
        *,
        is_moved: bool,
        may_be_elsewhere: bool,
    ) -> LibraryRequest:
        """The order to try a step, with what of its result is certain."""
        step, of, name = sent["step"], sent["of"], sent["name"]
        is_large = sender.is_large()
        is_apart = is_moved or is_large
        may_move = (
            is_apart
            or None in sender.devices
            or may_be_elsewhere
            and not sender.devices
        )
        is_vague = is_apart or sender.is_vague or self._is_of_any_version
        # Another device, or another release of torch, may lay out a result in another way.
        hides_strides = is_vague and not operations.tells_strides(step, name)
        doubtful = {
            "device": may_move,
            "dtype": sender.is_vague,
            "strides": hides_strides,
        }
        return LibraryRequest(
            sent,
            frozenset(),
            operations.tells_result(step, of, name),
            tables.untold(sent)
            | {fact for fact, is_doubtful in doubtful.items() if is_doubtful},
            is_typed=operations.tells_type(of, name),
            is_vague=is_vague,
            is_large=is_large,
            device=sender.device_elsewhere,
        )

    def _of_name(
        self, of: AbstractValue, name: str
    ) -> Iterator[LibraryRequest]:
        """The order to look for a name in a module, in a method that was not called, or in the class of an object."""
        told: dict[str, Any] = {
            "step": "of method",
            "of": str(of.fact("of", "")),
            "name": name,
        }
        asked = self._libraries
        if of.path:
            asked, told = (
                operations.LAZY,
                {**told, "step": "member", "of": of.path},
            )
        elif of.type != "method":
            # An attribute that the state shows is there, whatever the class says.
            asked = (
                operations.BOUND
                if of.attributes.get(name) is None
                else frozenset()
            )
            told |= {
                "step": "of object",
                "of": of.type,
                "is_made": False,
                "is_label": _may_be_label(of, name),
            }
        library = told["of"].partition(".")[0]
        if library in asked and self._may_be_asked({library}):
            yield LibraryRequest(told, frozenset([library]))

    def _of_made(
        self,
        step: str,
        name: str,
        arguments: Arguments,
        made: Mapping[str, Any],
    ) -> Iterator[LibraryRequest]:
        """The orders about the result of another step: of what it is an object, and what it makes of its arguments."""
        path = made.get("class") or made.get("of", "")
        library = path.partition(".")[0]
        is_of_class = "class" in made
        if not library or step not in ("attribute", "method", "item"):
            return
        if is_of_class and step == "item":
            return
        given = map(sending.library_of, arguments.values)
        libraries = frozenset([library, *filter(None, given)])
        if not self._may_be_asked(libraries):
            return
        if not is_of_class:
            yield from self._of_result(
                step, library, name, arguments, made, libraries
            )
        elif step == "attribute":
            sent = {"step": "of object", "of": path, "name": name}
            yield LibraryRequest(
                sent | {"is_made": True, "is_label": True}, libraries
            )
        else:
            sent = _binding(f"{path}.{name}", "method of made", arguments)
            yield LibraryRequest(sent, libraries)

    def _of_result(
        self,
        step: str,
        library: str,
        name: str,
        arguments: Arguments,
        made: Mapping[str, Any],
        libraries: frozenset[str],
    ) -> Iterator[LibraryRequest]:
        """The order to try a step on the result of another, which the worker makes again."""
        with suppress(sending.NotSentError):
            sent = sending.Sender(may_guess=False).order(
                step, library, name, arguments.positional, arguments.keywords
            )
            sent["operands"].insert(0, {"made": made})
            tells = step == "method" and name in of_pandas.AGGREGATING
            untold = tables.untold(sent) if tells else frozenset[str]()
            yield LibraryRequest(sent, libraries, tells, untold)

    def _bound(
        self,
        step: str,
        of: AbstractValue | str,
        name: str,
        arguments: Arguments,
    ) -> Iterator[LibraryRequest]:
        """The order to bind the arguments of a call; nothing is called, but wrapped functions of a few libraries."""
        path = of if isinstance(of, str) else f"{_path_of_class(of)}.{name}"
        library = path.partition(".")[0]
        if (
            step not in ("call", "method")
            or library not in _BOUND
            or not self._may_be_asked({library})
        ):
            return
        first = arguments.positional[0].type if arguments.positional else ""
        kind = "call of data" if step == "call" and first in _DATA else step
        yield LibraryRequest(
            _binding(path, kind, arguments), frozenset([library])
        )
        if step == "call" and library in operations.TRIED:
            sender = sending.Sender(may_guess=True)
            with suppress(sending.NotSentError):
                sent = sender.order(
                    "wrapped",
                    path,
                    "",
                    arguments.positional,
                    arguments.keywords,
                )
                yield LibraryRequest(sent, frozenset([library]))

    def _of_learning(
        self,
        step: str,
        of: AbstractValue | str,
        name: str,
        arguments: Arguments,
    ) -> Iterator[LibraryRequest]:
        """The order about a method of an estimator, or a function of scikit-learn, on data."""
        if (of if isinstance(of, str) else name) not in of_sklearn.LEARNING.get(
            step, ()
        ):
            return
        operands = [
            *([] if isinstance(of, str) else [of]),
            *arguments.positional,
        ]
        if "sklearn" not in self._libraries or self._may_be_changed(
            ["sklearn", "numpy", "pandas"]
        ):
            return
        given = [*operands, *arguments.keywords.values()]
        with suppress(sending.NotSentError):
            is_vague = self._is_of_any_version
            # After `set_output(transform='pandas')` a transformer returns tables instead of arrays.
            tells = step == "method" and not (
                is_vague or any(map(self._mentions, of_sklearn.OUTPUT_SETTINGS))
            )
            learning = Learning(given)
            sent = learning.order(
                of if isinstance(of, str) else "",
                name,
                operands,
                arguments.keywords,
            )
            yield LibraryRequest(
                sent,
                frozenset(["sklearn"]),
                tells,
                learning=learning,
                is_vague=is_vague,
            )

    def _may_be_changed(self, libraries: Iterable[str]) -> bool:
        """Whether the notebook spells what may change what operations of these libraries do."""
        spelled = [
            # `np.seterr(all='raise')`, a mock or cuDF changes what functions of the same names do.
            text
            for each in ("", *libraries)
            for text in operations.UNLESS_MENTIONED.get(each, ())
        ]
        return any(map(self._mentions, spelled))

    def _answer(
        self, order: Mapping[str, Any], libraries: Iterable[str]
    ) -> Mapping[str, Any]:
        """What the library says; empty where it says nothing in time, and then `not_asked` names it."""
        key = json.dumps(order, default=str)
        if key not in self._answers and self._is_fit_once_more(order):
            return {}
        if key not in self._answers:
            self._answers[key] = self._said(order, frozenset(libraries)) or {}
        return self._answers[key]

    def _is_fit_once_more(self, order: Mapping[str, Any]) -> bool:
        """Whether the questions about one method are many: `cross_val_score` in a loop over 40 depths took 20 s."""
        # Counted, so that the same target gets the same answer on any machine.
        if order["step"] != "learns":
            return False
        operands: Sequence[Mapping[str, Any]] = order["operands"]
        facts = operands[0].get("facts", {}) if operands else {}
        asked = (order["of"], order["name"], str(facts.get("path", "")))
        self._n_learnt[asked] += 1
        return self._n_learnt[asked] > _MOST_LEARNT

    def _said(
        self, order: Mapping[str, Any], libraries: Set[str]
    ) -> Mapping[str, Any] | None:
        now = time.monotonic()
        if self._until is None:
            self._until = now + self._patience.total_s
        is_loaded = self._loaded.issuperset(libraries)
        asked = titles(libraries)
        if is_loaded and self._spent_s >= self._patience.answers_s:
            self.not_asked.update(dict.fromkeys(asked))
            return None
        left_s = max(0.0, self._until - now)
        worker = worker_of(self._python, libraries)
        on_wait = _on_wait.get()
        said = worker.ask(
            order,
            libraries,
            seconds=min(self._patience.answer_s, max(0.0, left_s)),
            start_s=min(self._patience.start_s, max(0.0, left_s)),
            on_wait=lambda: on_wait(asked[-1]),
        )
        # An answer that is kept counts again, so that every round of a target has the same answers.
        self._spent_s += worker.spent_s(order, libraries) * is_loaded
        self._loaded |= libraries
        if said is None:
            is_given_up = worker.is_given_up(order, libraries)
            (self.without_answer if is_given_up else self.not_asked).update(
                dict.fromkeys(asked)
            )
        elif (answered := _answered.get()) is not None:
            answered.update(dict.fromkeys(asked))
        return said


def _name_asked(sent: Mapping[str, Any], library: str) -> str:
    """The dotted name of what a question is about, as a documentation has it; an operator as it is written."""
    name, of = str(sent.get("name", "")), str(sent.get("of", ""))
    if sent["step"] in ("operator", "item", "set_item", "located"):
        return f"[{name}]"
    # Of a learning step the class is a fact of the first operand.
    first = sent.get("operands")
    if not of and isinstance(first, list) and first:
        of = str(first[0].get("facts", {}).get("path", ""))
    named = ".".join(
        filter(None, (of, "" if sent["step"] == "binds" else name))
    )
    return public_path(named) or library


def _draws_pairs(holder: str, asked: str) -> bool:
    """Whether matplotlib draws two lists: of different lengths they are refused whatever numbers they hold."""
    is_drawn = asked.rpartition(".")[2] in of_matplotlib.DRAWS_PAIRS
    return is_drawn and holder.startswith("matplotlib")


def _table_of_indexer(value: AbstractValue) -> AbstractValue | None:
    """The table of `df.loc` or another indexer of pandas; None of anything else."""
    return value.bound_to if value.type in of_pandas.INDEXERS else None


def worker_of(python: str, libraries: Set[str]) -> LibraryWorker:
    """The worker of an interpreter that answers for these libraries."""
    return (
        library_worker(python, "slow to load")
        if libraries & _SLOW_TO_LOAD
        else library_worker(python)
    )


def titles(libraries: Iterable[str]) -> list[str]:
    """Libraries as their owners write them; NumPy, on which the others stand, only where it is alone."""
    named = [
        TITLES.get(each, each) for each in _ASKED if each in set(libraries)
    ]
    return (
        [title for title in named if title != TITLES["numpy"]]
        or named
        or ["Python"]
    )


def versions_asked() -> list[dict[str, str]]:
    """Versions of Python and of the libraries in each interpreter that answers for kernels with the same."""
    return [found for python in interpreters() if (found := _versions(python))]


@cache
def _who_knows(
    packages: tuple[tuple[str, str], ...], asked: tuple[str, ...]
) -> tuple[str, frozenset[str]]:
    """The interpreter that has the most libraries in a kernel's own versions, under its Python, and which these are."""
    kernel = dict(packages)
    best, shared = "", set[str]()
    for python in asked if "python" in kernel else ():
        here = _versions(python)
        if _minor(here.get("python", "")) == _minor(kernel["python"]):
            same = {
                each
                for each in _ASKED
                if each in here
                and _public(here[each]) == _public(kernel.get(each, ""))
            }
            best, shared = (
                (python, same)
                if not best or len(same) > len(shared)
                else (best, shared)
            )
    return best, frozenset(shared | of_python.MODULES if best else ())


@cache
def _who_knows_shapes(
    _packages: object, asked: tuple[str, ...]
) -> tuple[str, frozenset[str]]:
    """The interpreter with most of the libraries that may answer for a kernel that tells no versions."""
    shared = {
        python: frozenset(_versions(python)).intersection(
            operations.OF_ANY_VERSION
        )
        for python in asked
    }
    best = max(shared, key=lambda python: len(shared[python]), default="")
    return best, shared.get(best, frozenset())


def _minor(python: str) -> str:
    """3.11 of 3.11.7: what a library refuses does not change with a correction of Python."""
    return python.rpartition(".")[0]


def _public(version: str) -> str:
    """2.2.2 of 2.2.2+cu121: torch tells the devices it is built for, its distribution may not."""
    return version.partition("+")[0]


def _versions(python: str) -> dict[str, str]:
    """By package; several distributions may provide one."""
    named = {
        each: operations.DISTRIBUTIONS.get(each, (each,)) for each in _ASKED
    }
    read = versions(
        python,
        tuple(
            each for distributions in named.values() for each in distributions
        ),
    )
    of_libraries = {
        each: read[one]
        for each, ones in named.items()
        # The first distribution that is named wins, as it is set last:
        # tensorflow before tensorflow-cpu.
        for one in reversed(ones)
        if one in read
    }
    return {"python": read["python"], **of_libraries} if of_libraries else {}


def assumed_packages() -> Mapping[str, str]:
    """Versions that a kernel is taken to have where its state tells none: those of the interpreter that was named."""
    python = assumed()
    return _versions(python) if python else {}


def start_beside() -> None:
    """Start the worker of this interpreter before anybody asks; it is not waited for."""
    library_worker(sys.executable).start()


def load(libraries: Iterable[str]) -> None:
    """Load libraries in the workers of this interpreter, and wait for that; the slow ones last."""
    wanted = [each for each in _ASKED if each in set(libraries)]
    slow = [each for each in wanted if each in _SLOW_TO_LOAD]
    library_worker(sys.executable).load(
        each for each in wanted if each not in _SLOW_TO_LOAD
    )
    if slow:
        worker_of(sys.executable, {*slow}).load(slow)


def _result_of(
    order: LibraryRequest, answer: Mapping[str, Any]
) -> LibraryAnswer | None:
    """The result of a step, and what it leaves of its first operand; None where neither is certain."""
    facts, left = answer.get("gave"), answer.get("left")
    if not isinstance(facts, dict):
        return None
    if order.is_typed and "type" in facts:
        return LibraryAnswer(None, AbstractValue(str(facts["type"])))
    # That a name is a method is said by the class, whatever the values are.
    is_told = order.tells or facts.get("type") == "method"
    if not (facts and is_told or left):
        return None
    return LibraryAnswer(
        None,
        value_given(_certain(facts, order)),
        value_given(_certain(left, order)) if left else None,
    )


def _binding(path: str, kind: str, arguments: Arguments) -> dict[str, Any]:
    """What is sent to bind arguments: how many there are, and the names of others."""
    n_positional, keywords = (
        len(arguments.positional),
        # Their order does not matter, and a question is asked once.
        sorted(arguments.keywords),
    )
    return {
        "step": "binds",
        "of": path,
        "name": kind,
        "operands": n_positional,
        "keywords": keywords,
    }


def _path_of_class(value: AbstractValue) -> str:
    return (
        f"builtins.{value.type}" if value.package == "builtins" else value.type
    )


def _may_be_label(of: AbstractValue, name: str) -> bool:
    """Whether a table or column may have this label, with which it shows an element or column as an attribute."""
    if of.is_a("pandas", "Series"):
        return str(of.mapping("index").get("type")) not in _NO_LABELS
    columns = of.fact("columns")
    return columns is None or name in columns


def _result(
    step: str, of: AbstractValue | str, orders: Sequence[LibraryRequest]
) -> Mapping[str, Any]:
    """How the worker makes the result of a step: by the order to try it, or as an object of the called class."""
    tried = _tried_again(step, orders)
    if tried:
        return tried[-1]  # the one on a result, of which more may be known
    if step != "call" or not isinstance(of, str):
        return {}
    return {"class": of} if of.partition(".")[0] in operations.LATE else {}


def _tried_again(
    step: str, orders: Sequence[LibraryRequest]
) -> list[Mapping[str, Any]]:
    """The orders to try a step that the worker can follow once more; of items only those on a result."""
    sent = [each.sent for each in orders if each.sent.get("step") == step]
    found = [each for each in sent if operations.is_made_again(each)]
    if step != "item":
        return found
    return [each for each in found if "made" in each["operands"][0]]


def _certain(told: Mapping[str, Any], order: LibraryRequest) -> dict[str, Any]:
    """What holds of a result, and of its parts, wherever the operands are and whatever dtype they have."""
    facts = {
        name: fact for name, fact in told.items() if name not in order.untold
    }
    if "writeable" in told and "writeable" in order.untold:
        facts["may_be_read_only"] = True
    if "device" in told and order.device is not None:
        facts["device"] = order.device
    if isinstance(parts := told.get("items"), dict):
        facts["items"] = {
            at: _certain(part, order) for at, part in parts.items()
        }
    return facts


_LOOKS_FOR_NAME: Final = ("attribute", "member", "method", "of object")


def _lacks_name(sent: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Whether an object or module lacks a name in the worker, which has not all packages of the kernel."""
    is_lack = answer.get(
        "raised"
    ) == "AttributeError" and "has no attribute" in answer.get("message", "")
    return is_lack and sent["step"] in _LOOKS_FOR_NAME
