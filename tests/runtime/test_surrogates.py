"""Surrogates have the schema that they were made with, whatever fills them; nothing else than what is listed runs."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.runtime.kernel_side.crane_surrogates import for_numpy, worker
from crane_core.runtime.kernel_side.crane_surrogates.made import (
    FILLS,
    MOST_MESSAGE,
    NotMadeError,
    made,
)
from tests.examples import examples
from tests.runtime.surrogate_orders import array, asked, number

LENGTHS = st.lists(
    st.integers(0, 6) | st.sampled_from([1_000, 100_000]), max_size=4
).filter(lambda lengths: int(np.prod(lengths, dtype=object)) <= 2_000_000)
DTYPES = st.sampled_from(
    [
        "bool",
        "int8",
        "uint16",
        "int64",
        ">i4",
        "float16",
        "float64",
        "complex64",
        "<U5",
        "|S3",
        "object",
        "datetime64[ns]",
        "timedelta64[s]",
        "[('p', '<i8'), ('q', '<f4')]",
    ]
)
ARRAYS = st.builds(
    lambda shape, dtype, writeable: {
        "type": "numpy.ndarray",
        "shape": shape,
        "dtype": dtype,
        **({} if writeable else {"writeable": False}),
    },
    LENGTHS,
    DTYPES,
    st.booleans(),
)
NUMBERS = st.sampled_from(
    ["int8", "int64", "uint32", "float32", "float64", "bool", "complex128"]
).map(lambda name: {"type": f"numpy.{name}"})


@examples(150)
@given(ARRAYS | NUMBERS, st.sampled_from(FILLS))
def test_the_probe_reads_the_facts_that_a_numpy_surrogate_was_made_with(
    facts: dict[str, Any], fill: int
) -> None:
    assert for_numpy.read(for_numpy.make(facts, fill)) == facts


def test_fills_differ_so_that_what_depends_on_values_shows() -> None:
    for dtype in (
        "bool",
        "int64",
        "float64",
        "<U5",
        "datetime64[ns]",
        "object",
    ):
        arrays = [
            for_numpy.make(
                {"type": "numpy.ndarray", "shape": [3], "dtype": dtype}, fill
            )
            for fill in FILLS
        ]
        assert len({repr(array.tolist()) for array in arrays}) == len(arrays), (
            dtype
        )


@pytest.mark.parametrize(
    "facts",
    [
        {
            "type": "numpy.ndarray",
            "shape": [100_000, 100_000],
            "dtype": "float64",
        },
        {"type": "numpy.ndarray", "shape": [3], "dtype": "no dtype"},
        {"type": "numpy.ndarray", "shape": [3], "dtype": "[__import__('os')]"},
        {"type": "numpy.memmap"},
    ],
)
def test_what_has_no_surrogate_is_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(NotMadeError):
        for_numpy.make(facts, 0)


def test_what_every_fill_raises_is_the_library_s_own_message() -> None:
    assert asked("operator", "numpy.ndarray", "+", array(3, 4), array(3)) == {
        "raised": "ValueError",
        "message": "operands could not be broadcast together with shapes (3,4) (3,) ",
    }


def test_what_every_fill_gives_is_told_by_its_schema() -> None:
    gave = asked(
        "call",
        "numpy",
        "concatenate",
        {"list": [array(2, 3), array(5, 3, dtype="int64")]},
        axis=number(0),
    )
    assert gave == {
        "gave": {"type": "numpy.ndarray", "shape": [7, 3], "dtype": "float64"}
    }
    assert asked("method", "numpy.ndarray", "sum", array(2, 3)) == {
        "gave": {"type": "numpy.float64"}
    }


@pytest.mark.parametrize(
    "order",
    [
        (
            "operator",
            "numpy.ndarray",
            "**",
            array(3, dtype="int64"),
            {"any": "int"},
        ),
        ("item", "numpy.ndarray", "", array(3), array(2, dtype="int64")),
        (
            "method",
            "numpy.ndarray",
            "astype",
            array(3, dtype="<U5"),
            {"named": "builtins.float"},
        ),
        ("call", "numpy", "linalg.cholesky", array(3, 3)),
        ("call", "numpy", "repeat", array(3), array(3, dtype="int64")),
    ],
)
def test_what_depends_on_values_is_not_told_as_a_crash(
    order: tuple[Any, ...],
) -> None:
    answer = asked(*order)
    assert "raised" not in answer or "positive definite" in answer["message"], (
        answer
    )


@pytest.mark.parametrize(
    ("step", "of", "name"),
    [
        ("call", "numpy", "load"),
        ("call", "numpy", "random.shuffle"),
        ("call", "numpy", "lib.npyio.load"),
        ("call", "numpy", "vectorize"),
        ("call", "builtins", "eval"),
        ("call", "builtins", "open"),
        ("call", "os", "system"),
        ("method", "numpy.ndarray", "tofile"),
        ("method", "numpy.ndarray", "__reduce__"),
        ("method", "builtins.str", "format"),
        ("code", "numpy", "sum"),
    ],
)
def test_what_is_not_listed_is_never_run(step: str, of: str, name: str) -> None:
    assert asked(step, of, name, number("ls")) == {"unknown": "not on the list"}


@pytest.mark.parametrize(
    "operand",
    [
        {"named": "os.system"},
        {"named": "builtins.eval"},
        {"named": "numpy.load"},
        {"facts": {"type": "os.system"}},
        {"code": "1"},
        {"facts": {"type": "numpy.ndarray", "shape": [-1], "dtype": "f8"}},
    ],
)
def test_an_operand_that_nobody_sends_is_unknown(
    operand: dict[str, Any],
) -> None:
    assert list(asked("call", "builtins", "len", operand)) == ["unknown"]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"step": 1}',
        b'{"step": "call", "of": [], "name": {}}',
    ],
)
def test_a_line_that_is_no_question_is_answered_as_unknown(line: bytes) -> None:
    assert list(worker.answer(line)) == ["unknown"]


def test_a_message_has_a_bound_and_a_hostile_label_stays_text() -> None:
    answer = asked(
        "item",
        "numpy.ndarray",
        "",
        array(3),
        number("x" * 5_000 + "\x1b[31m\n"),
    )
    assert len(answer.get("message", "")) <= MOST_MESSAGE
    assert json.loads(json.dumps(answer)) == answer


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def test_plain_values_come_as_they_were_sent() -> None:
    told = {
        "dict": [
            [{"is": "a"}, {"list": [{"is": 1}, {"tuple": [{"is": None}]}]}]
        ]
    }
    assert made(told, 0) == {"a": [1, (None,)]}
    assert made({"slice": [{"is": 1}, {"is": None}, {"is": 2}]}, 0) == slice(
        1, None, 2
    )
    assert made({"named": "numpy.float32"}, 0) is np.float32
    assert [made({"any": "int"}, fill) for fill in FILLS] == [0, 1, 2]
    assert sys.getsizeof(made({"ellipsis": True}, 0)) > 0


def test_work_without_an_end_is_ended_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = {
        "step": "operator",
        "of": "",
        "name": "+",
        "operands": [{"type": "int"}, {"type": "int"}],
        "keywords": {},
    }
    line = json.dumps(order).encode()
    assert 0 <= worker.timed_answer(line)["spent_s"] < worker._MOST_SPENT_S

    def works_on(_order: object) -> dict[str, str]:
        # Libraries go on after an Exception, and may make a refusal of it.
        while True:
            with contextlib.suppress(Exception):
                sum(range(1_000))

    monkeypatch.setattr(worker, "_asked", works_on)
    said = worker.timed_answer(line, most_s=0.1)
    # The system counts processor time in ticks of some milliseconds.
    assert said.pop("spent_s") >= 0.05
    assert said == {"unknown": "it takes too long"}
