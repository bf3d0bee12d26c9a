"""What an answer of a library means: a crash in its own words with a remedy, or the result of a step.

Knows the forms of answers, and which messages speak of values that surrogates do not have.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from crane_core.detectors.rules.abstract_value import AbstractValue, number_of
from crane_core.detectors.rules.answer import Crash
from crane_core.detectors.rules.from_state import value_from_facts
from crane_core.detectors.rules.sending import FACTS

_MOST_LABELS = 12
_MOST_MESSAGE = 400
_LONGEST_SHOWN = 60
_NOISE: Final = re.compile(r"\{\{.*?\}\}|\x1b\[\d*m")
"""Nodes of TensorFlow's graphs, and colours of a terminal."""
_REMEDIES: Final = Path(__file__).with_name("remedies.toml")


class LibraryAnswer(NamedTuple):
    """What a library says of a step: `crash` where it refuses it, else the result (`gives`).

    `left` is what the first operand is afterwards, of a step that changes it.
    """

    crash: Crash | None
    gives: AbstractValue
    left: AbstractValue | None = None


class _Remedy(NamedTuple):
    exception: str
    message: re.Pattern[str]
    words: str


@cache
def _table() -> tuple[tuple[_Remedy, ...], tuple[re.Pattern[str], ...]]:
    """Remedies in the order in which they are tried, and messages that speak of values."""
    read = tomllib.loads(_REMEDIES.read_text("utf-8"))
    remedies = [
        _Remedy(each["exception"], re.compile(each["message"]), each["words"])
        for each in read["remedy"]
    ]
    return tuple(remedies), tuple(map(re.compile, read["of_values"]))


def speaks_of_values(message: str) -> bool:
    """Whether a library's message is about values of operands, by the patterns of remedies.toml."""
    return any(pattern.search(message) for pattern in _table()[1])


def crash_of(
    exception: str, message: str, *, called: str, described: str
) -> Crash:
    """The crash that a library announces in a call of what has this dotted name: "pandas.merge"."""
    remedies, _ = _table()
    # The first that fits: the table has special messages before general ones.
    words = next(
        (
            each.words
            for each in remedies
            if each.exception in (exception, "*")
            and each.message.search(message)
        ),
        f"compare the call with the documentation of {called}"
        if re.fullmatch(r"[A-Za-z_][\w.]*", called)
        else "convert or select the operands so that both fit",
    )
    said = " ".join(_NOISE.sub("", message).split())
    return Crash(
        exception,
        (
            said
            if len(said) <= _MOST_MESSAGE
            else said[: _MOST_MESSAGE - 1] + "\u2026"
        )
        or exception,
        fact=described or "the arguments are written in the cell",
        remedy=words,
    )


def described(value: AbstractValue) -> str:
    """What is known of an operand, for evidence; "" where its own text says it."""
    if (
        isinstance(labels := value.fact("columns"), tuple)
        and value.package == "pandas"
    ):
        rest = (
            f" and {len(labels) - _MOST_LABELS} more"
            if len(labels) > _MOST_LABELS
            else ""
        )
        return f"{value.named('the table')} has the columns {', '.join(map(repr, labels[:_MOST_LABELS]))}{rest}"
    if value.type not in FACTS:
        return _of_plain(value)
    known = {"shape": value.fact("shape"), "dtype": value.fact("dtype")}
    told = [
        f"the {name} {_spelled(fact)}"
        for name, fact in known.items()
        if fact is not None
    ]
    return f"{value.words or 'the array'} has {' and '.join(told)}"


def _of_plain(value: AbstractValue) -> str:
    """Of a series its length and dtype, of a list its length, of a name of a plain value that value."""
    words = value.words
    if value.is_a("pandas", "Series"):
        known = {name: value.fact(name) for name in ("length", "dtype")}
        told = [f"the {name} {fact}" for name, fact in known.items() if fact]
        return (
            f"{words or 'the series'} has {' and '.join(told)}" if told else ""
        )
    # A literal is evidence by itself, and so has no words but those of the code.
    if not words.isidentifier() or value.path:
        return ""
    length = value.fact("length") if value.items is None else len(value.items)
    if value.type in ("list", "tuple") and type(length) is int:
        return f"{words} has {number_of(length, 'element')}"
    shown = repr(value.literal) if value.is_literal else ""
    return f"{words} is {shown}" if 0 < len(shown) <= _LONGEST_SHOWN else ""


def _spelled(fact: Any) -> str:
    return str(tuple(fact)) if isinstance(fact, (list, tuple)) else str(fact)


def value_given(told: Mapping[str, Any]) -> AbstractValue:
    """The abstract value of a result, from the worker's answer about it: its type and facts."""
    facts = {name: fact for name, fact in told.items() if name != "type"}
    kind = str(told.get("type", ""))
    if kind == "torch.Tensor":
        facts.setdefault("is_contiguous", False)
    if kind == "NoneType":
        return AbstractValue("NoneType", literal=None)
    if kind.startswith("pandas."):
        return _given_table(kind, facts)
    # torch returns named tuples, whose parts are tensors: `values, places = layer(x).max(1)`.
    parts = (
        facts.pop("items")
        if kind not in ("list", "tuple") and "items" in facts
        else None
    )
    value = value_from_facts(kind, facts, words="", is_captured=True)
    if parts is not None:
        value.items = list(map(value_given, parts.values()))
    return value


def _given_table(kind: str, facts: dict[str, Any]) -> AbstractValue:
    """A table, column or index with its facts in the form of those of a state."""
    if isinstance(labels := facts.get("columns"), list):
        dtypes = zip(labels, facts.pop("dtypes", ()), strict=False)
        facts |= {"columns": tuple(labels), "column_labels": frozenset(labels)}
        facts["dtypes"] = {
            label: dtype for label, dtype in dtypes if dtype is not None
        }
    if isinstance(shape := facts.get("shape"), list):
        facts["shape"] = tuple(shape)
    # pandas has one unnamed level (`[None]`) in every plain index. Facts of a state leave it out.
    if isinstance(names := facts.pop("index_names", None), list):
        facts["index_names"] = tuple(names) if names != [None] else ()
    return AbstractValue(
        kind, {name: fact for name, fact in facts.items() if fact is not None}
    )
