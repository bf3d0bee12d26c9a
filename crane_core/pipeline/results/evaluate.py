"""From stored answers to the tidy frame that every table, chart and filter starts from."""

import pandas as pd

from crane_core.domain import library_group
from crane_core.storage import case_counts, packed
from crane_core.storage import verdicts as stored
from crane_core.storage.store import Store

MEASURED = ["benchmark", "experiment", "detector_kind"]
"""The default values of a page's switches."""


def verdict_frame(store: Store) -> pd.DataFrame:
    """One row per benchmark, instance, detector, setting and experiment; see `storage.verdicts.answer_counts`.

    Adds `library_group`, the paper's grouping of libraries (Figure 5), and `label_stratum` (what a detected crash was
    drawn from) and `provenance`, both None here: a label of imported people counts for itself alone. Those of a
    campaign come from `pipeline.judging.judged`. Titles of detectors are on one line: a line separator (U+2028) would
    keep Vega from drawing.
    """
    frame = _titled(stored.answer_counts(store.cursor()))
    return frame.assign(
        library_group=packed.by_value(frame["library"], library_group),
        human=frame["human"].where(frame["human"].notna()),
        label_stratum=None,
        provenance=None,
    )


def _titled(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(
        detector_title=packed.by_value(
            frame["detector_title"], lambda title: " ".join(title.split())
        )
    )


def conditions(store: Store) -> pd.DataFrame:
    """The conditions: a row per benchmark, experiment, detector and setting; see `storage.case_counts.conditions`."""
    return _titled(case_counts.conditions(store.cursor()))


def measured(conditions: pd.DataFrame) -> pd.DataFrame:
    """What there is to choose from: a row per benchmark, experiment and detector_kind, in the order of the frame.

    Columns besides: n (answers) and is_judged (people of the study labelled some).
    """
    by = conditions.groupby(MEASURED, sort=False, observed=True)
    return by.agg(n=("n", "sum"), is_judged=("is_judged", "any")).reset_index()


def printed_numbers(store: Store) -> pd.DataFrame:
    """The printed cells of all publications: publication, table_id, row, column, printed, unit."""
    return stored.published_numbers(store.cursor())
