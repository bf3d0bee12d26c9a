"""The verdicts of the rules and of a model about the target, as cards; text of notebooks and models is escaped."""

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from crane_core.detectors.registry import Prediction
from crane_core.pipeline.jobs.words import cost_words, token_words
from crane_core.pipeline.own_notebooks import check, value_origins
from crane_core.pipeline.own_notebooks.ask_one import QuestionOutcome
from crane_core.runtime.rehearsal import Rehearsal, RehearsalEnd
from crane_core.ui.code_html import blanks_html, explained_blanks
from crane_core.ui.words import literal, sentence_case, shortened

MAX_TEXT = 2_000
MAX_REPLY = 50_000
WHO = "Predicted by the certain-crash rules"


def crash_line(said: Prediction) -> int | None:
    """The line of the target (from 1) of the first finding."""
    found = check.findings(said)
    number = str(found[0]["code_line"]).partition(":")[0] if found else ""
    return int(number) if number.isdigit() else None


def answer(checked: check.CheckedNotebook, said: Prediction) -> str:
    """The title of the page, for Markdown: what the rules say of the target."""
    place = f"Code cell {checked.plan.target.index}"
    for finding in check.findings(said):
        return literal(f"{place} will crash: {finding['exception']}")
    return f"{place}: no certain crash"


def draw_rules(checked: check.CheckedNotebook, said: Prediction) -> None:
    """The verdict of the certain-crash rules."""
    found = value_origins.with_origins(
        check.findings(said), checked, is_live=checked.is_attached
    )
    st.html(
        rules_html(
            found, check.unsure(said), has_state=checked.state is not None
        )
    )


def rules_html(
    found: Sequence[dict[str, Any]],
    doubts: Sequence[str] = (),
    *,
    has_state: bool,
) -> str:
    """A card for each certain crash, or one card that says that there is none; then why less is said than could be."""
    if not found:
        based = "Checked: the code of the cells and the kernel state before the target."
        if not has_state:
            based = "Checked: the code only. The kernel state before the target is not known yet."
        modest = "The rules report only certain crashes; they never say that a cell is safe."
        return _card(
            "cw-calm cw-titled",
            WHO,
            "No certain crash",
            [("", f"{based} {modest}"), *_unsure(doubts)],
        )
    more = _card("cw-calm", WHO, "Unsure", _unsure(doubts)) if doubts else ""
    first, *others = map(_finding_html, found)
    # The title of the page is what the first one finds.
    first = first.replace("cw-alarm", "cw-alarm cw-titled", 1)
    return explained_blanks("".join([first, *others])) + more


def _unsure(doubts: Sequence[str]) -> list[tuple[str, str]]:
    return [("unsure", _shown(sentence)) for sentence in doubts]


def _finding_html(finding: dict[str, Any]) -> str:
    facts = [
        ("line", f"<code>{_shown(finding['code_line'])}</code>"),
        ("reason", _shown(finding["message"])),
        ("evidence", _shown(value_origins.evidence(finding))),
        ("remedy", _remedy_html(finding["remedy"])),
    ]
    return _card(
        "cw-alarm", WHO, f"Will crash: {_shown(finding['exception'])}", facts
    )


def _remedy_html(text: str) -> str:
    """A remedy is copied by hand, and the mark of a space would be taken for a dot."""
    shown = _shown(_sentence(text))
    told = [
        f"with a space at the {end}"
        for words, end in (("begins with", "beginning"), ("ends in", "end"))
        if f'title="{words} a space"' in shown
    ]
    about = f' <span class="cw-dim">({" and ".join(told)})</span>.'
    return shown.removesuffix(".") + about if told else shown


def _sentence(text: str) -> str:
    """With a capital letter and a full stop, like every remedy."""
    begun = sentence_case(text)
    return begun if begun.endswith((".", "!", "?", "…")) else f"{begun}."


def draw_model(asked: QuestionOutcome) -> None:
    """What a model answered, with what it cost."""
    st.html(model_html(asked))
    if asked.answer.text:
        with st.expander("Raw reply"):
            st.html(
                f'<div class="cw-prompt">{escape(shortened(asked.answer.text, MAX_REPLY))}</div>'
            )


def model_html(asked: QuestionOutcome) -> str:
    """The card of one answer."""
    heads = {
        True: "Will crash",
        False: "Will not crash",
        None: "No readable answer",
    }
    css = "cw-alarm" if asked.read.crashes else "cw-calm"
    why = (
        asked.read.reasoning
        or asked.answer.trouble
        or asked.read.trouble
        or "no reason given"
    )
    tokens = token_words(asked.answer.input_tokens, asked.answer.output_tokens)
    cost = f", {cost_words(asked.usd, asked.answer.usd)}"
    facts = [
        ("", _shown(why)),
        (
            "",
            f'<span class="cw-dim">{asked.answer.seconds:.1f} s, {tokens}{cost}</span>',
        ),
    ]
    return _card(css, asked.model, heads[asked.read.crashes], facts)


def rehearsal_html(told: Rehearsal) -> str:
    """The card of what the target came to in a copy."""
    css = "cw-alarm" if told.outcome is RehearsalEnd.CRASH else "cw-calm"
    facts = [
        (
            name,
            f"<code>{_shown(text)}</code>" if name == "line" else _shown(text),
        )
        for name, text in told.facts
    ]
    return _card(
        css, f"Rehearsed {told.where}", _shown(sentence_case(told.title)), facts
    )


def _card(css: str, who: str, head: str, facts: list[tuple[str, str]]) -> str:
    """who is plain text; head and the facts are HTML."""
    rows = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts)
    return f'<div class="cw-verdict {css}"><div class="cw-dim">{escape(who)}</div><h2>{head}</h2><dl>{rows}</dl></div>'


def _shown(text: Any) -> str:
    return blanks_html(shortened(str(text), MAX_TEXT))
