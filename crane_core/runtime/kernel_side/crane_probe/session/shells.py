"""IPython's shell, found by the variables that it holds, and its settings, read where traitlets keep them."""

from __future__ import annotations

import sys
import types
from typing import Any

from ..anatomy import Names, instance_dict, is_kind, module_dict


def shell_of(namespace: Names) -> Any:
    """IPython's shell whose variables these are; None outside IPython."""
    # Never imported for this: IPython takes a second, and its absence is the answer.
    kind: Any = module_dict(
        sys.modules.get("IPython.core.interactiveshell")
    ).get("InteractiveShell")
    if not is_kind(kind, type):
        return None
    # The name that is called in cells first: a kernel with subshells, or a test, has several
    # shells.
    method = namespace.get("get_ipython")
    by_name = method.__self__ if type(method) is types.MethodType else None
    for shell in (by_name, kind._instance):
        # By identity: another shell's facts would be told of this one's variables.
        if (
            shell is not None
            and is_kind(shell, kind)
            and setting(shell, "user_ns") is namespace
        ):
            return shell
    return None


def setting(shell: Any, name: str) -> Any:
    """What the shell holds by a name; None where it holds nothing. Releases of IPython keep `user_ns` in three ways."""
    held = instance_dict(shell)
    traits = held.get("_trait_values")
    places = (held, traits if type(traits) is dict else {})
    found = [
        place[spelled]
        for place in places
        for spelled in (name, f"_{name}")
        if spelled in place
    ]
    return found[0] if found else None


def listed(parts: Any) -> list[Any]:
    """The items of a list, without any code of a class that derives from it."""
    return list(list.__iter__(parts)) if is_kind(parts, list) else []
