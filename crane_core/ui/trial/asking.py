"""Asking a model: the exact prompt and its price before anything is sent, then the answer, while the page stays alive.

Knows how many questions may be under way at once, for the whole server.
"""

import threading
from dataclasses import dataclass
from functools import partial

import streamlit as st

from crane_core.domain import Setting
from crane_core.errors import CraneError, DetectorError
from crane_core.identity.visitor import Role
from crane_core.llm.endpoint import Endpoint, configured_endpoint
from crane_core.llm.prices import price_of
from crane_core.pipeline.jobs.words import usd_words
from crane_core.pipeline.own_notebooks import ask_one
from crane_core.pipeline.own_notebooks.check import CheckedNotebook, to_send
from crane_core.pipeline.own_notebooks.prompt_of_notebook import WrittenPrompt
from crane_core.prompts.tokens import Tokens
from crane_core.prompts.tokens_apart import count_apart
from crane_core.ui import keys
from crane_core.ui.code_html import prompt_html
from crane_core.ui.documentation import help_address
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.trial.background import Background, begin, draw_watch
from crane_core.ui.trial.choice import first_example
from crane_core.ui.trial.verdict_view import draw_model
from crane_core.ui.visit import require
from crane_core.ui.words import literal, setting_words

AT_ONCE = 8
"""Maximum number of simultaneous questions of this server, for all visitors together."""


@dataclass(slots=True, kw_only=True)
class TrialQuestion(Background[ask_one.QuestionOutcome]):
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
    checked: CheckedNotebook,
    setting: Setting,
    sent: WrittenPrompt,
    endpoint: Endpoint,
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

    def send() -> ask_one.QuestionOutcome:
        return ask_one.ask_one(sent, endpoint, stop=asking.stop)

    begin(asking, send, _places(), full=full, failed="Asking the model failed")
    return asking


def draw_asking(checked: CheckedNotebook) -> None:
    """What a model would be shown, what that costs, the button that sends it, and what came back."""
    st.header("Ask a model", anchor="model")
    settings = list(checked.settings)
    with st.container(
        horizontal=True, vertical_alignment="bottom", key="what_is_sent"
    ):
        setting = st.selectbox(
            "Input of the model",
            settings,
            index=len(settings) - 1,
            format_func=setting_words,
            key=f"{keys.TRY_SETTING}_{len(settings)}",
            width=400,
        )
        sent = to_send(checked, Setting(setting))
        st.download_button(
            "Download the prompt",
            sent.prompt.text,
            f"{checked.name}.txt",
            on_click="ignore",
        )
    endpoint = None
    with refusals_shown():
        endpoint = configured_endpoint()
        show = st.markdown if endpoint else st.caption
        show(price_words(_tokens_of(sent), endpoint))
    text = sent.prompt.text
    with st.expander(f"The exact prompt · {len(text):,} characters"):
        st.html(prompt_html(text, "more"))
    asking = _asking_of(checked)
    is_of_this_text = asking is not None and asking.sha256 == sent.prompt.sha256
    if asking is not None and asking.outcome is None:
        draw_watch(
            asking,
            "Cancel the question",
            key=keys.TRY_CALL_BACK,
            words=partial(_waiting_words, asking),
        )
        if is_of_this_text:
            return
    if endpoint is not None and st.button(
        f"Send it to {literal(endpoint.model)}",
        type="primary",
        key=keys.TRY_SEND,
    ):
        _send(checked, Setting(setting), sent, endpoint)
    if asking is not None and asking.outcome is not None:
        if not is_of_this_text:
            st.caption(f"Previous answer, {setting_words(asking.setting)}:")
        _draw_outcome(asking)


def prepare_price() -> None:
    """Count the tokens of what the page shows first: a visitor would wait half a second for it."""
    checked = first_example()
    _tokens_of(to_send(checked, Setting(checked.settings[-1])))


def _tokens_of(sent: WrittenPrompt) -> Tokens:
    # In another process, because the server would keep the table of the encoding, 140 MB.
    [tokens] = count_apart([sent.prompt.text])
    return tokens


def _asking_of(checked: CheckedNotebook) -> TrialQuestion | None:
    """The last question of this session, if it was about this target: what is known of it may have grown since."""
    asking = st.session_state.get(keys.TRY_ASKED)
    return (
        asking
        if isinstance(asking, TrialQuestion) and asking.about == about(checked)
        else None
    )


def _send(
    checked: CheckedNotebook,
    setting: Setting,
    sent: WrittenPrompt,
    endpoint: Endpoint,
) -> None:
    """A question that is still running is cancelled: its answer would have no place."""
    before = st.session_state.get(keys.TRY_ASKED)
    if isinstance(before, TrialQuestion):
        before.stop.set()
    with refusals_shown():
        require(Role.ADMIN)
        st.session_state[keys.TRY_ASKED] = ask(checked, setting, sent, endpoint)
        st.rerun()


def _waiting_words(asking: TrialQuestion) -> str:
    return f"Waiting for {literal(asking.model)}, {asking.seconds:.0f} s so far"


def _draw_outcome(asking: TrialQuestion) -> None:
    with refusals_shown():
        if isinstance(asking.outcome, CraneError) and asking.stop.is_set():
            st.info(
                f"{literal(asking.outcome.args[0])} {literal(asking.outcome.remedy)}"
            )
            return
        if isinstance(asking.outcome, CraneError):
            raise asking.outcome
        if asking.outcome is not None:
            draw_model(asking.outcome)


def price_words(counted: Tokens, endpoint: Endpoint | None) -> str:
    """Tokens and price of the question, and where it would go."""
    tokens = f"{counted.n:,} tokens ({counted.kind})"
    if endpoint is None:
        return (
            "No model is set on this server, so nothing is sent: paste the prompt into the chat of any model. It has "
            f"{tokens}. To send it from here, [set up a model]({help_address('try_a_notebook')}#also-ask-a-model)."
        )
    usd = ask_one.expected_usd(counted.n, price_of(endpoint))
    price = "its price is unknown"
    if usd is not None:
        price = f"about {usd_words(usd)} with {ask_one.USUAL_OUTPUT:,} output tokens"
    where = f"**{literal(endpoint.model)}** at {literal(endpoint.host)}"
    return f"{tokens} for {where}; {price}. Nothing is sent until you press the button."
