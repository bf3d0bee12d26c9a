"""The published checker is installed apart, and asked without a trace in the namespace that it judges."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import _peer
from benchmarks._peer import PeerMissingError, peer_expression, peer_folder


def test_peer_that_cannot_be_installed_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(_peer, "PEER", "no/such/package")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(PeerMissingError, match="cannot be installed"):
        peer_folder()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_expression_gives_the_answer_of_a_package_in_a_folder_and_leaves_no_name(
    tmp_path: Path,
) -> None:
    package = tmp_path / "crane_llm" / "nb_extension"
    package.mkdir(parents=True)
    (package / "checker.py").write_text(
        "class Found:\n    exception, line, message = 'KeyError', 2, 'no key'\n"
        "def run_checks(target, namespace, shell):\n"
        "    return Found if namespace['table'] == target else None\n"
    )
    setup = (
        "import sys\nfrom IPython.core.interactiveshell import "
        "InteractiveShell\nshell = InteractiveShell.instance()"
    )
    asked = [peer_expression(tmp_path, target) for target in ("x", "y")]
    code = (
        f"{setup}\nshell.user_ns['table'] = 'x'\nbefore = {{*globals()}}\n"
        f"print({asked[0]}, {asked[1]}, {{*globals()}} - before, *sys.path)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(
        """"KeyError, line 2: no key" null {'before'}"""
    )
    assert str(tmp_path) not in done.stdout
