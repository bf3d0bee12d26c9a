"""Kernels of real servers: the same facts as here, without a trace in the kernel, and no secret in any message.

Jupyter Server is in the development environment. CRANE_JUPYTERHUB names the command `jupyterhub` of one that is
installed elsewhere with configurable-http-proxy beside it, CRANE_KERNEL_GATEWAY the command `jupyter-kernelgateway`.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from jupyter_server.auth import passwd

from benchmarks._server import free_port
from crane_core.cli import main
from crane_core.errors import KernelError, KernelStartError
from crane_core.pipeline.own_notebooks.check import findings, verdict
from crane_core.runtime.attached import Attached
from crane_core.runtime.remote.address import (
    ChoiceOfKernelsError,
    read_address,
)
from crane_core.runtime.remote.kernels import RemoteKernel, chosen_kernel
from crane_core.runtime.remote.server import (
    JupyterServer,
    RefusedError,
    tls,
)
from crane_core.runtime.remote.websocket import WebSocketShell
from crane_core.runtime.running import kernel_named
from tests.jupyter_servers import (
    TARGET,
    ServedKernel,
    served_kernel,
    started,
    write_certificate,
    write_notebook,
)
from tests.patience import PATIENCE_S, once

HUB = os.environ.get("CRANE_JUPYTERHUB") or shutil.which("jupyterhub")
GATEWAY = os.environ.get("CRANE_KERNEL_GATEWAY") or shutil.which(
    "jupyter-kernelgateway"
)
TOKEN, FORM_WORD = "token-of-the-server", "pass word ü"
HUB_CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}/"
c.JupyterHub.hub_port = {hub_port}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}/home"
c.Spawner.args = ["--allow-root"]
c.Spawner.environment = {{"JUPYTER_RUNTIME_DIR": "{folder}/runtime"}}
c.JupyterHub.services = [{{"name": "tests", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [{{"name": "tests", "services": ["tests"],
    "scopes": ["admin:servers", "admin:users", "access:servers"]}}]
"""


@pytest.fixture(scope="module")
def lasting(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[ServedKernel, Path]]:
    """Jupyter Server over HTTPS, with a token and a password, and the folder of its connection files."""
    folder = tmp_path_factory.mktemp("server")
    write_notebook(folder / "ward.ipynb")
    certificate, key = write_certificate(folder)
    port = free_port()
    config = {
        "ServerApp": {
            "ip": "127.0.0.1",
            "port": port,
            "open_browser": False,
            "allow_root": True,
            "root_dir": str(folder),
            "certfile": str(certificate),
            "keyfile": str(key),
        },
        "IdentityProvider": {"token": TOKEN},
        "PasswordIdentityProvider": {"hashed_password": passwd(FORM_WORD)},
    }
    (folder / "config").mkdir()
    (folder / "config" / "jupyter_server_config.json").write_text(
        json.dumps(config), "utf-8"
    )
    with (
        started([sys.executable, "-m", "jupyter_server"], folder) as process,
        served_kernel(
            f"https://127.0.0.1:{port}/",
            TOKEN,
            folder,
            process,
            notebook="ward.ipynb",
            ca_file=certificate,
        ) as kernel,
    ):
        yield kernel, folder / "runtime"


@pytest.fixture
def served(
    lasting: tuple[ServedKernel, Path], monkeypatch: pytest.MonkeyPatch
) -> ServedKernel:
    kernel, runtime = lasting
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(runtime))
    patient(monkeypatch)
    return kernel


def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "crane_core.runtime.attached.IDLE_ANSWERS_WITHIN_S", PATIENCE_S
    )
    for limit in ("server.WAIT_S", "websocket.OPENS_WITHIN_S"):
        monkeypatch.setattr(f"crane_core.runtime.remote.{limit}", PATIENCE_S)


def server_of(
    kernel: ServedKernel, secret: str | None = None, wanted: str = ""
) -> JupyterServer:
    address = replace(read_address(kernel.base), kernel=wanted)
    return JupyterServer(
        address,
        kernel.token if secret is None else secret,
        tls(kernel.ca_file, is_any_accepted=False),
    )


def looked_without_trace(kernel: ServedKernel) -> None:
    """A look leaves the kernel as it was, in both protocols."""
    with server_of(kernel, wanted=kernel.id) as server:
        server.log_in()
        found = chosen_kernel(server)
        before = kernel.everything()
        with Attached(found) as live:
            ran = live.ran()
            state = live.look(ran, TARGET).state
        with WebSocketShell(server, kernel.id, "it", protocols=()) as shell:
            plain = shell.answer("kernel_info_request", {}, PATIENCE_S)
        assert kernel.everything() == before
        assert plain["language_info"]["name"] == "python"
    assert state["variables"]["beds"]["type"] == "dict"


def test_the_same_facts_as_here_and_nothing_in_the_kernel_changes(
    served: ServedKernel,
) -> None:
    looked_without_trace(served)
    states = []
    with server_of(served, wanted="ward.ipynb") as server:
        server.log_in()
        for kernel in (chosen_kernel(server), kernel_named(served.id)):
            with Attached(kernel) as live:
                states.append(live.look(live.ran(), TARGET).state)
    for state in states:
        state["captured"].pop("seconds", None)
    assert states[0] == states[1]


@pytest.mark.parametrize("wanted", ["", "ward.ipynb", "id", "beginning"])
def test_a_kernel_is_named_by_its_id_its_beginning_or_its_notebook(
    served: ServedKernel, wanted: str
) -> None:
    typed = {"id": served.id, "beginning": served.id[:5]}.get(wanted, wanted)
    with server_of(served, wanted=typed) as server:
        server.log_in()
        found = chosen_kernel(server)
    assert (found.id, found.path) == (served.id, "ward.ipynb")


def test_several_kernels_and_none_are_told(served: ServedKernel) -> None:
    with server_of(served, wanted="x") as server:
        server.log_in()
        with pytest.raises(
            ChoiceOfKernelsError, match=r"is known as 'x'\. Name one"
        ) as told:
            chosen_kernel(server)
    [listed] = told.value.kernels
    assert (listed["id"], listed["notebook"]) == (served.id, "ward.ipynb")


def test_a_password_is_taken_and_a_wrong_secret_refused(
    served: ServedKernel,
) -> None:
    with server_of(served, FORM_WORD) as server:
        server.log_in()
        with Attached(chosen_kernel(server)) as live:
            assert live.ran()
    with (
        server_of(served, "") as server,
        pytest.raises(RefusedError, match="wants a token or a password"),
    ):
        server.log_in()
    asked: list[str] = []
    with (
        server_of(served, "") as server,
        pytest.raises(RefusedError, match="refuses this") as told,
    ):
        server.log_in(lambda base: asked.append(base) or "not-this-one")  # type: ignore[func-returns-value]
    assert asked == [served.base]
    assert "not-this-one" not in str(told.value)


def test_a_certificate_of_nobody_known_is_refused(
    served: ServedKernel,
) -> None:
    with (
        server_of(served._replace(ca_file=None)) as server,
        pytest.raises(
            KernelStartError, match=r"^The certificate of .*--ca-file"
        ),
    ):
        server.log_in()
    address = read_address(served.base)
    anything = tls(None, is_any_accepted=True)
    with JupyterServer(address, TOKEN, anything) as server:
        server.log_in()


def test_busy_and_dead_kernels_are_told_before_they_are_connected(
    served: ServedKernel,
) -> None:
    with server_of(served) as server:
        kernel = RemoteKernel(server, "1-2", "p", None, "busy", "", 1)
        with pytest.raises(KernelError, match="The kernel 1-2 is busy"):
            kernel.shell()
        with pytest.raises(KernelError, match="The kernel 1-2 has ended"):
            replace(kernel, state="dead").shell()
        gone = replace(kernel, state="idle", id="0" * 8 + "-0" * 4)
        server.log_in()
        with (
            pytest.raises(KernelStartError, match="cannot be reached through"),
            Attached(gone),
        ):
            pass


def test_the_command_checks_a_notebook_of_the_server(
    served: ServedKernel,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", (tmp_path / "empty").open("w+"))
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    common = ["--ca-file", str(served.ca_file)]

    def check(*words: str) -> tuple[int, str, str]:
        code = main(["--data", str(tmp_path / "data"), "check", *words])
        return code, *capsys.readouterr()

    pasted = f"{served.base}lab/tree/ward.ipynb?token={TOKEN}"
    before = served.everything()
    code, out, err = check("--attach", pasted, *common, "--json")
    assert served.everything() == before
    told = json.loads(out)
    assert (code, told["notebook"], told["target"]) == (0, "ward.ipynb", 1)
    assert told["findings"][0]["exception"] == "KeyError"
    assert TOKEN not in out + err
    named = f"{served.base}#{served.id[:8]}"
    of_file = ("--token-file", str(tmp_path / "token"))
    assert check("--attach", named, *common, *of_file)[0] == 0
    for words in (
        ("--attach", f"{pasted}#nowhere", *common),
        ("--attach", pasted),
        ("--attach", f"{served.base}?token={TOKEN}x", *common),
    ):
        code, out, err = check(*words)
        assert (code, TOKEN in out + err) == (1, False)
    with pytest.raises(SystemExit):
        check(pasted)
    assert TOKEN not in "".join(capsys.readouterr())


@pytest.mark.slow
def test_a_rehearsal_runs_beside_the_kernel_there(
    served: ServedKernel,
) -> None:
    from crane_core.pipeline.own_notebooks.attach import attached

    notebook = Path(served.ca_file or "").with_name("ward.ipynb")
    with server_of(served) as server:
        server.log_in()
        kernel = chosen_kernel(server)
        before = served.everything()
        checked = attached(kernel, notebook, 1, rehearse_s=PATIENCE_S)
        assert served.everything() == before
    assert checked.rehearsal is not None
    assert checked.rehearsal.exception == "KeyError"
    assert findings(verdict(checked))[0]["exception"] == "KeyError"


@pytest.mark.slow
@pytest.mark.skipif(
    not GATEWAY,
    reason="the kernel gateway is not installed; CRANE_KERNEL_GATEWAY names its command",
)
def test_a_kernel_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch)
    port = free_port()
    command = [str(GATEWAY), "--ip=127.0.0.1", f"--port={port}"]
    with (
        started(command, tmp_path, KG_AUTH_TOKEN=TOKEN) as process,
        served_kernel(
            f"http://127.0.0.1:{port}/", TOKEN, tmp_path, process
        ) as kernel,
    ):
        looked_without_trace(kernel)
        with server_of(kernel) as server:
            server.log_in()
            with pytest.raises(KernelStartError, match="does not list"):
                chosen_kernel(server)
        with (
            server_of(kernel, "another") as server,
            pytest.raises(RefusedError),
        ):
            server.log_in()


@pytest.mark.slow
@pytest.mark.skipif(
    not HUB,
    reason="JupyterHub is not installed; CRANE_JUPYTERHUB names its command",
)
def test_a_user_of_a_jupyterhub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch)
    port = free_port()
    base = f"http://127.0.0.1:{port}/"
    config = HUB_CONFIG.format(
        port=port,
        hub_port=free_port(),
        proxy_port=free_port(),
        folder=tmp_path,
        token=TOKEN,
    )
    (tmp_path / "config.py").write_text(config, "utf-8")
    (tmp_path / "home").mkdir()
    # Its proxy stands beside it.
    path = f"{Path(str(HUB)).parent}{os.pathsep}{os.environ['PATH']}"
    command = [str(HUB), "-f", "config.py"]
    with (
        started(command, tmp_path, PATH=path) as process,
        httpx2.Client(
            base_url=f"{base}hub/api/",
            headers={"Authorization": f"token {TOKEN}"},
            timeout=PATIENCE_S,
            trust_env=False,
        ) as hub,
    ):
        once(lambda: is_hub_up(hub))
        hub.post("users/ana").raise_for_status()
        for below, said in (
            ("", "asks for a login first"),
            ("user/ana/", "does not run"),
        ):
            with (
                JupyterServer(read_address(base + below), TOKEN) as server,
                pytest.raises(KernelStartError, match=said),
            ):
                server.log_in()
        hub.post("users/ana/server").raise_for_status()
        with served_kernel(
            f"{base}user/ana/", TOKEN, tmp_path, process
        ) as kernel:
            looked_without_trace(kernel)
        hub.delete("users/ana/server")


def is_hub_up(hub: httpx2.Client) -> bool:
    try:
        return hub.get("users").status_code == httpx2.codes.OK
    except httpx2.TransportError:
        return False
