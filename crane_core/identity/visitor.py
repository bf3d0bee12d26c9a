"""A visitor and a role. Refuses to know how a visitor logged in."""

from dataclasses import dataclass
from enum import IntEnum


class Role(IntEnum):
    """What a visitor may do; each role includes the rights of those before it."""

    VIEWER = 1
    ANNOTATOR = 2
    LEAD = 3
    ADMIN = 4

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Visitor:
    """A visitor of the app. `name` is what campaigns call them; without logins both e-mail and name are empty."""

    email: str
    name: str
    role: Role

    @property
    def is_known(self) -> bool:
        """Whether they logged in, so that they need not type a name."""
        return bool(self.email)

    def may(self, role: Role) -> bool:
        """Whether they may do what this role may."""
        return self.role >= role


ANYBODY = Visitor("", "", Role.ADMIN)
"""The one visitor of an app without logins: the person at this machine, or anyone who has the shared password."""
