"""What is known of a pair besides its texts, and the rows of its verdicts, as finished HTML and finished rows."""

from collections import Counter
from html import escape
from typing import Any, NamedTuple

import pandas as pd

from crane_core.charts.theme import in_order
from crane_core.domain import Version
from crane_core.pipeline.cases.pairs import voted
from crane_core.pipeline.rows import as_rows
from crane_core.ui import words
from crane_core.ui.code_html import prose_html
from crane_core.ui.verdict_matrix import Answers, MatrixRow, Strip, rows_of

MAX_RAISED = 1000
"""Characters of an exception's message in the header."""
Verdicts = dict[tuple[str, ...], dict[str, Any]]
VERDICT_KEY = ("version", "detector", "setting", "experiment")


def facts_html(case: dict[str, Any]) -> str:
    """Labels of the case, as a list; `raised_html` names its exception."""
    shown = {
        "library": case["library"],
        "root cause": case["root_cause"],
        "crash type": case["crash_type"],
        "pipeline stage": case["stage"],
        "benchmark": case["benchmark_title"],
    }
    pairs = "".join(
        f"<div><dt>{k}</dt><dd>{escape(str(v))}</dd></div>"
        for k, v in shown.items()
        if v
    )
    return f'<dl class="cw-facts">{pairs}</dl>'


def raised_html(case: dict[str, Any]) -> str:
    """The exception with the first line of its message; nothing if neither is known."""
    name, lines = (
        words.exception_name(case["exception"]) or "",
        str(case["message"] or "").strip().splitlines(),
    )
    message = lines[0] if lines else ""
    # A message may begin with the class already.
    is_named = message.partition(":")[0].strip().lower() == name.lower()
    said = (
        message
        if is_named
        else ": ".join(part for part in (name, message) if part)
    )
    shown = escape(words.shortened(said, MAX_RAISED))
    return (
        f'<code class="cw-raised" title="{shown}">{shown}</code>'
        if shown
        else ""
    )


def why_html(case: dict[str, Any], remarks: dict[str, str]) -> str:
    """The ground truth of the crash, and the authors' remarks on the notebooks."""
    why = case["diagnosis"] or ""
    if why:
        why = f"<b>Why it crashes</b> (ground truth): {prose_html(why)}"
    # A remark may say the cause where the ground truth repeats the exception.
    notes = [
        f"Remark on the {words.VERSION_WORDS.get(version, version)} notebook: {prose_html(remark)}"
        for version, remark in remarks.items()
    ]
    told = " ".join([why, *notes]).strip()
    return f'<div class="cw-why"><p>{told}</p></div>' if told else ""


class MatrixRows(NamedTuple):
    """The rows of the verdict matrix: imported ones, and those of local runs."""

    imported: list[MatrixRow]
    local: list[MatrixRow]


def asked_rows(runs: pd.DataFrame, verdicts: pd.DataFrame) -> MatrixRows:
    """A row per detector and experiment. runs: `storage.cases.runs`; verdicts: the case's rows of the verdict frame.

    An imported experiment is named where a detector took part in several.
    """
    known = {
        tuple(row[name] for name in VERDICT_KEY): row
        for row in as_rows(voted(verdicts))
    }
    imported: list[Strip] = []
    local: list[Strip] = []
    for name, of in sorted(_by("experiment", as_rows(runs)).items()):
        where = imported if words.is_imported(name) else local
        shown = words.experiment_words(name) if where is imported else name
        where += [s._replace(experiment=shown) for s in _strips(of, known)]
    order = in_order(list({strip.detector for strip in imported}))
    found = sorted(rows_of(imported), key=lambda row: order.index(row.detector))
    times = Counter(row.detector for row in found)
    return MatrixRows(
        # The experiment is named only where the same detector stands there twice.
        [
            row if times[row.detector] > 1 else row._replace(note="")
            for row in found
        ],
        rows_of(local),
    )


def _by(
    name: str, rows: list[dict[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
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
            sides = {
                Version(version): _side(answers, known)
                for version, answers in _by("version", rows).items()
            }
            strips.append(Strip(title, setting, sides))
    return strips


def _side(runs: list[dict[str, Any]], known: Verdicts) -> Answers:
    verdict = known[tuple(runs[0][name] for name in VERDICT_KEY)]
    return Answers(runs, verdict["said"], verdict["human"])
