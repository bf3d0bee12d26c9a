"""Downloads against real servers on this machine: whole, cut, resumed, changed, wrong, missing."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from crane_core import fetch as fetching
from crane_core.errors import FetchError
from crane_core.fetch import DownloadStep, fetch
from crane_core.releases import Release

DEFAULT = "5f643512098f51d35a7accc91e3c038b8c9e5183"
LATER = "1a2b3c4d" * 5
ARCHIVE_PATH = f"/PELAB-LiU/crane_llm/archive/{DEFAULT}.tar.gz"
NAME = "crane_llm-5f64351.tar.gz"


@cache
def archive(seed: int = 0, commit: str = DEFAULT) -> bytes:
    """A tar.gz of about 1 MB that does not compress; made once, because it tells the second it was made in."""
    stream = io.BytesIO()
    told = {"comment": commit} if commit else {}
    with tarfile.open(
        fileobj=stream, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers=told
    ) as members:
        data = hashlib.shake_256(bytes([seed])).digest(1_000_000)
        member = tarfile.TarInfo("crane_llm-main/data.bin")
        member.size = len(data)
        members.addfile(member, io.BytesIO(data))
    return stream.getvalue()


@dataclass
class Origin:
    """What the server serves and how it misbehaves: each entry of `cuts` breaks one answer after that many bytes."""

    content: bytes
    etag: str = '"v1"'
    cuts: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    length: int | None = None
    chunked: bool = False
    requests: list[tuple[str, str | None]] = field(default_factory=list)


Serve = Callable[[Origin], Origin]


class QuietHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        pass


def handler_for(origin: Origin) -> type[BaseHTTPRequestHandler]:
    class ArchiveHandler(QuietHandler):
        def do_GET(self) -> None:
            requested = self.headers.get("Range")
            origin.requests.append((self.path, requested))
            if origin.statuses:
                self.send_error(origin.statuses.pop(0))
                return
            start = int(re.findall(r"\d+", requested)[0]) if requested else 0
            if start and self.headers.get("If-Range") != origin.etag:
                start = 0
            if start > len(origin.content):
                self.send_error(416)
                return
            self.answer(origin.content[start:], start)

        def answer(self, body: bytes, start: int) -> None:
            self.send_response(206 if start else 200)
            self.send_header("ETag", origin.etag)
            if start:
                self.send_header(
                    "Content-Range",
                    f"bytes {start}-{len(origin.content) - 1}/{len(origin.content)}",
                )
            if origin.chunked:
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header(
                    "Content-Length", str(origin.length or len(body))
                )
            self.end_headers()
            cut = origin.cuts.pop(0) if origin.cuts else None
            sent = body if cut is None else body[:cut]
            self.wfile.write(
                b"%x\r\n%b\r\n0\r\n\r\n" % (len(sent), sent)
                if origin.chunked
                else sent
            )
            if cut is not None or origin.length:
                self.close_connection = True

    return ArchiveHandler


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(
            target=server.serve_forever, args=(0.02,), daemon=True
        ).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    monkeypatch.setattr(fetching, "_PAUSE_S", 0)
    with ExitStack() as servers:

        def start(origin: Origin) -> Origin:
            url = servers.enter_context(served(handler_for(origin)))
            monkeypatch.setenv("CRANE_MIRROR", url)
            return origin

        yield start


def ignore(step: DownloadStep) -> None:
    pass


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_archive_arrives_whole_with_its_checksum_and_progress(
    tmp_path: Path, serve: Serve
) -> None:
    origin = serve(Origin(archive()))
    steps: list[DownloadStep] = []
    target, release = fetch("crane-llm", tmp_path / "sources", steps.append)
    assert target == tmp_path / "sources" / NAME
    assert release == Release("crane-llm", DEFAULT, DEFAULT)
    assert target.read_bytes() == origin.content
    assert listed(target.parent) == [NAME, f"{NAME}.sha256"]
    digest = hashlib.sha256(origin.content).hexdigest()
    assert (
        target.parent / f"{NAME}.sha256"
    ).read_text() == f"{digest}  {NAME}\n"
    total = len(origin.content)
    assert steps[0] == DownloadStep(NAME, 0, total, "bytes")
    assert steps[-1] == DownloadStep(NAME, total, total, "bytes")
    assert origin.requests == [(ARCHIVE_PATH, None)]


def test_the_other_archive_has_its_own_address(
    tmp_path: Path, serve: Serve
) -> None:
    origin = serve(Origin(archive()))
    commit = "6eeca82496fce88d15e674cd8b68427bd42ec19e"
    origin.content = archive(commit=commit)
    assert (
        fetch("junobench-construct", tmp_path, ignore).path.name
        == "JunoBench_construct-6eeca82.tar.gz"
    )
    assert (
        origin.requests[0][0]
        == f"/PELAB-LiU/JunoBench_construct/archive/{commit}.tar.gz"
    )


def test_a_branch_is_fetched_at_the_commit_that_its_archive_names(
    tmp_path: Path, serve: Serve
) -> None:
    origin = serve(Origin(archive(commit=LATER), cuts=[300_000]))
    path, release = fetch("crane-llm@main", tmp_path, ignore)
    assert release == Release("crane-llm", "main", LATER)
    assert (
        release.page == f"https://github.com/PELAB-LiU/crane_llm/tree/{LATER}"
    )
    assert path.name == "crane_llm-1a2b3c4.tar.gz"
    assert listed(tmp_path) == [path.name, f"{path.name}.sha256"]
    assert {address for address, _ in origin.requests} == {
        "/PELAB-LiU/crane_llm/archive/main.tar.gz"
    }


def test_an_archive_of_another_commit_than_asked_for_is_refused(
    tmp_path: Path, serve: Serve
) -> None:
    serve(Origin(archive(commit=LATER)))
    for asked in ("crane-llm", f"crane-llm@{'2' * 40}"):
        with pytest.raises(
            FetchError, match=f"contains commit {LATER}, not the requested one"
        ):
            fetch(asked, tmp_path, ignore)
    assert listed(tmp_path) == []


def test_an_archive_that_names_no_commit_is_the_one_that_was_asked_for(
    tmp_path: Path, serve: Serve
) -> None:
    serve(Origin(archive(commit="")))
    assert fetch("crane-llm", tmp_path, ignore).release.commit == DEFAULT
    path, release = fetch("crane-llm@refs/tags/v1.0", tmp_path, ignore)
    assert (path.name, release.commit) == (
        "crane_llm-refs-tags-v1.0.tar.gz",
        None,
    )
    assert release.page.endswith("/crane_llm/tree/refs/tags/v1.0")


def test_a_download_of_one_release_is_not_continued_with_another(
    tmp_path: Path, serve: Serve
) -> None:
    origin = serve(Origin(archive(), cuts=[100_000, 0, 0, 0]))
    with pytest.raises(FetchError):
        fetch("crane-llm", tmp_path, ignore)
    origin.content = archive(seed=1, commit=LATER)
    assert (
        fetch("crane-llm@main", tmp_path, ignore).path.read_bytes()
        == origin.content
    )


@pytest.mark.parametrize("name", ["crane-llm", "junobench-construct"])
def test_a_release_that_is_not_there_is_named_with_the_place_to_look(
    name: str, tmp_path: Path, serve: Serve
) -> None:
    origin = serve(Origin(b"", statuses=[404]))
    with pytest.raises(
        FetchError,
        match=rf"^{name} has no commit, tag or branch 'v9': .* answered 404",
    ) as refusal:
        fetch(f"{name}@v9", tmp_path, ignore)
    assert len(origin.requests) == 1
    assert "https://github.com/PELAB-LiU/" in refusal.value.remedy


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("crane-llm@", "crane-llm@ has no release after the @"),
        ("crane-llm@a b", "'a b' cannot be a commit, tag or branch"),
        ("crane-llm@../other", "'../other' cannot be"),
        ("crane-llm@a..b", "'a..b' cannot be"),
        ("crane-llm@-x", "'-x' cannot be"),
        ("crane-llm@x?y#z", "cannot be"),
        ("moon@main", "nothing called moon"),
        ("@main", "nothing called @main to fetch"),
    ],
)
def test_what_can_be_no_release_is_refused_before_anything_is_asked(
    asked: str, reason: str, tmp_path: Path, serve: Serve
) -> None:
    origin = serve(Origin(archive()))
    with pytest.raises(FetchError) as refusal:
        fetch(asked, tmp_path, ignore)
    assert reason in refusal.value.args[0]
    assert origin.requests == []


def test_a_cut_connection_is_resumed_where_it_broke(
    tmp_path: Path, serve: Serve
) -> None:
    origin = serve(Origin(archive(), cuts=[300_000, 200_000]))
    target = fetch("crane-llm", tmp_path, ignore).path
    assert target.read_bytes() == origin.content
    starts = [
        int((requested or "bytes=0-")[6:-1]) for _, requested in origin.requests
    ]
    assert len(starts) == 3
    assert starts[0] == 0
    assert 200_000 < starts[1] <= 300_000
    assert starts[1] < starts[2] <= starts[1] + 200_000


def test_a_later_call_goes_on_with_what_an_earlier_one_left(
    tmp_path: Path, serve: Serve
) -> None:
    origin = serve(Origin(archive(), cuts=[100_000, 0, 0, 0]))
    with pytest.raises(
        FetchError, match="could not be downloaded in 4 attempts"
    ):
        fetch("crane-llm", tmp_path, ignore)
    assert listed(tmp_path) == [f"{NAME}.part", f"{NAME}.part.etag"]
    kept = (tmp_path / f"{NAME}.part").stat().st_size
    origin.requests.clear()
    assert (
        fetch("crane-llm", tmp_path, ignore).path.read_bytes() == origin.content
    )
    assert origin.requests == [(ARCHIVE_PATH, f"bytes={kept}-")]


def test_a_file_that_changed_at_its_source_is_taken_from_the_start(
    tmp_path: Path, serve: Serve
) -> None:
    origin = serve(Origin(archive(), cuts=[500_000, 0, 0, 0]))
    with pytest.raises(FetchError):
        fetch("crane-llm", tmp_path, ignore)
    origin.content, origin.etag = archive(seed=1), '"v2"'
    assert fetch("crane-llm", tmp_path, ignore).path.read_bytes() == archive(
        seed=1
    )


def test_a_file_that_became_shorter_is_taken_from_the_start(
    tmp_path: Path, serve: Serve
) -> None:
    origin = serve(Origin(archive()))
    (tmp_path / f"{NAME}.part").write_bytes(bytes(len(origin.content) + 10))
    (tmp_path / f"{NAME}.part.etag").write_text(origin.etag)
    assert (
        fetch("crane-llm", tmp_path, ignore).path.read_bytes() == origin.content
    )


def in_two_streams(packed: bytes) -> bytes:
    unpacked = gzip.decompress(packed)
    half = len(unpacked) // 2
    return gzip.compress(unpacked[:half]) + gzip.compress(unpacked[half:])


@pytest.mark.parametrize(
    ("origin", "n_requests"),
    [
        pytest.param(
            Origin(archive(), etag='W/"v1"', cuts=[300_000]),
            2,
            id="no strong tag",
        ),
        pytest.param(Origin(archive(), chunked=True), 1, id="no length"),
        pytest.param(
            Origin(archive(), statuses=[503, 500]), 3, id="in trouble"
        ),
        pytest.param(
            Origin(in_two_streams(archive())), 1, id="two streams of gzip"
        ),
    ],
)
def test_an_archive_arrives_whole_from_a_server_that(
    tmp_path: Path, serve: Serve, origin: Origin, n_requests: int
) -> None:
    serve(origin)
    steps: list[DownloadStep] = []
    path = fetch("crane-llm", tmp_path, steps.append).path
    assert path.read_bytes() == origin.content
    # None is continued: that would need a strong tag and a part that arrived.
    assert origin.requests == [(ARCHIVE_PATH, None)] * n_requests
    assert (steps[-1].total is None) is origin.chunked


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (archive()[:-9], "truncated although the transfer ended"),
        (
            archive()[:5_000] + b"xx" + archive()[5_002:],
            "not the expected archive",
        ),
        (b"<html>Please sign in</html>", "not the expected archive"),
        (b"", "is empty"),
    ],
)
def test_a_transfer_of_a_broken_file_leaves_nothing_behind(
    tmp_path: Path, serve: Serve, content: bytes, reason: str
) -> None:
    serve(Origin(content, chunked=True))
    with pytest.raises(FetchError, match=reason) as refusal:
        fetch("crane-llm", tmp_path, ignore)
    assert ARCHIVE_PATH in refusal.value.remedy
    assert listed(tmp_path) == []


def test_a_wrong_length_is_no_success(tmp_path: Path, serve: Serve) -> None:
    origin = serve(Origin(archive()))
    origin.length = len(origin.content) + 100
    with pytest.raises(
        FetchError, match="could not be downloaded in 4 attempts"
    ):
        fetch("crane-llm", tmp_path, ignore)
    assert not (tmp_path / NAME).exists()


def test_a_missing_file_is_told_at_once_with_a_way_out(
    tmp_path: Path, serve: Serve
) -> None:
    origin = serve(Origin(b"", statuses=[404]))
    with pytest.raises(FetchError, match="answered 404") as refusal:
        fetch("crane-llm", tmp_path, ignore)
    assert len(origin.requests) == 1
    assert "import PATH" in refusal.value.remedy


def test_no_server_at_all_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_PAUSE_S", 0)
    monkeypatch.setenv("CRANE_MIRROR", "http://127.0.0.1:9")
    for name in ("crane-llm", "junobench"):
        with pytest.raises(FetchError):
            fetch(name, tmp_path, ignore)


def test_an_earlier_download_stays_when_a_new_one_fails(
    tmp_path: Path, serve: Serve
) -> None:
    serve(Origin(archive(), statuses=[404]))
    (tmp_path / NAME).write_bytes(b"earlier")
    with pytest.raises(FetchError):
        fetch("crane-llm", tmp_path, ignore)
    assert (tmp_path / NAME).read_bytes() == b"earlier"


def test_an_unknown_name_and_an_unusable_folder_are_refused(
    tmp_path: Path, serve: Serve
) -> None:
    with pytest.raises(FetchError, match="nothing called moon"):
        fetch("moon", tmp_path, ignore)
    serve(Origin(archive()))
    (tmp_path / "file").write_text("")
    with pytest.raises(FetchError, match="could not be written"):
        fetch("crane-llm", tmp_path / "file" / "sources", ignore)


COMMIT = "c" * 40


def hub_listing(files: dict[str, bytes]) -> object:
    siblings = [{"rfilename": name} for name in files]
    return {
        "id": "PELAB-LiU/JunoBench",
        "sha": COMMIT,
        "siblings": siblings,
        "tags": [],
        "private": False,
    }


def hub_handler(
    files: dict[str, bytes], broken: set[str]
) -> type[BaseHTTPRequestHandler]:
    """The part of the hub's interface that listing and downloading a data set needs."""

    class HubHandler(QuietHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            resolved = re.fullmatch(
                f"/datasets/PELAB-LiU/JunoBench/resolve/{COMMIT}/(.+)", path
            )
            if path.startswith("/api/datasets/PELAB-LiU/JunoBench"):
                self.answer_about(path)
            elif (
                resolved and resolved[1] in files and resolved[1] not in broken
            ):
                self.answer(files[resolved[1]], "application/octet-stream")
            else:
                self.send_error(404)

        def answer_about(self, path: str) -> None:
            is_known = path.rpartition("/revision/")[2] in ("main", COMMIT)
            body = json.dumps(hub_listing(files)).encode() if is_known else b""
            self.answer(
                body, "application/json", "" if is_known else "RevisionNotFound"
            )

        def answer(self, body: bytes, kind: str, error: str = "") -> None:
            self.send_response(404 if error else 200)
            self.send_header("X-Error-Code", error)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header(
                "ETag",
                f'"{hashlib.sha1(body, usedforsecurity=False).hexdigest()}"',
            )
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

    return HubHandler


ServeHub = Callable[[dict[str, bytes], set[str]], None]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServeHub]:
    with ExitStack() as servers:

        def start(files: dict[str, bytes], broken: set[str]) -> None:
            url = servers.enter_context(served(hub_handler(files, broken)))
            monkeypatch.setenv("CRANE_MIRROR", url)

        yield start


HUB_FILES = {
    "README.md": b"about",
    "benchmark_desc.xlsx": b"PK workbook",
    "benchmark/pandas_1/pandas_1_fixed.ipynb": b'{"cells": []}',
    "benchmark/pandas_1/pandas_1_reproduced.ipynb": b'{"cells": [1]}',
    "benchmark/pandas_1/data/table.csv": b"a,b\n" * 1_000,
}


def test_notebooks_and_workbooks_of_the_data_set_arrive_without_its_data(
    tmp_path: Path, hub: ServeHub
) -> None:
    hub(HUB_FILES, set())
    steps: list[DownloadStep] = []
    folder, release = fetch("junobench", tmp_path, steps.append)
    assert folder == tmp_path / "junobench-ccccccc"
    assert release == Release("junobench", "main", COMMIT)
    assert (
        release.page
        == f"https://huggingface.co/datasets/PELAB-LiU/JunoBench/tree/{COMMIT}"
    )
    wanted = {
        name: data
        for name, data in HUB_FILES.items()
        if name.endswith((".ipynb", ".xlsx"))
    }
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".cache" not in path.parts
    }
    assert found == wanted
    assert steps[-1] == DownloadStep("junobench", 3, 3, "files")
    sums = dict(
        reversed(line.split("  "))
        for line in (tmp_path / "junobench-ccccccc.sha256")
        .read_text()
        .splitlines()
    )
    assert sums == {
        name: hashlib.sha256(data).hexdigest() for name, data in wanted.items()
    }


def test_notebooks_come_in_the_revision_that_was_asked_for(
    tmp_path: Path, hub: ServeHub
) -> None:
    hub(HUB_FILES, set())
    assert fetch(f"junobench@{COMMIT}", tmp_path, ignore).release == Release(
        "junobench", COMMIT, COMMIT
    )
    with pytest.raises(
        FetchError, match=r"^junobench has no commit, tag or branch 'v9'"
    ) as refusal:
        fetch("junobench@v9", tmp_path, ignore)
    assert "huggingface.co/datasets/PELAB-LiU/JunoBench" in refusal.value.remedy


def test_a_notebook_that_does_not_come_is_told(
    tmp_path: Path, hub: ServeHub
) -> None:
    hub(HUB_FILES, {"benchmark/pandas_1/pandas_1_fixed.ipynb"})
    with pytest.raises(
        FetchError, match="PELAB-LiU/JunoBench could not be fetched"
    ):
        fetch("junobench", tmp_path, ignore)


def test_a_data_set_without_notebooks_is_told(
    tmp_path: Path, hub: ServeHub
) -> None:
    hub({"README.md": b""}, set())
    with pytest.raises(FetchError, match="lists no notebooks"):
        fetch("junobench", tmp_path, ignore)
