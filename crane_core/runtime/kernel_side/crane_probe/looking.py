"""Looking at one value: the three groups of facts about it, safe, bounded, and what a summarizer may ask meanwhile.

Knows budgets and groups. What a value of a library is, is in `for_<package>.py`; a summarizer that fails, or takes
too long, becomes the reason why its value is unavailable.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, Mapping

from . import bounds
from .anatomy import package_of, type_name
from .bounds import Facts, merged, stated
from .budget import Clock, LookBudget, OverBudgetError
from .dispatch import answer_of, summarizer_of
from .limits import LookLimits
from .syntax.asked import AskedName

GROUPS = ("structure", "representation", "values")


class Look:
    """What a summarizer may ask while it looks at one variable: limits, what the target wants, and nested summaries."""

    def __init__(
        self,
        limits: LookLimits,
        asked: Mapping[str, AskedName],
        mentioned: Iterable[str] = (),
    ) -> None:
        self.limits = limits
        self.mentioned = frozenset(mentioned)
        """Texts that the target spells, or reads from plain variables: names of columns among them."""
        self._asked = asked
        self._name = ""
        self._depth = 0
        # Objects on the way to this one, by id: a list may hold itself.
        self._path: list[int] = []
        self._clock = Clock(limits.total_seconds)
        self._budget = self._fresh_budget()

    def _fresh_budget(self) -> LookBudget:
        limits = self.limits
        # The last variables get what is left of all the time.
        seconds = min(limits.variable_seconds, self._clock.seconds_left)
        return LookBudget(
            steps=limits.variable_steps, nodes=limits.nodes, seconds=seconds
        )

    @property
    def is_over(self) -> bool:
        """True when looking at all variables has taken as long as it may."""
        return self._clock.is_over

    def asked(self, name: str = "") -> AskedName:
        """What the target asks of a name; without one, of the variable being looked at (nothing for what is inside)."""
        if name:
            return self._asked.get(name, AskedName(name))
        return (
            # Items asked of `frames` say nothing about a list inside it.
            AskedName()
            if self._depth > 1
            else self._asked.get(self._name, AskedName(self._name))
        )

    @property
    def is_nested(self) -> bool:
        """True while something inside the variable is looked at."""
        return self._depth > 1

    def affords(self, steps: int) -> bool:
        """Takes elementary steps (about a nanosecond each) off the variable's budget; False when too few are left."""
        return self._budget.affords(int(steps))

    @property
    def seconds_left(self) -> float:
        """What looking at the variable may still take; what is inside it shares this."""
        return self._budget.seconds_left

    def check(self) -> None:
        """Ends looking at the variable when its time is up; for long loops."""
        self._budget.check()

    def in_time(self, sure: Facts, more: Callable[[], Facts]) -> Facts:
        """What is sure of a value, with what takes longer to find; where the time is up, that it is not computed."""
        try:
            # `sure` is told even where the clock ended the rest: a length is known at once.
            return merged(sure, more())
        except OverBudgetError as late:
            return merged(
                sure, {"plus": {"values": {"not_computed": str(late)}}}
            )

    def scalar(self, value: Any) -> Any:
        """A number, string, boolean or None as JSON, a library's scalar likewise; else the name of the type."""
        # Numbers of numpy in a list of Python's are shown as numbers.
        if package_of(type(value)) != "builtins":
            value = answer_of(value, "SCALAR", value)
        return bounds.scalar(value, self.limits.text)

    def label(self, key: Any) -> str:
        """A key as the text under which its entry is shown."""
        return (
            key
            if type(key) is str and len(key) <= self.limits.text
            else bounds.key_text(key, self.limits.text)
        )

    def text(self, value: str) -> str:
        """A text of at most as many characters as the limits allow."""
        return bounds.text(value, self.limits.text)

    def entry(self, name: str, value: Any) -> Facts:
        """The whole entry of a variable: type and groups, safe and bounded; or why there is none."""
        # The time for all variables is over: the type costs nothing.
        if self.is_over:
            return {
                "type": type_name(type(value)),
                "unavailable": f"looking took {self.limits.total_seconds:g} s in all",
            }
        self._name, self._budget = name, self._fresh_budget()
        self._depth, self._path = 0, []
        entry = self.summary(value)
        # Cut as text at the very end, because only then its length is known.
        return bounds.fitted(
            bounds.safe(entry, self.limits.variable_chars),
            self.limits.variable_chars,
        )

    def summary(self, value: Any) -> Facts:
        """{"type", "structure", "representation", "values", "plus"} of any value, as deep as the limits allow."""
        entry: Facts = {"type": type_name(type(value))}
        # By id, as == would call code of the notebook.
        if any(value_id == id(value) for value_id in self._path):
            return dict(entry, values={"cycle": "an object that holds it"})
        self._depth += 1
        self._path.append(id(value))
        try:
            if self._depth > self.limits.depth + 1 or not self._budget.enters():
                # Beside depth the number of objects: a list of a thousand lists is not deep.
                return dict(entry, unavailable="deeper than is looked")
            return _grouped(entry, self._summarized(value))
        except OverBudgetError as late:
            return dict(entry, unavailable=str(late))
        # A summarizer that meets a half-made object must not cost the facts of all others.
        except Exception as error:  # noqa: BLE001 - whatever a summarizer meets becomes the reason
            return dict(entry, unavailable=bounds.why(error))
        # Also after an exception: the next variable starts from the top.
        finally:
            self._depth -= 1
            self._path.pop()

    def _summarized(self, value: Any) -> Facts:
        summarizer = summarizer_of(value)
        return {} if summarizer is None else summarizer(value, self)

    def inside(self, parts: Iterable[tuple[str, Any]]) -> dict[str, Facts]:
        """Summaries of labelled parts, turned so that each group holds its facts by label.

        {"structure": {label: {...}}, "representation": {label: {"type", ...}}, "values": {label: {...}}}; empty facts
        are left out. A summarizer puts these where they belong: what is inside goes under `plus`.
        """
        groups: dict[str, dict[str, Any]] = {group: {} for group in GROUPS}
        for label, part in parts:
            for group, facts in _by_group(self.summary(part)):
                groups[group][label] = facts
        return groups

    def inside_as(
        self, name: str, parts: Iterable[tuple[str, Any]]
    ) -> dict[str, Facts]:
        """The same under one name, in the groups in which there are facts: so a summarizer adds them to `plus`."""
        inside = self.inside(parts)
        return {
            group: {name: facts} for group, facts in inside.items() if facts
        }


def _grouped(entry: Facts, summary: Mapping[str, Any]) -> Facts:
    """The entry with all three groups, and with `plus` where it says something."""
    # A reason replaces the facts, which may have been cut anywhere.
    if "unavailable" in summary:
        return dict(entry, unavailable=summary["unavailable"])
    groups = {group: summary.get(group, {}) for group in GROUPS}
    return dict(
        entry, **groups, **stated(plus=stated(**summary.get("plus", {})))
    )


def _by_group(entry: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """A nested entry's facts, those of `plus` among them; its type is part of the representation."""
    plus = entry.get("plus", {})
    for group in GROUPS:
        facts = merged(entry.get(group, {}), plus.get(group, {}))
        if group == "representation":
            facts = dict({"type": entry["type"]}, **facts)
        if group == "values" and "unavailable" in entry:
            facts = {"unavailable": entry["unavailable"]}
        if facts:
            yield group, facts
