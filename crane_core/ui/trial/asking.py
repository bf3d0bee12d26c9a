"""A question to a model while the page stays alive.

Knows how many may be under way at once, for the whole server.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import streamlit as st

from crane_core.domain import Setting
from crane_core.errors import DetectorError
from crane_core.llm.endpoint import Endpoint
from crane_core.pipeline.own_notebooks.ask_one import QuestionOutcome, ask_one
from crane_core.pipeline.own_notebooks.check import CheckedNotebook
from crane_core.pipeline.own_notebooks.prompt_of_notebook import WrittenPrompt
from crane_core.ui.trial.background import Background, begin

AT_ONCE = 8
"""Maximum number of simultaneous questions of this server, for all visitors together."""


@dataclass(slots=True, kw_only=True)
class TrialQuestion(Background[QuestionOutcome]):
    """One question: the text with this hash, to this model. `about` is the target, `setting` what was shown of it."""

    sha256: str
    model: str
    about: tuple[str, int, str]
    setting: Setting


@st.cache_resource(show_spinner=False)
def _places() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(AT_ONCE)


def about(checked: CheckedNotebook) -> tuple[str, int, str]:
    """Which target a question is about, whatever was shown: notebook, code cell, code."""
    return checked.name, checked.plan.target.index, checked.plan.target.source


def ask(
    checked: CheckedNotebook, setting: Setting, sent: WrittenPrompt, endpoint: Endpoint
) -> TrialQuestion:
    """Send the text. Raises DetectorError if too many questions are under way."""
    asking = TrialQuestion(
        sha256=sent.prompt.sha256,
        model=endpoint.model,
        about=about(checked),
        setting=setting,
    )
    full = DetectorError(
        f"{AT_ONCE} questions of this server are already waiting for an answer.",
        remedy="Try again when one of them is finished.",
    )

    def send() -> QuestionOutcome:
        return ask_one(sent, endpoint, stop=asking.stop)

    begin(asking, send, _places(), full=full, failed="Asking the model failed")
    return asking
