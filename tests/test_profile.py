"""The profiles for a shared server: the compose file fits the Dockerfile, and the app runs on so little."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks._server import free_port
from crane_core.cli import parser
from crane_core.pipeline.places import DataFolder
from crane_core.runtime.isolation import can_seal
from tests.house.test_packaging import ROOT, arguments_of
from tests.patience import is_up, once

UNIT = re.search(
    r"```ini\n(\[Unit\].*?)```",
    (ROOT / "docs" / "admin" / "server.md").read_text("utf-8"),
    re.DOTALL,
)


@pytest.fixture
def app() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(
        (ROOT / "docker-compose.yml").read_text("utf-8")
    )["services"]["app"]
    return found


def places_of(app: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Folders in memory, each with its options."""
    split = (entry.partition(":") for entry in app["tmpfs"])
    return {
        path: dict(word.partition("=")[::2] for word in words.split(","))
        for path, _, words in split
    }


def test_the_container_may_do_as_little_as_it_can(app: dict[str, Any]) -> None:
    assert app["read_only"] is True
    assert app["cap_drop"] == ["ALL"]
    assert app["security_opt"] == ["no-new-privileges:true"]
    assert app["mem_limit"] == app["memswap_limit"]
    assert app["pids_limit"] > 0
    assert (
        not {"privileged", "user", "cap_add", "network_mode", "pid", "devices"}
        & app.keys()
    )
    assert all(
        {"size", "nosuid", "nodev", "noexec"} <= options.keys()
        for options in places_of(app).values()
    )


def test_the_compose_file_fits_the_dockerfile(app: dict[str, Any]) -> None:
    [host, _, inside] = app["ports"][0].split(":")
    assert host == "127.0.0.1"
    assert [inside] == arguments_of("EXPOSE")
    assert app["command"][:3] == ["app", "--port", inside]
    assert [
        one.partition(":")[2]
        for one in app["volumes"]
        if not one.startswith(".")
    ] == arguments_of("VOLUME")
    assert app["environment"]["HOME"] in places_of(app)
    [lab] = [one for one in app["volumes"] if one.startswith("./")]
    assert Path(app["command"][-1]).parent.as_posix() == lab.split(":")[1]
    assert lab.endswith(":ro")


class _Override(yaml.SafeLoader):
    """Knows Compose's own tag: a list that replaces the one it would be added to."""


_Override.add_constructor(
    "!override", lambda loader, node: loader.construct_sequence(node)
)  # type: ignore[type-var]


def test_the_replicas_of_the_compose_file_are_started_by_commands_of_the_program() -> (
    None
):
    text = (ROOT / "docs" / "admin" / "server.md").read_text("utf-8")
    [block] = re.findall(r"```yaml\n(services:.*?)```", text, re.DOTALL)
    services = yaml.load(block, _Override)["services"]
    chosen = {
        name: parser().parse_args(service["command"])
        for name, service in services.items()
    }
    assert chosen["app"].publish
    replicas = [name for name in services if chosen[name].replica_of]
    assert len(replicas) == 2
    to_caddy = re.findall(r"reverse_proxy (127\.0\.0\.1:8502.*) \{", text)
    published = [
        services[name]["ports"][0].rpartition(":")[0] for name in replicas
    ]
    assert to_caddy == [" ".join(published)]
    assert all(
        services[name]["ports"][0].endswith(f":{chosen[name].port}")
        for name in replicas
    )


@pytest.mark.skipif(
    not can_seal(), reason="bubblewrap cannot make namespaces here"
)
def test_the_app_runs_with_a_file_system_that_it_can_only_read(
    prepared_folder: DataFolder, tmp_path: Path, app: dict[str, Any]
) -> None:
    """As the compose file mounts it, but by bubblewrap: no capability, memory at `tmpfs`, the data folder, no more."""
    data = Path(shutil.copytree(prepared_folder.path, tmp_path / "data"))
    roles = tmp_path / "roles.toml"
    roles.write_text('"ada@lab.example" = "admin"\n')
    home = app["environment"]["HOME"]
    room = [
        "bwrap",
        "--die-with-parent",
        "--unshare-user",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
    ]
    room += ["--tmpfs", home, "--setenv", "HOME", home]
    room += [
        "--ro-bind",
        str(ROOT),
        str(ROOT),
        "--ro-bind",
        str(roles),
        str(roles),
        "--bind",
        str(data),
        str(data),
    ]
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "crane_core",
        "--data",
        str(data),
        "app",
        "--port",
        str(port),
    ]
    log = tmp_path / "log"
    with (
        log.open("wb") as printed,
        subprocess.Popen(
            [*room, *command, "--roles", str(roles)],
            cwd=ROOT,
            stdout=printed,
            stderr=printed,
        ) as process,
    ):
        try:
            health = f"http://127.0.0.1:{port}/_stcore/health"
            once(lambda: is_up(health, process, log))
        finally:
            process.terminate()
    assert "Read-only file system" not in log.read_text()


def test_the_unit_of_the_document_is_one_and_names_its_limits(
    tmp_path: Path,
) -> None:
    assert UNIT
    words = dict(
        line.split("=", 1) for line in UNIT[1].splitlines() if "=" in line
    )
    assert {
        "MemoryMax",
        "TasksMax",
        "NoNewPrivileges",
        "ProtectSystem",
    } <= words.keys()
    assert (
        not {"RestrictNamespaces", "ProtectKernelTunables", "ProtectProc"}
        & words.keys()
    ), "bubblewrap needs them off"
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "crane.service"
    unit.write_text(UNIT[1].replace(words["ExecStart"], "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert [
        line for line in done.stderr.splitlines() if "crane.service" in line
    ] == []
