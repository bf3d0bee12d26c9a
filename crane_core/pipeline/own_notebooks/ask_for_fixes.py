"""Fixes that a model proposes for a crash: k replies to one prompt, each read strictly.

Knows the order of the work. What a fix must not be, and whether it runs through, is decided as for those of the rules.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from crane_core.domain import Cell, Setting
from crane_core.errors import BudgetSpentError, DetectorError
from crane_core.llm.asking import ask_all
from crane_core.llm.budget import Budget
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.question import Answer, Question, StopReason
from crane_core.pipeline.own_notebooks.fixing import AskForFixes
from crane_core.prompts.render import body
from crane_core.prompts.repair_prompt import read_fix, repair_prompt
from crane_core.prompts.secrets import redacted
from crane_core.prompts.template import template_for_repair
from crane_core.repair.crash_site import CrashSite
from crane_core.repair.fix import Fix, Proposals

TEMPERATURE = 0.8
"""For replies that differ; with one candidate the endpoint's own stays."""
_HIDDEN = "the cell holds a key or password, which a model is not shown"


def fix_asker(
    cells: Sequence[Cell], endpoint: Endpoint, n_candidates: int
) -> AskForFixes:
    """What asks the model. `cells` are the executed ones and the target, in order."""
    ask = strict_fix_asker(cells, endpoint, n_candidates)

    def ask_or_say_why(site: CrashSite) -> Proposals:
        try:
            return ask(site)
        # The cells may have run for minutes: the verdict is shown all the same, with this reason.
        except DetectorError as error:
            return Proposals((), (f"the model did not reply: {error.args[0]}",))

    return ask_or_say_why


def strict_fix_asker(
    cells: Sequence[Cell],
    endpoint: Endpoint,
    n_candidates: int,
    hear: Callable[[Sequence[Answer]], None] = lambda _: None,
    budget: Budget | None = None,
) -> AskForFixes:
    """The same, but what the endpoint refuses is raised as a DetectorError; `hear` gets all answers, in order.

    Raises BudgetSpentError: a question did not fit the budget.
    """

    def ask(site: CrashSite) -> Proposals:
        # The reply is the whole cell: with a mark in the place of the secret it would be another cell.
        if redacted(site.source) != site.source:
            return Proposals((), (_HIDDEN,))
        text = prompt_for(site, cells)
        got: list[Answer] = []
        key = hashlib.sha256(text.encode()).hexdigest()
        questions = [
            Question((key, number), text, seed=number)
            for number in range(n_candidates)
        ]
        numbers = {
            question.key: number for number, question in enumerate(questions)
        }
        warm = replace(endpoint, temperature=TEMPERATURE)
        tally = ask_all(
            questions,
            warm if n_candidates > 1 else endpoint,
            concurrency=n_candidates,
            on_answer=got.append,
            budget=budget,
        )
        # With fewer cells than the others, this crash would not count like them.
        if tally.stopped is StopReason.BUDGET:
            raise BudgetSpentError(
                tally.why_stopped, remedy="Raise the budget."
            )
        # Answers come in any order, and the first fix counts by itself.
        got.sort(key=lambda answer: numbers[answer.key])
        hear(got)
        return _read(got, endpoint)

    return ask


def prompt_for(site: CrashSite, cells: Sequence[Cell]) -> str:
    """The exact text that is sent. Raises PromptError."""
    inside = body(cells, site.state, Setting.RUNTIME_PLUS)
    return repair_prompt(
        inside,
        site.exception,
        site.message,
        site.crash.line,
        template_for_repair(),
    )


def _read(answers: Sequence[Answer], endpoint: Endpoint) -> Proposals:
    fixes, refused = [], []
    for answer in answers:
        if answer.text is None:
            refused.append(answer.trouble or "the model did not reply")
            continue
        read = read_fix(answer.text, answer.finish_reason)
        if read.source is None:
            refused.append(read.trouble)
        else:
            sentence = read.sentence or "The model says nothing about it."
            fixes.append(Fix(read.source, sentence, by=endpoint.model))
    return Proposals(tuple(fixes), tuple(refused))
