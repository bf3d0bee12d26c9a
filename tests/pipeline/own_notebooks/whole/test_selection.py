"""Which notebooks are checked: folders, patterns, .crane.toml and changes since a commit of a real git repository."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from crane_core.errors import NotebookError
from crane_core.pipeline.own_notebooks.whole.selection import (
    CheckConfig,
    chosen_notebooks,
    read_config,
)

FILES = (
    "a.ipynb",
    "lanes/b.ipynb",
    "lanes/drafts/c.ipynb",
    "lanes/.ipynb_checkpoints/b.ipynb",
    "lanes/notes.txt",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")
    return tmp_path


def names(folder: Path, found: list[Path]) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in found]


def configured(folder: Path, text: str) -> CheckConfig:
    (folder / ".crane.toml").write_text(text)
    return read_config(folder)


def test_folders_and_patterns_are_searched_and_each_file_is_named_once(
    folder: Path,
) -> None:
    nothing = CheckConfig(folder)
    named = [folder / "a.ipynb", folder, folder / "l*" / "*.ipynb"]
    assert names(folder, chosen_notebooks(named, nothing)) == [
        "a.ipynb",
        "lanes/b.ipynb",
        "lanes/drafts/c.ipynb",
    ]


def test_a_missing_file_is_kept_to_be_reported_and_an_empty_pattern_refused(
    folder: Path,
) -> None:
    nothing = CheckConfig(folder)
    gone = folder / "gone.ipynb"
    assert chosen_notebooks([gone], nothing) == [gone]
    with pytest.raises(NotebookError, match=r"No file matches .*\*\.md"):
        chosen_notebooks([folder / "*.md"], nothing)


def test_the_configuration_names_targets_and_what_is_left_out(
    folder: Path,
) -> None:
    text = '[check]\ntargets = ["lanes"]\nexclude = ["lanes/drafts/"]\n'
    config = configured(folder, text)
    assert names(folder, chosen_notebooks([], config)) == ["lanes/b.ipynb"]
    draft = folder / "lanes" / "drafts" / "c.ipynb"
    assert chosen_notebooks([draft], config) == []
    # It is found from a folder below, up to the root of the repository and no further.
    (folder / ".git").mkdir()
    assert read_config(folder / "lanes") == config
    (folder / "lanes" / ".git").mkdir()
    assert read_config(folder / "lanes").targets == ()


def test_nothing_named_is_refused(folder: Path) -> None:
    with pytest.raises(NotebookError, match=r"list them as targets in"):
        chosen_notebooks([], read_config(folder))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[check]\ntarget = []", "'target'; did you mean targets?"),
        ("[chek]", "did you mean check?"),
        ("[check]\nexclude = 'a'", "exclude of .* is not a list of strings"),
        ("[check]\ntargets = [1]", "targets of .* is not a list of strings"),
        ("check = [", "cannot be read"),
        ("check = 3\nother = 1", "'other'"),
    ],
)
def test_a_configuration_with_a_mistake_is_refused(
    folder: Path, text: str, words: str
) -> None:
    with pytest.raises(NotebookError, match=words):
        configured(folder, text)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_only_changes_of_this_branch_and_new_files_are_chosen(
    folder: Path,
) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
        subprocess.run(
            ["git", "-C", str(folder), *who, *words],
            check=True,
            capture_output=True,
        )

    git("init", "-b", "trunk")
    git("add", ".")
    git("commit", "-m", "first")
    git("switch", "-c", "work")
    (folder / "a.ipynb").write_text('{"cells": []}')
    git("commit", "-am", "work")
    git("switch", "trunk")
    (folder / "lanes" / "b.ipynb").write_text('{"cells": []}')
    git("commit", "-am", "other work")
    git("switch", "work")
    (folder / "n\u00e9w.ipynb").write_text("{}")
    config = CheckConfig(folder)
    found = chosen_notebooks([], config, "trunk")
    assert names(folder, found) == ["a.ipynb", "n\u00e9w.ipynb"]
    for unknown in ("nowhere", "--output=x"):
        with pytest.raises(NotebookError, match="Name a commit or branch"):
            chosen_notebooks([], config, unknown)
    assert not (folder / "x").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_outside_of_a_repository_changes_are_refused(folder: Path) -> None:
    with pytest.raises(NotebookError, match="not a git repository"):
        chosen_notebooks([], CheckConfig(folder), "HEAD")
