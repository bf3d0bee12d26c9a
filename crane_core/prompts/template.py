"""The text around an input: the workbench's protocol as files named by their content, or an exact text of others.

Knows where the input goes in: at the one PLACEHOLDER. Refuses to know what is put there.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from crane_core.domain import Setting
from crane_core.errors import PromptError
from crane_core.given_path import read_given

PLACEHOLDER = "{{body}}"
"""Where the input (executed cells, runtime information, target cell) goes into a template."""

INPUT_LINE = "----- input -----\n"
"""Heads the input in our templates; examples stand before it."""

FOLDER = Path(__file__).with_name("templates")
HASH_LENGTH = 12
_MAX_BYTES = 200_000


class Wording(StrEnum):
    """Our protocol and variants that change one thing each, so that a difference from it has one reason."""

    PROTOCOL = "protocol"
    INPUT_FIRST = "input-first"
    PARAPHRASE = "paraphrase"
    WITHOUT_CERTAINTY = "without-certainty"
    WITH_CONFIDENCE = "with-confidence"


@dataclass(frozen=True, slots=True)
class Template:
    """`name` ends in the first HASH_LENGTH digits of the sha256 of its text."""

    name: str
    text: str

    def around(self, body: str) -> str:
        """The text with `body` at its placeholder."""
        return self.text.replace(PLACEHOLDER, body)


def template_for(
    setting: Setting, wording: Wording = Wording.PROTOCOL
) -> Template:
    """Our own protocol (after Listing 1 of the paper), with or without the paragraph about runtime information."""
    shown = "code" if setting is Setting.CODE else "runtime"
    kind = "predict" if wording is Wording.PROTOCOL else str(wording)
    return _own(f"{kind}-from-{shown}")


def template_named(chosen: Path | None, setting: Setting) -> Template:
    """One of our wordings by its name, else the text of a file; None is the protocol. Raises PromptError."""
    if chosen is None:
        return template_for(setting)
    if str(chosen) in set(Wording):
        return template_for(setting, Wording(str(chosen)))
    return template_from(chosen)


def template_for_judge() -> Template:
    """Our own words for a judge of diagnoses (after the labels of section 4.4.2 of the paper)."""
    return _own("judge-diagnosis")


def template_for_campaign_judge(*, has_own_labels: bool) -> Template:
    """Our own words for a judge that labels the items of a campaign under its guideline."""
    return _own(
        "judge-own-labels" if has_own_labels else "judge-under-guideline"
    )


def template_for_repair() -> Template:
    """Our own words for a model that repairs a cell."""
    return _own("repair-cell")


def _own(wanted: str) -> Template:
    # Exactly one: a template is renamed with every change of its text, and the old one is removed.
    [path] = FOLDER.glob(f"{wanted}-*.txt")
    # Bytes, because text mode would translate line ends and change the sha256.
    return Template(path.stem, path.read_bytes().decode("utf-8"))


def template_from(path: Path) -> Template:
    """The text of a file, exactly as it is. Raises PromptError if it cannot be read or has no placeholder."""
    remedy = f"Write the file in UTF-8 with exactly one {PLACEHOLDER} where the input goes."
    try:
        data = read_given(path, _MAX_BYTES)
        text = data.decode("utf-8")
    except OSError as error:
        raise PromptError(
            f"The template {path} cannot be read: {error.strerror}.",
            remedy=f"Check the path after --template, or name one of ours: {', '.join(Wording)}.",
        ) from error
    except UnicodeDecodeError as error:
        raise PromptError(
            f"The template {path} is not UTF-8 text.", remedy=remedy
        ) from error
    except ValueError as error:
        raise PromptError(
            f"The template {path} cannot be used: {error}.", remedy=remedy
        ) from error
    if text.count(PLACEHOLDER) != 1:
        raise PromptError(
            f"The template {path} contains {PLACEHOLDER} {text.count(PLACEHOLDER)} times.",
            remedy=remedy,
        )
    return Template(f"{path.stem}-{content_hash(data)}", text)


def content_hash(data: bytes) -> str:
    """The suffix of a template's name."""
    return hashlib.sha256(data).hexdigest()[:HASH_LENGTH]
