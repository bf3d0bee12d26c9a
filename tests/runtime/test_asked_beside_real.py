"""What was concluded of every listed operation beside what it really does to values that nobody told: each at random.

An operation that is refused with surrogates is refused with all values, by the same class of exception; what surrogates
gave has the schema of what values give.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, seed
from hypothesis import strategies as st

from crane_core.runtime.kernel_side.crane_surrogates import (
    operations,
    signatures,
    worker,
)
from crane_core.runtime.kernel_side.crane_surrogates.asked import of_python
from tests.examples import examples
from tests.optional import each

N_TRIED = 8
"""Values that are tried for each question."""
SHAPES = [
    (),
    (0,),
    (1,),
    (2,),
    (3,),
    (3,),
    (4,),
    (1, 1),
    (2, 2),
    (3, 3),
    (2, 3),
    (3, 2),
    (1, 3),
    (0, 3),
    (2, 3, 4),
    (3, 4),
]
DTYPES = [
    "bool",
    "int64",
    "int64",
    "uint8",
    "int8",
    "float64",
    "float64",
    "float32",
    "complex128",
    "<U3",
    "<U3",
    "datetime64[D]",
    "timedelta64[s]",
]
NUMBERS = ["int64", "uint8", "float64", "float32", "bool", "complex128"]
KNOWN = [
    *(
        None,
        True,
        False,
        0,
        0,
        1,
        1,
        -1,
        2,
        3,
        4,
        -3,
        6,
        300,
        0.5,
        -1.5,
        float("nan"),
        "a",
        "float64",
        "int8",
        "full",
    ),
    *(
        "valid",
        "edge",
        "F",
        (2, 3),
        (3, 2),
        (0, 1),
        (6,),
        (-1,),
        [0, 1],
        [1, -1],
        [2, 0, 1],
        [],
        (3, 3),
        (1, 2, 3),
    ),
    *(
        [[1, 2], [3, 4]],
        "ij,jk->ik",
        "i,i",
        "ij->ji",
        "ii",
        [True, False, True],
        [1, 2],
        1,
        2,
        (0, -1),
        5.0,
    ),
]
NAMES = [
    "axis",
    "dtype",
    "keepdims",
    "ddof",
    "n",
    "k",
    "mode",
    "dim",
    "keepdim",
    "a",
    "x",
    "input",
    "other",
    "weight",
]
TEXTS = ["", "a", "1", "1.5", "nan", "-2", "\u00e9", "inf", "NaT", "%d"]
OPERATORS = list(worker._OPERATORS)


class AskedCase:
    """One question: `order` as it is sent, and how its operands are made with values."""

    def __init__(self, chosen: random.Random, library: str) -> None:
        self.chosen, self.library = chosen, library
        self.facts: list[dict[str, Any]] = []

    def told(self, *, is_data: bool) -> Any:
        """An operand as it is sent: a surrogate where data may stand, else, and at times, a known value."""
        kind = self.chosen.random()
        if not is_data or kind < 0.15:
            return known(self.chosen.choice(KNOWN))
        if kind < 0.3:
            return {
                "list": [self.array() for _ in range(self.chosen.randint(1, 3))]
            }
        return self.array()

    def array(self) -> dict[str, Any]:
        if self.library == "torch":
            return {"facts": tensor_facts(self.chosen)}
        if self.chosen.random() < 0.1:
            return {"facts": {"type": f"numpy.{self.chosen.choice(NUMBERS)}"}}
        shape, dtype = self.chosen.choice(SHAPES), self.chosen.choice(DTYPES)
        return {
            "facts": {
                "type": "numpy.ndarray",
                "shape": list(shape),
                "dtype": dtype,
            }
        }


TORCH_DTYPES = [
    *(
        "bool",
        "int64",
        "int64",
        "uint8",
        "int8",
        "float64",
        "float64",
        "float32",
        "complex128",
        "<U3",
        "<U3",
    ),
    *("datetime64[D]", "timedelta64[s]"),
]


def tensor_facts(chosen: random.Random) -> dict[str, Any]:
    dtype = chosen.choice(TORCH_DTYPES)
    facts: dict[str, Any] = {
        "type": "torch.Tensor",
        "shape": list(chosen.choice(SHAPES)),
        "dtype": f"torch.{dtype}",
    }
    if chosen.random() < 0.7:
        facts["requires_grad"] = (
            dtype in ("float32", "float64", "complex64")
            and chosen.random() < 0.3
        )
        if facts["requires_grad"] and chosen.random() < 0.5:
            facts["grad_fn"] = "AddBackward0"
    return facts


def known(value: Any) -> dict[str, Any]:
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [known(part) for part in value]}
    return {"is": value}


def real(told: dict[str, Any], chosen: random.Random) -> Any:
    """An operand with values."""
    [(form, held)] = told.items()
    if form == "any":
        return {
            "int": chosen.randint(-3, 300),
            "float": chosen.choice([-1.5, 0.0, 1e9]),
            "bool": chosen.random() < 0.5,
        }[held]
    if form in ("list", "tuple"):
        return (list if form == "list" else tuple)(
            real(part, chosen) for part in held
        )
    if form == "slice":
        return slice(*(real(part, chosen) for part in held))
    if form != "facts":
        return held if form == "is" else Ellipsis
    if held["type"].startswith("torch."):
        return real_tensor(held, chosen)
    if held["type"] != "numpy.ndarray":
        return elements(np.dtype(held["type"].partition(".")[2]), (1,), chosen)[
            0
        ]
    return laid(
        elements(np.dtype(held["dtype"]), tuple(held["shape"]), chosen), chosen
    )


def elements(dtype: Any, shape: Sequence[int], chosen: random.Random) -> Any:
    n = int(np.prod(shape))
    if dtype.kind == "U":
        return np.array(
            [chosen.choice(TEXTS) for _ in range(n)], dtype
        ).reshape(shape)
    if dtype.kind in "mM":
        days = [
            chosen.choice(
                [np.iinfo("i8").min, 0, -4, 18_000, chosen.randint(0, 9)]
            )
            for _ in range(n)
        ]
        return np.array(days, "i8").astype(dtype).reshape(shape)
    return numbers(n, shape, chosen, is_whole=dtype.kind not in "fc").astype(
        dtype
    )


def numbers(
    n: int, shape: Sequence[int], chosen: random.Random, *, is_whole: bool
) -> Any:
    """Numbers of a kind that an operation may need: small indices, growing, positive definite, all but finite."""
    kind = chosen.choice(
        [
            "small",
            "grows",
            "falls",
            "definite",
            "far",
            "many",
            "counts",
            "shares",
        ]
    )
    if kind == "definite" and len(shape) >= 2 and shape[-1] == shape[-2]:
        return np.broadcast_to(
            np.eye(shape[-1]) * chosen.randint(1, 4), shape
        ).copy()
    if kind in ("grows", "falls"):
        drawn = [
            chosen.randint(0, 3) + at * chosen.randint(0, 2) for at in range(n)
        ]
        drawn.sort(reverse=kind == "falls")
    elif kind == "far":
        drawn = [
            chosen.choice(
                [-100, -1, 0, 127, 100]
                if is_whole
                else [np.nan, np.inf, -np.inf, -0.0, 1e30]
            )
            for _ in range(n)
        ]
    elif kind == "counts":
        drawn = [at % max(n, 1) for at in range(n)]
        chosen.shuffle(drawn)
    elif kind == "shares":
        drawn = [1 if is_whole else 1 / max(n, 1)] * n
    else:
        drawn = [
            chosen.randint(*((0, 2) if kind == "small" else (-5, 12)))
            for _ in range(n)
        ]
    return np.array(drawn, "f8").reshape(shape)


def laid(array: Any, chosen: random.Random) -> Any:
    way = chosen.random() if array.ndim else 1.0
    if way < 0.2:
        return np.asfortranarray(array)
    return np.stack([array, array], -1)[..., 0] if way < 0.4 else array


def real_tensor(facts: dict[str, Any], chosen: random.Random) -> Any:
    import torch

    name = facts["dtype"].partition(".")[2]
    held = laid(elements(np.dtype(name), tuple(facts["shape"]), chosen), chosen)
    tensor = (
        torch.from_numpy(held)
        if held.ndim
        else torch.tensor(held.item(), dtype=getattr(torch, name))
    )
    can_grad = tensor.is_floating_point() or tensor.is_complex()
    if not facts.get("requires_grad", can_grad and chosen.random() < 0.5):
        return tensor
    tensor.requires_grad_()
    is_leaf = (
        "grad_fn" not in facts
        if "requires_grad" in facts
        else chosen.random() < 0.5
    )
    with torch.enable_grad():
        return tensor if is_leaf else tensor * 1


def listed(library: str) -> Iterator[tuple[str, str, str, Sequence[int]]]:
    """Every listed function and method, each name of a wildcard by itself: step, holder, name, places of data."""
    for name, places in operations.CALLS[library].items():
        if name.endswith("*"):
            module = worker.reduce(
                getattr, name.split(".")[:-1], __import__(library)
            )
            names = [
                f"{name[:-1]}{each}"
                for each in dir(module)
                if not each.startswith("_") and each not in operations.NEVER
            ]
            yield from (
                ("call", library, each, places)
                for each in names
                if callable(getattr(module, each.rpartition(".")[2]))
            )
        else:
            yield "call", library, name, places
    for holder, methods in operations.METHODS.items():
        if holder in ("numpy.ndarray", "torch.Tensor") and holder.startswith(
            library
        ):
            yield from (
                ("method", holder, name, places)
                for name, places in methods.items()
            )


def question(
    chosen: random.Random,
    library: str,
    asked: tuple[str, str, str, Sequence[int]],
) -> dict[str, Any]:
    """One question about a listed operation with random operands."""
    step, of, name, places = asked
    case = AskedCase(chosen, library)
    operands = [case.array()] if step == "method" else []
    n_given = (
        chosen.choice(
            [1, 1, 1, max(len(places), 1), max(len(places), 1) + 1, 2]
        )
        if len(places) < 6
        else chosen.randint(1, 3)
    )
    n_given -= step == "method" and n_given > 0
    operands += [case.told(is_data=at in places) for at in range(n_given)]
    keywords = {
        chosen.choice(NAMES): known(chosen.choice(KNOWN))
        for _ in range(chosen.choice([0, 0, 0, 0, 1]))
    }
    return {
        "step": step,
        "of": of,
        "name": name,
        "operands": operands,
        "keywords": keywords,
    }


def step_question(chosen: random.Random, library: str) -> dict[str, Any]:
    """One question about an operator, an index, a condition or a format."""
    case = AskedCase(chosen, library)
    of = "numpy.ndarray" if library == "numpy" else "torch.Tensor"
    step = chosen.choice(
        [
            "operator",
            "operator",
            "item",
            "item",
            "set_item",
            "set_item",
            "truth",
            "element",
            "format",
        ]
    )
    operands, name = [case.array()], ""
    if step == "operator":
        name = chosen.choice(OPERATORS)
        guess = {"any": chosen.choice(["int", "float", "bool"])}
        other = chosen.choice(
            [case.array(), guess, known(chosen.choice(KNOWN))]
        )
        operands = (
            [*operands, other] if chosen.random() < 0.7 else [other, *operands]
        )
        operands = operands[:1] if name.endswith("x") else operands
    elif step == "format":
        operands.append(
            known(chosen.choice(["", ".2f", "d", "x", ">5", "5", "s"]))
        )
    elif step in ("item", "set_item"):
        operands.append(index(case))
        operands += (
            [chosen.choice([case.array(), known(chosen.choice(KNOWN))])]
            if step == "set_item"
            else []
        )
    return {
        "step": step,
        "of": of,
        "name": name,
        "operands": operands,
        "keywords": {},
    }


def index(case: AskedCase) -> dict[str, Any]:
    chosen = case.chosen
    plain = [
        {"ellipsis": True},
        known(None),
        *map(known, (0, -1, 1, 5, [0, 1], "a", 1.5, True)),
    ]
    part = [
        case.array,
        lambda: chosen.choice(plain),
        lambda: {
            "slice": [
                known(None),
                chosen.choice([known(2), case.array()]),
                known(None),
            ]
        },
    ]
    if chosen.random() < 0.5:
        return chosen.choice(part)()
    return {
        "tuple": [chosen.choice(part)() for _ in range(chosen.randint(1, 3))]
    }


def disagreements(
    order: dict[str, Any], chosen: random.Random
) -> Iterator[str]:
    """Values with which the operation does other than was concluded."""
    answer = worker.answer(json.dumps(order).encode())
    if "unknown" in answer:
        return
    step, of, name = order["step"], order["of"], order["name"]
    if "gave" in answer and not (
        answer["gave"] and operations.tells_result(step, of, name)
    ):
        return
    operation = worker._operation(step, of, name)
    for _ in range(N_TRIED):
        operands = [real(told, chosen) for told in order["operands"]]
        keywords = {
            key: real(told, chosen) for key, told in order["keywords"].items()
        }
        shown = f"{order} with {operands} {keywords}"
        with worker._modes(chosen.choice([0, 1]), order):
            came = worker._tried(
                operation,
                operands,
                keywords,
                is_measured=operations.is_measured(order),
            )
        if "raised" in answer:
            if came.get("raised") != answer["raised"]:
                yield f"{answer} but {came}: {shown}"
        elif "gave" in came and not is_told_by(answer["gave"], came["gave"]):
            yield f"{answer} but {came}: {shown}"


def is_told_by(facts: dict[str, Any], seen: dict[str, Any]) -> bool:
    """Whether all that was concluded of a value, and of its parts, is seen of a real one."""
    plain = {
        name: fact
        for name, fact in facts.items()
        if name not in ("items", "shape")
    }
    lengths = zip(facts.get("shape", ()), seen.get("shape", ()), strict=True)
    if any(length is not None and length != other for length, other in lengths):
        return False
    if any(repr(seen.get(name)) != repr(fact) for name, fact in plain.items()):
        return False
    parts = facts.get("items", {})
    return all(
        part == {"type": ""} or is_told_by(part, seen["items"][at])
        for at, part in parts.items()
    )


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("library", each(["numpy", "torch"]))
@seed(5)
@examples(600)
@given(number=st.integers(0, 2**32))
def test_what_is_concluded_of_a_listed_operation_holds_for_all_values(
    library: str, number: int
) -> None:
    chosen = random.Random(number)
    order = question(chosen, library, chosen.choice(list(listed(library))))
    assert not list(disagreements(order, chosen))


@pytest.mark.parametrize("library", each(["numpy", "torch"]))
@examples(600)
@given(number=st.integers(0, 2**32))
def test_what_is_concluded_of_operators_and_indices_holds_for_all_values(
    library: str, number: int
) -> None:
    chosen = random.Random(number)
    assert not list(disagreements(step_question(chosen, library), chosen))


COUNTED = [
    *(
        f"numpy.{name}"
        for name in operations.CALLS["numpy"]
        if not name.endswith("*")
    ),
    *(f"builtins.{name}" for name in sorted(of_python.ONLY_LOOKING)),
]


@examples(600)
@given(number=st.integers(0, 2**32))
def test_a_number_of_arguments_that_is_refused_is_refused_whatever_they_are(
    number: int,
) -> None:
    chosen = random.Random(number)
    path, n_given = chosen.choice(COUNTED), chosen.randint(0, 6)
    if "raised" not in signatures.bound(path, n_given, [], kind="call"):
        return
    for _ in range(N_TRIED):
        operands = [
            chosen.choice([*KNOWN, np.eye(2), np.arange(3), "text"])
            for _ in range(n_given)
        ]
        with pytest.raises(TypeError):
            signatures.found(path)(*operands)
