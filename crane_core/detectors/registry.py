"""The detectors that run on this machine: what they are given and say, and how they are found.

Every module of this package that has a NAME is one. Refuses to know how any of them decides.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol, cast

import crane_core.detectors
from crane_core.domain import Cell, DetectorKind, KernelState, Setting
from crane_core.errors import DetectorError


class Prediction(NamedTuple):
    """`crashes`: the target cell raises. `reasoning` is the diagnosis in words, None if there is none to say.

    `diagnostics` is a JSON text of what the tool reported, what counts for the prediction and what does not.
    """

    crashes: bool
    reasoning: str | None = None
    diagnostics: str | None = None


class LocalQuestion(NamedTuple):
    """A question to a local detector: the cells of one origin, the state where the setting has one."""

    cells: Sequence[Cell]
    state: KernelState | None
    setting: Setting


class LocalDetector(Protocol):
    """A module that predicts from cells and state alone; the same input leads to the same prediction.

    `options` are JSON values that shape its answers, such as versions of tools; it raises DetectorError if a tool
    is missing. `predict` is given the cells of one origin, the target among them, and None for a setting without
    runtime state; it raises DetectorError for a setting that it does not know. It runs in its own processes.

    A module may also have `predict_many(questions)`, which takes several (see LocalQuestion) and returns, for
    each in order, a prediction or the DetectorError that there was none.
    """

    NAME: str
    TITLE: str
    KIND: DetectorKind

    def options(self) -> dict[str, Any]: ...

    def predict(
        self, cells: Sequence[Cell], state: KernelState | None, setting: Setting
    ) -> Prediction: ...


@cache
def local_detectors() -> dict[str, LocalDetector]:
    """All detectors by name, sorted."""
    names = [
        module.name
        for module in pkgutil.iter_modules(
            crane_core.detectors.__path__, "crane_core.detectors."
        )
    ]
    modules = [importlib.import_module(name) for name in names]
    found = [
        cast(LocalDetector, module)
        for module in modules
        # analysis.py, bounded_tool.py and others serve detectors, and have no NAME.
        if hasattr(module, "NAME")
    ]
    return {
        detector.NAME: detector
        for detector in sorted(found, key=lambda detector: detector.NAME)
    }


def predictions(
    detector: LocalDetector, questions: Sequence[LocalQuestion]
) -> Iterator[Prediction | DetectorError]:
    """One for each question, in order; several together where the detector can, so that its tool is started once.

    A detector that can has `predict_many`, whose error about one question takes its place.
    """
    # Only pylint and pyright have it: one start of the tool serves many texts.
    many = getattr(detector, "predict_many", None)
    yield from (
        many(questions)
        if many
        else (detector.predict(*question) for question in questions)
    )


def local_detector(name: str) -> LocalDetector:
    """The detector of this name. Raises DetectorError, with those that there are, if there is none."""
    if name not in local_detectors():
        raise DetectorError(
            f"There is no detector named {name!r}.",
            remedy=f"Available detectors: {', '.join(local_detectors()) or 'none'}.",
        )
    return local_detectors()[name]
