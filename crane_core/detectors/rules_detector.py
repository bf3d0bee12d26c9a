"""Certain-crash rules as a detector: it says crash only where every way through the target raises.

Knows how findings are described. What is found, and why it is certain, is in rules/.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from crane_core.detectors.registry import Prediction
from crane_core.detectors.rules.answer import Finding
from crane_core.detectors.rules.asking import assumed_packages, versions_asked
from crane_core.detectors.rules.family import all_rules
from crane_core.detectors.rules.interpreter import MOST_STEPS
from crane_core.detectors.rules.predict import Report, findings
from crane_core.domain import Cell, CellRole, DetectorKind, KernelState, Setting
from crane_core.errors import DetectorError
from crane_core.prompts.shown import shown

NAME = "rules"
TITLE = "Certain-crash rules"
KIND = DetectorKind.RULES
_SETTINGS = (
    Setting.CODE,
    Setting.RUNTIME,
    Setting.RUNTIME_PLUS,
    Setting.RUNTIME_DOCS,
)


def options() -> dict[str, Any]:
    """The rule families that answer, how far a target is followed, and the versions of the libraries that answer."""
    families = sorted(
        {rule.family for rules in all_rules().values() for rule in rules}
    )
    assumed = {"assumed": dict(known)} if (known := assumed_packages()) else {}
    return {
        "families": families,
        "steps": MOST_STEPS,
        "asked": versions_asked(),
        **assumed,
    }


def check_setting(setting: Setting) -> None:
    """Raises DetectorError for an ablation's setting."""
    if setting not in _SETTINGS:
        raise DetectorError(
            f"The rules cannot judge a state of which a part is withheld ({setting}): what is withheld would count as"
            " absent.",
            remedy=f"Use one of the settings {', '.join(_SETTINGS)}.",
        )


def predict(
    cells: Sequence[Cell], state: KernelState | None, setting: Setting
) -> Prediction:
    """Whether the target certainly crashes, with the evidence, from no more than the setting shows.

    Raises DetectorError for an ablation's setting, PromptError where the state does not hold what the setting shows.
    """
    check_setting(setting)
    # No more than the setting shows, as a model in the same setting sees no more either.
    given = (
        None
        if state is None or setting is Setting.CODE
        else shown(state, setting)
    )
    report = findings(cells, given, setting)
    target = next(
        (cell.code for cell in cells if cell.role is CellRole.TARGET), ""
    )
    return Prediction(
        bool(report.findings),
        _reasoning(report),
        json.dumps(_diagnostics(report, target)),
    )


def _reasoning(report: Report) -> str | None:
    return " ".join(described(finding) for finding in report.findings) or None


def described(finding: Finding) -> str:
    """A finding in sentences."""
    # Messages of libraries end with a full stop or without one.
    why, fact = finding.why.rstrip("."), finding.fact.rstrip(".")
    return (
        f"Line {finding.line}, `{finding.expression}`, raises {finding.exception}: {why}. "
        f"Evidence: {fact}. Remedy: {finding.remedy}"
    )


def _diagnostics(report: Report, target: str) -> list[dict[str, Any]]:
    """Findings, failed rules and doubts as they are kept: in the form of a static analyzer's diagnostics."""
    lines = target.split("\n")
    found = [
        {
            "code_line": f"{finding.line}: {lines[finding.line - 1].strip() if finding.line <= len(lines) else ''}",
            "message": finding.why,
            **{
                key: value
                for key, value in asdict(finding).items()
                if key not in ("why", "line")
            },
        }
        for finding in report.findings
    ]
    # A rule that failed is recorded, or its silence would look like an answer.
    errors = [{"rule_error": error._asdict()} for error in report.errors]
    return [
        *found,
        *errors,
        *({"unsure": sentence} for sentence in report.unsure),
    ]
