"""What a library is asked about, beside what really happens: more crashes than the rules know, and no false alarm."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crane_core.detectors.rules import answers, asking, interpreter
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import Answer, Crash
from crane_core.detectors.rules.family import Registered
from crane_core.detectors.rules.operation import Arguments, Operation
from crane_core.detectors.rules.predict import findings
from crane_core.detectors.rules.sending import Sender
from crane_core.domain import Setting
from crane_core.runtime import interpreters
from crane_core.runtime.library_worker import library_worker
from tests.patience import once

from .conftest import Predict, cells_of

SETUP = """\
import numpy as np
a = np.arange(12).reshape(3, 4)
b = np.ones((4, 3))
v = np.array([1., 2., 3.])
w = np.arange(4)
t = np.array(['1', 'x', '2'])
when = np.array(['2020-01-01', '2020-01-02'], dtype='datetime64[D]')
flags = np.array([True, False, True])
wide = np.zeros((0, 3))
powers = np.array([-1, 2])
singular = np.zeros((2, 2))
masked = np.ma.array(v, mask=flags)
words = np.array(['Computer Science'])
n = 3
"""


def test_the_reason_is_numpy_s_own_message_and_the_evidence_names_the_operand(
    check: Any,
) -> None:
    [found] = check(SETUP, "np.roll(a, 1, axis=5)").findings
    assert found.why == "axis 5 is out of bounds for array of dimension 2"
    assert found.fact == "a has the shape (3, 4) and the dtype int64"
    assert found.family == "numpy: asked"


def test_the_library_s_own_class_wins_over_that_of_a_rule(
    check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outdated(operation: Operation) -> Answer:
        raise Crash(
            "KeyError", "as it was in an older release", fact="", remedy=""
        )

    of_family = interpreter.rules_for

    def rules_for(
        step: str, of: AbstractValue | str, name: str = ""
    ) -> tuple[Registered, ...]:
        is_meant = (step, name) == ("method", "swapaxes")
        return (
            (Registered("outdated", outdated),)
            if is_meant
            else of_family(step, of, name)
        )

    monkeypatch.setattr(interpreter, "rules_for", rules_for)
    assert check(SETUP, "a.swapaxes(0, 7)").exception == "AxisError"


def test_the_number_of_arguments_wins_over_what_the_state_says_of_their_values(
    check: Any,
) -> None:
    """That the name of the method reads like a message about values that stand there twice does not matter."""
    seen = check(
        "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})",
        "df.duplicated(1, 2, 3)",
    )
    assert seen.exception == "TypeError"


def test_the_schema_of_what_is_given_is_known_further_on(check: Any) -> None:
    seen = check(SETUP, "spectrum = np.fft.rfft(v)\nspectrum.reshape(5, 7)")
    assert seen.exception == "ValueError"


@pytest.mark.parametrize(
    "spoilt",
    [
        "np.percentile = lambda *given: 1",
        "setattr(np, 'percentile', len)",
        "def change(module):\n    module.percentile = len\nchange(np)",
    ],
)
def test_a_function_that_the_notebook_replaced_is_not_asked(
    predict_here: Any, spoilt: str
) -> None:
    own = np.percentile
    try:
        assert (
            predict_here(f"{SETUP}{spoilt}", "np.percentile(a, 120)").findings
            == ()
        )
    finally:
        np.percentile = own


VERSIONS = {"python": platform.python_version(), "numpy": np.__version__}


def about(
    packages: dict[str, str], axis: int = 7
) -> answers.LibraryAnswer | None:
    return asked(asking.Asker(packages, lambda text: False), axis)


def asked(asker: asking.Asker, axis: int) -> answers.LibraryAnswer | None:
    array = AbstractValue(
        "numpy.ndarray", {"shape": (3, 4), "dtype": "int64"}, words="a"
    )
    question = asker.question(
        "method",
        array,
        "sum",
        array,
        Arguments((AbstractValue("int", literal=axis),)),
    )
    return asker.about(question) if question is not None else None


@pytest.mark.parametrize(
    "packages", [{**VERSIONS, "numpy": "1.0"}, {**VERSIONS, "python": "3.8.1"}]
)
def test_other_versions_than_those_here_are_not_asked(
    packages: dict[str, str],
) -> None:
    assert about(packages) is None


def test_the_versions_here_are_asked() -> None:
    said = about(VERSIONS)
    assert said is not None
    assert said.crash is not None
    assert said.crash.exception == "AxisError"


def test_after_a_killed_worker_another_answers() -> None:
    assert about(VERSIONS) is not None
    worker = library_worker(sys.executable)
    before = worker.pid
    assert before is not None
    os.kill(before, signal.SIGKILL)
    once(lambda: not Path(f"/proc/{before}").exists())
    assert about(VERSIONS, axis=8) is not None
    assert worker.pid != before


def descendants(of: int) -> list[int]:
    """The processes below one, as far as they still run."""
    listed = Path(f"/proc/{of}/task").glob("*/children")
    found = [
        int(number) for path in listed for number in path.read_text().split()
    ]
    return found + [inner for child in found for inner in descendants(child)]


def is_stopped(process: int) -> bool:
    try:
        told = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return True  # it has ended, and answers nothing either
    return told.rpartition(")")[2].split()[0] in "TZ"


def test_what_was_not_waited_for_is_told_and_answered_when_it_is_asked_again() -> (
    None
):
    assert about(VERSIONS) is not None
    # Our children are watchdogs: the workers that could answer within no time at all are below them.
    workers = descendants(os.getpid())
    for worker in workers:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGSTOP)
    try:
        # A signal is on its way for a moment, and on a slow machine an answer may overtake it.
        once(lambda: all(map(is_stopped, workers)))
        with asking.asking_with(
            asking.HURRIED._replace(answer_s=0.0), lambda library: None
        ):
            asker = asking.Asker(VERSIONS, lambda text: False)
        # An axis that no other test asks about: answers are kept for the whole process.
        assert asked(asker, axis=9_009) is None
        assert asker.unsure == ("not asked yet: NumPy",)
    finally:
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGCONT)
    with asking.asking_with(asking.UNHURRIED, lambda library: None) as answered:
        asker = asking.Asker(VERSIONS, lambda text: False)
        assert asked(asker, axis=9_009) is not None
    assert asker.unsure == ()
    assert list(answered) == ["NumPy"]


def test_the_library_that_is_waited_for_is_told() -> None:
    library_worker(sys.executable).end()
    waited: list[str] = []
    with asking.asking_with(asking.UNHURRIED, waited.append):
        assert about(VERSIONS, axis=10) is not None
    assert waited in ([], ["NumPy"])  # nobody is told of a moment


def test_another_interpreter_is_asked_where_it_has_the_kernels_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An environment that says that its NumPy is 0.7; what it loads is ours.
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True
    )
    [packages] = tmp_path.glob("lib/python*/site-packages")
    told = packages / "numpy-0.7.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: numpy\nVersion: 0.7\n"
    )
    (packages / "ours.pth").write_text(str(Path(np.__file__).parents[1]) + "\n")
    other = str(tmp_path / "bin" / "python")
    kernel = {**VERSIONS, "numpy": "0.7"}
    assert about(kernel) is None
    monkeypatch.setenv(interpreters.VARIABLE, other)
    try:
        said = about(kernel)
        assert library_worker(other).pid is not None
    finally:
        library_worker(other).end()
    assert said is not None
    assert said.crash is not None
    assert said.crash.exception == "AxisError"
    assert {"numpy": "0.7"}.items() <= asking.versions_asked()[1].items()


def test_what_is_written_through_a_view_that_a_library_gave_is_forgotten_of_its_array(
    check: Any,
) -> None:
    setup = """
import numpy as np
from sklearn.linear_model import Ridge
X = np.array([[1.0, 0.0], [np.nan, 2.0]])
y = [1, 2]
"""
    assert check(setup, "Ridge().fit(X, y)").exception == "ValueError"
    assert (
        check(
            setup, "turned = np.rot90(X)\nturned[:] = 0\nRidge().fit(X, y)"
        ).raised
        is None
    )


def test_a_mistake_in_asking_says_nothing_and_is_counted(
    predict_here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken(
        self: asking.Asker, question: asking.StepQuestion
    ) -> answers.LibraryAnswer | None:
        raise KeyError("a mistake")

    monkeypatch.setattr(asking.Asker, "about", mistaken)
    seen = predict_here(SETUP, "np.percentile(a, 120)")
    assert seen.findings == ()
    assert {error.family for error in seen.errors} == {"libraries"}


def test_parameters_of_an_estimator_are_checked_when_it_is_fitted_and_not_when_it_is_made(
    check: Any,
) -> None:
    setup = "from sklearn.linear_model import Ridge\nfrom sklearn.preprocessing import minmax_scale"
    assert check(setup, "model = Ridge(alpha='three')").raised is None
    assert (
        check(setup, "Ridge(alpha='three').fit([[1], [2]], [1, 2])").exception
        == "InvalidParameterError"
    )
    assert (
        check(setup, "minmax_scale([[1]], axis=7)").exception
        == "InvalidParameterError"
    )


def test_a_tensor_too_large_to_compute_with_is_sent_without_elements() -> None:
    sender = Sender(may_guess=False)
    tensor = AbstractValue(
        "torch.Tensor", {"shape": (20_000, 20_000), "dtype": "torch.float32"}
    )
    sent = sender.order("method", "torch.Tensor", "sum", [tensor], {})
    assert sender.is_large()
    assert sent["operands"][0]["facts"]["device"] == "meta"


def test_one_method_in_a_loop_is_asked_about_a_few_times(
    predict_here: Predict,
) -> None:
    setup = (
        "import numpy as np\nfrom sklearn.tree import DecisionTreeClassifier\n"
        "from sklearn.model_selection import cross_val_score\n"
        "X, y = np.zeros((20, 2)), np.arange(20) % 2\ndepths = list(range(1, 40))"
    )
    target = (
        "for depth in depths:\n"
        "    model = DecisionTreeClassifier(max_depth=depth)\n"
        "    cross_val_score(model, X, y, cv=5)"
    )
    asker = asking.Asker({"python": "3.0"}, lambda text: False)
    order = {"step": "learns", "of": "", "name": "fit", "operands": []}
    asked = [asker._is_fit_once_more(order) for _ in range(9)]
    assert asked == [False] * asking._MOST_LEARNT + [True] * 3
    assert predict_here(setup, target).findings == ()


def test_questions_about_one_target_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "_MOST_ASKED", 4)
    target = "for n in range(1, 30):\n    np.roll(np.zeros((n, 2)), 1, axis=0)"
    report = findings(
        cells_of("import numpy as np", target), None, Setting.CODE
    )
    assert report.findings == ()
    assert "only the first 4 questions to libraries were asked" in report.unsure
