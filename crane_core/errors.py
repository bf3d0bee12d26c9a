"""Everything the core can refuse. Each error says what happened and where, and carries a one-line remedy."""


class CraneError(Exception):
    """What went wrong, in words for the user; `remedy` says what to do about it."""

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.args[0]} {self.remedy}"


class SourceError(CraneError):
    """A file or folder that cannot be imported as a whole."""


class FetchError(CraneError):
    """A download that did not arrive complete."""


class StoreError(CraneError):
    """The database cannot be opened, is of another version, or refuses a write."""


class LedgerError(CraneError):
    """A ledger file cannot be written, or changed where it must only grow."""


class CampaignError(CraneError):
    """A campaign that cannot be created, read or labelled as asked."""
