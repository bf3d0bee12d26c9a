"""The runtime state of a pair as a tree: variables, then the paper's groups S, R and V, then facts, side by side.

Where the two versions differ is marked; a fact that only one has shows a dash on the other side.
"""

import re
from html import escape
from typing import Any

from crane_core.ui import state_columns, state_facts
from crane_core.ui.code_html import blanks_html
from crane_core.ui.state_words import has_words, path_words, value_words

WORDED = frozenset(
    {*state_facts.MARK_WORDS} - {state_facts.DOCS, state_facts.ABSENT}
)
"""The marks of facts that the probe recorded under a field's name."""
MAX_FACTS = 40
"""Facts of one group before the rest folds away; a wide frame has hundreds of columns."""

CALLED = frozenset(
    {"method", "function", "builtin_function_or_method", "module"}
)
"""Types of what is usually reached through another name, and need no further word."""

# A text names nothing, as `x` in `df["x"]`; an f-string may.
_TEXT = re.compile(r"""(?<![fF])(["'])(?:\\.|(?!\1).)*\1""")
_CHAIN = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.[^\W\d]\w*)*")
MAX_FOLDED = 400
"""Facts of one group that fold away; what is beyond is counted."""


def state_html(
    crashing: str | None,
    fixed: str | None,
    numbers: tuple[state_facts.Numbers, state_facts.Numbers] = (
        state_facts.NO_NUMBERS,
        state_facts.NO_NUMBERS,
    ),
    opened: frozenset[str] = frozenset(),
    crash_line: str = "",
) -> str:
    """Both states as HTML. Each is the JSON text of a KernelState, or None if it was not captured.

    Open from the start are names that differ, and those of `opened`. The names that the text of the crash line uses
    come first.
    """
    left, right = state_facts.documents(crashing), state_facts.documents(fixed)
    vain = (
        state_facts.absent_facts(left, numbers[0]),
        state_facts.absent_facts(right, numbers[1]),
    )
    absent = _table("Absent", "what the target uses and will not find", *vain)
    missing = _table(
        "Unavailable",
        "",
        state_facts.unavailable_facts(left),
        state_facts.unavailable_facts(right),
    )
    sides = state_facts.entries(left), state_facts.entries(right)
    names = list(dict.fromkeys([*sides[0], *sides[1]]))
    used = _names_in(crash_line)
    # Without a name that is almost right, the columns that the crash line names decide.
    decisive = state_facts.near_names(left) | state_facts.near_names(
        right
    ) or frozenset(found[0][1:-1] for found in _TEXT.finditer(crash_line))
    # The sort is stable: the crash line's names, then what differs, each part in the order of the state.
    names.sort(
        key=lambda name: (
            _as_chain(name) not in used,
            state_facts.substance(sides[0].get(name))
            == state_facts.substance(sides[1].get(name)),
        )
    )
    shown = [
        absent,
        *(
            _variable(
                name,
                sides[0].get(name),
                sides[1].get(name),
                is_open=name in opened,
                is_used=_as_chain(name) in used,
                decisive=decisive,
            )
            for name in names
        ),
        missing,
    ]
    if not any(shown):
        return '<p class="cw-dim">The state is empty: the target uses no name that the kernel knows.</p>'
    tree = "".join(shown)
    return f'<div class="cw-state">{tree}</div>{_legend(tree)}'


def _names_in(line: str) -> frozenset[str]:
    """The names of a line and what is reached through them: of `a.b(c)` a, a_b, c."""
    chains = [chain.split(".") for chain in _CHAIN.findall(_TEXT.sub("", line))]
    return frozenset(
        "_".join(chain[:n])
        for chain in chains
        for n in range(1, 1 + len(chain))
    )


def _as_chain(name: str) -> str:
    """A state's name as `_names_in` writes it: published states join what is reached by underscores."""
    return name.removesuffix(state_facts.ACCESSED).replace(".", "_")


def _legend(tree: str) -> str:
    """The meaning of the marks in the tree."""
    there = {
        mark for mark in state_facts.MARK_WORDS if f">{mark}</div>" in tree
    }
    signs = {sign for mark in there for sign in mark}
    told = [
        (sign, words)
        for sign, words in state_facts.LEGEND.items()
        if sign in signs
    ]
    items = "".join(
        f'<span><b class="cw-{sign}">{sign}</b> {words}</span>'
        for sign, words in told
    )
    return f'<div class="cw-legend cw-dim">{items}</div>' if items else ""


def frames_of(
    crashing: str | None, fixed: str | None, *, most: int
) -> frozenset[str]:
    """The names of the first data frames, whose columns are shown."""
    left, right = (
        state_facts.entries(state_facts.documents(crashing)),
        state_facts.entries(state_facts.documents(fixed)),
    )
    names = [
        name
        for name in dict.fromkeys([*left, *right])
        if state_columns.tells_columns(left.get(name), right.get(name))
    ]
    return frozenset(names[:most])


def n_different(crashing: str | None, fixed: str | None) -> int:
    """How many names, and things needed in vain, differ between the two states."""
    left, right = state_facts.documents(crashing), state_facts.documents(fixed)
    return sum(
        state_facts.substance(a.get(name)) != state_facts.substance(b.get(name))
        for a, b in (
            (state_facts.entries(left), state_facts.entries(right)),
            (state_facts.absent_facts(left), state_facts.absent_facts(right)),
        )
        for name in {*a, *b}
    )


def _table(
    title: str, meaning: str, left: state_facts.Facts, right: state_facts.Facts
) -> str:
    """Facts that belong to no name of the kernel; empty if there are none."""
    keys = list(dict.fromkeys([*left, *right]))
    if not keys:
        return ""
    mark = (
        '<span class="cw-tag cw-differs">differs</span>'
        if left != right
        else ""
    )
    head = f'<b>{title}</b><span class="cw-dim">{meaning}</span>{mark}'
    return _details(
        head,
        _folded(keys, [left, right], "facts", limit=MAX_FACTS),
        is_open=True,
    )


def _variable(
    name: str,
    left: Any,
    right: Any,
    *,
    is_open: bool,
    is_used: bool,
    decisive: frozenset[str],
) -> str:
    facts = [
        state_facts.entry_facts(state_columns.without_columns(left)),
        state_facts.entry_facts(state_columns.without_columns(right)),
    ]
    keys = list(dict.fromkeys([*facts[0], *facts[1]]))
    differing = [key for key in keys if facts[0].get(key) != facts[1].get(key)]
    same = [key for key in keys if facts[0].get(key) == facts[1].get(key)]
    # The place of an assignment differs between two notebooks without any other difference.
    differs = state_facts.substance(left) != state_facts.substance(right)
    types = [
        entry.get("type", "") if isinstance(entry, dict) else None
        for entry in (left, right)
    ]
    mark = (
        f'<span class="cw-tag cw-differs">{_difference_words(left, right)}</span>'
        if differs
        else ""
    )
    if is_used:
        mark = f'<span class="cw-tag">crash line</span>{mark}'
    shown = escape(
        state_facts.fact_text(name.removesuffix(state_facts.ACCESSED))
    )
    head = f"<code>{shown}</code><span class='cw-dim'>{escape(_kind_words(name, types))}</span>{mark}"
    body = (
        _folded(differing, facts, "differing facts", limit=MAX_FACTS)
        + state_columns.columns_html(left, right, decisive)
        + _folded(
            [key for key in same if not _is_raw(key)],
            facts,
            "facts that are the same",
            limit=0 if differs else MAX_FACTS,
        )
        + _folded([key for key in same if _is_raw(key)], facts, "raw", limit=0)
    )
    return _details(head, body, is_open=differs or is_open)


def _is_raw(key: state_facts.Key) -> bool:
    """Whether the fact is of a field that has no words."""
    mark, path = key
    return mark in WORDED and not has_words(path)


def _details(head: str, body: str, *, is_open: bool) -> str:
    return f'<details class="cw-var"{" open" if is_open else ""}><summary>{head}</summary>{body}</details>'


def _difference_words(left: Any, right: Any) -> str:
    if left is None or right is None:
        return "only fixed" if left is None else "only crashing"
    return "differs"


def _folded(
    keys: list[state_facts.Key],
    facts: list[state_facts.Facts],
    what: str,
    *,
    limit: int,
) -> str:
    """The first `limit` facts, the rest behind a line that counts them."""
    rows = [
        _fact(key, facts[0].get(key), facts[1].get(key))
        for key in keys[: limit + MAX_FOLDED]
    ]
    n_rest, n_left_out = len(keys) - limit, len(keys) - len(rows)
    if n_rest <= 0:
        return "".join(rows)
    left_out = (
        f"<div class='cw-dim'>… {n_left_out:,} facts are not shown</div>"
        if n_left_out
        else ""
    )
    summary = f"<summary class='cw-more cw-dim'>{n_rest:,} {'more ' if limit else ''}{what}</summary>"
    return (
        "".join(rows[:limit])
        + f"<details>{summary}{''.join(rows[limit:])}{left_out}</details>"
    )


def _kind_words(name: str, types: list[str | None]) -> str:
    """The type; of what is reached through another name also that it is, where the type does not tell."""
    words = _type_words(types)
    if not name.endswith(state_facts.ACCESSED):
        return words
    if not words:
        return state_facts.ACCESSED.strip(" ()")
    return (
        words
        if CALLED.issuperset(words.split(" | "))
        else f"attribute, {words}"
    )


def _type_words(types: list[str | None]) -> str:
    known = [
        state_facts.fact_text(_short_type(str(kind))) for kind in types if kind
    ]
    if len(known) == 2 and known[0] != known[1]:
        return f"{known[0]} | {known[1]}"
    return known[0] if known else ""


def _short_type(kind: str) -> str:
    return kind.removeprefix("<class '").removesuffix("'>")


def _fact(key: state_facts.Key, left: str | None, right: str | None) -> str:
    mark, path = key
    recorded = left, right
    if mark in WORDED:
        left, right = (
            None if text is None else value_words(path, text)
            for text in (left, right)
        )
    differs = " cw-differs" if left != right else ""
    title = f' title="{state_facts.MARK_WORDS[mark]}"' if mark else ""
    values = (
        f'<div class="cw-both">{_value(left)}</div>'
        if left == right
        else f"<div>{_value(left, right)}</div><div>{_value(right, left)}</div>"
    )
    if mark == state_facts.ABSENT or (left, right) != recorded:
        # Sentences are not code.
        values = values.replace("<code", "<span").replace("</code>", "</span>")
    colour = f" cw-{mark[0]}" if mark[:1] in state_facts.GROUPS.values() else ""
    group = f'<div class="cw-group{colour}"{title}>{mark}</div>'
    name = escape(state_facts.fact_text(path_words(path)))
    # A long chain wraps at its dots, not within a name.
    name = name.replace(".", ".<wbr>")
    return f'<div class="cw-grid{differs}">{group}<div class="cw-dim">{name}</div>{values}</div>'


def _value(text: str | None, other: str | None = None) -> str:
    """A fact with its numbers rounded; in full where it then reads as the other version's."""
    if text is None:
        return '<span class="cw-dim">–</span>'
    short = state_facts.rounded(text)
    # Rounded alike, two different numbers would read as the same in a row that is marked as different.
    shown = (
        text
        if other not in (None, text) and short == state_facts.rounded(other)
        else short
    )
    title = f' title="{escape(text)}"' if shown != text else ""
    return f"<code{title}>{blanks_html(shown)}</code>"
