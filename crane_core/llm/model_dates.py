"""When models were released and until when their training data reach: from their makers, or from the user.

Knows model_dates.toml and a file of the same form in the data folder, whose models come first. Refuses to guess: what
neither states is not stated.

    ["my-model"]
    released = "2025-03-01"
    cutoff = "2024-12"                     # the last day or month of its training data; none: not stated
    source = "https://example.org/card"    # none: stated by the user
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from crane_core.errors import DetectorError
from crane_core.given_path import read_given
from crane_core.stated_date import StatedDate, stated_date

FILE = Path(__file__).with_name("model_dates.toml")
OWN_FILE = "models.toml"
"""In the data folder."""
_MOST_BYTES = 1_000_000
_MEMBERS = ("released", "cutoff", "source")
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")
"""The suffix of a snapshot's name, which is the model's."""
_SPELLING = re.compile(r"[^a-z0-9.]")


class ModelDates(NamedTuple):
    """What is stated of a model; None: not stated."""

    released: StatedDate | None = None
    cutoff: StatedDate | None = None
    source: str | None = None

    @property
    def unseen_after(self) -> StatedDate | None:
        """The date after which nothing was in its training data: the cut-off, else the release, which came later."""
        return self.cutoff or self.released


class KnownModels:
    """The models of both files, by their names in any spelling."""

    def __init__(self, folder: Path) -> None:
        """folder: the data folder. Raises DetectorError if its file is not of this form."""
        self._known = _read(FILE)
        own = folder / OWN_FILE
        if own.is_file():
            self._known |= _read(own)

    def dates(self, *names: str) -> ModelDates:
        """Of the model with the first of these names that is known; of another one, nothing is stated."""
        for name in names:
            found = self._known.get(_plain(name))
            if found is not None:
                return found
        return ModelDates()


def _plain(name: str) -> str:
    """Without provider, date and spelling: "openai/gpt-5-2025-08-07" and "GPT-5" are one model."""
    return _SPELLING.sub("", _DATED.sub("", name.rpartition("/")[2]).casefold())


def _read(path: Path) -> dict[str, ModelDates]:
    try:
        text = read_given(path, _MOST_BYTES).decode("utf-8")
        document = tomllib.loads(text)
        return {
            _plain(name): _dates(name, members)
            for name, members in document.items()
        }
    except (OSError, ValueError) as error:
        raise DetectorError(
            f"{path.name} in the data folder cannot be read: {error}.",
            remedy="docs/reference/files.md shows an example of the file.",
        ) from error


def _dates(name: str, members: Any) -> ModelDates:
    """Raises ValueError if a member is unknown or of another form."""
    model = f"the model {name[:80]!r}"
    if not isinstance(members, Mapping):
        raise ValueError(f"{model} is not a table")
    for member, value in members.items():
        if member not in _MEMBERS:
            raise ValueError(f"{model} has the unknown member {member[:40]!r}")
        if not isinstance(value, str):
            raise ValueError(f"{member} of {model} is not a string")
    found = {
        member: stated_date(members[member])
        for member in ("released", "cutoff")
        if member in members
    }
    return ModelDates(**found, source=members.get("source", "set by the user"))
