"""The 130 cells that same_answer asks about: those of minibench with their captured states, and fifty written here.

Knows how a cell becomes an order to the process beside a kernel. Runs the set-ups in this process.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from benchmarks._minibench import notebook_of
from crane_core.domain import Version
from crane_core.pipeline.places import embedded
from crane_core.runtime.kernel_side.crane_probe.look import look
from crane_core.runtime.live_history import Ran, request
from crane_core.runtime.plan import read_plan

Order = dict[str, Any]
STATES = embedded()["minibench"] / "states"
OWN = {
    "import numpy as np\na = np.arange(12).reshape(3, 4)\nb = np.ones((4, 3))\nv = np.array([1.0, 2.0, 3.0])": (
        "a.sum(axis=2)",
        "np.pad(a, (1, 2, 3))",
        "np.cross(a, a)",
        "np.fft.fft(a, axis=5)",
        "np.einsum('ij,jk->ik', a, a)",
        "np.stack([a, b])",
        "a + b",
        "a @ b",
        "np.linalg.inv(a)",
        "v.reshape(2, 2)",
        "np.roll(v, 1, axis=1)",
        "np.percentile(a, 20)",
        "np.histogram(v, bins=2)",
        "np.where(a > 2)[0]",
        "a.sum(axiss=0)",
    ),
    "import pandas as pd\nbeds = pd.DataFrame({'ward': ['north', 'south'], 'beds': [3, 4]})": (
        "beds['nurses']",
        "beds.groupby('nurses')",
        "beds.merge(beds, on='nurses')",
        "beds.drop(columns=['nurses'])",
        "beds.sort_values('nurses')",
        "beds.iloc[5]",
        "beds.assign(double=beds['beds'] * 2)['double'].sums()",
        "beds.groupby('ward').sums()",
        "beds.set_index('ward').loc['north']",
        "beds.pivot(index='ward', columns='nurses')",
        "beds.rename(column={'beds': 'n'})",
        "beds['beds'].mean()",
        "pd.concat(beds)",
        "beds.head(axis=1)",
        "beds.astype({'nurses': int})",
    ),
    "import numpy as np\nfrom sklearn.linear_model import "
    "LinearRegression\nfrom sklearn.cluster import KMeans\n"
    "from sklearn.preprocessing import StandardScaler\nx = np.ones((5, 2))\ny = np.ones(4)": (
        "LinearRegression().fit(x, y)",
        "LinearRegression().fit(x, y[:3])",
        "KMeans(n_clusters='two').fit(x)",
        "KMeans(n_clusters=9).fit(x)",
        "LinearRegression().predict(x)",
        "StandardScaler().fit(y)",
        "StandardScaler().fit(x)",
        "LinearRegression(intercept=True)",
        "LinearRegression().fits(x, y)",
        "KMeans(n_clusters=2).fit_predict(x)",
        "StandardScaler(with_mean='yes').fit(x)",
        "LinearRegression().fit(x)",
    ),
    "words = {'north': 3}\nletters = ['a']": (
        "words['south']",
        "letters.append(1, 2)",
        "letters[4]",
        "float.fromhex()",
        "words.get('south')",
        "sorted(letters, key=len)",
        "type(letters, 1, 2, 3)",
        "lettrs",
    ),
}


def all_orders() -> list[Order]:
    """What a kernel's session sends about each cell."""
    return [*_of_minibench(), *_own()]


def _of_minibench() -> Iterator[Order]:
    for file in sorted(STATES.glob("*.json")):
        case_id, _, version = file.stem.rpartition("_")
        plan = read_plan(notebook_of(case_id, Version(version)), None)
        ran = [
            {"number": place + 1, "source": cell.source}
            for place, cell in enumerate(plan.executed)
        ]
        yield _order(
            ran, plan.target.source, json.loads(file.read_text("utf-8"))
        )


def _own() -> Iterator[Order]:
    for setup, targets in OWN.items():
        namespace: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(setup, "<setup>", "exec"), namespace)
        for target in targets:
            ran = [Ran(1, setup)]
            yield _order(
                [ran[0]._asdict()],
                target,
                json.loads(look(namespace, request(ran, target))),
            )


def _order(
    ran: list[dict[str, Any]], target: str, state: dict[str, Any]
) -> Order:
    return {"do": "judge", "ran": ran, "target": target, "state": state}
