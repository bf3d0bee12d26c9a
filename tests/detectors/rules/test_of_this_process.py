"""What another process would do in another way: the kernel's codecs, hashes and settings are not those of the rules."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from crane_core.detectors.rules.predict import findings
from tests.detectors.rules.conftest import Predict, cells_of
from tests.optional import needs

HANDLER = (
    "import codecs\nseen = []\ndef kept(error):\n    seen.append(1)\n    return ('?', error.end)\n"
    "codecs.register_error('unseen', kept)\ntext, data = '\\xe9', b'\\xe9'"
)
CODEC = "import codecs\ncodecs.register(lambda name: codecs.lookup('utf-8') if name == 'own' else None)"


@pytest.mark.parametrize(
    ("setup", "target"),
    [
        (HANDLER, "text.encode('ascii', 'unseen')"),
        (HANDLER, "text.encode('ascii', errors='unseen')\nseen[0]"),
        (HANDLER, "str(data, 'ascii', 'unseen')\nseen[0]"),
        (CODEC, "'a'.encode('own')"),
        (CODEC, "str(b'a', 'own')"),
    ],
)
def test_a_codec_of_the_kernel_is_not_missing_because_it_is_not_here(
    predict_in_kernel: Predict, setup: str, target: str
) -> None:
    assert predict_in_kernel(setup, target).findings == ()


@pytest.mark.parametrize(
    "target",
    [
        "key = ', '.join(beds)\n{'a, b': 1}[key]",
        "key = str(beds)\n{'x': 1}[key]",
        "key = f'{beds}'\n{'x': 1}[key]",
        "key = '%s' % beds\n{'x': 1}[key]",
        "key = '{}'.format([beds])\n{'x': 1}[key]",
        "key = repr({'held': beds})\n{'x': 1}[key]",
        "key = list(beds)[0]\n{'a': 1}[key]",
    ],
)
def test_the_order_of_a_set_is_not_known(
    predict_by_code: Predict, target: str
) -> None:
    assert predict_by_code("beds = {'a', 'b'}", target).findings == ()


@pytest.mark.parametrize(
    ("target", "exception"),
    [
        ("{'x': 1}[sorted(beds)[0]]", "KeyError"),
        ("{'x': 1}[max(beds)]", "KeyError"),
        ("[1][len(beds)]", "IndexError"),
        ("', '.join(beds | {1})", "TypeError"),
    ],
)
def test_what_every_order_of_a_set_leads_to_is_certain(
    predict_by_code: Predict, target: str, exception: str
) -> None:
    assert predict_by_code("beds = {'a', 'b'}", target).exception == exception


SETS = {
    "pandas": "import pandas as pd\npd.set_option('mode.string_storage', 'python')",
    "sklearn": "import sklearn\nsklearn.set_config(transform_output='pandas')",
    "numpy": "import numpy as np\nnp.seterr(all='raise')",
    "torch": "import torch\ntorch.set_default_dtype(torch.float64)",
    "a mode of torch": "import torch\ntorch.set_default_device('meta')",
    "keras": "import keras\nkeras.config.set_floatx('float64')",
    "a frame that finds every column": (
        "import pandas as pd\nread = pd.DataFrame.__getitem__\ndef loose(self, key):\n    try:\n"
        "        return read(self, key)\n    except KeyError:\n        return None\n"
        "pd.DataFrame.__getitem__ = loose"
    ),
}
SETS["many names before that"] = (
    "import numpy as np\nfor n in range(40):\n    setattr(np, f'own_{n}', lambda: None)\n"
    + SETS["a frame that finds every column"]
)
"""What a module of the author does when it is imported; no cell shows it."""


@pytest.mark.parametrize(
    ("does", "setup", "target", "sentence"),
    [
        (
            "pandas",
            "import pandas as pd\nbeds = pd.Series(['a'], index=pd.DatetimeIndex(['2021-01-01']))",
            "beds.pct_change()",
            "settings of libraries are changed (pandas: mode.string_storage)",
        ),
        (
            "sklearn",
            "from sklearn.preprocessing import StandardScaler",
            "StandardScaler().fit_transform([[1.0], [2.0]]).columns",
            "settings of libraries are changed (sklearn: transform_output)",
        ),
        (
            "numpy",
            "import numpy as np\nbeds = np.zeros(3)",
            "1 / beds\nbeds @ np.zeros(2)",
            "settings of libraries are changed (numpy: seterr)",
        ),
        (
            "a frame that finds every column",
            "import pandas as pd\nbeds = pd.DataFrame({'a': [1]})",
            "beds['b']",
            "a module of your own has changed functions of libraries (pandas: DataFrame.__getitem__)",
        ),
        pytest.param(
            "torch",
            "import torch\nbeds = torch.ones(2, 3)",
            "beds @ torch.ones(3, 3)",
            "settings of libraries are changed (torch: set_default_dtype)",
            marks=needs("torch"),
        ),
        pytest.param(
            "a mode of torch",
            "import torch\nbeds = torch.ones(2, 3, device='cpu')",
            "torch.ones(3).numpy()",
            "settings of libraries are changed (torch: a mode)",
            marks=needs("torch"),
        ),
        pytest.param(
            "keras",
            "import keras",
            "keras.layers.Dense(2)",
            "settings of libraries are changed (keras: floatx)",
            marks=needs(keras=3),
        ),
    ],
)
def test_what_a_module_did_to_a_library_leaves_it_unknown(
    predict_in_kernel: Predict,
    tmp_path: Path,
    does: str,
    setup: str,
    target: str,
    sentence: str,
) -> None:
    (tmp_path / "garden_tools.py").write_text(SETS[does])
    seen = predict_in_kernel(f"import garden_tools\n{setup}", target)
    assert seen.findings == ()
    assert seen.unsure == (sentence,)


@pytest.mark.parametrize(
    ("setup", "target", "exception"),
    [
        (
            "import garden_tools, pandas as pd\nbeds = pd.DataFrame({'a': [1]})",
            "beds['b']",
            "KeyError",
        ),
        (
            "import pandas as pd\npd.options.mode.chained_assignment = None\nbeds = pd.DataFrame({'a': [1]})",
            "beds['b']",
            "KeyError",
        ),
        (
            "import numpy as np\nnp.set_printoptions(precision=2)\nbeds = np.zeros(3)",
            "beds @ np.zeros(2)",
            "ValueError",
        ),
    ],
)
def test_a_module_and_settings_that_change_no_step_leave_all_as_it_is(
    predict_in_kernel: Predict,
    tmp_path: Path,
    setup: str,
    target: str,
    exception: str,
) -> None:
    (tmp_path / "garden_tools.py").write_text(
        "import pandas as pd\ndef beds_of(rows):\n    return pd.DataFrame(rows)\n"
    )
    seen = predict_in_kernel(setup, target)
    assert (seen.exception, seen.unsure) == (exception, ())


def test_texts_that_are_not_stored_as_usual_are_said_to_be(
    predict_in_kernel: Predict,
) -> None:
    seen = predict_in_kernel(
        "import pandas as pd\nkept = pd.StringDtype('python', na_value=float('nan'))\n"
        "beds = pd.Series(['a'], index=pd.DatetimeIndex(['2021-01-01']), dtype=kept)\n"
        "usual = pd.Series(['a'])",
        "beds.pct_change()\nusual",
    )
    assert seen.findings == ()
    assert seen.state is not None
    told = seen.state.variables
    assert told["beds"].representation["dtype"] == "str[python]"
    assert told["usual"].representation["dtype"] == "str"


@pytest.mark.parametrize(
    "runs",
    [
        "%run garden_tools.py",
        "exec(open('garden_tools.py').read())",
        "import runpy\n_ = runpy.run_path('garden_tools.py')",
        "import garden_tools",
    ],
)
def test_what_a_file_did_to_a_library_leaves_it_unknown(
    predict_in_kernel: Predict, tmp_path: Path, runs: str
) -> None:
    (tmp_path / "garden_tools.py").write_text(SETS["many names before that"])
    setup = f"import pandas as pd\nbeds = pd.DataFrame({{'a': [1]}})\n{runs}"
    assert predict_in_kernel(setup, "beds['b']").findings == ()


LIBRARY_STEP = "pd.DataFrame({'a': [1]})['b']"


@pytest.mark.parametrize(
    "imports",
    [
        "import garden_tools",
        "import importlib\nimportlib.import_module('garden_tools')",
    ],
)
def test_what_the_target_imports_may_change_a_library_too(
    predict_in_kernel: Predict, tmp_path: Path, imports: str
) -> None:
    (tmp_path / "garden_tools.py").write_text(
        SETS["a frame that finds every column"]
    )
    seen = predict_in_kernel(
        "import pandas as pd", f"{imports}\n{LIBRARY_STEP}"
    )
    assert seen.findings == ()


@pytest.mark.parametrize(
    ("imported", "exception"), [("garden_more", None), ("json", "KeyError")]
)
def test_of_code_alone_it_is_not_known_what_a_module_does(
    predict_by_code: Predict,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    imported: str,
    exception: str | None,
) -> None:
    (tmp_path / "garden_more.py").write_text("beds = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    seen = predict_by_code(f"import {imported}, pandas as pd", LIBRARY_STEP)
    assert seen.exception == exception


@pytest.mark.parametrize(
    "target", ["rows[1:2] = 5", "rows[1:2]", "text.splitlines([])"]
)
@pytest.mark.parametrize("python", ["3.11.7", "3.12.4"])
def test_what_a_later_python_allows_is_certain_for_earlier_ones_alone(
    predict_here: Predict, target: str, python: str
) -> None:
    setup = "rows = {'a': 1}\ntext = 'a'"
    state = predict_here(setup, target).state
    assert state is not None
    told = replace(state, captured={**state.captured, "python": python})
    found = findings(cells_of(setup, target), told).findings
    # A later Python than the kernel's refuses less here, so the rules in it say less.
    is_certain = python == "3.11.7" and sys.version_info < (3, 12)
    assert bool(found) == is_certain
