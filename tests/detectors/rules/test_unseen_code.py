"""What a captured kernel tells of work beside the target, and of names that share an object."""

from __future__ import annotations

import pytest

from tests.detectors.rules.conftest import Predict


@pytest.mark.parametrize(
    ("setup", "target", "sentence"),
    [
        (
            "import threading, time\nout = {}\ndef work():\n    time.sleep(5)\n    out['k'] = 1\n"
            "thread = threading.Thread(target=work, name='filler')\nthread.start()",
            "thread.join()\nout['k']",
            "a thread of the notebook is running (filler)",
        ),
        (
            "import asyncio\nout = {}\nasync def fetch():\n    await asyncio.sleep(5)\n    out['a'] = 1\n"
            "task = asyncio.create_task(fetch())",
            "await task\nout['a']",
            "a task of the event loop is pending (task fetch)",
        ),
    ],
)
def test_work_beside_the_target_in_a_captured_kernel(
    predict_in_kernel: Predict, setup: str, target: str, sentence: str
) -> None:
    seen = predict_in_kernel(setup, target)
    assert seen.findings == ()
    assert seen.unsure == (sentence,)


def test_which_names_share_an_object_is_told_and_that_the_shell_holds_them_is_no_news(
    predict_in_kernel: Predict,
) -> None:
    seen = predict_in_kernel(
        "a = [1]\nb = a\nc = [2]\nbox = {'c': c}\nd = [3]\na", "a, b, box, c, d"
    )
    assert seen.state is not None
    assert seen.state.captured["same"] == [["a", "b"]]
    assert seen.state.captured["held"] == ["c"]
