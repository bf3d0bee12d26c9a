"""In which order the showings that wait come, when a repeat has to keep its distance from the first showing.

Planned in one pass: a campaign of 20,000 items is planned again at every save, so nothing here may look twice at each.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush

from crane_core.annotation.order import GAP, Showing


def upcoming(
    labelled: Sequence[Showing], waiting: Iterable[Showing]
) -> Iterator[Showing]:
    """The showings of `waiting`, each as soon as it may come, as if those before it were labelled in turn.

    First showings may always come; a repeat once its first one is labelled and GAP others since. A repeat that has been
    passed over comes before all that follow it in `waiting`, and never if the others run out. The planning
    counts as labels because browsers fetch some items ahead, where the gap must hold too.
    """
    passed = _Passed(labelled)
    for place, showing in enumerate(waiting):
        if passed.is_any_due():
            yield from passed.now_due()
        if showing.showing == 1:
            passed.count(showing)
            yield showing
        else:
            passed.add(place, showing)
    yield from passed.now_due()


class _Passed:
    """Repeats that had to wait, and what has been labelled or planned by now."""

    def __init__(self, labelled: Sequence[Showing]) -> None:
        self._n = len(labelled)
        self._at: dict[str, int] = {}
        for place, showing in enumerate(labelled):
            if showing.showing == 1:
                self._at[showing.item] = place
        self._without_first: dict[str, list[tuple[int, Showing]]] = {}
        # By the number of labels from which each may come, and those that may, by their places among the waiting.
        self._not_due: list[tuple[int, int, Showing]] = []
        self._due: list[tuple[int, Showing]] = []

    def count(self, showing: Showing) -> None:
        """One more is labelled."""
        if showing.showing == 1:
            self._at[showing.item] = self._n
            for place, repeat in self._without_first.pop(showing.item, ()):
                self._wait(place, repeat)
        self._n += 1

    def add(self, place: int, repeat: Showing) -> None:
        """A repeat with this place among the waiting."""
        if repeat.item in self._at:
            self._wait(place, repeat)
        else:
            unknown = self._without_first.setdefault(repeat.item, [])
            unknown.append((place, repeat))

    def is_any_due(self) -> bool:
        """Whether one may come now; almost never true, and called for each showing."""
        if not self._not_due:
            return False
        due, _, _ = self._not_due[0]
        return due <= self._n

    def now_due(self) -> Iterator[Showing]:
        """The repeats that may come now, counted; each may make others due."""
        while True:
            while self.is_any_due():
                _, place, repeat = heappop(self._not_due)
                heappush(self._due, (place, repeat))
            if not self._due:
                return
            _, repeat = heappop(self._due)
            self.count(repeat)
            yield repeat

    def _wait(self, place: int, repeat: Showing) -> None:
        due = self._at[repeat.item] + GAP + 1
        heappush(self._not_due, (due, place, repeat))
