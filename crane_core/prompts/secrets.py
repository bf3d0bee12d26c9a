"""Removes keys and passwords from prompts.

Knows the forms of common access keys, and names that suggest a secret. Refuses to promise that it finds every one.
"""

import re
from typing import Any

_FORMS = re.compile(
    r"sk-[A-Za-z0-9_-]{20,}"
    r"|gh[opsur]_[A-Za-z0-9]{30,}|github_pat_\w{22,}|glpat-[\w-]{20,}"
    r"|hf_[A-Za-z0-9]{30,}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}"
    r"|AIza[\w-]{35}"
    r"|xox[abeprs]-[\w-]{10,}"
    r"|(?<![\w-])eyJ[\w-]{10,4000}\.[\w-]{10,4000}\.[\w-]{5,4000}"
    r"|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?:(?!-----END)[\s\S]){0,20000}(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?"
    r"|(?<=://)[^\s/:@'\"]{1,200}:[^\s/@'\"]{1,200}(?=@)"
)
_NAME = r"password|passwd|secret|credential|(?:api|access|private)_?key|(?:auth|access|api|bearer|hf|bot|github)_?token"
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_KINDS = frozenset({"type", "kind", "dtype", "value_type"})
_ASSIGNED = re.compile(
    rf"(?P<name>(?:{_NAME})\w{{0,40}}[\"'\]]{{0,3}}\s{{0,8}}[:=]\s{{0,8}})(?P<quote>[\"'])(?P<value>[^\"'\n]{{4,}})(?P=quote)",
    re.IGNORECASE,
)


def redacted(text: str) -> str:
    """The text with keys in known forms, and texts given to a name that says secret, replaced by how long they were."""
    text = _FORMS.sub(lambda match: _mark(match[0]), text)
    return _ASSIGNED.sub(
        lambda match: (
            f"{match['name']}{match['quote']}{_mark(match['value'])}{match['quote']}"
        ),
        text,
    )


def scrubbed(facts: Any, name: str = "") -> Any:
    """JSON with its texts redacted; below a name that says secret every text is one, but those that name a kind."""
    if isinstance(facts, dict):
        return {
            redacted(key): scrubbed(item, _below(name, key))
            for key, item in facts.items()
        }
    if isinstance(facts, list):
        return [scrubbed(item, name) for item in facts]
    if isinstance(facts, str):
        return (
            _mark(facts)
            if facts and _SECRET_NAME.search(name)
            else redacted(facts)
        )
    return facts


def _below(name: str, key: str) -> str:
    # The type of a secret may be shown, and the models need it.
    if key in _KINDS:
        return ""
    return key if not _SECRET_NAME.search(name) else name


def _mark(secret: str) -> str:
    return (
        secret
        if secret.startswith("<secret of ")
        else f"<secret of {len(secret)} characters>"
    )
