"""The plan of a study as a file: its questions, made before a run, checked, and registered in the ledger.

ledger/plans/<name>.jsonl    one line: the whole text with its time; chained and counted as every ledger file

A registered plan never changes. A second one under another name is shown beside it.
"""

import math
import re
import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple

from crane_core import ledger
from crane_core.domain import AuditAction, RegisteredPlan, Setting
from crane_core.errors import PlanError
from crane_core.pipeline.audit import PLANS, Actor, note
from crane_core.pipeline.jobs.files import now
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.comparisons import comparison_from
from crane_core.pipeline.results.measures import Credit, Inputs, VoteRule
from crane_core.stats.alpha_spending import MOST_LOOKS, Spending
from crane_core.stats.outcome import Outcome
from crane_core.storage.verdicts import PUBLISHED_HUMAN

MOST_LETTERS = 64_000
MOST_QUESTIONS = 50
MOST_WORDS = 300
"""Letters of a title or of a name."""
HOLM, BENJAMINI_HOCHBERG = "Holm", "Benjamini-Hochberg"
EXPECTED = {
    "gain": Outcome.GAIN,
    "loss": Outcome.LOSS,
    "smaller": Outcome.SMALLER,
}
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_OF_PLAN = {
    "title", "benchmark", "smallest_effect", "correction", "cases", "looks", "spending", "questions",
}  # fmt: skip
_OF_QUESTION = {
    "question", "detector", "inputs", "expect", "runs", "credit", "judged_by", "experiments",
}  # fmt: skip
TEMPLATE = f'''\
# What a study asks, written before its answers are there. Register it: crane plan register FILE --name NAME
title = "Does runtime state help?"
benchmark = "junobench"
smallest_effect = 5        # points; a smaller change does not matter
correction = "{HOLM}"        # over all questions below; or "{BENJAMINI_HOCHBERG}"
cases = 111                # stop rule: a question is decided once so many cases are answered
# looks = 5                # at each fifth of the cases a question may be decided early; p allows for the looks
# spending = "{Spending.OBRIEN_FLEMING}"  # strict early looks; or "{Spending.POCOCK}"

[[questions]]
question = "Runtime state raises the accuracy of the model"
detector = "gpt-5"         # as `crane list run` shows it
inputs = "code,runtime"    # the second against the first
expect = "gain"            # or "loss", or "smaller" than the smallest effect
runs = "{VoteRule.MAJORITY}"          # how repeated answers become one verdict
credit = "{Credit.DETECTION}"  # or "{Credit.STRICT}"
# judged_by = "{PUBLISHED_HUMAN}"      # whose labels decide what a correct diagnosis is
# experiments = ["NAME"]   # which runs count, where several answer the same question
'''
"""A plan to begin with; it can be registered as it is."""


class PlannedQuestion(NamedTuple):
    """A comparison that a plan names, and what it expects of it; experiments is empty where any run counts."""

    question: str
    detector: str
    inputs: Inputs
    expect: Outcome
    rule: VoteRule
    credit: Credit
    judged_by: str
    experiments: tuple[str, ...]


class StudyPlan(NamedTuple):
    """bound: the smallest effect of interest, a share. n_cases: the stop rule, of n_looks equally spaced looks."""

    title: str
    benchmark: str
    bound: float
    correction: str
    n_cases: int
    n_looks: int
    spending: Spending
    questions: tuple[PlannedQuestion, ...]


class PlanOnRecord(NamedTuple):
    """A registered plan: what it says, and the record with its text and time."""

    plan: StudyPlan
    record: RegisteredPlan


def plan_from(text: str) -> StudyPlan:
    """The plan of a file's text. Raises PlanError: the first fault, where it is and what may stand there."""
    if len(text) > MOST_LETTERS:
        raise _fault(
            f"it has {len(text):,} letters; {MOST_LETTERS:,} are the most"
        )
    try:
        body = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _fault(f"it is not TOML: {str(error)[:200]}") from error
    _refuse_unknown(body, _OF_PLAN, "the file")
    body = {"looks": 1, "spending": str(Spending.OBRIEN_FLEMING)} | body
    asked = body.get("questions")
    if not isinstance(asked, list) or not 0 < len(asked) <= MOST_QUESTIONS:
        raise _fault(f"questions: a plan has 1 to {MOST_QUESTIONS}")
    correction = _one_of(
        body, "correction", {HOLM: HOLM, BENJAMINI_HOCHBERG: BENJAMINI_HOCHBERG}
    )
    return StudyPlan(
        title=_words(body, "title"),
        benchmark=_words(body, "benchmark"),
        bound=_number(body, "smallest_effect", 0.1, 50) / 100,
        correction=correction,
        n_cases=int(_number(body, "cases", 2, 10**6)),
        n_looks=int(_number(body, "looks", 1, MOST_LOOKS)),
        spending=_one_of(body, "spending", {str(one): one for one in Spending}),
        questions=tuple(
            _question(one, f"questions {place}: ")
            for place, one in enumerate(asked, start=1)
        ),
    )


def _question(body: Any, where: str) -> PlannedQuestion:
    if not isinstance(body, dict):
        raise _fault(f"{where}not a table; begin it with [[questions]]")
    _refuse_unknown(body, _OF_QUESTION, where.rstrip(": "))
    try:
        inputs = comparison_from(_words(body, "inputs", where))
    except ValueError as error:
        known = ", ".join(Setting)
        raise _fault(
            f'{where}inputs: expected two of {known}, as "code,runtime"'
        ) from error
    experiments = body.get("experiments", [])
    if not isinstance(experiments, list):
        raise _fault(f"{where}experiments: expected a list of names")
    usual = {
        "runs": str(VoteRule.MAJORITY),
        "credit": str(Credit.DETECTION),
        "judged_by": PUBLISHED_HUMAN,
    }
    body = usual | body
    return PlannedQuestion(
        question=_words(body, "question", where),
        detector=_words(body, "detector", where),
        inputs=inputs,
        expect=_one_of(body, "expect", EXPECTED, where),
        rule=_one_of(body, "runs", {str(one): one for one in VoteRule}, where),
        credit=_one_of(
            body, "credit", {str(one): one for one in Credit}, where
        ),
        judged_by=_words(body, "judged_by", where),
        experiments=tuple(map(str, experiments)),
    )


def _words(body: Mapping[str, Any], name: str, where: str = "") -> str:
    found = body.get(name)
    if (
        not isinstance(found, str)
        or not 0 < len(found) <= MOST_WORDS
        or not found.isprintable()
    ):
        raise _fault(
            f"{where}{name}: expected 1 to {MOST_WORDS} letters in quotes"
        )
    return found


def _number(
    body: Mapping[str, Any], name: str, low: float, high: float
) -> float:
    found = body.get(name)
    # TOML's true is a Python int.
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        found = math.nan
    if not low <= found <= high:
        raise _fault(f"{name}: expected a number from {low:,g} to {high:,g}")
    return float(found)


def _one_of(
    body: Mapping[str, Any],
    name: str,
    known: Mapping[str, Any],
    where: str = "",
) -> Any:
    found = body.get(name)
    if not isinstance(found, str) or found not in known:
        raise _fault(f"{where}{name}: expected one of {', '.join(known)}")
    return known[found]


def _refuse_unknown(
    body: Mapping[str, Any], known: set[str], where: str
) -> None:
    # A mistyped member would leave its default in force without a word.
    if unknown := sorted(set(body) - known):
        raise _fault(f"{where}: {unknown[0][:40]!r} is not a member")


def _fault(words: str) -> PlanError:
    return PlanError(
        f"The plan cannot be read: {words}.",
        remedy="`crane plan new FILE` writes a plan to begin with.",
    )


def register(
    folder: DataFolder, name: str, text: str, n_answers: int, by: Actor
) -> RegisteredPlan:
    """Write a plan into the ledger, and into the audit log who did it.

    n_answers: of its questions, loaded now. Raises PlanError if it cannot be read, or a plan has that name already.
    """
    plan_from(text)
    if not _NAME.fullmatch(name):
        raise PlanError(
            f"{name[:60]!r} is not a name of a plan.",
            remedy="Use 1 to 60 of a-z, 0-9 and dash.",
        )
    file = folder.ledger / PLANS / f"{name}.jsonl"
    with ledger.exclusively(file):
        if file.exists():
            raise PlanError(
                f"A plan {name!r} is registered, and a registered plan does not change.",
                remedy="Give this one another name; both are shown.",
            )
        record = RegisteredPlan(name, text, now(), n_answers)
        ledger.append(file, record)
    note(folder, by, AuditAction.REGISTER_PLAN, f"plan {name}")
    return record


def registered_plans(folder: DataFolder) -> list[PlanOnRecord]:
    """Every registered plan, the first registered first. Raises LedgerError or PlanError if one was altered."""
    records = [
        record
        for file in ledger.files(folder.ledger / PLANS)
        for record in ledger.tail(file).records
        if isinstance(record, RegisteredPlan)
    ]
    records.sort(key=lambda record: (record.registered_at, record.name))
    return [PlanOnRecord(plan_from(record.text), record) for record in records]
