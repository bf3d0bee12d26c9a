"""A mapping to begin with, for a file that no mapping knows: the members of its first rows, and which look like what.

Knows the usual names of members and what their values look like. Refuses to decide: a person reads and corrects it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from crane_core.domain import Setting
from crane_core.importers.answer_maps import answer_map, member_path
from crane_core.importers.answer_maps.placed_rows import PlacedRow

ROWS_LOOKED_AT = 20
_MOST_MEMBERS = 200
_DEEPEST = 6
_LONGEST_LIST = 3
_SHOWN = 60
_INSTANCE_ENDS = ("_reproduced", "_fixed")
_NAMES = {
    "detector": "detector model model_name provider model_id llm",
    "index": "index epoch repeat repetition repetition_number run trial sample_index",
    "crashes": "crashes crash detection prediction predicted will_crash",
    "reply": "reply output response completion text answer content prediction",
    "reasoning": "reasoning explanation reason rationale diagnosis",
    "prompt": "prompt raw_prompt",
    "input_tokens": "input_tokens prompt_tokens tokens_in",
    "output_tokens": "output_tokens completion_tokens tokens_out",
    "seconds": "seconds latency duration latency_s duration_s elapsed",
    "usd": "usd cost total_cost cost_usd price",
    "trouble": "error exception",
}
"""Names of members that usually hold a field, the most telling first."""
_NUMBERS = frozenset(
    {"index", "input_tokens", "output_tokens", "seconds", "usd"}
)
_STATED = {
    "instance": '# instance = "PATH"  # not found: names that end in _reproduced or _fixed',
    "detector": '# detector = { value = "my-model" }  # not found: a path, or what holds for the whole file',
    "setting": '# setting = { value = "runtime" }  # not found: a path, or one of '
    + ", ".join(Setting),
    "crashes": '# crashes = "PATH"  # not found: true or false; or reply = "PATH", a text that is read as a reply',
}


class SeenMember(NamedTuple):
    """A path of the first rows and the values at it, those that are there."""

    path: str
    values: list[Any]

    @property
    def name(self) -> str:
        """The last name of the path, in small letters."""
        return self.path.rpartition(".")[2].partition("[")[0].lower()


def seen_members(rows: Sequence[PlacedRow]) -> list[SeenMember]:
    """Every path to a text, number or boolean in the first rows, bounded in depth and number."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        for path, value in _leaves(row.members, "", 0):
            if path in found or len(found) < _MOST_MEMBERS:
                found.setdefault(path, []).append(value)
    return [SeenMember(path, values) for path, values in found.items()]


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _DEEPEST or len(path) > member_path.LONGEST_PATH:
        return
    # A column of text may hold JSON, whose members can be named like any other.
    inner = (
        member_path.embedded_json(value) if isinstance(value, str) else value
    )
    if isinstance(inner, dict):
        for name, member in inner.items():
            below = f"{path}.{name}" if path else name
            yield from _leaves(member, below, depth + 1)
    elif isinstance(inner, list):
        for at, member in enumerate(inner[:_LONGEST_LIST]):
            yield from _leaves(member, f"{path}[{at}]", depth + 1)
    if (
        member_path.is_path(path)
        and value is not None
        and not isinstance(value, dict | list)
    ):
        yield path, value


def proposed(
    rows: Sequence[PlacedRow], rules: answer_map.AnswerMap | None
) -> str:
    """TOML: a path for each field that the rows seem to have, an example of its values, and what is missing.

    rules: the mapping that ships for the file, of which all that finds a value is kept.
    """
    kept = _kept(rows, rules) if rules is not None else {}
    members = seen_members(rows)
    guessed: dict[str, SeenMember] = {}
    for name in ("instance", "setting", *_NAMES):
        member = None if name in kept else _best(name, members)
        if member is not None:
            guessed[name] = member
    # The reply holds both, unless a member states the answer itself.
    if "reply" in kept or "crashes" in guessed:
        guessed.pop("crashes" if "reply" in kept else "reply", None)
    lines = ["# Correct the paths, then: import FILE --map THIS_FILE\n"]
    lines.append(answer_map.map_toml(kept))
    for name, member in guessed.items():
        lines.append(f"# such as {example(member.values[0])}\n")
        lines.append(answer_map.map_toml({name: member.path}))
    stated = dict.fromkeys((*kept, *guessed), answer_map.MapRule())
    missing = answer_map.missing_fields(answer_map.AnswerMap(fields=stated))
    lines += [f"{_STATED[name]}\n" for name in missing]
    used = {member.path for member in guessed.values()}
    lines += [
        f"# also there: {example(member.path)} = {example(member.values[0])}\n"
        for member in members
        if member.path not in used
    ]
    return "".join(lines)


def _kept(
    rows: Sequence[PlacedRow], rules: answer_map.AnswerMap
) -> dict[str, Any]:
    """Of a mapping that ships: which rows there are, and the fields that have a value in some row."""
    found = [
        name
        for name, rule in rules.fields.items()
        if any(row.at(path) is not None for row in rows for path in rule.paths)
    ]
    wanted = [
        name for name in answer_map.ABOUT if name not in ("tool", "known_by")
    ]
    return {
        name: rules.document[name]
        for name in (*wanted, *found)
        if name in rules.document
    }


def _best(name: str, members: list[SeenMember]) -> SeenMember | None:
    if name == "instance":
        return next((one for one in members if _all_instances(one)), None)
    if name == "setting":
        return next((one for one in members if _all_settings(one)), None)
    fitting = [one for one in members if _fits(name, one)]
    for usual in _NAMES[name].split():
        for member in fitting:
            if member.name == usual:
                return member
    return None


def _all_instances(member: SeenMember) -> bool:
    return all(
        isinstance(value, str) and value.endswith(_INSTANCE_ENDS)
        for value in member.values
    )


def _all_settings(member: SeenMember) -> bool:
    return all(value in list(Setting) for value in member.values)


def _fits(name: str, member: SeenMember) -> bool:
    """Whether the values are of the field's type."""
    if name == "crashes":
        return all(
            str(value).lower() in ("true", "false") for value in member.values
        )
    is_number = all(map(_is_number, member.values))
    return is_number if name in _NUMBERS else not is_number


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def example(value: Any) -> str:
    """The beginning of a value on one line, without control characters."""
    text = repr(value[: _SHOWN + 1] if isinstance(value, str) else value)
    shown = "".join(letter for letter in text if letter.isprintable())
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
