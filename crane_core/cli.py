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
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from crane_core import __version__, arguments, verbs
from crane_core.errors import CraneError
from crane_core.pipeline.places import data_folder
from crane_core.terminal import one_line, tell, tell_error, tell_refusal

OF_MODELS = frozenset({"openai", "tiktoken", "aiohttp", "httpx2"})
"""Libraries of the extra `models`; what else may be missing belongs to `app`."""

STORE = "crane_core.storage.store"
STOPPED = 130
"""Exit code after Ctrl+C, as shells have it."""


def verb_names() -> dict[str, str]:
    """Every verb by name, and the module that does it. A file is called as its verb, with `_` behind Python's words."""
    files = sorted(info.name for info in pkgutil.iter_modules(verbs.__path__))
    return {file.rstrip("_").replace("_", "-"): f"{verbs.__name__}.{file}" for file in files}


def verb_modules(only: str | None = None) -> dict[str, ModuleType]:
    """Verbs by name, each with NAME, HELP, EXAMPLE, `add_arguments` and `run`; all of them, or one.

    Those with ONLY_READS write nothing into the data folder, so that it may lie on a read-only medium.
    """
    names = verb_names()
    modules = [importlib.import_module(names[name]) for name in (names if only is None else [only])]
    return {module.NAME: module for module in modules}


class CommandLine(argparse.ArgumentParser):
    """argparse, but what it quotes of a wrong argument is bounded and cannot steer the terminal."""

    def error(self, message: str) -> NoReturn:
        super().error(one_line(message))


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The whole command line, or one verb's; every verb's help ends with an example to paste."""
    top, choices = _top()
    for name, module in verb_modules(only).items():
        verb = choices.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=f"example: {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.add_argument(
            "--data", type=arguments.path, metavar="DIR", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
        module.add_arguments(verb)
    return top


def outline() -> argparse.ArgumentParser:
    """Every verb with its line of help and without its options: read from the files, so that nothing is imported."""
    top, choices = _top()
    for name, module in verb_names().items():
        choices.add_parser(name, help=_help_of(module), add_help=False)
    return top


def _top() -> tuple[argparse.ArgumentParser, argparse._SubParsersAction[CommandLine]]:
    top = CommandLine(
        prog="crane_core",
        description="Crane Workbench: will the next notebook cell crash, and who predicts it?",
        epilog="example: python -m crane_core app",
    )
    top.add_argument(
        "--data",
        type=arguments.path,
        metavar="DIR",
        help="data folder for database, sources and ledger (default: CRANE_DATA, else data/)",
    )
    top.add_argument("--version", action="version", version=f"crane-workbench {__version__}")
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


def main(arguments: list[str]) -> int:
    """Run one verb; its exit code."""
    try:
        verb = _named(arguments) or outline().parse_args(arguments).verb
        chosen = parser(verb).parse_args(arguments)
        module = verb_modules(verb)[verb]
        folder = data_folder(chosen.data, may_be_read_only=getattr(module, "ONLY_READS", False))
        return int(module.run(chosen, folder))
    except CraneError as error:
        tell_error(error)
        return 1
    except KeyboardInterrupt:
        tell("stopped; everything saved is kept, and the same command resumes there")
        return STOPPED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library in ("", "crane_core"):
            raise
        extra = "models" if library in OF_MODELS else "app"
        tell_refusal(f"This needs the library {library}.", f"Install it, in the checkout: `pip install '.[{extra}]'`.")
        return 1
    except _database_errors() as error:
        tell_error(_damaged(error))
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        tell_refusal(f"{where}{error.strerror or error}.", "Check the path, its permissions and the free space.")
        return 1


def _database_errors() -> tuple[type[Exception], ...]:
    """What DuckDB raises in the middle of a query; nothing if nobody has loaded it, which takes long."""
    return (sys.modules[STORE].DatabaseError,) if STORE in sys.modules else ()


def _damaged(error: Exception) -> CraneError:
    refusal: CraneError = sys.modules[STORE].damaged(error)
    return refusal
