"""What each tool answers. The fields are the schema that an assistant is sent, and what its model reads."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class OpenKernel:
    """A kernel that runs: its id, and the notebook that Jupyter started it for, if it says so."""

    id: str
    notebook: str | None


@dataclass(frozen=True)
class OpenKernels:
    """All kernels of this user that answer."""

    kernels: list[OpenKernel]


@dataclass(frozen=True)
class CellVerdict:
    """What is known of a cell before it runs; members as in `check --json`.

    `crashes` is true for a certain crash, else null and never false: a cell without a finding may still crash.
    `knows_values` says whether the rules saw the values in a kernel, or the code alone. `note` says what limits this.
    """

    crashes: bool | None
    predicted: str
    findings: list[dict[str, Any]]
    unsure: list[str]
    knows_values: bool
    rehearsal: dict[str, Any] | None
    note: str


@dataclass(frozen=True)
class SeenState:
    """What a kernel holds that matters for a cell: per variable type, structure, representation and values.

    `accesses` and `absent` say what the cell uses and what of it is missing. `unavailable` says why something could not
    be seen, and `left_out` names variables that made the answer too long.
    """

    variables: dict[str, Any]
    accesses: dict[str, Any]
    absent: dict[str, Any]
    unavailable: dict[str, Any]
    left_out: list[str]


@dataclass(frozen=True)
class RehearsedCell:
    """What a cell came to in a copy of the kernel that was then dropped; members as in `check --json`.

    `outcome` is "crash", "ran through", "still running" or "unknown", which `why` explains.
    """

    outcome: str
    exception: str | None
    message: str | None
    line: int | None
    code_line: str | None
    seconds: float
    limit_s: float
    why: str | None


@dataclass(frozen=True)
class SuggestedFixes:
    """Edits of a cell that crashed in a copy of the kernel, each of which ran through there.

    Members as in `check --json`. Each fix has a sentence, a diff, the whole new `source`, and `cells_first` to run
    before it. `rehearsal` is what the unchanged cell came to; `no_fix_because` says why no fix was looked for.
    """

    fixes: list[dict[str, Any]]
    fixes_not_shown: dict[str, Any]
    no_fix_because: str | None
    rehearsal: dict[str, Any]


@dataclass(frozen=True)
class ExplainedCrash:
    """A traceback with the state behind it.

    `line` counts from 1 in the cell that was given; null where the traceback points at no line of it. `origin` says
    which cells assigned and changed the names on that line, and `state` what they hold now, after the crash. `findings`
    are what the rules say of the same cell if it ran again.
    """

    exception: str
    message: str
    line: int | None
    code_line: str | None
    origin: str
    state: SeenState | None
    findings: list[dict[str, Any]]
    note: str


@dataclass(frozen=True)
class FoundCase:
    """A pair of notebooks, one that crashes and one that is fixed; `uri` is the resource with its code."""

    benchmark: str
    case_id: str
    library: str | None
    root_cause: str | None
    exception: str | None
    message: str | None
    line: str | None
    uri: str


@dataclass(frozen=True)
class FoundCases:
    """The first cases that match, and how many match in all."""

    cases: list[FoundCase]
    n_found: int


@dataclass(frozen=True)
class StudyResults:
    """One row per detector and input, the most accurate first.

    Rates are shares; `low` and `high` are the limits of 95% intervals by case. Rows that share a letter in `groups` are
    not shown to differ.
    """

    benchmark: str
    credit: str
    rows: list[dict[str, Any]]
