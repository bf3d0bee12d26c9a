"""The text in which a model is shown a crash and instructed to repair the cell, and what its reply holds.

Knows the form of both. Refuses to guess: of two code blocks, or of one without an end, none is taken.
"""

import re
from typing import NamedTuple

from crane_core.prompts.secrets import redacted
from crane_core.prompts.template import Template

MOST_REPLY = 200_000
MOST_SENTENCE = 300
MOST_MESSAGE = 2_000
_FENCE = re.compile(r"^```[ \t]*(?P<language>\w*)[ \t]*$", re.MULTILINE)
_LANGUAGES = ("", "python", "python3", "py", "ipython")
_THOUGHT = "</think>"
_SENTENCE = re.compile(r"[^\n]+")


class ReadFix(NamedTuple):
    """`source` is None if the reply holds no cell; `trouble` then says why. `sentence` is the model's own."""

    source: str | None
    sentence: str = ""
    trouble: str = ""


def repair_prompt(
    inside: str, exception: str, message: str, line: int | None, words: Template
) -> str:
    """The template around the input of a prediction and the crash."""
    # A message quotes values, and values may be keys.
    shown = redacted(message[:MOST_MESSAGE])
    where = "unknown" if line is None else str(line)
    crash = f"exception: {exception}\nmessage: {shown}\nline: {where}"
    return words.around(f"{inside.rstrip()}\n\n<<<crash\n{crash}\ncrash>>>\n")


def read_fix(text: str, finish_reason: str | None = None) -> ReadFix:
    """The cell of a reply. Never raises."""
    if finish_reason == "length":
        return ReadFix(None, trouble="the reply was cut off")
    if len(text) > MOST_REPLY:
        return ReadFix(None, trouble="the reply is too long")
    said = text.rpartition(_THOUGHT)[2].replace("\r\n", "\n")
    fences = list(_FENCE.finditer(said))
    if len(fences) != 2:
        return ReadFix(None, trouble="the reply has not exactly one code block")
    begin, end = fences
    if begin["language"].lower() not in _LANGUAGES or end["language"]:
        return ReadFix(None, trouble="the code block is not Python")
    source = said[begin.end() + 1 : end.start()].rstrip("\n")
    first = _SENTENCE.search(said[: begin.start()].strip())
    sentence = first[0].strip()[:MOST_SENTENCE] if first else ""
    return ReadFix(source, sentence)
