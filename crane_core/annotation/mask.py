"""Hides in a diagnosis what would reveal its author or the author's input.

A model that names itself becomes [model]. A text's name for its input, "executed cells" in one setting and "executed
cells or the runtime information" in another, becomes [input] in both, so that the mark itself reveals nothing. A name
that the notebook itself uses, such as a tokenizer called GPT2Tokenizer, stays.
"""

import re
from collections.abc import Iterable, Sequence
from random import Random

MODEL = "[model]"
INPUT = "[input]"

_FAMILIES = (
    "gpt", "chatgpt", "openai", "gemini", "qwen", "claude", "anthropic", "llama", "mistral", "mixtral", "deepseek",
    "gemma", "grok", "codestral",
)  # fmt: skip
_FAMILY = re.compile(
    rf"\b(?:{'|'.join(_FAMILIES)})(?:[-\s]?\d[\w.\-]*|-[\w.\-]+)?(?<![.\-])(?!\w)",
    re.IGNORECASE,
)
_RUNTIME = (
    r"(?:run-?time|kernel)(?:[\s_-]+(?:variable|object))?"
    r"[\s_-]+(?:info(?:rmation)?|context|environment|state|snapshot|values?|variables?|data)"
)
_OF_IT = (
    r"(?:provided|given|extracted|structured|captured|current|available|"
    r"previously|prior|previous|preceding|earlier)"
)
_SHOWN = rf"(?:{_OF_IT}\s+){{0,3}}(?:executed\s+(?:code\s+)?cells|{_RUNTIME})"
_OR = r"(?:,?\s+(?:or|and|nor)\s+|\s?/\s?)(?:(?:(?:provided|given|defined|present|shown|in|by|from|the)\s+){0,4})"
_INPUT = re.compile(
    rf"\b(?:(?:prior|previous|preceding|earlier)\s+(?:code\s+)?cells?{_OR}(?={_SHOWN}))?{_SHOWN}(?:{_OR}{_SHOWN})*\b",
    re.IGNORECASE,
)


def mask(text: str, *, names: Iterable[str], notebook: str) -> str:
    """`text` with model names and mentions of the input replaced.

    names: ids and titles of every detector in the store. notebook: the code of the case, whose own words stay.
    """
    own = notebook.lower()

    def hide(found: re.Match[str]) -> str:
        return found[0] if _is_word_of(found[0], own) else MODEL

    # The longest first: otherwise "GPT-5" would leave a tail of "GPT-5-mini" behind.
    for name in sorted(
        {name for name in names if len(name) > 2}, key=len, reverse=True
    ):
        text = re.sub(
            rf"(?<!\w){_loosely(name)}(?!\w)", hide, text, flags=re.IGNORECASE
        )
    return _INPUT.sub(INPUT, _FAMILY.sub(hide, text))


def _loosely(name: str) -> str:
    """The name with any sign between its parts: GPT-5, gpt-5, GPT_5."""
    parts = [re.escape(part) for part in re.split(r"[\s_-]+", name) if part]
    return r"[\s_-]*".join(parts)


def _is_word_of(name: str, notebook: str) -> bool:
    """Whatever sign is between letters and digits: a notebook's gpt2 is the GPT-2 of a text."""
    parts = re.findall(r"[a-z]+|\d+|[^\sa-z\d_-]+", name.lower())
    return (
        # Only from the start of a word: `gpt` inside another word of the notebook excuses no name.
        re.search(r"(?<!\w)" + r"[\s_-]*".join(map(re.escape, parts)), notebook)
        is not None
    )


def drawn_text(texts: Sequence[tuple[str, int]], *, seed: str) -> str:
    """The text of a run drawn at random; texts: at least one, each with its number of runs.

    The number of different texts is typical of a model, so all of them with their counts would name the model of most
    items. A run is drawn, so the share of correct texts is that of single runs. The same texts and seed give the same
    text, in whatever order the texts come.
    """
    known = sorted(texts)
    return Random(seed).choices(
        [text for text, _ in known], weights=[n for _, n in known]
    )[0]
