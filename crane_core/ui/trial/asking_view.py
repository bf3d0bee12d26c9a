"""The exact prompt and its price, before anything is sent; then the answer of a model."""

from __future__ import annotations

from html import escape

import streamlit as st

from crane_core.domain import Setting
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.prices import price_of
from crane_core.pipeline.ask_one import BASE_URL, MODEL, USUAL_OUTPUT, ask_one, configured_endpoint, expected_usd
from crane_core.pipeline.check import Checked, ToSend, to_send
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
    with told():
        endpoint = configured_endpoint()
        st.markdown(_price_words(sent, endpoint))
        if endpoint is not None and st.button(f"Send it to {literal(endpoint.model)}", type="primary"):
            with st.spinner(f"Waiting for {endpoint.model}"):
                st.session_state[keys.TRY_ASKED] = (sent.prompt.sha256, ask_one(sent, endpoint))
    asked = st.session_state.get(keys.TRY_ASKED)
    if asked and asked[0] == sent.prompt.sha256:
        draw_model(asked[1])
    with st.expander(f"The exact prompt · {len(sent.prompt.text):,} characters"):
        cut = f"\n… {len(sent.prompt.text) - MAX_PROMPT:,} more" if len(sent.prompt.text) > MAX_PROMPT else ""
        st.html(f'<div class="cw-prompt">{escape(sent.prompt.text[:MAX_PROMPT] + cut)}</div>')
        st.download_button("Download the prompt", sent.prompt.text, f"{checked.name}.txt", on_click="ignore")


def _price_words(sent: ToSend, endpoint: Endpoint | None) -> str:
    """Tokens and price of the question, and where it would go."""
    tokens = f"{sent.tokens.n:,} tokens ({sent.tokens.kind})"
    if endpoint is None:
        return (
            f"{tokens}. No model is set: start the app with `{MODEL}` (and `{BASE_URL}` for an endpoint other than "
            "OpenAI's), and its key in the environment or in `.env`."
        )
    usd = expected_usd(sent, price_of(endpoint))
    price = "its price is not known here" if usd is None else f"about {usd:.4f} USD with {USUAL_OUTPUT:,} tokens back"
    return f"{tokens} for **{literal(endpoint.model)}** at {literal(endpoint.host)}; {price}. Nothing was sent yet."
