"""What carries the app to another machine: Dockerfile, .dockerignore, pins, commands, theme. No engine runs here."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.house.test_architecture import requirements

ROOT = Path(__file__).resolve().parents[2]


def dockerfile_steps() -> list[tuple[str, str]]:
    """Instruction and argument of every step, continuation lines joined."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    lines = (
        "\n".join(
            line for line in text.splitlines() if not line.startswith("#")
        )
        .replace("\\\n", " ")
        .splitlines()
    )
    return [
        (name, rest.strip())
        for name, rest in (
            line.split(maxsplit=1) for line in lines if line.strip()
        )
    ]


def arguments_of(instruction: str) -> list[str]:
    return [
        argument for name, argument in dockerfile_steps() if name == instruction
    ]


def copied_paths() -> list[str]:
    return [
        source
        for argument in arguments_of("COPY")
        for source in argument.split()[:-1]
    ]


def reaches_the_image(path: str) -> bool:
    """Docker's rule for .dockerignore: of the patterns that match a path or a parent of it, the last decides."""
    is_kept = True
    parents = [path, *map(str, Path(path).parents)]
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        bare = pattern.removeprefix("!")
        patterns = (bare, bare.removeprefix("**/"))
        if any(
            fnmatch.fnmatch(parent, each)
            for parent in parents
            if parent != "."
            for each in patterns
        ):
            is_kept = pattern.startswith("!")
    return is_kept


def test_base_image_is_pinned_and_slim() -> None:
    (base,) = arguments_of("FROM")
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", base)


def test_copied_paths_exist() -> None:
    assert [path for path in copied_paths() if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    "path",
    [
        "requirements.txt",
        "app.py",
        "README.md",
        "LICENSE",
        ".streamlit/config.toml",
        "pages/cases.py",
        "crane_core/domain.py",
        "crane_core/storage/schema.sql",
        "data/published/cases.csv",
        "data/minibench/cases.csv",
        "docs/engineer/check.md",
        "data/minibench/benchmark/numpy_1/numpy_1_fixed.ipynb",
    ],
)
def test_the_image_gets(path: str) -> None:
    assert reaches_the_image(path)


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".venv/bin/python",
        "data/crane.duckdb",
        "data/sources/a.tar.gz",
        "data/ledger/runs/1.jsonl",
        ".env",
    ],
)
def test_the_image_does_not_get(path: str) -> None:
    assert not reaches_the_image(path)


def test_image_runs_as_an_ordinary_user_with_its_data_in_a_volume() -> None:
    assert arguments_of("USER") == ["crane"]
    assert arguments_of("VOLUME") == ["/data"]
    assert "CRANE_DATA=/data" in arguments_of("ENV")[0]
    assert "CRANE_ADDRESS=0.0.0.0" in arguments_of("ENV")[0]
    assert arguments_of("EXPOSE") == ["8501"]


def run_commands() -> list[list[str]]:
    return [
        shlex.split(command)
        for step in arguments_of("RUN")
        for command in step.split("&&")
    ]


def test_run_steps_are_the_ones_replayed_below() -> None:
    assert [command[0] for command in run_commands()] == [
        "pip",
        "useradd",
        "install",
    ]


def test_pip_step_gives_what_is_installed_here() -> None:
    """The step's file, read with this interpreter's markers, is exactly what the checks ran against."""
    (step,) = [command for command in run_commands() if command[0] == "pip"]
    assert "--require-hashes" in step
    pins = requirements(step[-1])
    wanted = {
        pin.name: str(pin.specifier)
        for pin in pins
        if pin.marker is None or pin.marker.evaluate()
    }
    assert {
        name: f"=={version(canonicalize_name(name))}" for name in wanted
    } == wanted


@pytest.mark.skipif(
    not shutil.which("useradd") or os.getuid() != 0,
    reason="needs root and Debian's useradd",
)
def test_useradd_step_makes_the_user(tmp_path: Path) -> None:
    (step,) = [command for command in run_commands() if command[0] == "useradd"]
    (tmp_path / "etc").mkdir()
    for name in ("passwd", "group", "shadow", "gshadow"):
        (tmp_path / "etc" / name).touch()
    subprocess.run(
        [step[0], "--prefix", str(tmp_path), *step[1:]],
        check=True,
        capture_output=True,
    )
    assert (
        (tmp_path / "etc" / "passwd").read_text().startswith("crane:x:10001:")
    )


@contextmanager
def health_server(status: int) -> Iterator[int]:
    """A loopback server that answers Streamlit's health address with `status`; yields its port."""

    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(
                status if self.path == "/_stcore/health" else 404
            )
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output quiet."""

    server = HTTPServer(("127.0.0.1", 0), Health)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def health_command(port: int) -> list[str]:
    (argument,) = arguments_of("HEALTHCHECK")
    command = json.loads(argument.split("CMD", 1)[1])
    assert command[0] == "python"
    assert ":8501/" in command[-1]
    return [
        sys.executable,
        *command[1:-1],
        command[-1].replace(":8501/", f":{port}/"),
    ]


@pytest.mark.parametrize(("status", "exit_code"), [(200, 0), (503, 1)])
def test_health_check_tells_up_from_down(status: int, exit_code: int) -> None:
    with health_server(status) as port:
        assert (
            subprocess.run(
                health_command(port), capture_output=True, check=False
            ).returncode
            == exit_code
        )


def test_container_entry_point_starts() -> None:
    command = [
        part
        for name in ("ENTRYPOINT", "CMD")
        for part in json.loads(arguments_of(name)[0])
    ]
    assert command[0] == "python"
    done = subprocess.run(
        [sys.executable, *command[1:], "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "--address" in done.stdout


def make(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [
        "make",
        *arguments,
        *(f"{name}={value}" for name, value in variables.items()),
    ]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_make_help_lists_the_promised_commands() -> None:
    listed = {line.split()[1] for line in make("help").stdout.splitlines()}
    assert {
        "setup",
        "run",
        "ml",
        "test",
        "lint",
        "bench",
        "clean",
        "pins",
        "sbom",
        "licences",
    } <= listed


def test_run_starts_the_app_on_the_given_port() -> None:
    assert (
        "-m crane_core app --port 8601"
        in make("--dry-run", "run", PORT="8601").stdout
    )


@pytest.mark.parametrize(
    ("python", "complaint"),
    [("no-such-python", "was found"), ("old-python", "is too old")],
)
def test_setup_says_what_is_wrong_with_the_python(
    tmp_path: Path, python: str, complaint: str
) -> None:
    old = tmp_path / "old-python"
    old.write_text(
        '#!/bin/sh\nif [ "$1" = --version ]; then echo "Python 3.8.1"; exit 0; fi\nexit 1\n'
    )
    old.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    command = [
        "bash",
        str(ROOT / "tools/make_venv.sh"),
        python,
        str(tmp_path / "venv"),
    ]
    done = subprocess.run(
        command, env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert complaint in done.stderr
    assert "make PYTHON=" in done.stderr
    assert not (tmp_path / "venv").exists()


def chromium_search(
    tmp_path: Path, *names: str
) -> subprocess.CompletedProcess[str]:
    """Looks for a browser on a machine that has only a shell and programs called `names`; nothing can be installed."""
    for tool in ("bash", "cat", "id"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or tool)
    for name in names:
        (tmp_path / name).write_text("#!/bin/bash\nexit 0\n")
        (tmp_path / name).chmod(0o755)
    command = ["bash", str(ROOT / "tools/ensure_chromium.sh"), "no-such-python"]
    return subprocess.run(
        command,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_installed_browser_is_taken(tmp_path: Path) -> None:
    assert chromium_search(tmp_path, "google-chrome").stdout.strip() == str(
        tmp_path / "google-chrome"
    )


def test_without_any_browser_the_remedies_are_told(tmp_path: Path) -> None:
    done = chromium_search(tmp_path)
    assert done.returncode == 1
    assert "apt-get install chromium" in done.stderr
    assert "playwright install --with-deps chromium" in done.stderr


def test_ci_does_what_a_newcomer_does_before_it_installs_more() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = script.read_text("utf-8").splitlines()
    assert "set -euo pipefail" in lines
    steps = [
        "python3 .ci/first_start.py",
        "make test",
        "make lint",
        "make test-more",
    ]
    assert [line for line in lines if line in steps] == steps


def config() -> dict[str, dict]:
    return tomllib.loads(
        (ROOT / ".streamlit" / "config.toml").read_text("utf-8")
    )


def test_app_stays_on_this_machine() -> None:
    assert config()["server"]["address"] == "127.0.0.1"
    assert config()["browser"]["gatherUsageStats"] is False
    assert "://" not in (ROOT / ".streamlit" / "config.toml").read_text("utf-8")


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb (WCAG 2.2, definitions)."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2, definitions)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_theme_is_readable(mode: str) -> None:
    """Text keeps 4.5:1 on every ground it can stand on, marks and buttons 3:1 (WCAG 2.2 AA, 1.4.3 and 1.4.11)."""
    theme = config()["theme"][mode]
    grounds = [
        theme["backgroundColor"],
        theme["secondaryBackgroundColor"],
        theme["sidebar"]["backgroundColor"],
    ]
    texts = {
        name: colour
        for name, colour in theme.items()
        if name.endswith("TextColor")
    }
    texts |= {
        name: theme[name]
        for name in ("textColor", "linkColor", "codeTextColor")
    }
    for name, colour in texts.items():
        tint = theme.get(
            name.removesuffix("TextColor") + "BackgroundColor", grounds[0]
        )
        assert (
            min(contrast(colour, ground) for ground in (*grounds, tint)) >= 4.5
        ), name
    assert contrast(theme["primaryColor"], "#ffffff") >= 4.5
    for colour in (theme["primaryColor"], *theme["chartCategoricalColors"]):
        assert min(contrast(colour, ground) for ground in grounds) >= 3.0, (
            colour
        )
