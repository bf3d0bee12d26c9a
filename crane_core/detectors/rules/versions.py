"""Which version of a library the kernel has, as far as its state states it."""

from __future__ import annotations

import re

from crane_core.detectors.rules.operation import Operation

# A release candidate has the changes of its release: 2.0.0rc1 counts as 2.0.
_MAJOR_AND_MINOR = re.compile(r"(\d+)\.(\d+)")


def version_of(operation: Operation, package: str) -> tuple[int, ...] | None:
    """Major and minor version of a library in the kernel; None if the state does not state it."""
    return numbers(operation.packages.get(package, ""))


def numbers(version: str) -> tuple[int, ...] | None:
    """Major and minor version, those of a release candidate too."""
    found = _MAJOR_AND_MINOR.match(version)
    return tuple(map(int, found.groups())) if found else None


def is_at_least(operation: Operation, package: str, *version: int) -> bool:
    """Whether the library is known to be of this version or a later one."""
    found = version_of(operation, package)
    return found is not None and found >= version


def is_before(operation: Operation, package: str, *version: int) -> bool:
    """Whether the library is known to be of an earlier version."""
    found = version_of(operation, package)
    return found is not None and found < version
