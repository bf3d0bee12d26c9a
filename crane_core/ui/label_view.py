"""Labels of a campaign on a page: their words, and their colours on either ground."""

from html import escape
from typing import Any

from crane_core.annotation.label_set import LabelEntry, LabelSet
from crane_core.ui.words import LABEL_WORDS


def label_words(code: str, labels: LabelSet) -> str:
    """Sign and word of a label of the set, or of an outcome that is not in it; plain text."""
    return (
        labels.of(code).words if code in labels else LABEL_WORDS.get(code, code)
    )


def label_style(label: LabelEntry) -> str:
    """The colour as a style for both grounds; colours of a set are hexadecimal (`label_check`)."""
    return f"color: light-dark({label.colour}, {label.colour_dark})"


def label_html(code: str, labels: LabelSet) -> str:
    """The words in the label's colour."""
    return f'<b style="{label_style(labels.of(code))}">{escape(labels.of(code).words)}</b>'


def for_desk(labels: LabelSet) -> list[dict[str, Any]]:
    """The set as the desk in the browser takes it: a button and a key per label, and the reasons that follow it."""
    reasons = {reason.code: reason for reason in labels.reasons}
    return [
        {
            "code": label.code,
            "word": label.word,
            "sign": label.sign,
            "key": label.key,
            "style": label_style(label),
            "reasons": [
                {
                    "code": code,
                    "key": reasons[code].key,
                    "words": reasons[code].words,
                }
                for code in label.reasons
            ],
        }
        for label in labels.labels
    ]
