"""The runtime state of a pair as a tree: variables, then the paper's groups S, R and V, then facts, side by side.

Where the two versions differ is marked; a fact that only one has shows a dash on the other side.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

from crane_core.prompts.tagged_json import decode

GROUPS = {"structure": "S", "representation": "R", "values": "V"}
GROUP_WORDS = {"S": "structure", "R": "representation and type", "V": "values and state"}
MAX_TEXT = 160
"""Characters of one fact that are shown."""
MAX_FACTS = 40
"""Facts of one group before the rest folds away; a wide frame has hundreds of columns."""

MAX_FOLDED = 400
"""Facts of one group that fold away; what is beyond is counted."""

Facts = dict[str, str]
Key = tuple[str, str]


def state_html(crashing: str | None, fixed: str | None) -> str:
    """Both states as HTML. Each is the JSON text of a KernelState, or None where it was not captured."""
    sides = (_variables(crashing), _variables(fixed))
    names = list(dict.fromkeys([*sides[0], *sides[1]]))
    if not names:
        return '<p class="cw-dim">The state is empty: the target uses no name that the kernel knows.</p>'
    return (
        '<div class="cw-state">'
        + "".join(_variable(name, sides[0].get(name), sides[1].get(name)) for name in names)
        + "</div>"
    )


def n_different(crashing: str | None, fixed: str | None) -> int:
    """How many names differ between the two states."""
    a, b = _variables(crashing), _variables(fixed)
    return sum(a.get(name) != b.get(name) for name in {*a, *b})


def _variables(state: str | None) -> dict[str, Any]:
    if state is None:
        return {}
    document = json.loads(state)
    accesses = {_access_name(name): entry for name, entry in document.get("accesses", {}).items()}
    variables: dict[str, Any] = document["variables"]
    return variables | accesses


def _access_name(name: str) -> str:
    return name.removeprefix("__method__") + " (attribute or method)" if name.startswith("__method__") else name


def _variable(name: str, left: Any, right: Any) -> str:
    facts = [_facts(left), _facts(right)]
    keys = list(dict.fromkeys([*facts[0], *facts[1]]))
    differing = [key for key in keys if facts[0].get(key) != facts[1].get(key)]
    same = [key for key in keys if facts[0].get(key) == facts[1].get(key)]
    differs = left != right
    types = [entry.get("type", "") if isinstance(entry, dict) else None for entry in (left, right)]
    mark = f'<span class="cw-tag cw-differs">{_difference_words(left, right)}</span>' if differs else ""
    head = f"<code>{escape(_text(name))}</code><span class='cw-dim'>{escape(_type_words(types))}</span>{mark}"
    body = _folded(differing, facts, "differing facts", limit=MAX_FACTS) + _folded(
        same, facts, "facts that are the same", limit=0 if differs else MAX_FACTS
    )
    return f'<details class="cw-var"{" open" if differs else ""}><summary>{head}</summary>{body}</details>'


def _difference_words(left: Any, right: Any) -> str:
    if left is None or right is None:
        return "only fixed" if left is None else "only crashing"
    return "differs"


def _folded(keys: list[Key], facts: list[dict[Key, str]], what: str, *, limit: int) -> str:
    """The first `limit` facts, the rest behind a line that counts them."""
    rows = [_fact(key, facts[0].get(key), facts[1].get(key)) for key in keys[: limit + MAX_FOLDED]]
    n_rest, n_left_out = len(keys) - limit, len(keys) - len(rows)
    if n_rest <= 0:
        return "".join(rows)
    left_out = f"<div class='cw-dim'>… {n_left_out:,} facts are not shown</div>" if n_left_out else ""
    summary = f"<summary class='cw-more cw-dim'>{n_rest:,} {'more ' if limit else ''}{what}</summary>"
    return "".join(rows[:limit]) + f"<details>{summary}{''.join(rows[limit:])}{left_out}</details>"


def _type_words(types: list[str | None]) -> str:
    known = [_text(_short_type(str(kind))) for kind in types if kind]
    if len(known) == 2 and known[0] != known[1]:
        return f"{known[0]} | {known[1]}"
    return known[0] if known else ""


def _short_type(kind: str) -> str:
    return kind.removeprefix("<class '").removesuffix("'>")


def _facts(entry: Any) -> dict[Key, str]:
    """(group letter, path of the fact) to its text."""
    if not isinstance(entry, dict):
        return {}
    if not GROUPS.keys() & entry.keys():
        return {("", path): text for path, text in _flat(decode(entry), "").items() if path != "type"}
    facts: dict[tuple[str, str], str] = {}
    for group, letter in GROUPS.items():
        facts |= {(letter, path): text for path, text in _flat(decode(entry.get(group, {})), "").items()}
    return facts


def _flat(value: Any, path: str) -> Facts:
    """Nested dictionaries as paths; a dictionary without further nesting is one fact."""
    if not isinstance(value, dict) or not value:
        return {path: _text(value)} if path else {}
    if path and not any(isinstance(item, dict) and item for item in value.values()):
        return {path: _text(", ".join(f"{key} {_text(item)}" for key, item in value.items()))}
    facts: Facts = {}
    for key, item in value.items():
        facts |= _flat(item, f"{path} › {key}" if path else str(key))
    return facts


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}… ({len(text):,} characters)"


def _fact(key: Key, left: str | None, right: str | None) -> str:
    letter, path = key
    differs = " cw-differs" if left != right else ""
    title = f' title="{GROUP_WORDS[letter]}"' if letter else ""
    values = (
        f'<div class="cw-both">{_value(left)}</div>'
        if left == right
        else f"<div>{_value(left)}</div><div>{_value(right)}</div>"
    )
    group = f'<div class="cw-group cw-{letter}"{title}>{letter}</div>'
    return f'<div class="cw-grid{differs}">{group}<div class="cw-dim">{escape(_text(path))}</div>{values}</div>'


def _value(text: str | None) -> str:
    return f"<code>{escape(text)}</code>" if text is not None else '<span class="cw-dim">–</span>'
