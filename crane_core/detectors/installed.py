"""What is installed beside the analyzers: they find errors only in the use of libraries that they can read."""

from __future__ import annotations

from importlib import metadata

from crane_core.errors import DetectorError

REMEDY = "Run `make setup`, or `pip install -r requirements.txt`."
LIBRARIES = (
    "keras", "lightgbm", "matplotlib", "numpy", "pandas", "pandas-stubs", "scikit-learn", "scipy", "seaborn",
    "statsmodels", "tensorflow", "tensorflow-cpu", "torch", "torchvision",
)  # fmt: skip
"""The libraries of the benchmarks' cases, and stubs that stand for one."""


def installed_version(name: str) -> str | None:
    """The version of a distribution beside the analyzers; None if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def required_version(name: str) -> str:
    """The version of a tool. Raises DetectorError if it is missing."""
    version = installed_version(name)
    if version is None:
        raise DetectorError(f"{name} is not installed.", remedy=REMEDY)
    return version


def library_versions() -> dict[str, str]:
    """The installed versions of LIBRARIES, by distribution; those that are missing are left out."""
    return {name: version for name in LIBRARIES if (version := installed_version(name))}
