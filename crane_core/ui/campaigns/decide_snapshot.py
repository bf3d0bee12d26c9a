"""What the deciding screen in the browser receives: what waits, cards and evidence of the next items. Plain JSON."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from crane_core.annotation.label_set import LabelSet
from crane_core.annotation.outcome import ADJUDICATION_REASONS
from crane_core.pipeline.campaigns.disputes import Dispute, undecided
from crane_core.ui.label_view import label_style, label_words

AHEAD = 24
"""Items whose cards the browser loads in advance."""
KEYS = "123456789abfghijklmnopqtuvwxyz"
"""Keys that reasons may have; the screen and Streamlit have the other letters."""
EVIDENCE_AHEAD = 2
"""Items whose evidence, which is large, comes in advance."""


class DecisionOutcome(NamedTuple):
    """The outcome of the decisions that a browser sent last; `trouble` says why some may be sent again."""

    saved: Sequence[str] = ()
    refused: Mapping[str, str] | None = None
    trouble: str | None = None


def queue(
    found: Sequence[Dispute], asked: str, late: Sequence[str]
) -> list[str]:
    """The requested item, also a decided one, then those that wait; `late` ones, which were put off, come last."""
    waiting = [entry.item for entry in undecided(list(found))]
    first = [entry.item for entry in found if entry.item == asked]
    behind = [item for item in late if item in waiting and item not in first]
    after = waiting.index(asked) + 1 if asked in waiting else 0
    return [
        *first,
        *(
            item
            for item in waiting[after:] + waiting[:after]
            if item not in {*first, *behind}
        ),
        *behind,
    ]


def deciding(
    found: Sequence[Dispute],
    labels: LabelSet,
    asked: str,
    sent: Mapping[str, Any],
    outcome: DecisionOutcome,
    *,
    card_of: Callable[[Dispute], str],
    evidence_of: Callable[[str], str],
) -> dict[str, Any]:
    """The state after a save. sent: what the browser sent last, which is not trusted."""
    waiting = [entry.item for entry in undecided(list(found))]
    coming = queue(found, asked, texts(sent.get("late")))[:AHEAD]
    of = {entry.item: entry for entry in found}
    have, read = texts(sent.get("have")), texts(sent.get("evidence"))
    return {
        "queue": coming,
        "waiting": waiting,
        "n_waiting": len(waiting),
        "n_all": len(found),
        "cards": {
            item: card_of(of[item]) for item in coming if item not in have
        },
        "evidence": {
            item: evidence_of(item)
            for item in coming[:EVIDENCE_AHEAD]
            if item not in read
        },
        "decided": {
            item: words
            for item in coming
            if (words := _decided(of[item], labels))
        },
        "labels": [
            {
                "code": label.code,
                "word": label.words,
                "key": label.key,
                "style": label_style(label),
            }
            for label in labels.labels
        ],
        "reasons": _reasons(labels),
        "saved": list(outcome.saved),
        "refused": dict(outcome.refused or {}),
        "trouble": outcome.trouble,
    }


def texts(value: object) -> list[str]:
    """The texts in a list from a browser; anything else is nothing."""
    return (
        [entry for entry in value if isinstance(entry, str)]
        if isinstance(value, list)
        else []
    )


def _reasons(labels: LabelSet) -> list[dict[str, str]]:
    """Reasons have the first keys that the labels and the screen leave."""
    left = [
        key for key in KEYS if key not in {label.key for label in labels.labels}
    ]
    return [
        {"code": code, "word": word, "key": key}
        for (code, word), key in zip(
            ADJUDICATION_REASONS.items(), left, strict=False
        )
    ]


def _decided(dispute: Dispute, labels: LabelSet) -> str | None:
    decision = dispute.decision
    if decision is None or decision.label is None:
        return None
    return f"Decided by {decision.annotator}: {label_words(decision.label, labels)}. A new decision replaces it."
