"""Which fixes are shown: those that ran through; the others are counted, and a second crash is fixed on."""

from __future__ import annotations

from collections.abc import Callable

from crane_core.repair.fix import EarlierCell, Fix, Proposals
from crane_core.repair.search import RepairOutcome, repaired
from crane_core.runtime.rehearsal import Rehearsal, RehearsalEnd

THROUGH = Rehearsal(RehearsalEnd.RAN_THROUGH, 2.0, result="x is an int")


def crash(message: str = "'a'", line: int = 1) -> Rehearsal:
    return Rehearsal(
        RehearsalEnd.CRASH,
        2.0,
        exception="KeyError",
        message=message,
        line=line,
    )


def looked_for(
    steps: dict[str, list[str]],
    ends: dict[str, Rehearsal],
    refused: tuple[str, ...] = (),
) -> RepairOutcome:
    """`steps` are the sources proposed for a source, `ends` what each of them comes to."""

    def propose(source: str, _last: Rehearsal) -> Proposals:
        made = [Fix(new, f"Write {new}.") for new in steps.get(source, ())]
        return Proposals(tuple(made), refused)

    attempt: Callable[[Fix], Rehearsal] = lambda fix: ends[fix.source]  # noqa: E731
    return repaired("old", crash(), propose, attempt)


def test_what_ran_through_is_shown_and_the_rest_is_counted() -> None:
    unknown = Rehearsal(RehearsalEnd.UNKNOWN, 2.0, why="a GPU is in use")
    found = looked_for(
        {"old": ["same", "gpu", "good"]},
        {"same": crash(), "gpu": unknown, "good": THROUGH},
        ("it drops rows",),
    )
    assert [tried.fix.source for tried in found.shown] == ["good"]
    assert (
        found.shown[0].outcome
        == "ran through; x is an int; the cells after it were not tried"
    )
    assert (
        found.not_shown
        == "1 crashed in its copy, 1 could not be rehearsed, 1 was refused (it drops rows)"
    )


def test_a_crash_further_down_is_fixed_too() -> None:
    ends = {"first": crash("'b'", 2), "both": THROUGH}
    found = looked_for({"old": ["first"], "first": ["both"]}, ends)
    [tried] = found.shown
    assert tried.fix.sentence == "Write first. Write both."
    assert (found.n_failed, found.not_shown) == (0, "")


def test_a_fix_that_crashes_earlier_is_no_step() -> None:
    found = looked_for({"old": ["first"]}, {"first": crash("'b'", 0)})
    assert (found.shown, found.n_failed) == ((), 1)


def test_the_search_ends() -> None:
    """Every fix leads to another crash below it: three steps, and no more."""
    steps = {"old": ["1"], "1": ["2"], "2": ["3"], "3": ["4"]}
    ends = {str(n): crash(line=n + 1) for n in range(1, 5)}
    found = looked_for(steps, ends)
    assert (found.shown, found.n_failed) == ((), 1)


def test_lines_of_cells_that_run_first_are_not_the_targets() -> None:
    seen: list[int | None] = []
    ends = iter([crash("'b'", 4), THROUGH])

    def propose(source: str, last: Rehearsal) -> Proposals:
        seen.append(last.line)
        first = EarlierCell("code cell 2", "a = 1\nb = 2")
        fixes = (Fix("old\nnew" if seen[1:] else source, "Run it.", (first,)),)
        return Proposals(fixes)

    found = repaired("old\nline", crash(), propose, lambda _fix: next(ends))
    assert seen == [1, 2]
    assert len(found.shown[0].fix.first) == 2


def test_without_a_crash_there_is_nothing_to_fix() -> None:
    for told, words in (
        (None, "it was not run"),
        (THROUGH, "it ran through"),
        (Rehearsal(RehearsalEnd.STILL_RUNNING, 2.0), "it is still running"),
    ):
        found = repaired(
            "old", told, lambda *_: Proposals(()), lambda _: THROUGH
        )
        assert words in found.why_none and found.shown == ()
