"""Our certain-crash rules' answers on the published states, as they ship: crash or none, exception class and line.

Knows the columns of `data/published/rules.csv`. Refuses sentences: a rule's reason quotes names of the notebook.
"""

import re
from collections.abc import Iterator

from crane_core.domain import Record, Run, Setting
from crane_core.importers.instance_ids import JUNOBENCH, is_instance_id

TABLE = "rules.csv"
COLUMNS = ("setting", "instance", "crashes", "exception", "line")
DETECTOR = "rules"
EXPERIMENT = "rules-on-published-states"
"""A separate experiment, so that a new job with today's rules is kept apart and neither counts twice."""

_CRASHES = {"1": True, "0": False}
_CLASS = re.compile(r"[A-Za-z_]\w{0,79}")


def rule_run(row: dict[str, str]) -> Iterator[Record]:
    """The one answer of a row. Raises KeyError or ValueError if a cell is invalid."""
    crashes = _CRASHES[row["crashes"]]
    if not is_instance_id(row["instance"]):
        raise ValueError(f"{row['instance']!r} is not the id of an instance")
    yield Run(
        benchmark=JUNOBENCH.benchmark,
        instance_id=row["instance"],
        detector=DETECTOR,
        setting=Setting(row["setting"]),
        experiment=EXPERIMENT,
        run_index=1,
        crashes=crashes,
        reasoning=_reason(row["exception"], row["line"]) if crashes else None,
    )


def _reason(exception: str, line: str) -> str:
    if not _CLASS.fullmatch(exception) or not line.isdecimal():
        raise ValueError(
            f"a crash needs an exception class and a line, not {exception!r} and {line!r}"
        )
    return f"Line {line} of the target cell raises {exception}."
