"""What pages compute is kept while its token stays the same, and no two functions share what they keep."""

from __future__ import annotations

from crane_core.ui.data import kept


def test_results_are_kept_by_function_argument_and_token() -> None:
    token, made = ["loaded"], []

    @kept(lambda: token[0])
    def shared(n: int) -> list[int]:
        made.append(("shared", n))
        return [n]

    @kept(lambda: token[0], copied=True)
    def own(n: int) -> list[int]:
        made.append(("own", n))
        return [n]

    assert shared(1) is shared(1)
    assert own(1) == [1]
    assert own(1) is not own(1)
    assert shared(2) == [2]
    token[0] = "loaded more"
    assert shared(1) == own(1) == [1]
    assert made == [
        ("shared", 1),
        ("own", 1),
        ("shared", 2),
        ("shared", 1),
        ("own", 1),
    ]
