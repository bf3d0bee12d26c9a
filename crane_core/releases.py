"""What others publish, and in which release: the default is the one that the paper's tables stand on.

Knows how a release is named and which commit an archive names. Refuses to know how it is downloaded.
"""

import gzip
import io
import re
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from crane_core.errors import FetchError

GITHUB = "https://github.com"
HUGGING_FACE = "https://huggingface.co"
SHORT = 7
"""Digits of a commit that are displayed, as GitHub does."""

_REF = re.compile(
    r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*"
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HEAD_BYTES = 1 << 16
"""Git's header comes first; a header that needs more than this is none of git's."""


@dataclass(frozen=True, slots=True)
class Published:
    """A repository of others. `default` is a commit, or a branch where the paper names no commit.

    `kinds` are those of the importers that read its archives.
    """

    site: str
    repository: str
    default: str
    kinds: tuple[str, ...]

    @property
    def page(self) -> str:
        return f"{self.site}/{self.repository}"


PUBLISHED = {
    "crane-llm": Published(
        GITHUB,
        "PELAB-LiU/crane_llm",
        "5f643512098f51d35a7accc91e3c038b8c9e5183",
        ("crane-llm-2025-10", "crane-llm-2026"),
    ),
    "junobench-construct": Published(
        GITHUB,
        "PELAB-LiU/JunoBench_construct",
        "6eeca82496fce88d15e674cd8b68427bd42ec19e",
        ("junobench-construct",),
    ),
    "junobench": Published(
        HUGGING_FACE, "datasets/PELAB-LiU/JunoBench", "main", ()
    ),
}


@dataclass(frozen=True, slots=True)
class Release:
    """One of PUBLISHED at one commit. `ref` is the commit, tag or branch that was requested, "" without a request.

    `commit` has 40 hexadecimal digits; it is None as long as it is unknown.
    """

    name: str
    ref: str
    commit: str | None = None

    def __str__(self) -> str:
        return f"{self.name}@{self.ref}"

    @property
    def page(self) -> str:
        """Where its files can be read in a browser."""
        return f"{PUBLISHED[self.name].page}/tree/{self.commit or self.ref}"


def asked_release(text: str) -> Release:
    """The release that NAME or NAME@REF asks for; a REF that is a commit is known to be one. Raises FetchError."""
    name, mark, ref = text.partition("@")
    if name not in PUBLISHED:
        choices = ", ".join(PUBLISHED)
        raise FetchError(
            f"There is nothing called {name or text} to fetch.",
            remedy=f"Choose from {choices}.",
        )
    published = PUBLISHED[name]
    if mark and not (_REF.fullmatch(ref) and ".." not in ref):
        what = (
            f"{ref!r} cannot be a commit, tag or branch"
            if ref
            else f"{text} has no release after the @"
        )
        raise FetchError(
            f"{what}.",
            remedy=f"Use {name} for the default release, or {name}@main; see {published.page}.",
        )
    ref = ref or published.default
    return Release(name, ref, ref if is_commit(ref) else None)


def is_commit(ref: str) -> bool:
    """Whether a reference is a whole commit, 40 hexadecimal digits: what it names never changes."""
    return _COMMIT.fullmatch(ref) is not None


def release_of_kind(kind: str, commit: str | None) -> Release | None:
    """The release that an archive of this kind is of, when it names its commit."""
    name = next(
        (
            name
            for name, published in PUBLISHED.items()
            if kind in published.kinds
        ),
        None,
    )
    return Release(name, "", commit) if name and commit else None


def commit_named_in(archive: Path) -> str | None:
    """The commit that `git archive`, and so GitHub, writes into a .tar.gz or .zip; None if there is none."""
    try:
        told = (
            _zip_comment(archive)
            if zipfile.is_zipfile(archive)
            else _tar_comment(archive)
        )
    except (
        OSError,
        EOFError,
        ValueError,
        zlib.error,
        zipfile.BadZipFile,
        tarfile.TarError,
    ):
        return None
    return told if is_commit(told) else None


def _zip_comment(archive: Path) -> str:
    with zipfile.ZipFile(archive) as members:
        return members.comment.decode("ascii")


def _tar_comment(archive: Path) -> str:
    with gzip.open(archive) as unpacked:
        head = unpacked.read(_HEAD_BYTES)
    with tarfile.open(fileobj=io.BytesIO(head), mode="r:") as members:
        return members.pax_headers.get("comment", "")
