"""The names of JunoBench's cases and instances.

Knows how an id is built. Refuses to reject an unknown id: a release may hold more.
"""

import re
from collections.abc import Iterable, Iterator

from crane_core.domain import Benchmark, Case, Instance, Version

JUNOBENCH = Benchmark(
    benchmark="junobench",
    title="JunoBench",
    licence="CC-BY-4.0",
    url="https://huggingface.co/datasets/PELAB-LiU/JunoBench",
)
_N_CASES = {
    "NBspecific": 20,
    "pandas": 15,
    "numpy": 15,
    "sklearn": 15,
    "torch": 15,
    "tensorflow": 15,
    "matplotlib": 6,
    "seaborn": 6,
    "statsmodels": 2,
    "lightgbm": 1,
    "torchvision": 1,
}
JUNOBENCH_CASES = frozenset(
    f"{library}_{n}"
    for library, count in _N_CASES.items()
    for n in range(1, count + 1)
)
"""The 111 cases of JunoBench."""

_INSTANCE = re.compile(r"([A-Za-z]+_\d+)_(fixed|reproduced)")
_CASE = re.compile(r"[A-Za-z]+_\d+")


def is_instance_id(text: str) -> bool:
    """Whether the text has the form of an instance's id, such as pandas_1_fixed."""
    return _INSTANCE.fullmatch(text) is not None


def is_case_id(text: str) -> bool:
    """Whether the text has the form of a case's id, such as pandas_1."""
    return _CASE.fullmatch(text) is not None


def library_of(case_id: str) -> str:
    """The library that the id names; "NBspecific" if the notebook itself is the cause."""
    return case_id.rpartition("_")[0]


def case_of(instance_id: str) -> str:
    """The case of an instance: its id without the version."""
    return instance_id.rpartition("_")[0]


def instance_of(instance_id: str, remark: str | None = None) -> Instance:
    """The Instance of a valid id."""
    case_id, _, version = instance_id.rpartition("_")
    return Instance(JUNOBENCH.benchmark, case_id, Version(version), remark)


def cases_without_labels(instance_ids: Iterable[str]) -> Iterator[Case]:
    """One Case per case id, with nothing but its library."""
    for case_id in sorted(
        {case_of(instance_id) for instance_id in instance_ids}
    ):
        yield Case(JUNOBENCH.benchmark, case_id, library=library_of(case_id))
