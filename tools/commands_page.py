"""Write docs/reference/commands.md from the parsers of the commands. Usage: python -m tools.commands_page.

The page is made from what argparse holds, not from its printed help, which differs between versions of Python.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from crane_core.cli import parser, verb_modules

PAGE = (
    Path(__file__).resolve().parents[1] / "docs" / "reference" / "commands.md"
)
SIGN = re.compile(r"([<*_])")
DOCUMENT = re.compile(r"\bdocs/([a-z/-]+\.md)")
TYPED = re.compile(r"python -m crane_core\b")
HEAD = """# Commands

Every command is `crane VERB` where the package is installed, and `.venv/bin/crane VERB` in a checkout.
`crane VERB --help` prints the same as this page, which `tools/commands_page.py` writes from the commands themselves.

Results go to the standard output; progress and errors go to the standard error. The exit code is 0 when the work is
done, 1 when something was refused or a check found a fault, 2 when the command was typed wrongly, and 130 after Ctrl+C.
`--data DIR` before the verb, or the variable `CRANE_DATA`, names the data folder: [Settings](settings.md).
"""
SubParsers = argparse._SubParsersAction


def page() -> str:
    return "\n".join([HEAD, *_overview(), *_sections()])


def _overview() -> Iterator[str]:
    yield from ("| command | does |", "|---|---|")
    for name, module in verb_modules().items():
        yield f"| [`{name}`](#{name}) | {_cell(module.HELP)} |"
    yield ""


def _sections() -> Iterator[str]:
    for name, verb in _choices(parser()).items():
        yield from (
            f"## {name}",
            "",
            f"{_sentence(verb.description or '')}",
            "",
        )
        yield from _options(verb)
        for action, helped in _helps(verb).items():
            yield from (f"### {name} {action}", "", _sentence(helped), "")
            yield from _options(_choices(verb)[action])
        yield from _examples(verb)


def _choices(
    verb: argparse.ArgumentParser,
) -> dict[str, argparse.ArgumentParser]:
    """The verbs below a parser, by name."""
    found = [
        action for action in verb._actions if isinstance(action, SubParsers)
    ]
    return dict(found[0].choices) if found else {}


def _helps(verb: argparse.ArgumentParser) -> dict[str, str]:
    found = [
        action for action in verb._actions if isinstance(action, SubParsers)
    ]
    return {
        choice.dest: choice.help or ""
        for action in found
        for choice in action._choices_actions
    }


def _options(verb: argparse.ArgumentParser) -> Iterator[str]:
    """What stands by its place and the ungrouped options in one table, then a table per group."""
    positionals, options, *groups = verb._action_groups
    yield from _table(
        verb, [*positionals._group_actions, *options._group_actions]
    )
    for group in groups:
        if not any(_row(verb, action) for action in group._group_actions):
            continue
        yield from (f"**{_upper(group.title)}**", "")
        if group.description:
            yield from (_sentence(group.description), "")
        yield from _table(verb, group._group_actions)


def _table(
    verb: argparse.ArgumentParser, actions: list[argparse.Action]
) -> Iterator[str]:
    rows = [row for action in actions if (row := _row(verb, action))]
    if rows:
        yield from ("| argument | meaning |", "|---|---|", *rows, "")


def _row(verb: argparse.ArgumentParser, action: argparse.Action) -> str | None:
    is_shown = action.help is not argparse.SUPPRESS and action.dest != "help"
    if isinstance(action, SubParsers) or not is_shown:
        return None
    formatter = verb._get_formatter()
    if action.option_strings:
        name = action.option_strings[-1]
        value = (
            ""
            if action.nargs == 0
            else " " + formatter._format_args(action, _metavar(action))
        )
    else:
        name, value = (
            formatter._format_args(action, action.metavar or action.dest),
            "",
        )
    is_required = action.required and bool(action.option_strings)
    words = formatter._expand_help(action) if action.help else ""
    return f"| `{name}{value}` | {_cell(words)}{' (required)' if is_required else ''} |"


def _metavar(action: argparse.Action) -> str:
    if action.choices:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper()


def _examples(verb: argparse.ArgumentParser) -> Iterator[str]:
    lines = [
        line.strip()
        for line in (verb.epilog or "").removeprefix("example:").splitlines()
    ]
    yield from (
        "```console",
        *(f"$ {TYPED.sub('crane', line)}" for line in lines if line),
        "```",
        "",
    )


def _cell(text: str) -> str:
    """A text within a table of Markdown: documents become links, and what Markdown would read as a sign is shown."""
    pieces = " ".join(text.split()).split("`")
    shown = [
        _plain(piece) if place % 2 == 0 else piece
        for place, piece in enumerate(pieces)
    ]
    return "`".join(shown).replace("|", "\\|")


def _plain(text: str) -> str:
    return DOCUMENT.sub(
        lambda found: f"[{found[1]}](../{found[1]})", SIGN.sub(r"\\\1", text)
    )


def _sentence(text: str) -> str:
    text = _upper(_cell(text))
    return text if text.endswith((".", "?")) else f"{text}."


def _upper(text: str | None) -> str:
    return f"{text[:1].upper()}{text[1:]}" if text else ""


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
