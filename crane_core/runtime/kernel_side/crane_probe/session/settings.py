"""Settings of libraries that are not as the library makes them: with them the same step may end in another way.

Read in the library, because a module of the notebook's author may set them out of the notebook's sight. Knows those
that decide whether a step raises or what its result is; not how things are shown. Imports no library.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Iterator

from ..undo.session_libraries import pandas_options

# `mode.chained_assignment` is left out: notebooks often switch it off, and then fewer steps warn, as many run.
_OF_PANDAS = (
    "future.infer_string",
    "mode.copy_on_write",
    "mode.string_storage",
    "mode.use_inf_as_na",
)
_OF_SKLEARN = {
    "array_api_dispatch": False,
    "assume_finite": False,
    "enable_metadata_routing": False,
    "skip_parameter_validation": False,
    "transform_output": "default",
}
_OF_KERAS = {"floatx": "float32", "image_data_format": "channels_last"}
_MODES = ("_len_torch_function_stack", "_len_torch_dispatch_stack")
"""How many modes are entered: a default device is one, and so are fake tensors."""


def changed() -> list[list[str]]:
    """[library, setting] for each, of the libraries that are loaded."""
    return [
        [library, name]
        for library, (module, names) in _READ.items()
        if module in sys.modules
        for name in names(sys.modules[module])
    ]


def _of_numpy(numpy: Any) -> Iterator[str]:
    told = numpy.geterr()
    if {"raise", "call"} & {*told.values()}:
        yield "seterr"


def _of_pandas(config: Any) -> Iterator[str]:
    told = pandas_options()
    for name in _OF_PANDAS:
        known = config._registered_options.get(name)
        if known is not None and told.get(name) != known.defval:
            yield name


def _of_sklearn(sklearn: Any) -> Iterator[str]:
    told = sklearn.get_config()
    for name, usual in _OF_SKLEARN.items():
        if told.get(name, usual) != usual:
            yield name


def _of_torch(torch: Any) -> Iterator[str]:
    if torch.get_default_dtype() != torch.float32:
        yield "set_default_dtype"
    if not torch.is_grad_enabled():
        yield "set_grad_enabled"
    if any(getattr(torch._C, name, int)() for name in _MODES):
        yield "a mode"


def _of_keras(backend: Any) -> Iterator[str]:
    for name, usual in _OF_KERAS.items():
        if (read := getattr(backend, name, None)) and read() != usual:
            yield name
    kept = sys.modules.get("keras.src.backend.common.global_state")
    # Asking Keras for its policy would make one where there is none yet.
    policy = kept and kept.get_global_attribute("dtype_policy")
    if policy and policy.name != _OF_KERAS["floatx"]:
        yield "dtype_policy"


_READ: dict[str, tuple[str, Callable[[Any], Iterator[str]]]] = {
    "numpy": ("numpy", _of_numpy),
    "pandas": ("pandas._config.config", _of_pandas),
    "sklearn": ("sklearn", _of_sklearn),
    "torch": ("torch.random", lambda _: _of_torch(sys.modules["torch"])),
    "keras": ("keras.src.backend.config", _of_keras),
}
"""Library to the module without which there is nothing to read, and what of it is changed."""
