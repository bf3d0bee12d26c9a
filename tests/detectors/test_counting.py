"""Which errors count: every entry has its reason, the first that fits decides, and none is left without an answer."""

from __future__ import annotations

import pytest

from crane_core.detectors.analysis import entries, why_not


@pytest.mark.parametrize("tool", ["pylint", "pyright"])
def test_every_entry_says_why_and_the_last_takes_all(tool: str) -> None:
    listed = entries(tool)
    assert all(entry.reason.endswith((".", ")")) for entry in listed)
    assert (
        listed[-1].rule is None
        and listed[-1].message is None
        and not listed[-1].only_annotated
    )


@pytest.mark.parametrize("tool", ["pylint", "pyright"])
def test_no_entry_stands_behind_one_that_takes_the_same(tool: str) -> None:
    seen = [
        (entry.rule, entry.message, entry.only_annotated)
        for entry in entries(tool)
    ]
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize(
    ("tool", "rule", "message", "counts_in"),
    [
        (
            "pylint",
            "undefined-variable",
            "Undefined variable 'x'",
            "plain and annotated",
        ),
        ("pylint", "import-error", "Unable to import 'cv2'", "none"),
        (
            "pylint",
            "no-member",
            "Module 'tensorflow' has no 'keras' member",
            "none",
        ),
        (
            "pylint",
            "no-member",
            "Module 'numpy' has no 'float' member",
            "plain and annotated",
        ),
        (
            "pylint",
            "function-redefined",
            "function already defined line 3",
            "none",
        ),
        (
            "pyright",
            "reportUndefinedVariable",
            '"x" is not defined',
            "plain and annotated",
        ),
        (
            "pyright",
            "reportMissingImports",
            'Import "cv2" could not be resolved',
            "none",
        ),
        (
            "pyright",
            "reportAttributeAccessIssue",
            '"utils" is not a known attribute of module "torch"',
            "none",
        ),
        (
            "pyright",
            "reportAttributeAccessIssue",
            '"float" is not a known attribute of module "numpy"',
            "plain and annotated",
        ),
        (
            "pyright",
            "reportAssignmentType",
            'Type "int" is not assignable to declared type "str"',
            "plain",
        ),
        (
            "pyright",
            "reportPossiblyUnboundVariable",
            '"x" is possibly unbound',
            "plain",
        ),
        ("pyright", "", "Expected expression", "none"),
        (
            "pyright",
            "",
            "Unindent\N{NO-BREAK SPACE}not expected",
            "plain and annotated",
        ),
        (
            "pyright",
            "",
            "Maximum parse depth exceeded; break expression into smaller",
            "none",
        ),
    ],
)
def test_what_counts(
    tool: str, rule: str, message: str, counts_in: str
) -> None:
    assert (why_not(tool, rule, message, is_annotated=False) is None) == (
        "plain" in counts_in
    )
    assert (why_not(tool, rule, message, is_annotated=True) is None) == (
        "annotated" in counts_in
    )
