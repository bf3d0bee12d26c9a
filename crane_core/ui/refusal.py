"""A refusal of the core as a page says it: what happened and what to do, without paths and commands of the server.

Knows which of the core's remedies are commands, and what a visitor of the page does instead.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from crane_core.errors import CraneError
from crane_core.storage.store import DatabaseError, damaged
from crane_core.ui.documentation import ADDRESS
from crane_core.ui.words import literal

_PATH = re.compile(
    r"(?<![\w.:/~-])(?:~|[A-Za-z]:)?[/\\](?:[^\s/\\'\"`:,;]+[/\\])+([^\s/\\'\"`:,;]*)"
)
_COMMAND = re.compile(r"`(?:python -m crane_core )?([a-z-]+)[^`]*`")
_DOCUMENT = re.compile(r"\bdocs/([a-z/-]+)\.md\b")
ASK = "Ask the person who runs this server: it needs a command there."
INSTEAD = {
    "add-case": "The Data page has a form that makes a pair of a notebook, where the app may run notebooks.",
    "fetch": "Fetch the published texts on the Data page.",
    "import": "The Data page lists the files that can be imported.",
    "campaign": "The Campaigns page lists all campaigns and creates new ones.",
    "doctor": ASK,
    "rebuild": ASK,
    "report": ASK,
    "make": ASK,
    "app": ASK,
}
"""Command, as a remedy names it, to what one does on the page."""


def without_paths(text: str) -> str:
    """Every absolute path cut to its last part, because pages do not reveal where the server keeps files."""
    return _PATH.sub(lambda found: found[1] or "a folder", text)


def remedy_on_page(remedy: str) -> str:
    """The remedy; where it is a command, what to do on the page instead."""
    commands = [name for name in _COMMAND.findall(remedy) if name in INSTEAD]
    # A visitor of a page has no terminal of the server.
    return INSTEAD[commands[0]] if commands else without_paths(remedy)


def refusal_words(message: str, remedy: str) -> str:
    """Markdown: what happened, and what to do."""
    return f"{literal(without_paths(message))}\n\n**What to do:** {_linked(remedy_on_page(remedy))}"


def _linked(remedy: str) -> str:
    """A document that the remedy names is a link to its page, which the app itself serves."""
    return _DOCUMENT.sub(
        lambda found: f"[{found[0]}](.{ADDRESS}/{found[1]}.html)", remedy
    )


@contextmanager
def refusals_shown() -> Iterator[None]:
    """A refusal of the core inside is shown as what happened and what to do; the code after the block goes on."""
    try:
        yield
    except (CraneError, DatabaseError) as caught:
        error = caught if isinstance(caught, CraneError) else damaged(caught)
        st.error(refusal_words(str(error.args[0]), error.remedy))
