"""Jupyter servers as they are: Jupyter Server over HTTPS, a JupyterHub, a kernel gateway; each with a kernel."""

from __future__ import annotations

import os
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import nbformat
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from jupyter_client.blocking.client import BlockingKernelClient

from crane_core.errors import CraneError
from tests.kernels import printed
from tests.patience import PATIENCE_S, once

SETUP = "beds = {'north': 3}\n_, In[0]"
TARGET = "beds['south']"
EVERYTHING = """
import sys as _s
_shell = get_ipython()
print(repr([_shell.execution_count, list(_shell.history_manager.input_hist_raw), sorted(_shell.user_ns),
    repr(_), repr(__), len(Out), sorted(_s.modules), _s.path, [type(f).__name__ for f in _s.meta_path],
    [str(function) for functions in _shell.events.callbacks.values() for function in functions]]))
"""
"""What a look must leave as it is."""


class ServedKernel(NamedTuple):
    """A server, the id of its kernel, and a front end of that kernel on this machine."""

    base: str
    token: str
    id: str
    client: BlockingKernelClient
    ca_file: Path | None = None

    def run(self, code: str, **options: Any) -> str:
        return printed(self.client, code, **options)

    def everything(self) -> str:
        return self.run(EVERYTHING, silent=False, store_history=False)


def write_notebook(path: Path) -> Path:
    cells = [
        nbformat.v4.new_code_cell(code) for code in (SETUP, TARGET, "beds")
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


@contextmanager
def started(
    command: list[str], folder: Path, **variables: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A server in a folder, ended with what it started."""
    environ = os.environ | {
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            command, cwd=folder, env=environ | variables, stdout=log, stderr=log
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


@contextmanager
def served_kernel(
    base: str,
    token: str,
    folder: Path,
    process: subprocess.Popen[bytes],
    *,
    notebook: str = "",
    ca_file: Path | None = None,
) -> Iterator[ServedKernel]:
    """A kernel that the server starts, for a notebook where one is named; it has run SETUP."""
    trusted = ssl.create_default_context(cafile=ca_file)
    with httpx2.Client(
        base_url=base,
        verify=trusted,
        headers={"Authorization": f"token {token}"},
        timeout=PATIENCE_S,
        trust_env=False,
    ) as web:
        once(lambda: is_up(web, process, folder / "log"))
        spec = {"name": "python3"}
        asked = {"path": notebook, "type": "notebook", "name": ""}
        if notebook:
            reply = web.post("api/sessions", json=asked | {"kernel": spec})
        else:
            reply = web.post("api/kernels", json=spec)
        model = reply.raise_for_status().json()
        id_ = model["kernel"]["id"] if notebook else model["id"]
        file = folder / "runtime" / f"kernel-{id_}.json"
        client = BlockingKernelClient(connection_file=str(file))
        client.load_connection_file()
        client.start_channels()
        try:
            once(lambda: answers(client))
            kernel = ServedKernel(base, token, id_, client, ca_file)
            kernel.run(SETUP)
            yield kernel
        finally:
            client.stop_channels()
            web.delete(f"api/kernels/{id_}")


def answers(client: BlockingKernelClient) -> bool:
    # On a busy machine one heartbeat may be late, which the client takes for the kernel's end.
    try:
        client.wait_for_ready(timeout=10)
    except RuntimeError:
        return False
    return True


def is_up(
    web: httpx2.Client, process: subprocess.Popen[bytes], log: Path
) -> bool:
    if process.poll() is not None:
        raise CraneError(log.read_text("utf-8"), remedy="")
    try:
        return web.get("api/kernelspecs").status_code == httpx2.codes.OK
    except httpx2.TransportError:
        return False


def write_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for loopback that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "made here")])
    now = datetime.now(UTC)
    hosts = x509.SubjectAlternativeName(
        [x509.IPAddress(ip_address("127.0.0.1"))]
    )
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(hosts, critical=False)
        .add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        .sign(key, hashes.SHA256())
    )
    paths = folder / "cert.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths
