"""What a kernel that is kept apart can see, use and leave behind: real kernels, in bubblewrap where it is installed."""

from __future__ import annotations

import ast
import ctypes
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import nbformat
import pytest

from crane_core.errors import CellStoppedError, KernelEndedError
from crane_core.runtime import isolation
from crane_core.runtime.capture import capture
from crane_core.runtime.guarded import Guarded
from crane_core.runtime.isolation import Isolation, can_seal, furnished
from crane_core.runtime.limits import MIB, KernelLimits
from tests.patience import once

from .conftest import WriteNotebook

KEPT_APART = [
    Isolation.SCREENED,
    pytest.param(
        Isolation.SEALED,
        marks=pytest.mark.skipif(
            not can_seal(), reason="bubblewrap cannot make namespaces here"
        ),
    ),
]
FINAL = "0"
kept_apart = pytest.mark.parametrize("kept", KEPT_APART)
sealed = pytest.mark.skipif(
    not can_seal(), reason="bubblewrap cannot make namespaces here"
)


def seen(
    path: Path, kept: Isolation, *expressions: str, **limits: Any
) -> list[Any]:
    captured = capture(
        path, limits=KernelLimits(isolation=kept, **limits), probes=expressions
    )
    return [probe["before"] for probe in captured.result.probes]


def running(word: str) -> list[int]:
    """Processes with this word in their command line, ourselves left out."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if (
                int(path.name) != os.getpid()
                and word.encode() in (path / "cmdline").read_bytes()
            ):
                found.append(int(path.name))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


@pytest.mark.slow
@kept_apart
def test_keys_of_the_caller_are_not_there(
    kept: Isolation, notebook: WriteNotebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    path = notebook("n.ipynb", "import os; env = dict(os.environ)", FINAL)
    names, homes = seen(
        path,
        kept,
        "sorted(env)",
        "len({env['HOME'], os.path.dirname(env['TMPDIR'])})",
    )
    assert "OPENAI_API_KEY" not in names
    assert "PATH" in names
    assert homes == 2
    [whole] = seen(path, Isolation.OPEN, "env['OPENAI_API_KEY']")
    assert "sk-secret" in whole


@sealed
def test_a_sealed_kernel_sees_no_processes_files_or_network_of_others(
    notebook: WriteNotebook, tmp_path: Path
) -> None:
    secret = tmp_path.parent / f"{tmp_path.name}-secret"
    secret.write_text("secret")
    keys = str(Path.home() / ".ssh")
    look = f"""
import os, socket
processes = sorted(name for name in os.listdir('/proc') if name.isdigit())
outside = [os.path.exists(path) for path in ({str(secret)!r}, '/etc/passwd', '/etc/shadow', {keys!r})]
os.symlink({str(secret)!r}, 'link')
through = os.path.exists('link')
"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        look += f"""
try:
    reached = socket.create_connection(('127.0.0.1', {port}), timeout=2)
except OSError:
    reached = None
"""
        path = notebook("n.ipynb", look, FINAL)
        told = seen(
            path,
            Isolation.SEALED,
            "len(processes) < 5",
            "outside",
            "through",
            "reached",
        )
        assert told == [True, "[False, False, False, False]", False, None]
        assert seen(
            path, Isolation.SEALED, "reached is not None", network=True
        ) == [True]


@sealed
def test_writes_into_the_notebooks_folder_are_dropped(
    notebook: WriteNotebook, tmp_path: Path
) -> None:
    (tmp_path / "data.csv").write_text("a\n1\n")
    path = notebook(
        "n.ipynb",
        "open('out.txt', 'w').write('x'); open('data.csv', 'a').write('2'); d = open('data.csv').read()",
        FINAL,
    )
    assert seen(path, Isolation.SEALED, "d") == ["a\n1\n2"]
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "data.csv",
        path.name,
    ]
    assert (tmp_path / "data.csv").read_text() == "a\n1\n"


@pytest.mark.slow
@sealed
def test_a_large_folder_and_the_libraries_can_only_be_read(
    notebook: WriteNotebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "COPIED_BYTES", 10)
    tried = """
import os, json, errno
def refused(path):
    try:
        open(path, 'w')
    except OSError as error:
        return errno.errorcode[error.errno]
places = [refused(path) for path in ('out.txt', '/made', json.__file__, '/usr/made')]
"""
    path = notebook("n.ipynb", tried, FINAL)
    assert seen(path, Isolation.SEALED, "places") == [
        "['EROFS', 'EROFS', 'EROFS', 'EROFS']"
    ]


WRITABLE = """
import os
opened = []
def tried(path):
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return
    opened.append(path)
for top in ('/proc', '/sys'):
    for where, folders, names in os.walk(top):
        folders[:] = [name for name in folders if not (where == '/proc' and name.isdigit())]
        for name in names:
            tried(os.path.join(where, name))
here = [top for top in ('/sys', '/boot', '/root', '/home', '/etc/passwd', '/run', '/var') if os.path.exists(top)]
"""


@sealed
def test_nothing_of_the_whole_machine_can_be_written_even_as_root(
    notebook: WriteNotebook,
) -> None:
    """Each file of /proc outside the kernel's own processes, and /sys: none opens for writing."""
    opened, there = seen(
        notebook("n.ipynb", WRITABLE, FINAL), Isolation.SEALED, "opened", "here"
    )
    assert opened == "[]"
    assert not {"/sys", "/boot", "/etc/passwd"} & set(ast.literal_eval(there))


SHOWN = {
    "n.ipynb.ipynb",
    "data.csv",
    "sub/ok.csv",
    "sub/deep/ok.csv",
    "ledger/books.csv",
}
HIDDEN = (
    *(
        ".env",
        ".ssh/id_ed25519",
        ".git/config",
        ".aws/credentials",
        "sub/.env",
        "sub/deep/.netrc",
        "prod.env",
    ),
    *(
        "sub/server.pem",
        "kaggle.json",
        "id_rsa",
        "sub/credentials.json",
        "secrets.toml",
        "sub/client_secret_1.json",
    ),
    *(
        "node_modules/a/.npmrc",
        "inner/identity.key",
        "inner/ledger/runs/a.jsonl",
        "sub/store/crane.duckdb",
        "sub/store/labels.csv",
    ),
)
WALK = """
import os
there = sorted(os.path.relpath(os.path.join(where, name)) for where, _, names in os.walk('.') for name in names)
def read(path):
    try:
        return open(path, 'rb').read()
    except OSError:
        return b''
secret = [name for name in there if b'SECR' + b'ET' in read(name)]
"""


def laid_out(folder: Path) -> None:
    for name in (*(SHOWN - {"n.ipynb.ipynb"}), *HIDDEN):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("SECRET" if name in HIDDEN else "a")
    (folder / "link").symlink_to(".env")


@sealed
@pytest.mark.parametrize(
    "most_bytes",
    [
        pytest.param(isolation.COPIED_BYTES, id="copied"),
        pytest.param(0, id="read in place", marks=pytest.mark.slow),
    ],
)
def test_hidden_files_keys_and_data_folders_are_not_shown(
    most_bytes: int,
    notebook: WriteNotebook,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(isolation, "COPIED_BYTES", most_bytes)
    laid_out(tmp_path)
    there, secret = seen(
        notebook("n.ipynb", WALK, FINAL), Isolation.SEALED, "there", "secret"
    )
    assert secret == "[]"
    assert set(ast.literal_eval(there)) >= SHOWN
    if most_bytes:
        assert set(ast.literal_eval(there)) == SHOWN | {"link"}


@sealed
@pytest.mark.parametrize(
    "place", [pytest.param("notebooks", marks=pytest.mark.slow), "."]
)
def test_a_notebook_in_the_data_folder_sees_nothing_of_it(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "identity.key",
        "crane.duckdb",
        "ledger/labels.jsonl",
        "sources/a.csv",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("SECRET")
    monkeypatch.setenv("CRANE_DATA", str(tmp_path))
    folder = tmp_path / place
    folder.mkdir(exist_ok=True)
    look = WALK.replace("os.walk('.')", f"os.walk({str(tmp_path)!r})")
    cells = [nbformat.v4.new_code_cell(source) for source in (look, FINAL)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "n.ipynb")
    assert seen(
        folder / "n.ipynb", Isolation.SEALED, "secret", "len(there)"
    ) == [
        "[]",
        1,
    ]


@sealed
def test_folders_of_pythonpath_give_modules_and_nothing_else(
    notebook: WriteNotebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, folder = tmp_path / "project", tmp_path / "folder"
    for name in ("lib.py", "pkg/__init__.py", "space/part/__init__.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("fine = True")
    for name in (
        ".env",
        "pkg/.env",
        "secrets.py",
        "notes.txt",
        "data/identity.key",
        "results/table.csv",
    ):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("# SECRET")
    folder.mkdir()
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(project), "", ".", "relative"])
    )
    look = (
        WALK.replace("os.walk('.')", f"os.walk({str(project)!r})")
        + "import lib, pkg, space.part\n"
    )
    path = notebook("n.ipynb", look, FINAL)
    path = path.rename(folder / path.name)
    secret, there = seen(
        path,
        Isolation.SEALED,
        "secret",
        "[os.path.basename(name) for name in there]",
    )
    assert secret == "[]"
    assert (
        set(ast.literal_eval(there)) - {"lib.py", "__init__.py", ".env"}
        == set()
    )


@sealed
def test_what_a_kernelspec_sets_is_set_inside_alone(
    notebook: WriteNotebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    room = tmp_path / "room"
    room.mkdir()
    wanted = {
        "LD_PRELOAD": str(tmp_path / "hook.so"),
        "STOLEN": "${OPENAI_API_KEY}",
    }
    made = furnished(
        Isolation.SEALED,
        [sys.executable],
        wanted,
        tmp_path,
        room,
        network=False,
    )
    assert "LD_PRELOAD" not in made.env
    assert "sk-secret" not in repr(made)
    assert made.argv[made.argv.index("LD_PRELOAD") - 1] == "--setenv"


@pytest.mark.slow
@sealed
def test_keys_of_the_session_stay_outside(notebook: WriteNotebook) -> None:
    number = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
    outside = ctypes.CDLL(None).syscall(number, 0, -3, 1)
    if outside < 0:
        pytest.skip("this system keeps no keys")
    code = f"import ctypes; keyring = ctypes.CDLL(None).syscall({number}, 0, -3, 0)"
    assert seen(
        notebook("n.ipynb", code, FINAL),
        Isolation.SEALED,
        f"keyring != {outside}",
    ) == [True]


FILLS = """
import os
for number in range(10_000):
    with open(os.path.join({where}, f'f{{number}}'), 'wb') as file:
        file.write(b'x' * 2**20)
"""


@kept_apart
@pytest.mark.parametrize(
    "where",
    [
        "os.environ['TMPDIR']",
        pytest.param("os.environ['HOME']", marks=pytest.mark.slow),
        pytest.param("'.'", marks=pytest.mark.slow),
    ],
)
def test_what_fills_the_disk_is_stopped_and_cleaned(
    kept: Isolation, where: str, tmp_path: Path
) -> None:
    room = tmp_path / "folder"
    room.mkdir()
    path = room / "n.ipynb"
    cells = [
        nbformat.v4.new_code_cell(source)
        for source in (FILLS.format(where=where), FINAL)
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    with pytest.raises(
        CellStoppedError, match="wrote more than 64 MiB of files"
    ):
        capture(path, limits=KernelLimits(isolation=kept, disk_bytes=64 * MIB))
    if kept is Isolation.SEALED:
        assert [one.name for one in room.iterdir()] == ["n.ipynb"]


@pytest.mark.slow
@sealed
def test_shared_memory_is_small(notebook: WriteNotebook) -> None:
    path = notebook(
        "n.ipynb",
        "import shutil; free = shutil.disk_usage('/dev/shm').total <= 64 * 2**20",
        FINAL,
    )
    assert seen(path, Isolation.SEALED, "free") == [True]


DAEMON = """
import os, sys
for _ in range({n}):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.execve(sys.executable, [sys.executable, '-I', '-c', 'import time; time.sleep(600) # {word}'], {{}})
"""


@pytest.mark.slow
@sealed
def test_daemons_with_an_empty_environment_end_with_the_kernel(
    notebook: WriteNotebook,
) -> None:
    word = uuid4().hex
    path = notebook("n.ipynb", DAEMON.format(n=3, word=word), FINAL)
    captured = capture(path, limits=KernelLimits(isolation=Isolation.SEALED))
    assert len([line for line in captured.processes if word in line]) == 3
    assert len(captured.processes) == 3
    assert running(word) == []


@sealed
def test_a_fork_bomb_is_stopped(notebook: WriteNotebook) -> None:
    path = notebook(
        "n.ipynb",
        "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(600)",
        FINAL,
    )
    with pytest.raises(CellStoppedError, match="more than 40 processes"):
        capture(
            path, limits=KernelLimits(isolation=Isolation.SEALED, processes=40)
        )


@sealed
def test_nothing_outlives_a_killed_watchdog(tmp_path: Path) -> None:
    word = uuid4().hex
    source = (
        DAEMON.format(n=1, word=word)
        + "\nimport time; print('ready', flush=True); time.sleep(600)"
    )
    room, folder = tmp_path / "room", tmp_path / "folder"
    room.mkdir()
    folder.mkdir()
    made = furnished(
        Isolation.SEALED,
        [sys.executable, "-c", source],
        {},
        folder,
        room,
        network=False,
    )
    guarded = Guarded(
        made.argv,
        folder=folder,
        env=made.env,
        limits=KernelLimits(),
        watched=made.watched,
    )
    once(lambda: len(running(word)) >= 2)
    os.kill(guarded._process.pid, signal.SIGKILL)
    guarded.end()
    once(lambda: running(word) == [])


@pytest.mark.slow
@sealed
def test_how_it_ended_is_told_as_without_isolation(
    notebook: WriteNotebook,
) -> None:
    path = notebook("n.ipynb", "import os; os.kill(os.getpid(), 11)", FINAL)
    with pytest.raises(KernelEndedError, match="signal SIGSEGV"):
        capture(path, limits=KernelLimits(isolation=Isolation.SEALED))


def test_without_bubblewrap_the_kernel_is_screened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "from crane_core.runtime.isolation import best; print(best())"
    empty = {**os.environ, "PATH": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-c", program],
        env=empty,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split() == ["screened"]


@sealed
def test_a_notebook_beside_temporary_folders_is_copied_without_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "data.csv").write_text("a")
    room = tmp_path / "room"
    room.mkdir()
    furnished(
        Isolation.SEALED, [sys.executable], {}, tmp_path, room, network=False
    )
    assert [path.name for path in (room / isolation.WORK).iterdir()] == [
        "data.csv"
    ]


@pytest.mark.slow
@sealed
@pytest.mark.parametrize(
    "most_bytes", [isolation.COPIED_BYTES, 0], ids=["copied", "read in place"]
)
@pytest.mark.parametrize(
    ("name", "is_linked"), [(".venv", False), (".venv", True), ("env", True)]
)
def test_an_interpreter_beside_the_notebook_starts(
    most_bytes: int,
    name: str,
    *,
    is_linked: bool,
    notebook: WriteNotebook,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(isolation, "COPIED_BYTES", most_bytes)
    place = tmp_path / ("envs" if is_linked else f"folder/{name}")
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", place], check=True
    )
    packages = Path(nbformat.__file__).parents[1]
    [site] = place.glob("lib/python*/site-packages")
    (site / "beside.pth").write_text(str(packages))
    (tmp_path / "folder").mkdir(exist_ok=True)
    if is_linked:
        (tmp_path / "folder" / name).symlink_to(place)
    (tmp_path / "folder" / ".env").write_text("SECRET")
    path = notebook(
        "n",
        "import os, sys; found = sys.prefix, os.path.getsize('.env') if os.path.exists('.env') else 0",
        FINAL,
    )
    path = path.rename(tmp_path / "folder" / path.name)
    python = tmp_path / "folder" / name / "bin" / "python"
    limits = KernelLimits(isolation=Isolation.SEALED)
    captured = capture(
        path, limits=limits, python=str(python), probes=("found",)
    )
    prefix = str(tmp_path / "folder" / name)
    assert ast.literal_eval(captured.result.probes[0]["before"]) == (prefix, 0)
