"""A shell of IPython in this process, in which tests run cells."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from crane_core.live.helper import Helper
from crane_core.live.magics import loaded


class Shell:
    """A shell, and what its last cell printed."""

    def __init__(self) -> None:
        self.shell: Any = InteractiveShell(
            config=Config({"HistoryManager": {"hist_file": ":memory:"}})
        )

    def begin(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A new notebook: no names, no history."""
        self._capsys = capsys
        self.shell.reset(new_session=True)

    def run(self, cell: str) -> str:
        self._capsys.readouterr()
        self.result = self.shell.run_cell(cell, store_history=True)
        told = self._capsys.readouterr()
        return told.out + told.err

    def end(self) -> None:
        self.shell.run_line_magic("unload_ext", "crane_core")
        self.shell.history_manager.end_session()

    @property
    def helper(self) -> Helper:
        magics = loaded(self.shell)
        assert magics is not None
        return magics.session.helper

    @property
    def names(self) -> dict[str, Any]:
        found: dict[str, Any] = self.shell.user_ns
        return found
