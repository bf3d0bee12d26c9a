"""The probe as something that can be sent into a kernel: one expression that holds all it needs.

Knows where the probe's source lies. The kernel may be of another Python than ours and need not see our files; where
its Python is of our version, bytecode spares it the compiling.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import marshal
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).with_name("kernel_side")
_PACKAGE = "crane_probe"
# The number that changes with each format of bytecode, not with each release.
OUR_MAGIC = importlib.util.MAGIC_NUMBER.hex()


def greet() -> str:
    """An expression for the kernel: which Python it is, and its threads."""
    return _expression({"do": "greet"})


def evaluate(expressions: list[str]) -> str:
    """An expression for the kernel: the values of others, in the notebook's namespace."""
    return _expression({"do": "evaluate", "expressions": expressions})


def look(request: dict[str, Any], magic: str) -> str:
    """An expression for the kernel: the probe's look, for a Python whose bytecode has this number.

    A kernel that turns out to have another number than ours is not looked at: it tells its `magic` instead.
    """
    return _brought("look", request, magic)


def rehearse(request: dict[str, Any], magic: str) -> str:
    """An expression for the kernel: the target run in a copy of it; `magic` as for `look`."""
    return _brought("rehearse", request, magic)


def modules_for(magic: str) -> dict[str, dict[str, str]]:
    """The probe's modules by name, as bytecode for a Python whose bytecode has this number, else as text."""
    return _codes() if magic == OUR_MAGIC else _texts()


def _brought(do: str, request: dict[str, Any], magic: str) -> str:
    # None for another Python: the kernel then takes the modules as text without asking back.
    ours = OUR_MAGIC if magic == OUR_MAGIC else None
    return _expression(
        {
            "do": do,
            "modules": modules_for(magic),
            "request": request,
            "magic": ours,
        }
    )


def _expression(order: dict[str, Any]) -> str:
    """Runs kernel_requests.py in its own room. Takes only `__import__` from the notebook's names."""
    # A lambda: assignments would leave names in the notebook's namespace.
    return (
        "(lambda builtins, namespace, room:"
        f" (builtins.exec({_kernel_requests()!r}, room), room['answer'](namespace, {json.dumps(order)!r}))[1])"
        "(__import__('builtins'), __import__('builtins').globals(), {'__name__': 'crane_requests'})"
    )


@cache
def _kernel_requests() -> str:
    return (_FOLDER / "kernel_requests.py").read_text("utf-8")


@cache
def _texts() -> dict[str, dict[str, str]]:
    """Module name to its source."""
    files = sorted((_FOLDER / _PACKAGE).rglob("*.py"))
    return {
        _module_name(file): {"text": file.read_text("utf-8")} for file in files
    }


@cache
def _codes() -> dict[str, dict[str, str]]:
    """Module name to its bytecode for our Python; without docstrings, which would cost the kernel memory."""
    # optimize=2: asserts and docstrings go; no code of the probe depends on either.
    compiled = {
        name: compile(source["text"], f"<{name}>", "exec", optimize=2)
        for name, source in _texts().items()
    }
    return {
        name: {"code": base64.b64encode(marshal.dumps(code)).decode()}
        for name, code in compiled.items()
    }


def _module_name(file: Path) -> str:
    parts = file.relative_to(_FOLDER).with_suffix("").parts
    return ".".join(parts[:-1] if file.stem == "__init__" else parts)
