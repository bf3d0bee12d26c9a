"""The command line: finds the verbs, parses, runs one, and turns refusals into one line and an exit code.

Exit codes: 0 done, 1 refused with a remedy, 2 wrong usage. Results go to stdout, progress and errors to stderr.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from crane_core import __version__, arguments, terminal, verbs
from crane_core.errors import CraneError
from crane_core.pipeline.places import data_folder, install_words
from crane_core.spelling import did_you_mean

EXTRAS = {
    "mcp": "agents",
    "websockets": "remote",
    **dict.fromkeys(("openai", "tiktoken", "aiohttp", "httpx2"), "models"),
}
"""Libraries and the extra that brings them; what else may be missing belongs to `app`."""

BEGINNINGS = """python -m crane_core check trip.ipynb
         python -m crane_core app
         python -m crane_core import my_pairs --capture
         python -m crane_core detect --detector rules --setting runtime --benchmark minibench"""
"""What most people begin with; the help of all commands ends with it."""
COMPLETION = (
    'completion in bash and zsh: eval "$(register-python-argcomplete crane)"'
)
STORE = "crane_core.storage.store"
ANNOUNCE = "crane_core.pipeline.notifications.announce"
STOPPED = 130
"""Exit code after Ctrl+C, as shells have it."""


def verb_names() -> dict[str, str]:
    """Every verb by name, and the module that does it. A file is called as its verb, with `_` behind Python's words."""
    return _names_in(*verbs.__path__)


@cache
def _names_in(*folders: str) -> dict[str, str]:
    """Called three times by a command; without a cache the folders would be listed each time."""
    files = sorted(info.name for info in pkgutil.iter_modules(folders))
    return {
        file.rstrip("_").replace("_", "-"): f"{verbs.__name__}.{file}"
        for file in files
    }


def verb_modules(only: str | None = None) -> dict[str, ModuleType]:
    """Verbs by name, each with NAME, HELP, EXAMPLE, `add_arguments` and `run`; all of them, or one.

    MORE, where a verb has it, is what its help says below HELP.
    Those with ONLY_READS write nothing into the data folder, so that it may lie on a read-only medium.
    """
    names = verb_names()
    modules = [
        importlib.import_module(names[name])
        for name in (names if only is None else [only])
    ]
    return {module.NAME: module for module in modules}


class CommandLine(argparse.ArgumentParser):
    """argparse, but wrong usage is one line: what is wrong, what was probably meant, and where the help is.

    What it quotes of a wrong argument is bounded and cannot steer the terminal.
    """

    _words: Sequence[str] = ()
    """What was typed, for `error`: argparse says that a command is missing before it looks at options."""

    def format_help(self) -> str:
        """As argparse's, but its first line has what must be given; the others are listed below it."""
        if self.usage is None:
            self.usage = self._short_usage()
        return super().format_help()

    def _short_usage(self) -> str:
        needed = [
            group for group in self._mutually_exclusive_groups if group.required
        ]
        of_needed = [
            action for group in needed for action in group._group_actions
        ]
        shown = [
            one
            for one in self._actions
            if one.required or one in of_needed or not one.option_strings
        ]
        formatter = self._get_formatter()
        formatter.add_usage(None, shown, needed)
        words = formatter.format_help().strip().removeprefix("usage: ")
        is_choice = any(
            isinstance(action, argparse._SubParsersAction) for action in shown
        )
        return (words if is_choice else f"{words} [OPTION ...]").replace(
            "%", "%%"
        )

    def error(self, message: str) -> NoReturn:
        said = terminal.one_line(message).rstrip(".")
        if self._subparsers is not None and said.startswith(
            "the following arguments are required"
        ):
            unknown = next(
                (word for word in self._words if self._is_unknown_option(word)),
                None,
            )
            said = f"{self.prog} needs the name of a command"
            if unknown is not None:
                said = terminal.one_line(self._what_is_wrong_with(unknown))
        end = "" if said.endswith("?") else "."
        self.exit(2, f"error: {said}{end} See `{self.prog} --help`.\n")

    def parse_known_args(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse's, but nothing is left over: the parser that meets a word knows what it may have meant."""
        self._words = list(sys.argv[1:] if args is None else args)
        known, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(self._what_is_wrong_with(rest[0]))
        return known, rest

    def _is_unknown_option(self, word: str) -> bool:
        return (
            word.startswith("-")
            and word.partition("=")[0] not in self._option_string_actions
        )

    def _what_is_wrong_with(self, word: str) -> str:
        if not word.startswith("-"):
            return f"{word!r} is one argument too many"
        option = word.partition("=")[0]
        for action in self._actions:
            of_verb = (
                action.choices
                if isinstance(action, argparse._SubParsersAction)
                else {}
            )
            if any(
                option in verb._option_string_actions
                for verb in of_verb.values()
            ):
                return f"{option} stands behind the command that it belongs to"
        return f"{option} is unknown{did_you_mean(option, self._option_string_actions)}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As argparse's, with the nearest choice first; Python's own wording differs from release to release."""
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        of_these = f"; choose from {', '.join(known)}"
        meant = did_you_mean(str(value), known)
        if not isinstance(action, argparse._SubParsersAction):
            raise argparse.ArgumentError(
                action, f"{value!r} is unknown{meant or of_these}"
            )
        if value in ("help", "version"):
            meant = f"; did you mean --{value}?"
        raise argparse.ArgumentError(None, f"{value!r} is not a command{meant}")


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The whole command line, or one verb's; every verb's help ends with an example to paste."""
    top, choices = _top()
    for name, module in verb_modules(only).items():
        verb = choices.add_parser(
            name,
            help=module.HELP,
            description=_description(module),
            epilog=terminal.as_typed(f"example: {module.EXAMPLE}"),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        arguments.add(verb, arguments.DATA_ANYWHERE)
        module.add_arguments(verb)
    return top


def _description(module: ModuleType) -> str:
    """The verb's line of help; with MORE, what else its user has to know, such as exit codes."""
    more = getattr(module, "MORE", "")
    return f"{module.HELP}\n\n{more}" if more else str(module.HELP)


def outline() -> argparse.ArgumentParser:
    """Every verb with its line of help and without its options: read from the files, so that nothing is imported."""
    top, choices = _top()
    for name, module in verb_names().items():
        choices.add_parser(name, help=_help_of(module), add_help=False)
    return top


def _top() -> tuple[
    argparse.ArgumentParser, argparse._SubParsersAction[CommandLine]
]:
    top = CommandLine(
        prog=terminal.program_typed(),
        description="Crane Workbench: will the next notebook cell crash, and who predicts it?",
        epilog=f"{terminal.as_typed(f'example: {BEGINNINGS}')}\n\n{COMPLETION}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument(
        "--data",
        type=arguments.path,
        metavar="DIR",
        help="data folder for database, sources and ledger (default: CRANE_DATA, else data/)",
    )
    top.add_argument(
        "--version", action="version", version=f"crane-workbench {__version__}"
    )
    return top, top.add_subparsers(dest="verb", required=True, metavar="VERB")


def _help_of(module: str) -> str:
    found = importlib.util.find_spec(module)
    assert found and found.origin
    for statement in ast.parse(Path(found.origin).read_text("utf-8")).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="HELP")], value=value):
                return str(ast.literal_eval(value))
    raise AttributeError(f"{module} has no HELP")


def _named(arguments: list[str]) -> str | None:
    """The verb that is named, so that only what it needs is loaded; None if all are to be shown."""
    before = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    before.add_argument("--data")
    before.add_argument("rest", nargs=argparse.REMAINDER)
    try:
        rest = before.parse_known_args(arguments)[0].rest
    except argparse.ArgumentError:
        return None
    return rest[0] if rest and rest[0] in verb_names() else None


def complete() -> None:
    """Answer a shell that asks by argcomplete how its line may go on, and end; nothing without that library.

    Only the verb on the line is loaded: a key press should not wait for all of them.
    """
    if importlib.util.find_spec("argcomplete") is None:
        return
    import argcomplete

    line = os.environ.get("COMP_LINE", "")[
        : int(os.environ.get("COMP_POINT", "0"))
    ]
    verb = _named(line.split()[1:])
    argcomplete.autocomplete(parser(verb) if verb else outline())


def main(arguments: list[str]) -> int:
    """Run one verb; its exit code."""
    try:
        verb = _named(arguments) or outline().parse_args(arguments).verb
        chosen = parser(verb).parse_args(arguments)
        module = verb_modules(verb)[verb]
        folder = data_folder(
            chosen.data, may_be_read_only=getattr(module, "ONLY_READS", False)
        )
        return int(module.run(chosen, folder))
    except CraneError as error:
        terminal.tell_error(error)
        return 1
    except KeyboardInterrupt:
        terminal.tell(
            "stopped; everything saved is kept, and the same command resumes there"
        )
        return STOPPED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library in ("", "crane_core"):
            raise
        extra = install_words(EXTRAS.get(library, "app"))
        terminal.tell_refusal(f"This needs the library {library}.", extra)
        return 1
    except _database_errors() as error:
        terminal.tell_error(_damaged(error))
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        terminal.tell_refusal(
            f"{where}{error.strerror or error}.",
            "Check the path, its permissions and the free space.",
        )
        return 1
    finally:
        _let_messages_go()


def _let_messages_go() -> None:
    """Notifications that were announced are sent before the command ends, which takes seconds at most."""
    # Not imported for it: most commands announce nothing.
    if announcing := sys.modules.get(ANNOUNCE):
        with suppress(KeyboardInterrupt):
            announcing.wait_for_messages()


def _database_errors() -> tuple[type[Exception], ...]:
    """What DuckDB raises in the middle of a query; nothing if nobody has loaded it, which takes long."""
    return (sys.modules[STORE].DatabaseError,) if STORE in sys.modules else ()


def _damaged(error: Exception) -> CraneError:
    refusal: CraneError = sys.modules[STORE].damaged(error)
    return refusal
