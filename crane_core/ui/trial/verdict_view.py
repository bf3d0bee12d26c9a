"""What the rules and a model say of the target, in cards; text of notebooks and models is escaped."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import streamlit as st

from crane_core.detectors.prediction import Prediction
from crane_core.pipeline.ask_one import Asked
from crane_core.pipeline.check import Checked

MAX_TEXT = 2_000


def findings(said: Prediction) -> list[dict[str, Any]]:
    """What the rules are certain of: one object per finding, the first crash first."""
    kept: list[dict[str, Any]] = json.loads(said.diagnostics or "[]")
    return [entry for entry in kept if "exception" in entry]


def crash_line(said: Prediction) -> int | None:
    """The line of the target (from 1) at which the first finding stands."""
    for finding in findings(said):
        number = str(finding["code_line"]).partition(":")[0]
        return int(number) if number.isdigit() else None
    return None


def draw_rules(checked: Checked, said: Prediction) -> None:
    """The verdict of the certain-crash rules."""
    if not said.crashes:
        based = "code and kernel state" if checked.state else "the code alone: nothing was run"
        st.html(
            _card(
                "cw-calm",
                "Rules",
                "No certain crash",
                [("", f"Looked at: {based}. The rules speak only when a crash is certain; they never say safe.")],
            )
        )
        return
    for finding in findings(said):
        facts = [
            ("at", f"<code>{_shown(finding['code_line'])}</code>"),
            ("because", _shown(finding["message"])),
            ("known", _shown(finding["fact"])),
            ("remedy", _shown(finding["remedy"])),
        ]
        st.html(_card("cw-alarm", "Rules", f"Will crash: {_shown(finding['exception'])}", facts))


def draw_model(asked: Asked) -> None:
    """What a model answered, with what it cost."""
    heads = {True: "Will crash", False: "Will not crash", None: "No answer that can be read"}
    css = "cw-alarm" if asked.read.crashes else "cw-calm"
    why = asked.read.reasoning or asked.answer.trouble or asked.read.trouble or "no reason given"
    tokens = f"{asked.answer.input_tokens or 0:,} tokens in, {asked.answer.output_tokens or 0:,} out"
    cost = f", {asked.usd:.4f} USD" if asked.usd is not None else ""
    facts = [("", _shown(why)), ("", f'<span class="cw-dim">{asked.answer.seconds:.1f} s, {tokens}{cost}</span>')]
    st.html(_card(css, asked.model, heads[asked.read.crashes], facts))
    if asked.answer.text:
        with st.expander("Raw reply"):
            st.html(f'<div class="cw-prompt">{_shown(asked.answer.text, 50_000)}</div>')


def cost_words(checked: Checked) -> str:
    """What a crash would cost: the time of the cells before the target (paper, section 6.4)."""
    n = len(checked.plan.executed)
    cells = "1 cell" if n == 1 else f"{n} cells"
    if checked.seconds_before is None:
        return f"{cells} ran before the target."
    seconds = checked.seconds_before
    shown = f"{seconds / 60:.1f} min" if seconds >= 120 else f"{seconds:.2f} s"
    return f"{cells} ran before the target, in {shown}: what a crash that spoils the kernel costs again."


def _card(css: str, who: str, head: str, facts: list[tuple[str, str]]) -> str:
    """who is plain text; head and the facts are HTML."""
    rows = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts)
    return f'<div class="cw-verdict {css}"><div class="cw-dim">{escape(who)}</div><h4>{head}</h4><dl>{rows}</dl></div>'


def _shown(text: Any, limit: int = MAX_TEXT) -> str:
    cut = str(text)
    return escape(cut if len(cut) <= limit else f"{cut[:limit]}… ({len(cut):,} characters)")
