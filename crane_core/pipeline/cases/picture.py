"""A whole benchmark as marks: per case, detector and input one for the crashing and one for the fixed version.

A mark says whether the majority is right, and how many of the runs agree. Knows the verdict frame; no screen.
"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.cases.pairs import DETECTABLE, voted

MOST_COLUMNS = 24
"""Maximum number of detectors and inputs drawn; further ones are counted."""
SHOWN = (Setting.CODE, Setting.RUNTIME, Setting.RUNTIME_PLUS)
"""Maximum number of inputs drawn per detector."""


class MajorityKind(StrEnum):
    """The majority compared with the truth."""

    RIGHT = "r"
    WRONG_REASON = "p"
    WRONG = "w"
    UNCLEAR = "u"


class PictureColumn(NamedTuple):
    """A detector of an experiment with an input."""

    title: str
    experiment: str
    setting: str
    is_model: bool = True


COLUMN = ["detector_title", "experiment", "setting"]
"""The key of a Column in the verdict frame."""


class Picture(NamedTuple):
    """Per case the marks of all columns, crashing then fixed; "" without a question. A mark is a Kind and a depth.

    The depth is 3 where all runs agree, 2 where four of five do, 1 below.
    """

    columns: tuple[PictureColumn, ...]
    n_left_out: int
    marks: dict[str, list[str]]


def picture(
    verdicts: pd.DataFrame,
    titles_in_order: list[str],
    *,
    asked: pd.DataFrame | None = None,
) -> Picture:
    """verdicts: the rows of the verdict frame to draw, of one benchmark; titles_in_order: their detectors' titles.

    asked: the rows or conditions that have a column, where `verdicts` holds some of the cases only.
    """
    rows = verdicts[verdicts["setting"].isin(list(SHOWN))]
    of = rows if asked is None else asked[asked["setting"].isin(list(SHOWN))]
    keys = of[[*COLUMN, "detector_kind"]].drop_duplicates(COLUMN)
    rank = {str(setting): place for place, setting in enumerate(Setting)}
    found = sorted(
        (
            PictureColumn(title, experiment, setting, kind == DetectorKind.LLM)
            for title, experiment, setting, kind in keys.itertuples(index=False)
        ),
        key=lambda column: (
            not column.is_model,
            titles_in_order.index(column.title),
            column.experiment,
            rank[column.setting],
        ),
    )
    columns = tuple(found[:MOST_COLUMNS])
    return Picture(columns, len(found) - len(columns), _marks(rows, columns))


def _marks(
    rows: pd.DataFrame, columns: tuple[PictureColumn, ...]
) -> dict[str, list[str]]:
    place_of = {column[:3]: place for place, column in enumerate(columns)}
    asked = rows[
        COLUMN
    ].drop_duplicates()  # in the order in which the groups below are numbered
    of_group = np.array(
        [
            place_of.get(key, -1)
            for key in asked.itertuples(index=False, name=None)
        ],
        dtype=int,
    )
    places = of_group[
        rows.groupby(COLUMN, sort=False, observed=True).ngroup().to_numpy()
    ]
    cases, names = pd.factorize(rows["case_id"])
    table = np.full((len(names), 2 * len(columns)), "", dtype=object)
    side = np.where(rows["truth"].to_numpy(dtype=bool), 0, len(columns))
    is_drawn = places >= 0
    table[cases[is_drawn], (places + side)[is_drawn]] = _codes(rows)[is_drawn]
    return dict(zip(map(str, names), table.tolist(), strict=True))


def _codes(rows: pd.DataFrame) -> NDArray[np.object_]:
    said = voted(rows)
    n_crash, n_safe = rows["n_crash"].to_numpy(), rows["n_safe"].to_numpy()
    share = np.maximum(n_crash, n_safe) / np.maximum(n_crash + n_safe, 1)
    depth = np.select([share == 1, share >= 0.8], ["3", "2"], "1")
    is_right = said["right"].eq(True).to_numpy()
    is_wrong = said["right"].eq(False).to_numpy()
    is_other_reason = (
        is_right
        & rows["truth"].to_numpy(dtype=bool)
        & rows["human"].isin(DETECTABLE).to_numpy()
    )
    kind = np.select(
        [is_other_reason, is_right, is_wrong],
        [MajorityKind.WRONG_REASON, MajorityKind.RIGHT, MajorityKind.WRONG],
        MajorityKind.UNCLEAR,
    )
    return np.char.add(kind.astype(str), depth).astype(object)
