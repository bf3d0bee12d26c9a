"""A refusal on a page names neither folders of the server nor its commands."""

from __future__ import annotations

import pytest

from crane_core.ui.refusal import (
    ASK,
    INSTEAD,
    refusal_words,
    remedy_on_page,
    without_paths,
)

DEEP = "/" + "/".join(("srv", "crane", "data", "crane.duckdb"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{DEEP} cannot be opened.", "crane.duckdb cannot be opened."),
        (
            f"There is nothing at '{DEEP}', said 3/4 of the disks.",
            "There is nothing at 'crane.duckdb', said 3/4 of the disks.",
        ),
        (
            "C:\\Users\\ana\\my.ipynb is not readable.",
            "my.ipynb is not readable.",
        ),
        (
            "See https://example.org/a/b for more.",
            "See https://example.org/a/b for more.",
        ),
        ("~/Downloads/set/a.zip is broken", "a.zip is broken"),
    ],
)
def test_only_the_last_part_of_a_path_is_shown(text: str, shown: str) -> None:
    assert without_paths(text) == shown


def test_a_command_becomes_what_one_does_on_the_page() -> None:
    assert (
        remedy_on_page(
            "Bring the texts first: `fetch crane-llm`, or import the archive."
        )
        == INSTEAD["fetch"]
    )
    assert (
        remedy_on_page("`python -m crane_core rebuild --accept-loss` goes on.")
        == ASK
    )
    assert remedy_on_page("Name a model.") == "Name a model."
    assert (
        remedy_on_page("Upload what `capture` wrote.")
        == "Upload what `capture` wrote."
    )


def test_what_happened_stays_text() -> None:
    said = refusal_words(f"**{DEEP}** <b>", "Put it back.")
    assert DEEP not in said
    assert "**crane" not in said
    assert said.endswith("**What to do:** Put it back.")
