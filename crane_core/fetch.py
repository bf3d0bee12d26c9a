"""Downloading the published archives and notebooks in one release, whole or not at all.

Knows how a download is resumed and verified. Refuses to know what the files mean.
"""

import gzip
import hashlib
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx2
import requests
from huggingface_hub import HfApi, hf_hub_download
from huggingface_hub.errors import (
    HfHubHTTPError,
    HFValidationError,
    RevisionNotFoundError,
)

from crane_core import releases
from crane_core.errors import FetchError

MIRROR_VARIABLE = "CRANE_MIRROR"
"""Environment variable whose value replaces the base address of both GitHub and Hugging Face."""

DATASET_PATTERNS = ("*.ipynb", "*.xlsx")
"""The notebooks and workbooks; the data that the notebooks read is left where it is."""

_ATTEMPTS = 4
_PAUSE_S = 0.5
_TIMEOUT_S = (10.0, 60.0)
_CHUNK_BYTES = 1 << 16
_UNPACK_BYTES = 1 << 20
_PARALLEL_FILES = 8


class DownloadStep(NamedTuple):
    """How far a download is: `done` of `total` in `unit` ("bytes" or "files"); `total` is None when unknown."""

    what: str
    done: int
    total: int | None
    unit: str


Progress = Callable[[DownloadStep], None]


class Fetched(NamedTuple):
    """What a download brought: the archive, or the folder of notebooks, and which release it is."""

    path: Path
    release: releases.Release


class _NotThereError(FetchError):
    """The server has no such file."""


def fetch(asked: str, into: Path, progress: Progress) -> Fetched:
    """Download NAME (its default release) or NAME@REF (a commit, tag or branch) into the folder `into`.

    An interrupted download resumes where it stopped, if the file is still the same at its source. A finished one is
    verified before it takes its name, which holds its commit, and its sha256 is written beside it. Raises FetchError.
    """
    release = releases.asked_release(asked)
    published = releases.PUBLISHED[release.name]
    try:
        into.mkdir(parents=True, exist_ok=True)
        if published.site != releases.GITHUB:
            return _fetch_notebooks(release, into, progress)
        return _fetch_archive(release, into, progress)
    except (_NotThereError, RevisionNotFoundError) as error:
        raise FetchError(
            f"{release.name} has no commit, tag or branch {release.ref!r}: {error.args[0]}.",
            remedy=f"See {published.page} for the existing ones. To load a file: python -m crane_core import PATH",
        ) from error
    except OSError as error:
        raise FetchError(
            f"{release.name} could not be written to {into}: {error}.",
            remedy="Check the folder and the free space.",
        ) from error


def _base(default: str) -> str:
    return (os.environ.get(MIRROR_VARIABLE) or default).rstrip("/")


def _by_hand(url: str) -> str:
    return f"Try again later, or download {url} manually and run: python -m crane_core import PATH"


def _fetch_archive(
    release: releases.Release, into: Path, progress: Progress
) -> Fetched:
    repository = releases.PUBLISHED[release.name].repository
    url = f"{_base(releases.GITHUB)}/{repository}/archive/{release.ref}.tar.gz"
    stem = repository.rpartition("/")[2]
    part = (
        into / f"{stem}-{_for_a_name(release.commit, release.ref)}.tar.gz.part"
    )
    _receive_with_patience(url, part, progress)
    _verify_gzip(part, url)
    release = _settled(release, releases.commit_named_in(part), part, url)
    target = into / f"{stem}-{_for_a_name(release.commit, release.ref)}.tar.gz"
    _write_checksums(
        target.with_name(f"{target.name}.sha256"), [(target.name, part)]
    )
    part.replace(target)
    _tag_file(part).unlink(missing_ok=True)
    return Fetched(target, release)


def _for_a_name(commit: str | None, ref: str) -> str:
    return (
        commit[: releases.SHORT]
        if commit
        else re.sub(r"[^A-Za-z0-9.]", "-", ref)
    )


def _settled(
    release: releases.Release, told: str | None, part: Path, url: str
) -> releases.Release:
    """The release with the commit that its archive names; one that was requested by commit must be that one.

    GitHub may pack the same commit into other bytes one day, so no checksum of the archive is expected.
    """
    if told and release.commit and told != release.commit:
        _start_over(part)
        raise FetchError(
            f"{url} contains commit {told}, not the requested one.",
            remedy=_by_hand(url),
        )
    return replace(release, commit=told or release.commit)


def _receive_with_patience(url: str, part: Path, progress: Progress) -> None:
    failure = ""
    for attempt in range(_ATTEMPTS):
        time.sleep(_PAUSE_S * attempt)
        try:
            _receive(url, part, progress)
        except requests.RequestException as error:
            failure = _why(error)
        else:
            return
    raise FetchError(
        f"{url} could not be downloaded in {_ATTEMPTS} attempts: {failure}.",
        remedy=_by_hand(url),
    )


def _receive(url: str, part: Path, progress: Progress) -> None:
    """Bring `part` to full length; raises requests.RequestException when the connection breaks."""
    have = _resumable_bytes(part)
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers |= {
            "Range": f"bytes={have}-",
            "If-Range": _tag_file(part).read_text("utf-8"),
        }
    with requests.get(
        url, headers=headers, stream=True, timeout=_TIMEOUT_S
    ) as response:
        if (
            response.status_code
            == requests.codes.requested_range_not_satisfiable
        ):
            _start_over(part)
            raise requests.ConnectionError(
                "the file is now shorter than the part downloaded before"
            )
        if response.status_code >= requests.codes.bad_request:
            _refuse(response, url)
        have = have if _continues(response, have) else 0
        _remember_tag(part, response.headers.get("ETag", ""))
        total = _total_bytes(response, have)
        _write(
            response,
            part,
            have,
            DownloadStep(part.name.removesuffix(".part"), have, total, "bytes"),
            progress,
        )
    if total is not None and part.stat().st_size != total:
        raise requests.ConnectionError(
            f"{part.stat().st_size:,} of {total:,} bytes arrived"
        )


def _write(
    response: requests.Response,
    part: Path,
    have: int,
    step: DownloadStep,
    progress: Progress,
) -> None:
    with part.open("r+b" if have else "wb") as file:
        file.seek(have)
        file.truncate()
        progress(step)
        for chunk in response.iter_content(_CHUNK_BYTES):
            file.write(chunk)
            step = step._replace(done=step.done + len(chunk))
            progress(step)


def _resumable_bytes(part: Path) -> int:
    """How much of an earlier attempt may be kept: nothing without a strong tag to recognise the file by."""
    tag = _tag_file(part)
    known = (
        part.is_file()
        and tag.is_file()
        and tag.read_text("utf-8").startswith('"')
    )
    return part.stat().st_size if known else 0


def _continues(response: requests.Response, have: int) -> bool:
    is_partial = response.status_code == requests.codes.partial_content
    return is_partial and response.headers.get("Content-Range", "").startswith(
        f"bytes {have}-"
    )


def _total_bytes(response: requests.Response, have: int) -> int | None:
    length = response.headers.get("Content-Length", "")
    is_encoded = (
        response.headers.get("Content-Encoding", "identity") != "identity"
    )
    return have + int(length) if length.isdigit() and not is_encoded else None


def _refuse(response: requests.Response, url: str) -> None:
    if response.status_code == requests.codes.not_found:
        raise _NotThereError(
            f"{url} answered 404 {response.reason}", remedy=_by_hand(url)
        )
    if response.status_code < requests.codes.internal_server_error:
        raise FetchError(
            f"{url} answered {response.status_code} {response.reason}.",
            remedy=_by_hand(url),
        )
    raise requests.ConnectionError(
        f"the server answered {response.status_code} {response.reason}"
    )


def _remember_tag(part: Path, tag: str) -> None:
    _tag_file(part).write_text(tag, "utf-8")


def _tag_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.etag")


def _start_over(part: Path) -> None:
    part.unlink(missing_ok=True)
    _tag_file(part).unlink(missing_ok=True)


def _why(error: requests.RequestException) -> str:
    if isinstance(
        error, requests.ConnectionError
    ) and "Max retries exceeded" in str(error):
        return "the host cannot be reached"
    return str(error).splitlines()[0].rstrip(".") or type(error).__name__


def _verify_gzip(part: Path, url: str) -> None:
    """Unpack to nowhere: the trailing checksum of gzip tells whether the file is whole."""
    try:
        with gzip.open(part) as unpacked:
            n_bytes = sum(
                len(chunk)
                for chunk in iter(lambda: unpacked.read(_UNPACK_BYTES), b"")
            )
    except EOFError as error:
        _start_over(part)
        raise FetchError(
            f"{url} is truncated although the transfer ended.",
            remedy=_by_hand(url),
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        _start_over(part)
        raise FetchError(
            f"{url} is not the expected archive: {error}.", remedy=_by_hand(url)
        ) from error
    if n_bytes == 0:
        _start_over(part)
        raise FetchError(f"{url} is empty.", remedy=_by_hand(url))


def _fetch_notebooks(
    release: releases.Release, into: Path, progress: Progress
) -> Fetched:
    published = releases.PUBLISHED[release.name]
    endpoint, dataset = (
        _base(published.site),
        published.repository.removeprefix("datasets/"),
    )
    page = f"{endpoint}/{published.repository}"
    try:
        about = HfApi(endpoint=endpoint, token=False).dataset_info(
            dataset, revision=release.ref, timeout=_TIMEOUT_S[1]
        )
        listed = [file.rfilename for file in about.siblings or []]
        wanted = [
            name
            for name in listed
            if any(fnmatch(name, pattern) for pattern in DATASET_PATTERNS)
        ]
        if not wanted or not about.sha:
            raise FetchError(
                f"{page} lists no notebooks.", remedy=_by_hand(page)
            )
        folder = into / f"{release.name}-{about.sha[: releases.SHORT]}"
        download = partial(
            hf_hub_download,
            dataset,
            repo_type="dataset",
            revision=about.sha,
            endpoint=endpoint,
            token=False,
        )
        _download_files(
            release.name, wanted, partial(download, local_dir=folder), progress
        )
    except RevisionNotFoundError:
        raise
    except (
        httpx2.HTTPError,
        HfHubHTTPError,
        HFValidationError,
        OSError,
    ) as error:
        raise FetchError(
            f"{page} could not be fetched: {_first_line(error)}.",
            remedy=_by_hand(page),
        ) from error
    _write_checksums(
        folder.with_name(f"{folder.name}.sha256"),
        [(name, folder / name) for name in wanted],
    )
    return Fetched(folder, replace(release, commit=about.sha))


def _download_files(
    what: str,
    names: list[str],
    download: Callable[..., object],
    progress: Progress,
) -> None:
    """Each file is resumed and verified by the hub's own client; the first failure ends the whole."""
    with ThreadPoolExecutor(_PARALLEL_FILES) as pool:
        jobs = [pool.submit(download, filename=name) for name in names]
        progress(DownloadStep(what, 0, len(names), "files"))
        try:
            for done, job in enumerate(as_completed(jobs), start=1):
                job.result()
                progress(DownloadStep(what, done, len(names), "files"))
        finally:
            pool.shutdown(cancel_futures=True)


def _write_checksums(sidecar: Path, files: list[tuple[str, Path]]) -> None:
    """One line per file in the form that `sha256sum --check` reads."""
    lines = [f"{_sha256(path)}  {name}\n" for name, path in files]
    sidecar.write_text("".join(lines), "utf-8")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(path):
        digest.update(chunk)
    return digest.hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk


def _first_line(error: Exception) -> str:
    return (
        (str(error) or type(error).__name__).strip().splitlines()[0].rstrip(".")
    )
