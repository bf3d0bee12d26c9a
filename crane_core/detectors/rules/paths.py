"""Public dotted names of what libraries offer, one spelling for each.

Knows where libraries keep under another name what they offer. Refuses to import a library to ask.
"""

# Keras 2 is in `keras.api._v2`, Keras 3 in `keras.src`, TensorFlow 1 had it in `contrib`.
# Rules are written once, for `keras`.
_PREFIXES = (
    ("tensorflow.python.keras", "keras"),
    ("tensorflow.keras", "keras"),
    ("tensorflow.contrib.keras", "keras"),
    ("tensorflow._api.v2.v2.keras", "keras"),
    ("tensorflow._api.v2.v2", "tensorflow"),
    ("tensorflow._api.v2", "tensorflow"),
    ("keras._tf_keras.keras", "keras"),
    ("keras.api._v2.keras", "keras"),
    ("keras.api._v1.keras", "keras"),
    ("keras.api", "keras"),
    ("keras.src", "keras"),
    # A kernel tells the module behind `os.path`, which depends on the system.
    ("posixpath", "os.path"),
    ("ntpath", "os.path"),
    ("pandas.core.frame", "pandas"),
    ("pandas.core.series", "pandas"),
    ("pandas.core.reshape.concat", "pandas"),
    ("pandas.core.reshape.merge", "pandas"),
    ("torch.utils.data.dataloader", "torch.utils.data"),
    ("torch.utils.data.dataset", "torch.utils.data"),
    ("torch.autograd.variable", "torch.autograd"),
    ("torch.nn.modules", "torch.nn"),
    ("numpy.core", "numpy"),
    ("numpy.lib", "numpy"),
    ("matplotlib.pylab", "matplotlib.pyplot"),
)
_MODULES_OF_LAYERS = (
    "activation",
    "batchnorm",
    "container",
    "conv",
    "dropout",
    "linear",
    "loss",
    "module",
    "pooling",
)
# `numpy` itself does not offer what they hold: there is no `numpy.as_strided`.
_KEPT = (
    "numpy.lib.stride_tricks",
    "numpy.lib.format",
    "numpy.lib.npyio",
    "numpy.core.multiarray",
)

_EXPORTED = (
    ("keras.src.layers.", "keras.layers"),
    ("keras.src.models.", "keras.models"),
    ("keras.src.optimizers.", "keras.optimizers"),
    ("keras.src.losses.", "keras.losses"),
    ("torch.nn.modules.", "torch.nn"),
    ("torch.optim.", "torch.optim"),
)
"""Packages whose classes are offered by one public module, wherever below they are written."""


def path_of_class(name: str) -> str:
    """The public dotted name of a library's class by its full one; "" where that is not certain."""
    last = name.rpartition(".")[2]
    found = [
        public
        for inner, public in _EXPORTED
        if name.startswith(inner) and not last.startswith("_")
    ]
    return f"{found[0]}.{last}" if found else ""


def public_path(path: str) -> str:
    """The public spelling of a dotted name: `keras.layers.Dense` for `tensorflow.keras.layers.Dense`."""
    if path.startswith(_KEPT):
        return path
    for prefix, public in _PREFIXES:
        if path == prefix or path.startswith(prefix + "."):
            path = public + path[len(prefix) :]
            break
    return _without_private_parts(path)


def _without_private_parts(path: str) -> str:
    head, *rest = path.split(".")
    parts = [part for part in rest[:-1] if not part.startswith("_")] + rest[-1:]
    if (
        # `torch.nn.functional.relu` is public as it is written, `torch.nn.linear.Linear` is not.
        head == "torch"
        and parts[:1] == ["nn"]
        and len(parts) > 2
        and parts[1] in _MODULES_OF_LAYERS
    ):
        parts.pop(1)
    return ".".join([head, *parts])
