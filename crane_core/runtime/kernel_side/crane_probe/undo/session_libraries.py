"""Options, random numbers and open figures of libraries, as parts of the session beside the notebook's names.

Imports no library: one that the notebook has not loaded has no state.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, NamedTuple


class SessionPart(NamedTuple):
    """One part of the session: how it is read, and how it is put back from what was read."""

    read: Callable[[], Any]
    put: Callable[[Any], None]


def _library(name: str) -> Any:
    return sys.modules[name]


def _numpy_random() -> Any:
    return _library("numpy").random.get_state(legacy=False)


def _put_numpy_random(was: Any) -> None:
    _library("numpy").random.set_state(was)


def _numpy_options() -> Any:
    numpy = _library("numpy")
    return numpy.get_printoptions(), numpy.geterr()


def _put_numpy_options(was: Any) -> None:
    numpy = _library("numpy")
    numpy.set_printoptions(**was[0])
    numpy.seterr(**was[1])


def _torch_random() -> Any:
    return _library("torch").get_rng_state().numpy().tobytes()


def _put_torch_random(was: Any) -> None:
    torch = _library("torch")
    torch.set_rng_state(torch.frombuffer(bytearray(was), dtype=torch.uint8))


def _torch_options() -> Any:
    torch = _library("torch")
    return (
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
    )


def _put_torch_options(was: Any) -> None:
    torch = _library("torch")
    torch.set_default_dtype(was[0])
    torch.set_grad_enabled(was[1])
    torch.set_num_threads(was[2])
    torch.use_deterministic_algorithms(was[3])


def pandas_options() -> dict[str, Any]:
    """Every option of pandas by its full name: "mode.string_storage"."""
    return _flat(_library("pandas._config.config")._global_config, "")


def _flat(options: Any, above: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in options.items():
        full = f"{above}.{name}" if above else name
        found.update(
            _flat(value, full) if type(value) is dict else {full: value}
        )
    return found


def _put_pandas_options(was: Any) -> None:
    now = pandas_options()
    pandas = _library("pandas")
    for name, value in was.items():
        # Only what differs: setting a deprecated option warns.
        if name in now and now[name] != value:
            pandas.set_option(name, value)


def _sklearn_options() -> Any:
    return _library("sklearn").get_config()


def _put_sklearn_options(was: Any) -> None:
    _library("sklearn").set_config(**was)


def _matplotlib_options() -> Any:
    return dict(dict.items(_library("matplotlib").rcParams))


def _put_matplotlib_options(was: Any) -> None:
    dict.update(_library("matplotlib").rcParams, was)


def _figures() -> Any:
    managers = _library("matplotlib._pylab_helpers").Gcf
    # Numbers alone: the figures are the notebook's data.
    return list(managers.figs)


def _put_figures(was: Any) -> None:
    managers = _library("matplotlib._pylab_helpers").Gcf
    for number in [number for number in managers.figs if number not in was]:
        managers.destroy(number)


PARTS: dict[str, tuple[str, SessionPart]] = {
    "random numbers of NumPy": (
        "numpy.random",
        SessionPart(_numpy_random, _put_numpy_random),
    ),
    "options of NumPy": (
        "numpy",
        SessionPart(_numpy_options, _put_numpy_options),
    ),
    "random numbers of PyTorch": (
        "torch.random",
        SessionPart(_torch_random, _put_torch_random),
    ),
    "options of PyTorch": (
        "torch.random",
        SessionPart(_torch_options, _put_torch_options),
    ),
    "options of pandas": (
        "pandas._config.config",
        SessionPart(pandas_options, _put_pandas_options),
    ),
    "options of scikit-learn": (
        "sklearn",
        SessionPart(_sklearn_options, _put_sklearn_options),
    ),
    "options of matplotlib": (
        "matplotlib",
        SessionPart(_matplotlib_options, _put_matplotlib_options),
    ),
    "open figures of matplotlib": (
        "matplotlib._pylab_helpers",
        SessionPart(_figures, _put_figures),
    ),
}
"""By what a person calls it: the module without which it has no state, and the part."""
