"""What a callable says of itself: inspect is the oracle for what is harmless, nothing of an unknown object is run."""

from __future__ import annotations

import functools
import inspect
import json
import typing
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from crane_core.runtime.kernel_side.crane_probe.callables.docs import (
    MAX_ATTRIBUTES,
    docs_of,
)
from crane_core.runtime.kernel_side.crane_probe.callables.signature_text import (
    MAX_SECTION,
    annotation_text,
    sections_of,
)


class DocsTrap:
    """Runs nothing without being noticed."""

    def __getattribute__(self, name: str) -> NoReturn:
        raise AssertionError(f"{name} was asked for")

    def __repr__(self) -> NoReturn:
        raise AssertionError("it was printed")

    __len__ = __iter__ = __eq__ = __hash__ = __bool__ = __call__ = __repr__  # type: ignore[assignment]


class Metatrap(type):
    def __getattribute__(cls, name: str) -> NoReturn:
        raise AssertionError(f"{name} of the class was asked for")


class Trapped(metaclass=Metatrap):
    """Important: do not touch."""

    def __init__(self, size: int = 3) -> None: ...


def plain(a, /, b, c=1, *rest, d, e="x", **others):  # type: ignore[no-untyped-def]
    """Nothing to note."""


def bare(*, key=None): ...  # type: ignore[no-untyped-def]


def positional(a, b=2, /): ...  # type: ignore[no-untyped-def]


@pytest.mark.parametrize(
    "function",
    [
        plain,
        bare,
        positional,
        json.dumps,
        len,
        "".join,
        dict.get,
        sorted,
        print,
    ],
)
def test_a_signature_reads_as_inspect_has_it_where_defaults_are_built_in(
    function: Callable[..., Any],
) -> None:
    assert docs_of(function)["signature"].replace(" ", "") == str(
        inspect.signature(function)
    ).replace(" ", "")


@pytest.mark.parametrize(
    "function",
    [
        pd.DataFrame.merge,
        pd.DataFrame.groupby,
        pd.read_csv,
        pd.concat,
        LogisticRegression.fit,
        LogisticRegression,
        pd.DataFrame,
        make_pipeline,
        np.concatenate,
        np.linalg.norm,
    ],
)
def test_parameters_of_libraries_are_those_of_inspect(
    function: Callable[..., Any],
) -> None:
    shown = docs_of(function)["signature"]
    names = inspect.signature(function).parameters
    positions = [
        shown.find(name) for name in names if name not in ("args", "kwargs")
    ]
    assert -1 not in positions
    assert positions == sorted(positions)


def test_a_compiled_function_states_its_signature_in_its_docstring() -> None:
    assert docs_of(np.add)["signature"].startswith("(x1, x2, /, out=None")
    assert docs_of(np.ndarray)["signature"].startswith("(shape, dtype=")


def test_what_publishes_no_signature_is_recorded_with_the_reason() -> None:
    docs = docs_of(object())
    assert docs["unavailable"] == {
        "signature": "ValueError: an object of object publishes no signature"
    }


def test_a_bound_method_drops_self_and_names_the_public_attributes_of_its_object() -> (
    None
):
    model = LogisticRegression(C=3.0).fit([[0.0], [1.0]], [0, 1])
    docs = docs_of(model.fit)
    assert docs["signature"] == "(X, y, sample_weight=None)"
    assert docs["public_attributes"] == sorted(
        name for name in vars(model) if not name.startswith("_")
    )
    assert docs_of(LogisticRegression.fit, owner=model) == docs


def test_an_unbound_method_keeps_self_without_an_owner() -> None:
    assert docs_of(LogisticRegression.fit)["signature"].startswith(
        "(self, X, y"
    )
    assert "public_attributes" not in docs_of(LogisticRegression.fit)


def test_a_method_that_is_there_on_a_condition_is_read_behind_the_condition() -> (
    None
):
    model = make_pipeline(LogisticRegression())
    stored = inspect.getattr_static(model, "predict")
    assert docs_of(stored, owner=model)["signature"] == "(X, **params)"


def test_a_partial_tells_what_is_given() -> None:
    assert (
        docs_of(functools.partial(positional, 1))["signature"]
        == "(a, b=2, /) of which given: the first 1"
    )
    assert (
        docs_of(functools.partial(bare, key=1))["signature"]
        == "(*, key=None) of which given: key"
    )


def test_a_model_is_called_through_forward() -> None:
    class Module:
        def __init__(self) -> None:
            self.width, self._hidden = 4, 5

        def __call__(self, *args: Any, **kwargs: Any) -> None: ...

        def forward(self, x: Any, mask: Any = None) -> None: ...

    assert docs_of(Module()) == {
        "signature": "(x: Any, mask: Any=None) -> None",
        "public_attributes": ["width"],
    }


def test_many_attributes_are_counted() -> None:
    class Wide:
        def method(self) -> None: ...

    wide = Wide()
    for number in range(MAX_ATTRIBUTES + 5):
        setattr(wide, f"a{number:03}", number)
    names = docs_of(wide.method)["public_attributes"]
    assert names[-2:] == ["a059", "… 5 more"]


def test_nothing_of_an_unknown_object_is_run() -> None:
    trap = DocsTrap()

    def careful(x: "undefined_name[0]" = trap, *, y: trap = (trap,)) -> Trapped:  # type: ignore  # noqa: F821, UP037
        """Careful."""

    assert "<" in docs_of(careful)["signature"]
    assert docs_of(careful)["signature"].startswith("(x: undefined_name[0]=<")
    assert "unavailable" in docs_of(trap) or docs_of(trap)["signature"]
    assert docs_of(Trapped)["signature"] == "(size: int=3) -> None"
    assert docs_of(Trapped)["sections"] == {"Important": "do not touch."}
    assert docs_of(careful, owner=trap).keys() >= {"signature"}


def test_a_signature_made_by_code_is_not_made() -> None:
    def made() -> None: ...

    made.__signature__ = DocsTrap()  # type: ignore[attr-defined]
    assert docs_of(made)["unavailable"] == {
        "signature": "ValueError: its signature is made by code"
    }


def test_a_docstring_that_is_no_text_is_left_alone() -> None:
    def silent() -> None: ...

    silent.__doc__ = DocsTrap()  # type: ignore[assignment]
    assert docs_of(silent) == {"signature": "() -> None"}


def test_decorators_that_wrap_themselves_end() -> None:
    def endless(a: int) -> None: ...

    endless.__wrapped__ = endless  # type: ignore[attr-defined]
    assert docs_of(endless)["signature"] == "(a: int) -> None"


T = typing.TypeVar("T")


@pytest.mark.parametrize(
    ("annotation", "shown"),
    [
        (int, "int"),
        (None, "None"),
        ("np.ndarray", "np.ndarray"),
        (typing.Optional[int], "int | None"),  # noqa: UP045
        (list[str], "list[str]"),
        (typing.Dict[str, int], "Dict[str, int]"),  # noqa: UP006
        (int | str, "int | str"),
        (T, "T"),
        (typing.Any, "Any"),
        (typing.Callable[[int], str], "Callable[int, str]"),
        (typing.Literal["a"], "Literal[a]"),
        (3, "3"),
    ],
)
def test_annotations_are_written_as_they_stand(
    annotation: Any, shown: str
) -> None:
    assert annotation_text(annotation) == shown


DOC = """Do a thing.

Parameters
----------
warning : bool
    Whether to warn.

Notes
-----
Keep   this
and this.

    >>> even_this()

Warnings
--------
Hot.

See Also
--------
other : not this
"""


def test_underlined_sections_are_kept_and_no_others() -> None:
    assert sections_of(DOC) == {
        "Notes": "Keep this and this. >>> even_this()",
        "Warnings": "Hot.",
    }


@pytest.mark.parametrize(
    ("doc", "sections"),
    [
        ("Do.\n\nNote:\n    first\n\n    second\n\nReturns:\n    x\n", {"Notes": "first second"}),
        ("Do.\n\n    Note: in one\n    paragraph\n\n    Args:\n", {"Notes": "in one paragraph"}),
        (".. warning::\n\n    hot\n\n.. note:: cold\n   still\n\nend", {"Notes": "cold still", "Warnings": "hot"}),
        ("Warning: a\n\nWarning: b", {"Warnings": "a b"}),
        ("Important:\n  yes\nno", {"Important": "yes"}),
        ("**Note:** starred", {"Notes": "starred"}),
        ("notes : int\n", {}),
        ("Notes\n", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_other_styles_of_docstrings(doc: str, sections: dict[str, str]) -> None:
    assert sections_of(doc) == sections


def test_a_long_section_is_cut_and_counted() -> None:
    [text] = sections_of("Notes\n-----\n" + "word " * 1_000).values()
    assert len(text) < MAX_SECTION + 40
    assert text.endswith("… (4300 characters more)")


@given(st.text(alphabet="Notes:\n -=.wargi\t", max_size=200))
def test_any_text_gives_bounded_sections(doc: str) -> None:
    assert set(sections_of(doc)) <= {"Notes", "Important", "Warnings"}
    assert all(
        section and len(section) <= MAX_SECTION + 40
        for section in sections_of(doc).values()
    )
