"""The shape of the house: who may import what, where SQL may stand, what no file may hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PAGE_LINES = 90
PIN_FILES = ("requirements", "requirements-dev", "requirements-ml")
SQL = re.compile(
    r"\bSELECT\b[\s\S]+\bFROM\b|\bINSERT\s+(OR\s+\w+\s+)?INTO\b|\bUPDATE\s+\w+\s+SET\b|\bDELETE\s+FROM\b"
    r"|\b(CREATE|DROP|ALTER)\s+(OR\s+REPLACE\s+)?(TEMP\s+)?(TABLE|VIEW|INDEX|SEQUENCE)\b"
    r"|\bselect\b[\s\S]+\bfrom\b[\s\S]+\b(where|group by|order by|limit)\b|\binsert into\b|\bdelete from\b"
)
# Put together here, so that this file does not hold what it looks for.
MACHINE_PATHS = tuple(
    "/" + name + "/"
    for name in (
        "work",
        "tmp",
        "root",
        "home",
        "Users",
        "opt/pypi",
        "opt/wheels",
    )
)
REGISTRY_WORDS = (
    "pypi" + ".org",
    "python" + "hosted.org",
    "--index" + "-url",
    "--extra-index" + "-url",
    "--find" + "-links",
)


def checkout_files() -> list[Path]:
    """Every file that is tracked or would be; outside a git checkout, everything but hidden folders."""
    command = [
        "git",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    listed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [
            path
            for path in ROOT.rglob("*")
            if not path.relative_to(ROOT).parts[0].startswith(".venv")
        ]
    return sorted(path for path in paths if path.is_file())


def python_files(*tops: str) -> list[Path]:
    return [
        path
        for path in checkout_files()
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in tops
    ]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), filename=str(path))


def docstrings(tree: ast.Module) -> set[int]:
    """Line numbers at which a docstring (of a module, class, function or constant) begins."""
    return {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def string_literals(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of every string but docstrings; the holes of an f-string read as `x`."""
    described = docstrings(tree)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.lineno not in described
        ):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            pieces = [
                part.value if isinstance(part, ast.Constant) else "x"
                for part in node.values
            ]
            yield node.lineno, "".join(map(str, pieces))


def imported_packages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                (node.lineno, alias.name.split(".")[0]) for alias in node.names
            )
        elif (
            isinstance(node, ast.ImportFrom) and node.module and node.level == 0
        ):
            yield node.lineno, node.module.split(".")[0]


def test_floors_hold() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t",
        "insert into t values (1)",
        "select * from t where a = 1",
    ],
)
def test_sql_is_recognised(text: str) -> None:
    assert SQL.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "Select a case from the list.",
        "Update the set of labels",
        "from X import Y",
    ],
)
def test_plain_words_are_not_sql(text: str) -> None:
    assert not SQL.search(text)


def test_sql_stands_only_in_storage() -> None:
    files = [
        path
        for path in python_files("crane_core", "pages", "app.py")
        if "storage" not in path.parts
    ]
    found = [
        f"{name_of(path)}:{line}"
        for path in files
        for line, text in string_literals(tree_of(path))
        if SQL.search(text)
    ]
    assert not found


def test_streamlit_is_imported_only_by_screens() -> None:
    def is_screen(path: Path) -> bool:
        return name_of(path) == "app.py" or name_of(path).startswith(
            ("pages/", "crane_core/ui/")
        )

    files = [
        path
        for path in python_files(
            "crane_core", "data", "tools", "app.py", "pages"
        )
        if not is_screen(path)
    ]
    found = [
        f"{name_of(path)}:{line}"
        for path in files
        for line, package in imported_packages(tree_of(path))
        if package == "streamlit"
    ]
    assert not found


STARTERS = {
    "crane_core/helper_process.py": "the door: everything else goes through it",
    "crane_core/runtime/watchdog.py": "its own program, which knows nothing of ours; starts the kernel itself",
    "crane_core/detectors/bounded_tool.py": "names what waiting for a process raises; starts through the door",
    "crane_core/live/helper.py": "names the type of the process; starts through the door",
    "crane_core/runtime/guarded.py": "names the type of the process; starts through the door",
    "crane_core/ui/runs/started.py": "names the type of the process, and where its words go; starts through the door",
    "crane_core/pipeline/detection/here.py": "a pool, within isolated_workers",
    "crane_core/pipeline/dask/cluster.py": "a local cluster, within isolated_workers",
}
"""Files that name what starts a process, each with its reason."""
MAY_CALL = {"crane_core/helper_process.py", "crane_core/runtime/watchdog.py"}
_STARTS = re.compile(
    r"subprocess\.(run|Popen|call|check_call|check_output|getoutput|getstatusoutput)\b"
    r"|os\.(system|popen|exec\w+|spawn\w+|posix_spawn\w*|startfile)\b|pty\.(spawn|fork)\b|create_subprocess_\w+"
    r"|(?:Async|Blocking)?KernelManager\b|start_new_kernel\b"
)
_NAMES = re.compile(
    r"\b(?:subprocess|multiprocessing|ProcessPoolExecutor|LocalCluster|pty)\b"
)


def code_of(path: Path) -> str:
    """The file without its strings and comments."""
    return ast.unparse(_Silent().visit(tree_of(path)))


class _Silent(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.Constant:
        return ast.Constant("")


def test_processes_are_started_through_one_door() -> None:
    """Else a new helper could run what lies in the folder of its caller: `helper_process` isolates each of them."""
    files = [
        path
        for path in python_files("crane_core", "pages", "app.py")
        if "kernel_side" not in path.parts
    ]
    codes = {name_of(path): code_of(path) for path in files}
    assert {
        name
        for name, code in codes.items()
        if _STARTS.search(code.replace("subprocess.Popen[", ""))
    } == MAY_CALL
    assert {name for name, code in codes.items() if _NAMES.search(code)} == set(
        STARTERS
    )
    for name in (
        "crane_core/pipeline/detection/here.py",
        "crane_core/pipeline/dask/cluster.py",
    ):
        assert "isolated_workers()" in codes[name]


def test_pages_are_short() -> None:
    lengths = {
        name_of(path): len(path.read_text("utf-8").splitlines())
        for path in python_files("pages", "app.py")
    }
    assert {name: n for name, n in lengths.items() if n > PAGE_LINES} == {}


def test_nothing_is_swallowed() -> None:
    def is_silent(handler: ast.ExceptHandler) -> bool:
        names = (
            {
                node.id
                for node in ast.walk(handler.type)
                if isinstance(node, ast.Name)
            }
            if handler.type
            else set()
        )
        is_broad = handler.type is None or bool(
            names & {"Exception", "BaseException"}
        )
        return is_broad and all(
            isinstance(step, ast.Pass | ast.Continue) for step in handler.body
        )

    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in checkout_files()
        if path.suffix == ".py"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ExceptHandler) and is_silent(node)
    ]
    assert not found


def requirements(name: str) -> list[Requirement]:
    lines = [
        line.split("#")[0].removesuffix(" \\").rstrip()
        for line in (ROOT / name).read_text("utf-8").splitlines()
    ]
    return [
        Requirement(line)
        for line in lines
        if line and not line.startswith(("-c ", "    --hash="))
    ]


def pins_of(name: str) -> dict[str, set[str]]:
    """Package -> its pinned versions (more than one where a marker tells them apart)."""
    pins: dict[str, set[str]] = {}
    for pin in requirements(name):
        pins.setdefault(canonicalize_name(pin.name), set()).update(
            part.version for part in pin.specifier
        )
    return pins


@pytest.mark.parametrize("stem", PIN_FILES)
def test_every_requirement_is_pinned(stem: str) -> None:
    loose = [
        str(pin)
        for pin in requirements(f"{stem}.txt")
        if [part.operator for part in pin.specifier] != ["=="]
    ]
    assert not loose
    pins = pins_of(f"{stem}.txt")
    for wanted in requirements(f"{stem}.in"):
        versions = pins.get(canonicalize_name(wanted.name), set())
        assert versions, (
            f"{wanted.name} stands in {stem}.in but is not pinned: make pins"
        )
        assert all(
            wanted.specifier.contains(version) for version in versions
        ), wanted.name


@pytest.mark.parametrize(
    "stem", [stem for stem in PIN_FILES if stem != "requirements-ml"]
)
def test_every_pin_has_hashes(stem: str) -> None:
    """All of a file or none: pip then installs nothing else. For those of torch see requirements-ml.in."""
    blocks = re.split(
        r"^(?=[A-Za-z])",
        (ROOT / f"{stem}.txt").read_text("utf-8"),
        flags=re.MULTILINE,
    )[1:]
    bare = [
        block.partition(" ")[0]
        for block in blocks
        if not re.search(r"^    --hash=sha256:[0-9a-f]{64}", block, re.M)
    ]
    assert (len(blocks), bare) == (len(requirements(f"{stem}.txt")), [])


@pytest.mark.parametrize(("one", "other"), list(combinations(PIN_FILES, 2)))
def test_pin_files_agree(one: str, other: str) -> None:
    ours, theirs = pins_of(f"{one}.txt"), pins_of(f"{other}.txt")
    shared = ours.keys() & theirs.keys()
    assert {name: ours[name] for name in shared} == {
        name: theirs[name] for name in shared
    }


def test_pins_of_the_optional_libraries_bring_no_cuda() -> None:
    assert not [
        name
        for name in pins_of("requirements-ml.txt")
        if name.startswith(("cuda-", "nvidia-", "triton"))
    ]


def test_no_file_names_a_machine_or_a_registry() -> None:
    found = []
    for path in checkout_files():
        content = path.read_bytes()
        if b"\0" in content:
            continue
        text = content.decode("utf-8", "replace")
        found += [
            f"{name_of(path)}: {word}"
            for word in (*MACHINE_PATHS, *REGISTRY_WORDS)
            if word in text
        ]
    assert not found
