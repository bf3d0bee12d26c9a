"""The exact prompt and its price, before anything is sent; then the answer of a model."""

from __future__ import annotations

from html import escape

import streamlit as st

from crane_core.domain import Setting
from crane_core.errors import DetectorError
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.prices import price_of
from crane_core.pipeline.ask_one import BASE_URL, MODEL, USUAL_OUTPUT, Asked, ask_one, configured_endpoint, expected_usd
from crane_core.pipeline.check import Checked, to_send
from crane_core.pipeline.job_words import usd_words
from crane_core.pipeline.prompt import Written
from crane_core.ui import keys
from crane_core.ui.frame import told
from crane_core.ui.trial.verdict_view import draw_model
from crane_core.ui.words import literal, setting_words

MAX_PROMPT = 200_000


def draw_asking(checked: Checked) -> None:
    """What a model would be shown, what that costs, the button that sends it, and what came back."""
    st.subheader("Ask a model", anchor="model")
    settings = list(checked.settings)
    setting = st.selectbox(
        "What it is shown",
        settings,
        index=len(settings) - 1,
        format_func=setting_words,
        key=f"{keys.TRY_SETTING}_{len(settings)}",
        width=400,
    )
    sent = to_send(checked, Setting(setting))
    endpoint = None
    with told():
        endpoint = configured_endpoint()
        st.markdown(price_words(sent, endpoint))
    _draw_prompt(checked, sent)
    if endpoint is not None and st.button(f"Send it to {literal(endpoint.model)}", type="primary"):
        with told(), st.spinner(f"Waiting for {literal(endpoint.model)}"):
            st.session_state[keys.TRY_ASKED] = (sent.prompt.sha256, _ask(sent, endpoint))
    asked = st.session_state.get(keys.TRY_ASKED)
    if asked and asked[0] == sent.prompt.sha256:
        draw_model(asked[1])


def _ask(sent: Written, endpoint: Endpoint) -> Asked:
    """As `ask_one`; a remedy that speaks of commands speaks of this page."""
    try:
        return ask_one(sent, endpoint)
    except DetectorError as error:
        is_of_command = "command" in error.remedy or "--" in error.remedy
        remedy = "Check the endpoint, the model's name and the key, then send it again."
        raise DetectorError(error.args[0], remedy=remedy if is_of_command else error.remedy) from error


def _draw_prompt(checked: Checked, sent: Written) -> None:
    text = sent.prompt.text
    with st.expander(f"The exact prompt · {len(text):,} characters"):
        cut = f"\n… {len(text) - MAX_PROMPT:,} more" if len(text) > MAX_PROMPT else ""
        st.html(f'<div class="cw-prompt">{escape(text[:MAX_PROMPT] + cut)}</div>')
        st.download_button("Download the prompt", text, f"{checked.name}.txt", on_click="ignore")


def price_words(sent: Written, endpoint: Endpoint | None) -> str:
    """Tokens and price of the question, and where it would go."""
    tokens = f"{sent.tokens.n:,} tokens ({sent.tokens.kind})"
    if endpoint is None:
        return (
            f"{tokens}. No model is set: start the app with `{MODEL}` (and `{BASE_URL}` for an endpoint other than "
            "OpenAI's), and its key in the environment or in `.env`."
        )
    usd = expected_usd(sent, price_of(endpoint))
    price = f"about {usd_words(usd)} with {USUAL_OUTPUT:,} tokens back" if usd else "no price: it runs on this machine"
    price = "its price is not known here" if usd is None else price
    where = f"**{literal(endpoint.model)}** at {literal(endpoint.host)}"
    return f"{tokens} for {where}; {price}. It is sent when you press the button, not before."
