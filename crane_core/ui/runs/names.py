"""What a run is called: in a list of options, beside others in a sentence, and in old addresses."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from crane_core.ui.runs.listed import labels_of_row, options_of
from crane_core.ui.words import experiment_words, moment, setting_short

Row = Mapping[str, Any]


def run_words(row: Row) -> str:
    """A run as an option of a list: detector, input, and its name or start."""
    parts = [condition_words(row), _told(row)]
    if row["is_job"]:
        parts.append(_end_of_job(row))
    words = ", ".join(part for part in parts if part)
    return f"{words}, {moment(row['started_at'])}" if row["is_job"] else words


def short_names(rows: Mapping[str, Row]) -> dict[str, str]:
    """Id to detector and input; where two would be called the same, with what tells them apart."""
    names = {run: condition_words(row) for run, row in rows.items()}
    for tell_apart in (_told, _template_of, _end_of_job):
        n_of = Counter(names.values())
        names = {
            run: ", ".join(filter(None, (name, tell_apart(rows[run]))))
            if n_of[name] > 1
            else name
            for run, name in names.items()
        }
    return names


def run_called(words: str, words_of: Mapping[str, str]) -> str:
    """The id of the run that these words name; the words themselves where none has them."""
    return next(
        (run for run, known in words_of.items() if known == words), words
    )


def condition_words(row: Row) -> str:
    """The detector and its input: "GPT-5, +RT"."""
    return f"{row['detector_title']}, {setting_short(row['setting'])}"


def _told(row: Row) -> str:
    if not row["is_job"]:
        return experiment_words(row["experiment"])
    return labels_of_row(row).get("name", "")


def _template_of(row: Row) -> str:
    """The template that the prompts of a job follow, without the digest of its text."""
    name = str(options_of(row).get("template") or "")
    return name.rpartition("-")[0] if row["is_job"] else ""


def _end_of_job(row: Row) -> str:
    return str(row["experiment"]).rpartition("-")[2] if row["is_job"] else ""
