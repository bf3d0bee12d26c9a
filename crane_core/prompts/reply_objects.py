"""The JSON objects in a model's reply that may be its answer: complete ones, outside of what the model thought.

Knows JSON, the marks that models write around their thinking, and why a reply ended. Refuses to guess: a reply that
was cut off, or that ends while the model is thinking, holds no answer, whatever it quotes.

What is meant as JSON and is not is read as well: line ends within strings, trailing commas, Python's quotes and words.
Nothing is completed, and nothing evaluated but literals: an object without its end is none.
"""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from crane_core.domain import JsonObject

IN_THOUGHT = "[the reply has no text but what the endpoint calls reasoning]\n"
"""Marks a reply whose text was found there; only an object with which it ends may be its answer."""

THINKING = "the reply ends inside the model's thinking"
ONLY_THINKING = "the reply has only the model's thinking"
FORM_ALONE = "the reply repeats the answer format but gives no answer"
CUT_OFF = "the reply was cut off at the token limit"
HELD_BACK = "the reply was held back by a content filter"
_UNFINISHED = {
    **dict.fromkeys(
        ("length", "max_tokens", "max_output_tokens", "model_length"), CUT_OFF
    ),
    **dict.fromkeys(("content_filter", "safety", "recitation"), HELD_BACK),
    **dict.fromkeys(
        ("incomplete", "error", "insufficient_system_resource"),
        "the endpoint ended the reply early",
    ),
}
"""Endpoints' reasons for an incomplete reply, in lower case."""

_OBJECT = r'(?P<object>\{)\s{0,200}"(?:[^"\\]|\\.){0,200}"\s{0,200}:'
_TAG = (
    r"<(?P<end>/)?(?:\w+:)?(?P<tag>think|thinking|thought|thoughts|reasoning|antthinking|scratchpad|analysis|reflection)>"
    r"|\[(?P<bracket_end>/)?(?P<bracket>THINK)\]"
    r"|◁(?P<diamond_end>/)?(?P<diamond>think)▷"
    r"|<\|(?P<part>begin|end)_of_(?P<of>thought)\|>"
    r"|<\|(?P<cohere>start|end)_thinking\|>|<unused(?P<gemma>94|95)>|<\|inner_(?P<inner>prefix|suffix)\|>"
    r"|<\|channel\|>\s{0,20}(?P<channel>\w{1,40})"
)
_MARK = re.compile(f"{_OBJECT}|{_TAG}", re.IGNORECASE)
_THINKING_MARK = re.compile(_TAG, re.IGNORECASE)
_FINAL_CHANNEL = "final"
_ENDS = {"cohere": "end", "gemma": "95", "inner": "suffix"}
"""Groups of marks that differ in a word, and that of the end: of Cohere, MedGemma, Apertus."""
_ENDING = re.compile(
    r"^\s*\{.*\}(?=\s*(?:```)?\s*\Z)", re.MULTILINE | re.DOTALL
)
_PLACEHOLDER = re.compile(
    r"\s*[.…][\s.…]*|<[^<>]{1,80}>|string|your reasoning(?: here)?",
    re.IGNORECASE,
)

_WINDOWS = (2_000, 60_000, 2_000_000)
_LONGEST_WORD = 16
"""Where a window ends within a word or an escape, reading stops so many characters before its end."""

_MAX_STEPS = 200_000_000
"""Characters that may be looked at for one reply, each as often as an object might begin before it."""
_LONGEST = 60_000
_DEEPEST = 20
_MOST_TRIES = 200
_WORDS = {"true": True, "false": False, "null": None}
_LINE_ENDS = {"\n": "\\n", "\r": "\\r"}


class Doubled:
    """Marks a member that occurs twice in an object."""


class FoundObjects(NamedTuple):
    """Objects in the order in which they end; `trouble` says why there are none."""

    objects: list[JsonObject]
    trouble: str | None


class _Tag(NamedTuple):
    """A mark of thinking: of which kind, and whether thinking ends there."""

    name: str
    is_end: bool


def objects_with(
    text: str, member: str, reason: str, *, finish_reason: str | None = None
) -> FoundObjects:
    """Every complete object with this member, at any depth, outside of the model's thinking.

    What counts is what follows the last end of thinking; thinking that has no end takes the rest of the reply.
    Objects whose `reason` is a placeholder ("...") quote the form and are left out. Nothing counts in a reply that the
    endpoint reports as incomplete. Never raises, and looks at no more than _MAX_STEPS characters.
    """
    unfinished = _UNFINISHED.get((finish_reason or "").lower())
    if unfinished is not None:
        return FoundObjects([], unfinished)
    # All of it is thinking: only an object at its very end can be meant as the answer.
    if text.startswith(IN_THOUGHT):
        said = _end_of(text.removeprefix(IN_THOUGHT))
        return (
            _ReplyReader(said, member, reason).found()
            if said
            else FoundObjects([], ONLY_THINKING)
        )
    if not text.strip():
        return FoundObjects([], "the reply is empty")
    return _ReplyReader(text, member, reason).found()


def _end_of(thought: str) -> str:
    """What a thought ends with, from the first line that begins an object; empty if it ends otherwise."""
    end = _ENDING.search(thought)
    return end[0] if end else ""


class _ReplyReader:
    """One walk through a reply, from mark to mark."""

    def __init__(self, text: str, member: str, reason: str) -> None:
        self._text = text
        self._member = member
        self._reason = reason
        self._decoder = json.JSONDecoder(object_pairs_hook=self._gather)
        self._pending: list[JsonObject] = []
        self._objects: list[JsonObject] = []
        self._n_objects = 0
        self._n_steps = 0
        self._said_from = 0

    def found(self) -> FoundObjects:
        """Walk through the reply once and return the objects that may be its answer, or why there are none."""
        mark = _MARK.search(self._text)
        while mark is not None:
            end = (
                self._object(mark.start())
                if mark["object"]
                else self._thought(mark)
            )
            # Thinking that never ends may quote an answer only to reject it.
            if end is None:
                return FoundObjects([], THINKING)
            if self._n_steps > _MAX_STEPS:
                return FoundObjects([], "the reply is too complex to parse")
            mark = _MARK.search(self._text, end)
        # Only then, because a nearly-JSON quotation must not contradict a proper answer.
        if not self._objects:
            self._read_near()
        answers = [
            each
            for each in self._objects
            if not _is_placeholder(each.get(self._reason))
        ]
        return FoundObjects(answers, None if answers else self._why_nothing())

    def _read_near(self) -> None:
        """Where no object is JSON and has the member, those that are nearly JSON count."""
        for members in near_objects(self._text[self._said_from :]):
            self._pending.clear()
            self._gather(members)
            self._objects += self._pending

    def _object(self, start: int) -> int:
        """Read the object that may begin here; where to go on."""
        self._pending.clear()
        n_read, n_seen = _object_at(self._decoder, self._text, start)
        self._n_steps += n_seen
        if n_read:
            self._objects += self._pending
            self._n_objects += 1
        # Behind a whole object; where none begins, one character on, since an inner brace may begin one.
        return start + max(n_read, 1)

    def _thought(self, mark: re.Match[str]) -> int | None:
        """Skip the model's thinking, and forget the objects before it; None if the thinking has no end."""
        opened, end = _tag(mark), mark
        while not _tag(end).is_end or _tag(end).name != opened.name:
            following = _THINKING_MARK.search(self._text, end.end())
            if following is None:
                return None
            end = following
        # An object before the thinking is a draft: the answer follows the thinking.
        self._objects.clear()
        self._n_objects = 0
        self._said_from = end.end()
        return end.end()

    def _gather(self, pairs: list[tuple[str, Any]]) -> JsonObject:
        members = dict(pairs)
        if self._member in members:
            names = [name for name, _ in pairs]
            doubled = {
                name: Doubled()
                for name in (self._member, self._reason)
                if names.count(name) > 1
            }
            self._pending.append(members | doubled)
        return members

    def _why_nothing(self) -> str:
        said = self._text[self._said_from :]
        if self._objects:
            return FORM_ALONE
        if not said.strip():
            return ONLY_THINKING
        if self._n_objects:
            return f"no object in the reply has the key {self._member}"
        if re.search(r"\{\s*\"", said):
            return "the JSON of the reply is cut off or malformed"
        return "the reply contains no JSON object"


def _tag(mark: re.Match[str]) -> _Tag:
    if mark["channel"]:
        return _Tag("channel", mark["channel"].lower() == _FINAL_CHANNEL)
    if mark["of"]:
        return _Tag("of", mark["part"].lower() == "end")
    for group, end in _ENDS.items():
        if mark[group]:
            return _Tag(group, mark[group].lower() == end)
    name = (mark["tag"] or mark["bracket"] or mark["diamond"]).lower()
    return _Tag(
        name, bool(mark["end"] or mark["bracket_end"] or mark["diamond_end"])
    )


def _is_placeholder(reason: object) -> bool:
    return (
        isinstance(reason, str) and _PLACEHOLDER.fullmatch(reason) is not None
    )


def _object_at(
    decoder: json.JSONDecoder, text: str, start: int
) -> tuple[int, int]:
    """Characters of the object that begins at `start`, 0 where it is none; and how many were looked at for it.

    It is read in windows that grow, because an error costs as much as the text that the decoder was given is long.
    """
    n_seen = 0
    for size in (*_WINDOWS, len(text)):
        window = text[start : start + size]
        try:
            n_read = decoder.raw_decode(window)[1]
            return n_read, n_seen + n_read
        except json.JSONDecodeError as error:
            may_go_on = (
                error.msg.startswith("Unterminated")
                or error.pos > len(window) - _LONGEST_WORD
            )
        except (
            ValueError,
            RecursionError,
        ):  # a number of thousands of digits, or brackets within brackets
            may_go_on = False
        n_seen += len(window)
        if not may_go_on or len(window) < size:
            break
    return 0, n_seen


def near_objects(text: str) -> Iterator[list[tuple[str, Any]]]:
    """The members of each object in turn, outermost objects first, names in lower case. Never raises."""
    start = text.find("{")
    # Bounded, because a reply of opening braces would be read from each of them to its end.
    for _ in range(_MOST_TRIES):
        if start < 0:
            return
        source = _whole(text, start)
        members = _members(source[0]) if source else None
        if source and members is not None:
            yield members
        start = text.find(
            "{", source[1] if source and members is not None else start + 1
        )


def _whole(text: str, start: int) -> tuple[str, int] | None:
    """The object that begins here, line ends within its strings escaped, and where it ends; None if it has no end."""
    parts: list[str] = []
    quote, depth, is_escaped = "", 0, False
    for place, letter in enumerate(text[start : start + _LONGEST], start):
        # Models write long reasonings with raw line ends, which JSON allows nowhere in a string.
        parts.append(_LINE_ENDS.get(letter, letter) if quote else letter)
        if quote:
            if is_escaped:
                is_escaped = False
            elif letter == "\\":
                is_escaped = True
            elif letter == quote:
                quote = ""
        elif letter in "\"'":
            quote = letter
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth -= 1
        if depth == 0 or depth > _DEEPEST:
            return ("".join(parts), place + 1) if depth == 0 else None
    return None


def _members(source: str) -> list[tuple[str, Any]] | None:
    # JSON first: `true` and `null` are plain names to Python.
    for read in (_of_json, _of_python):
        try:
            return [(name.lower(), value) for name, value in read(source)]
        except (
            ValueError,
            SyntaxError,
            TypeError,
            AttributeError,
            RecursionError,
            MemoryError,
        ):
            continue
    return None


def _of_json(source: str) -> list[tuple[str, Any]]:
    return list(json.loads(source).items())


def _of_python(source: str) -> list[tuple[str, Any]]:
    tree = ast.parse(source, mode="eval").body
    if not isinstance(tree, ast.Dict):
        raise ValueError
    pairs = zip(tree.keys, tree.values, strict=True)
    return [
        (ast.literal_eval(key), _value(value))
        for key, value in pairs
        if key is not None
    ]


def _value(node: ast.expr) -> Any:
    # Some replies mix both notations: single quotes, and yet `true`.
    if isinstance(node, ast.Name) and node.id in _WORDS:
        return _WORDS[node.id]
    return ast.literal_eval(node)
