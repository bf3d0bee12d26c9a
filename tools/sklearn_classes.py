"""What each class of scikit-learn takes and learns, found by trying.

    .venv/bin/python tools/sklearn_classes.py     # writes crane_core/detectors/rules/families/sklearn_classes.json

Every class that can be made without arguments is fitted on sound data; which methods then refuse fewer features is
written down, as are its parameters, its methods and what fitting leaves behind.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import all_estimators

TABLE = (
    Path(__file__).parents[1]
    / "crane_core/detectors/rules/families/sklearn_classes.json"
)
N_ROWS = 40
_RANDOM = np.random.default_rng(0)
SOUND = np.abs(_RANDOM.normal(size=(N_ROWS, 4))) + 0.1
NAMES = list("abcd")
CLASSES = np.arange(N_ROWS) % 2
MEASURES = SOUND[:, 0] * 3 + 1.5 + _RANDOM.random(N_ROWS)
WORDS = np.array(["ab", "cd"] * (N_ROWS // 2), dtype=object)
WITH_DATA = (
    *(
        "predict",
        "predict_proba",
        "predict_log_proba",
        "decision_function",
        "transform",
        "score",
        "score_samples",
    ),
    *("kneighbors", "apply"),
)
ASKED = (
    *WITH_DATA,
    *(
        "inverse_transform",
        "kneighbors_graph",
        "radius_neighbors",
        "decision_path",
        "sample",
        "get_feature_names_out",
    ),
    "get_support",
)


def refused(attempt: Callable[..., Any], *arguments: Any) -> str | None:
    """The class of the exception, None if there is none."""
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            np.errstate(all="ignore"),
        ):
            attempt(*arguments)
    except Exception as error:  # noqa: BLE001 - which one it is is the finding
        return type(error).__name__
    return None


def signature(kind: type) -> list[inspect.Parameter]:
    """The parameters of the constructor; classes without their own constructor have none."""
    found = list(
        inspect.signature(
            type.__getattribute__(kind, "__init__")
        ).parameters.values()
    )[1:]
    return [
        each
        for each in found
        if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]


def made(kind: type) -> Any:
    """An object of the class without arguments; None if it needs some to be of use."""
    if any(each.default is each.empty for each in signature(kind)):
        return None
    estimator = kind()
    return estimator if refused(is_classifier, estimator) is None else None


def target_for(estimator: Any) -> Any:
    """A sound target; None for what learns from X alone."""
    if is_regressor(estimator):
        return MEASURES
    return CLASSES if is_classifier(estimator) else None


def fitted(estimator: Any, x: Any, y: Any) -> Any:
    return clone(estimator).fit(x) if y is None else clone(estimator).fit(x, y)


def target_that_fits(estimator: Any) -> tuple[bool, Any]:
    """Whether the estimator can be fitted on the sound data, and with which target."""
    for y in (target_for(estimator), CLASSES, None):
        if refused(fitted, estimator, SOUND, y) is None:
            return True, y
    return False, CLASSES


def asked(estimator: Any, name: str, x: Any, y: Any) -> Any:
    if name == "score" and y is not None:
        return estimator.score(x, y[: len(x)])
    if name in ("sample", "get_feature_names_out", "get_support"):
        return getattr(estimator, name)()
    return getattr(estimator, name)(x)


def offered(estimator: Any, names: Sequence[str]) -> list[str]:
    return [
        name
        for name in names
        if refused(getattr, type(estimator), name) is None
    ]


def unfitted(estimator: Any, y: Any) -> dict[str, str | None]:
    return {
        name: refused(asked, clone(estimator), name, SOUND, y)
        for name in offered(estimator, ASKED)
    }


def counts_features(trained: Any, y: Any) -> list[str]:
    """Methods that take the data it was fitted on, and refuse fewer features."""
    found = offered(trained, WITH_DATA)
    return [
        name
        for name in found
        if refused(asked, trained, name, SOUND, y) is None
        and refused(asked, trained, name, SOUND[:, :3], y) == "ValueError"
    ]


def parameters(kind: type) -> dict[str, Any]:
    """Defaults by name; those that are not plain values as {"repr": ...}."""
    return {each.name: _default(each) for each in signature(kind)}


def _default(parameter: inspect.Parameter) -> Any:
    if parameter.default is parameter.empty:
        return {"required": True}
    is_plain = parameter.default is None or type(parameter.default) in (
        bool,
        int,
        float,
        str,
    )
    is_finite = (
        is_plain
        and parameter.default == parameter.default
        and abs(_number(parameter.default)) != np.inf
    )
    return parameter.default if is_finite else {"repr": repr(parameter.default)}


def _number(value: Any) -> float:
    return float(value) if type(value) in (int, float) else 0.0


def n_positional(kind: type) -> int:
    return sum(
        1 for each in signature(kind) if each.kind is each.POSITIONAL_OR_KEYWORD
    )


def kind_of(kind: type) -> str:
    names = {parent.__name__ for parent in kind.__mro__}
    for role in (
        "Classifier",
        "Regressor",
        "Cluster",
        "Outlier",
        "Transformer",
    ):
        if f"{role}Mixin" in names:
            return role.lower()
    return ""


def public_path(kind: type) -> str:
    """The shortest dotted name under which it is imported."""
    parts = kind.__module__.split(".")
    for end in range(2, len(parts) + 1):
        if (
            getattr(
                importlib.import_module(".".join(parts[:end])),
                kind.__name__,
                None,
            )
            is kind
        ):
            return ".".join([*parts[:end], kind.__name__])
    return f"{kind.__module__}.{kind.__name__}"


def learnt(estimator: Any) -> list[str]:
    """What fitting leaves behind, properties among them."""
    names = {*vars(estimator), *dir(type(estimator))}
    return sorted(
        name
        for name in names
        if name.endswith("_")
        and not name.startswith("_")
        and refused(getattr, estimator, name) is None
    )


def unreadable(estimator: Any, names: list[str]) -> dict[str, str | None]:
    return {name: refused(getattr, estimator, name) for name in names}


def described(kind: type) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "path": public_path(kind),
        "kind": kind_of(kind),
        "parameters": parameters(kind),
        "n_positional": n_positional(kind),
        "public": sorted(
            name for name in dir(kind) if not name.startswith("_")
        ),
    }
    estimator = made(kind)
    if estimator is None:
        return facts
    can_fit, y = target_that_fits(estimator)
    facts["unfitted"] = [
        name
        for name, each in unfitted(estimator, y).items()
        if each == "NotFittedError"
    ]
    if not can_fit:
        return facts
    trained = fitted(estimator, SOUND, y)
    facts["learnt"] = learnt(trained)
    if not facts["learnt"]:
        facts["unfitted"] = []
    facts["readable_unfitted"] = [
        name for name in facts["learnt"] if name in learnt(clone(estimator))
    ]
    facts["unfitted_attributes"] = {
        exception: names
        for exception, names in _by_exception(
            unreadable(clone(estimator), facts["learnt"])
        ).items()
        if exception != "AttributeError"
    }
    facts["counts_features"] = counts_features(trained, y)
    return facts


def _by_exception(findings: dict[str, str | None]) -> dict[str, list[str]]:
    return {
        exception: [
            name for name, each in findings.items() if each == exception
        ]
        for exception in dict.fromkeys(
            each for each in findings.values() if each is not None
        )
    }


def table() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "version": sklearn.__version__,
            "classes": {
                name: described(kind) for name, kind in all_estimators()
            },
        }


if __name__ == "__main__":
    TABLE.write_text(
        json.dumps(table(), indent=None, separators=(",", ":")).replace(
            "}},", "}},\n"
        )
        + "\n"
    )
