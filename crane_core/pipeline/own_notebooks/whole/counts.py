"""How many notebooks have which problem: what the last line of a report says and what the exit code follows."""

from collections.abc import Sequence

from crane_core.pipeline.own_notebooks.whole import cell_results


def n_with(
    results: Sequence[cell_results.NotebookResult],
    *kinds: cell_results.CellProblemKind,
) -> int:
    """The number of notebooks that have a problem of one of these kinds."""
    return sum(
        any(problem.kind in kinds for problem in result.problems)
        for result in results
    )


def n_with_crash(results: Sequence[cell_results.NotebookResult]) -> int:
    """Notebooks with a crash, a predicted one, or a name that a fresh run lacks."""
    return n_with(
        results,
        cell_results.CellProblemKind.CRASH,
        cell_results.CellProblemKind.PREDICTED,
        cell_results.CellProblemKind.ORDER,
    )


def counts_in_words(results: Sequence[cell_results.NotebookResult]) -> str:
    """One line; what is 0 is left out, except the crashes."""
    n = len(results)
    n_crashed = n_with(results, cell_results.CellProblemKind.CRASH)
    told = [f"{n_crashed:,} crashed"]
    for kind, words in (
        (cell_results.CellProblemKind.PREDICTED, "with a predicted crash"),
        (cell_results.CellProblemKind.ORDER, "in need of another order"),
        (cell_results.CellProblemKind.NOT_CHECKED, "not checked"),
    ):
        n_of_kind = n_with(results, kind)
        told += [f"{n_of_kind:,} {words}"] if n_of_kind else []
    return f"{n:,} {'notebook' if n == 1 else 'notebooks'}: {', '.join(told)}"
