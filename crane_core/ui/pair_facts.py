"""What is known of a pair beside its texts, finished to be shown: facts, and answers by experiment."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd

from crane_core.charts.theme import in_order
from crane_core.domain import Version
from crane_core.pipeline.pairs import voted
from crane_core.pipeline.rows import as_rows
from crane_core.ui.run_strip import Answers, Strip

Verdicts = dict[tuple[str, ...], dict[str, Any]]
VERDICT_KEY = ("version", "detector", "setting", "experiment")


def facts_html(case: dict[str, Any]) -> str:
    """Labels of the case, as a list."""
    shown = {
        "library": case["library"],
        "root cause": case["root_cause"],
        "exception": case["exception"],
        "crash type": case["crash_type"],
        "pipeline stage": case["stage"],
        "benchmark": case["benchmark_title"],
    }
    pairs = "".join(f"<div><dt>{k}</dt><dd>{escape(str(v))}</dd></div>" for k, v in shown.items() if v)
    return f'<dl class="cw-facts">{pairs}</dl>'


def strips_by_experiment(runs: pd.DataFrame, verdicts: pd.DataFrame) -> dict[str, list[Strip]]:
    """A strip per detector and setting. runs: `storage.cases.runs`; verdicts: the case's rows of the verdict frame."""
    known = {tuple(row[name] for name in VERDICT_KEY): row for row in as_rows(voted(verdicts))}
    return {name: _strips(rows, known) for name, rows in sorted(_by("experiment", as_rows(runs)).items())}


def _by(name: str, rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The rows by what they hold under `name`, each group in their order."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row[name], []).append(row)
    return groups


def _strips(runs: list[dict[str, Any]], known: Verdicts) -> list[Strip]:
    strips = []
    of_detector = _by("detector_title", runs)
    for title in in_order(list(of_detector)):
        for setting, rows in sorted(_by("setting", of_detector[title]).items()):
            sides = {Version(version): _side(answers, known) for version, answers in _by("version", rows).items()}
            strips.append(Strip(title, setting, sides))
    return strips


def _side(runs: list[dict[str, Any]], known: Verdicts) -> Answers:
    verdict = known[tuple(runs[0][name] for name in VERDICT_KEY)]
    return Answers(runs, verdict["said"], verdict["human"])
