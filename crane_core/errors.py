"""Everything the core can refuse. Each error says what happened and where, and carries a one-line remedy."""

from functools import partial


class CraneError(Exception):
    """What went wrong, in words for the user; `remedy` says what to do about it."""

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.args[0]} {self.remedy}"

    def __reduce__(self) -> tuple[object, ...]:
        """So that it comes back whole from another process."""
        return partial(type(self), remedy=self.remedy), self.args, self.__dict__


class SourceError(CraneError):
    """A file or folder that cannot be imported as a whole."""


class PromptError(CraneError):
    """An input that cannot be written: no such instance, no state for the setting, no usable template."""


class FetchError(CraneError):
    """A download that did not arrive complete."""


class StoreError(CraneError):
    """The database cannot be opened, is of another version, or refuses a write."""


class LedgerError(CraneError):
    """A ledger file cannot be written, or changed where it must only grow."""


class DetectorError(CraneError):
    """A detector that cannot be run: a tool that is missing, no key, no such model, a budget that is spent."""


class BudgetSpentError(DetectorError):
    """A question whose whole possible cost does not fit the budget: no further one is sent."""


class ClusterError(CraneError):
    """A Dask cluster that is not there, has gone or cannot do the work."""


class CampaignError(CraneError):
    """A campaign that cannot be created, read or labelled."""


class IdentityError(CraneError):
    """A visitor without access or without the needed role, or a misconfigured login."""


class PlanError(CraneError):
    """A plan of a study that cannot be read or registered."""


class ViewError(CraneError):
    """A view of a page that cannot be saved, renamed or removed."""


class NoteError(CraneError):
    """A tag, comment or corrected diagnosis that cannot be kept, removed or restored."""


class NotificationError(CraneError):
    """A channel that cannot be kept, or a message that was not sent. Never quotes an address, which holds a secret."""


class NotebookError(CraneError):
    """A notebook that cannot be read, or has no such cell."""


class KernelError(CraneError):
    """A notebook that was not brought to its target, or a kernel that could not be looked at.

    `cell` is the code cell (from 0 in the notebook) that was running, None if none was.
    """

    def __init__(
        self, message: str, *, remedy: str, cell: int | None = None
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.cell = cell


class KernelStartError(KernelError):
    """A kernel that is not there, or did not come up."""


class CellRaisedError(KernelError):
    """A cell before the target raised an exception."""


class CellStoppedError(KernelError):
    """A cell took more time, memory, output or processes than it may, and was killed."""


class KernelEndedError(KernelError):
    """The kernel's process ended by itself: a cell left it, or it crashed."""


class LookError(KernelError):
    """The state before the target could not be had."""
