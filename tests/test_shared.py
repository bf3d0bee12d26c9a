"""Workers share an app that the first of them starts: it ends after the last use, and can be started again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from tests.shared import made_once, shared_app


class AppStandIn:
    """Numbers its starts and knows whether it runs. Threads with locked files stand for workers."""

    def __init__(self) -> None:
        self.n_starts = 0
        self.is_up = False

    @contextmanager
    def serve(self) -> Iterator[str]:
        assert not self.is_up
        self.n_starts += 1
        self.is_up = True
        yield f"start {self.n_starts}"
        self.is_up = False


def test_the_one_who_started_an_app_ends_it_after_the_others(
    tmp_path: Path,
) -> None:
    app, place = AppStandIn(), tmp_path / "app"
    first = shared_app(place, app.serve)
    second = shared_app(place, app.serve)
    assert first.__enter__() == second.__enter__() == "start 1"
    leaving = threading.Thread(target=first.__exit__, args=(None, None, None))
    leaving.start()
    third = shared_app(place, app.serve)
    assert third.__enter__() == "start 1"
    second.__exit__(None, None, None)
    assert app.is_up
    third.__exit__(None, None, None)
    leaving.join(PATIENCE_S)
    assert not leaving.is_alive()
    assert not app.is_up
    with shared_app(place, app.serve) as again:
        assert again == "start 2"


def test_a_folder_is_made_by_one_and_one_that_fails_leaves_none(
    tmp_path: Path,
) -> None:
    place = tmp_path / "data"

    def fail(begun: Path) -> None:
        (begun / "half").touch()
        raise ValueError("the disk is full")

    with pytest.raises(ValueError, match="full"):
        made_once(place, fail)
    assert not place.exists()
    made: list[Path] = []

    def make(begun: Path) -> None:
        (begun / "whole").touch()
        made.append(begun)

    workers = [
        threading.Thread(target=made_once, args=(place, make)) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(PATIENCE_S)
    assert len(made) == 1
    assert [file.name for file in place.iterdir()] == ["whole"]
