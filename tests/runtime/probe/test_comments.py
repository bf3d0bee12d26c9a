"""Comments bring nothing: neither a module that is missing nor a file."""

from __future__ import annotations

import pytest

from crane_core.runtime.kernel_side.crane_probe.chains.relevance import needs
from crane_core.runtime.kernel_side.crane_probe.limits import LookLimits
from crane_core.runtime.kernel_side.crane_probe.syntax.sources import Sources


@pytest.mark.parametrize(
    ("target", "may_come"),
    [
        ("# pip install nosuch first\nimport nosuch", False),
        ("one = 1  # download it, then exec\nimport nosuch", False),
        ("install_all()\nimport nosuch", True),
        ("pip.main(['install', 'nosuch'])  # now\nimport nosuch", True),
        ("'a # b'; pip.main(['nosuch'])\nimport nosuch", True),
        ("!pip install nosuch\nimport nosuch", True),
    ],
)
def test_a_comment_installs_nothing(target: str, *, may_come: bool) -> None:
    needed = needs(target, {}, Sources([]), LookLimits())
    assert needed.may_bring_modules == may_come
    assert needed.target.count("\n") == target.count("\n")
