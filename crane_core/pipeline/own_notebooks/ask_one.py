"""One question to one model about one notebook: its highest cost, its reply, its meaning.

Nothing is stored: the notebook belongs to no benchmark, and the visitor sees the raw reply.
"""

import threading
from dataclasses import dataclass

from crane_core.domain import JsonObject
from crane_core.errors import DetectorError
from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.prices import Price, price_of
from crane_core.llm.question import Answer, Question
from crane_core.pipeline.jobs.ask_models import usd_of
from crane_core.pipeline.jobs.words import cost_words
from crane_core.pipeline.own_notebooks.prompt_of_notebook import WrittenPrompt
from crane_core.prompts import reply

REMEDY = "Check the endpoint, the model's name and the key, then ask again."
USUAL_OUTPUT = 1_000
"""Output tokens assumed for the price shown before sending: a usual reply of a model that reasons in its answer."""


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """The outcome of the question. `usd` is None if price or tokens are unknown."""

    model: str
    answer: Answer
    read: reply.ReadReply
    usd: float | None

    def as_json(self) -> JsonObject:
        """The outcome for the JSON output of `check`: times in seconds, cost in USD, the raw reply."""
        return {
            "model": self.model,
            "crashes": self.read.crashes,
            "reasoning": self.read.reasoning,
            "trouble": self.answer.trouble or self.read.trouble,
            "seconds": self.answer.seconds,
            "input_tokens": self.answer.input_tokens,
            "output_tokens": self.answer.output_tokens,
            "usd": self.usd,
            "reply": self.answer.text,
        }

    def in_words(self) -> list[str]:
        """Lines for people to read."""
        said = {
            True: "predicts a crash",
            False: "predicts no crash",
            None: "gave no readable answer",
        }
        why = (
            self.read.reasoning
            or self.answer.trouble
            or self.read.trouble
            or "no reasoning given"
        )
        cost = cost_words(self.usd, self.answer.usd)
        return [
            f"{self.model} {said[self.read.crashes]} ({self.answer.seconds:.1f} s, {cost})",
            f"  {why}",
        ]


def expected_usd(n_tokens: int, price: Price | None) -> float | None:
    """What a question of so many tokens will cost with a reply of USUAL_OUTPUT; None if the price is not known."""
    return price.usd(n_tokens, USUAL_OUTPUT) if price else None


def ask_one(
    sent: WrittenPrompt,
    endpoint: Endpoint,
    price: Price | None = None,
    *,
    stop: threading.Event | None = None,
) -> QuestionOutcome:
    """Send the text and wait; when `stop` is set, no longer than a second.

    Raises DetectorError if the endpoint cannot be reached, or the question was cancelled.
    """
    got: list[Answer] = []
    question = Question(
        sent.prompt.sha256,
        sent.prompt.text,
        reply.reply_schema(),
        reply.SCHEMA_NAME,
    )
    try:
        ask_all(
            [question], endpoint, concurrency=1, on_answer=got.append, stop=stop
        )
    except DetectorError as error:
        # Remedies of jobs speak of commands and options, which a visitor of the page does not have.
        is_of_jobs = "command" in error.remedy or "--" in error.remedy
        raise DetectorError(
            error.args[0], remedy=REMEDY if is_of_jobs else error.remedy
        ) from error
    if not got:
        raise DetectorError(
            "The question was cancelled before an answer arrived.",
            remedy="You can ask again; the endpoint may charge for work that it already began.",
        )
    [answer] = got
    nothing = reply.ReadReply(None, None, None)
    read = (
        nothing
        if answer.text is None
        else reply.read_reply(answer.text, answer.finish_reason)
    )
    usd = answer.usd or usd_of(
        price_of(endpoint, price), answer.input_tokens, answer.output_tokens
    )
    return QuestionOutcome(endpoint.model, answer, read, usd)
