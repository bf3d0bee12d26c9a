"""Exported statistics as rows for readers, with the app's formatter of each unit."""

from collections.abc import Callable, Iterable

import pandas as pd
from markupsafe import Markup

from crane_core.domain import Setting
from crane_core.pipeline.results import exported_statistic
from crane_core.rounding import digits
from crane_core.site.blocks import table
from crane_core.ui import words

Column = tuple[str, Callable[[exported_statistic.ExportedStatistic], str]]
_VALUES: dict[str, Callable[[float], str]] = {
    "share": words.percent,
    "difference of shares": words.points,
    "coefficient": words.coefficient,
    "odds ratio": words.coefficient,
    "instances": lambda value: words.count(int(value)),
    "count": lambda value: words.count(int(value)),
    "tokens": lambda value: words.count(int(value)),
    "percent": lambda value: f"{digits(value, 1)}%",
}
_INTERVALS = {
    "share": words.interval,
    "difference of shares": words.points_interval,
}


def _other(value: float) -> str:
    return digits(value, 2)


def value_text(one: exported_statistic.ExportedStatistic) -> str:
    """The value in its unit; the stated text if there is no local value."""
    if one.value is None:
        return one.stated or words.NOTHING
    write = _VALUES.get(one.unit or "", _other)
    return write(one.value)


def interval_text(one: exported_statistic.ExportedStatistic) -> str:
    """The interval in the unit of the value."""
    return _INTERVALS.get(one.unit or "", words.coefficient_interval)(
        one.low, one.high
    )


def input_text(one: exported_statistic.ExportedStatistic) -> str:
    """The setting as the paper writes it."""
    return input_words(one.input or "")


def input_words(inputs: str) -> str:
    """A setting or two as exports hold them, as the paper writes them."""
    if inputs == exported_statistic.BOTH_INPUTS:
        return "+RT against −RT"
    return " against ".join(
        _setting(name) for name in inputs.split(" against ")
    )


def _setting(name: str) -> str:
    return words.SETTING_SHORT[Setting(name)] if name in set(Setting) else name


def policy_text(one: exported_statistic.ExportedStatistic) -> str:
    """The scoring of runs and diagnoses, and the annotator."""
    return ", ".join(
        filter(
            None,
            [
                one.runs,
                one.credit,
                one.judged_by and f"judged by {one.judged_by}",
            ],
        )
    )


def text(value: object) -> str:
    """Any value as text; a missing one as a dash."""
    return words.NOTHING if value is None or value == "" else str(value)


COLUMNS: dict[str, Callable[[exported_statistic.ExportedStatistic], str]] = {
    "Statistic": lambda one: one.statistic,
    "Detector": lambda one: text(one.detector),
    "Input": input_text,
    "Group": lambda one: text(one.group),
    "Compared": lambda one: text(one.judged_by),
    "Scope": lambda one: text(one.runs),
    "Counted as": policy_text,
    "Value": value_text,
    "95% interval": interval_text,
    "n": lambda one: words.NOTHING if one.n is None else words.count(one.n),
    "Cases": lambda one: (
        words.NOTHING if one.n_cases is None else words.count(one.n_cases)
    ),
    "Test": lambda one: text(one.test),
    "p": lambda one: words.p_value(one.p),
    "p adjusted": lambda one: words.p_value(one.p_adjusted),
    "Outcome": lambda one: text(one.outcome),
    "Stated": lambda one: text(one.stated),
    "Note": lambda one: text(one.note),
}
WORDS = frozenset(
    {
        "Statistic",
        "Detector",
        "Input",
        "Group",
        "Compared",
        "Scope",
        "Counted as",
        "Test",
        "Outcome",
        "Note",
    }
)


def statistics_table(
    rows: Iterable[exported_statistic.ExportedStatistic], columns: Iterable[str]
) -> Markup:
    """The rows with these of COLUMNS."""
    names = list(columns)
    texts = [place for place, name in enumerate(names) if name in WORDS]
    return table(
        names,
        [[COLUMNS[name](one) for name in names] for one in rows],
        texts=texts,
    )


def readable_table(readable: pd.DataFrame) -> Markup:
    """A table of the app, ready to read, whose first column holds words."""
    return table(
        list(readable.columns),
        [list(row) for row in readable.itertuples(index=False)],
    )


def frame(rows: Iterable[exported_statistic.ExportedStatistic]) -> pd.DataFrame:
    """The rows as a frame for a chart: detector_title, setting (as the paper writes it), value, low, high, n, ..."""
    listed = list(rows)
    found = pd.DataFrame(
        listed, columns=list(exported_statistic.ExportedStatistic._fields)
    )
    return found.assign(
        detector_title=found["detector"],
        setting=[input_text(one) for one in listed],
        text=[value_text(one) for one in listed],
    )
