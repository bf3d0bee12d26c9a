"""Which notebooks are checked: those named, in folders and by patterns, by `.crane.toml`, and changed since a commit.

Knows the file `.crane.toml` and asks git. Refuses to open a notebook.
"""

import os
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from crane_core import helper_process
from crane_core.errors import NotebookError
from crane_core.given_path import read_given
from crane_core.spelling import did_you_mean

CONFIG = ".crane.toml"
_TABLE = "check"
_KEYS = ("targets", "exclude")
_LARGEST = 2**20
_GIT_S = 60.0
# What a folder's own git configuration may run is switched off.
_NO_PROGRAMS = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_DIFF = (
    "diff",
    "--name-only",
    "-z",
    "--diff-filter=d",
    "--no-ext-diff",
    "--no-textconv",
    # What the other branch has changed meanwhile is not a change of this one.
    "--merge-base",
)


@dataclass(frozen=True, slots=True)
class CheckConfig:
    """What `.crane.toml` says: paths and patterns, relative to the folder in which it lies."""

    folder: Path
    targets: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def excludes(self, path: Path) -> bool:
        """Whether a pattern matches the path or a folder above it; `*` matches `/` too."""
        resolved = path.resolve()
        if not resolved.is_relative_to(self.folder):
            return False
        relative = resolved.relative_to(self.folder)
        names = [
            relative.as_posix(),
            *(up.as_posix() for up in relative.parents),
        ]
        return any(
            fnmatchcase(name, pattern.rstrip("/"))
            for name in names
            for pattern in self.exclude
        )


def read_config(folder: Path) -> CheckConfig:
    """The nearest `.crane.toml` from here up to the root of the git repository; an empty one where there is none.

    Raises NotebookError for one that cannot be read.
    """
    folder = folder.resolve()
    above = [folder, *folder.parents]
    root = next((up for up in above if (up / ".git").exists()), folder)
    for place in above[: above.index(root) + 1]:
        if (place / CONFIG).is_file():
            return _parsed(place / CONFIG)
    return CheckConfig(folder)


def _parsed(file: Path) -> CheckConfig:
    try:
        told = tomllib.loads(read_given(file, _LARGEST).decode("utf-8"))
    except (OSError, ValueError) as error:
        raise NotebookError(
            f"{file} cannot be read: {error}.", remedy="Correct it."
        ) from error
    table = told.get(_TABLE, {})
    known = table if isinstance(table, dict) else {}
    unknown = [name for name in told if name != _TABLE]
    unknown += [name for name in known if name not in _KEYS]
    if unknown:
        guess = did_you_mean(unknown[0], (_TABLE, *_KEYS))
        raise NotebookError(
            f"{file} has the unknown name {unknown[0][:40]!r}{guess}.",
            remedy=f"Write [{_TABLE}] with {' and '.join(_KEYS)}.",
        )
    lists = {name: known.get(name, []) for name in _KEYS}
    for name, value in lists.items():
        is_list = isinstance(value, list)
        if not is_list or not all(isinstance(one, str) for one in value):
            raise NotebookError(
                f"{name} of {file} is not a list of strings.",
                remedy=f'Write for example {name} = ["notebooks"].',
            )
    return CheckConfig(
        file.parent, tuple(lists["targets"]), tuple(lists["exclude"])
    )


def chosen_notebooks(
    named: Sequence[Path], config: CheckConfig, since: str | None = None
) -> list[Path]:
    """The notebooks to check, each once, without those that are excluded; since a commit only changed ones.

    `named` are files, folders and patterns; without any, the configuration's. Raises NotebookError.
    """
    targets = list(named) or [config.folder / name for name in config.targets]
    if not targets and since is None:
        raise NotebookError(
            "No notebook is named.",
            remedy=f"Name notebooks or folders, or list them as targets in {CONFIG}.",
        )
    changed = None if since is None else changed_files(config.folder, since)
    found = [
        path
        for target in targets or [config.folder]
        for path in _in_target(target)
        if not config.excludes(path)
        and (changed is None or path.resolve() in changed)
    ]
    return list(dict.fromkeys(found))


def _in_target(target: Path) -> Iterable[Path]:
    """The notebook itself, those in a folder and below, or those that a pattern matches."""
    if target.is_dir():
        return sorted(_below(target))
    is_pattern = any(sign in str(target) for sign in "*?[")
    if target.exists() or not is_pattern:
        # Also one that does not exist, so that it is reported.
        return [target]
    root = Path(target.anchor or ".")
    matched = sorted(root.glob(str(target.relative_to(target.anchor))))
    if not matched:
        # In a pipeline a mistyped pattern would pass for notebooks that are all right.
        raise NotebookError(
            f"No file matches {target}.", remedy="Check the pattern."
        )
    return matched


def _below(folder: Path) -> Iterator[Path]:
    """Notebooks in a folder; those in hidden folders are copies that Jupyter and others keep."""
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (
            Path(where, name) for name in files if name.endswith(".ipynb")
        )


def changed_files(folder: Path, since: str) -> set[Path]:
    """Files that differ from the commit where this branch left `since`, and files that git does not know yet.

    Raises NotebookError outside of a repository, without git, or for an unknown commit.
    """
    root = Path(_git(folder, "rev-parse", "--show-toplevel").strip("\n"))
    # Verified first: a name that begins with a dash must not become an option.
    commit = _git(
        folder,
        "rev-parse",
        "--verify",
        "--end-of-options",
        f"{since}^{{commit}}",
    ).strip()
    changed = _git(root, *_DIFF, commit)
    new = _git(root, "ls-files", "-z", "--others", "--exclude-standard")
    names = [*changed.split("\0"), *new.split("\0")]
    return {(root / name).resolve() for name in names if name}


def _git(folder: Path, *words: str) -> str:
    program = shutil.which("git")
    if program is None:
        raise NotebookError(
            "git is not installed, so changes are unknown.",
            remedy="Leave out --changed-since.",
        )
    argv = [program, "-C", str(folder.resolve()), *_NO_PROGRAMS, *words]
    try:
        return helper_process.answer(argv, seconds=_GIT_S).decode(
            "utf-8", "surrogateescape"
        )
    except OSError as error:
        raise NotebookError(
            f"git does not say what changed in {folder}: {error}.",
            remedy="Name a commit or branch of this repository.",
        ) from error
