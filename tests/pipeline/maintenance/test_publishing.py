"""The copy for replicas: renewed after changes alone, and made again where somebody removed it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from threading import Event

import pytest

from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.maintenance.publishing import (
    Publisher,
    publish_regularly,
)
from crane_core.pipeline.places import DataFolder
from crane_core.storage.snapshot import newest
from tests.patience import PATIENCE_S


def test_the_copy_is_renewed_after_changes_alone(
    folder: DataFolder, tmp_path: Path
) -> None:
    store = prepare(folder)
    publisher = Publisher(store, folder)
    publisher.renew()
    first = newest(folder.replicas)
    assert first
    known_at = first.stat().st_mtime_ns
    publisher.renew()
    assert newest(folder.replicas) == first
    assert first.stat().st_mtime_ns > known_at
    line = {
        "benchmark": "minibench",
        "instance": "numpy_1_reproduced",
        "detector": "Heron",
        "setting": "code",
    }
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        json.dumps(line | {"index": 1, "crashes": True, "experiment": "later"})
        + "\n"
    )
    import_paths([answers], folder, store)
    publisher.renew()
    second = newest(folder.replicas)
    assert second
    assert second > first
    for copy in folder.replicas.iterdir():
        copy.unlink()
    publisher.renew()
    assert newest(folder.replicas)
    store.close()


def test_what_stands_in_the_way_is_logged_and_tried_again(
    folder: DataFolder, caplog: pytest.LogCaptureFixture
) -> None:
    folder.replicas.write_text("in the way")
    store, stop, refused = prepare(folder), Event(), Event()

    class SeenRecords(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            refused.set()

    logger, seen = (
        logging.getLogger("crane_core.pipeline.maintenance.publishing"),
        SeenRecords(),
    )
    logger.addHandler(seen)
    try:
        thread = publish_regularly(store, folder, 0.01, stop)
        assert refused.wait(PATIENCE_S)
        folder.replicas.unlink()
        while not newest(folder.replicas):
            assert thread.is_alive()
        stop.set()
        thread.join(PATIENCE_S)
    finally:
        logger.removeHandler(seen)
        store.close()
    assert "cannot be written" in caplog.text
    assert "Free some space" in caplog.text
