"""A comparison of runs as HTML: quality and cost of each, and who is right where, each number with its instances.

All texts of others pass `escape`. A row is a line on a wide screen and a card on a phone.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from crane_core.pipeline.results.run_comparison import Share
from crane_core.ui.runs import compared_words
from crane_core.ui.runs.votes import share_of_vote, vote_words
from crane_core.ui.words import (
    NOTHING,
    count,
    interval,
    p_words,
    percent,
    points,
    points_interval,
)

Row = Mapping[str, Any]
LinkTo = Callable[[int, Share], str]
"""From the place of a run and a share to the attribute of a link to its instances."""
HEADS = {
    "Run": "",
    "Detection accuracy": "of the majority vote, 95% interval by case",
    "Difference": "detection accuracy of the run minus that of the baseline, on the instances that both answered",
    "Outcome": "decided by the larger of two adjusted p-values",
    "Tokens": "mean per answer; of imported models the input alone",
    "USD per 1,000": "per 1,000 answers; of imported models the input alone, at list price",
    "Seconds": "median per answer; known of own runs",
}
QUALITY = ("Run", "Detection accuracy", "Difference", "Outcome")
RUN_COLOUR = "--cw-run"


def versus_html(
    runs: Sequence[Row],
    differences: Sequence[Row],
    counts: Mapping[int, Mapping[Share, int]],
    names: Sequence[str],
    colours: Mapping[str, str],
    *,
    run_links: Sequence[str],
    link_to: LinkTo,
) -> str:
    """The table; runs and differences: of `RunComparison`. counts: of each other run, by its place.

    names, run_links: of the baseline and then of the others. colours: of the others, by name.
    """
    by_place = {int(row["place"]): row for row in differences}
    costs = compared_words.known_costs(runs)
    shown = [name for name in HEADS if name in costs or name in QUALITY]
    head = "".join(
        f'<th scope="col"{_title(HEADS[name])}>{name}</th>' for name in shown
    )
    body = ""
    for run in runs:
        place = int(run["place"])
        difference = by_place.get(place)
        body += _row_html(run, difference, costs, names, run_links[place])
        if difference is not None:
            links = {share: link_to(place, share) for share in Share}
            body += _shares_html(
                counts[place],
                compared_words.share_words(names[0], names[place]),
                links,
                colours[names[place]],
                n_columns=len(shown),
            )
    return (
        f'<table class="cw-versus cw-cards"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _title(words: str) -> str:
    return f' title="{escape(words)}"' if words else ""


def _row_html(
    run: Row,
    difference: Row | None,
    costs: Sequence[str],
    names: Sequence[str],
    link: str,
) -> str:
    is_baseline = run["place"] == 0
    name = names[int(run["place"])]
    tag = ' <span class="cw-tag">baseline</span>' if is_baseline else ""
    cells = {
        "Detection accuracy": _estimate(
            percent(run["value"]), interval(run["low"], run["high"])
        ),
        "Difference": NOTHING,
        "Outcome": NOTHING,
    }
    if difference is not None:
        # Another run may have answered fewer instances than the baseline.
        there = f"{names[0]} on the same {count(int(difference['n']))} instances: {percent(difference['without'])}"
        estimate = _estimate(
            points(difference["difference"]),
            points_interval(difference["low"], difference["high"]),
        )
        cells["Difference"] = f"<span{_title(there)}>{estimate}</span>"
        p = p_words(compared_words.adjusted_p(difference))
        cells["Outcome"] = _estimate(
            escape(str(difference["outcome"])), f"p {escape(p)}"
        )
    priced = compared_words.cost_cells(run)
    cells |= {head: priced[head] for head in costs}
    told = "".join(
        f'<td data-head="{head}"{_empty(cell)}>{cell}</td>'
        for head, cell in cells.items()
    )
    css = ' class="cw-baseline"' if is_baseline else ""
    n = f"<small>n {count(int(run['n']))}</small>"
    return (
        f'<tr{css}><th scope="row"><a href="{link}">{escape(name)}</a>{tag}{n}</th>'
        f"{told}</tr>"
    )


def _estimate(value: str, beside: str) -> str:
    return f"<b>{value}</b> <small>{beside}</small>"


def _empty(cell: str) -> str:
    # A card on a phone leaves out what a cell has nothing for.
    return ' class="cw-empty"' if cell == NOTHING else ""


def _shares_html(
    counts: Mapping[Share, int],
    words: Mapping[Share, str],
    links: Mapping[Share, str],
    colour: str,
    *,
    n_columns: int,
) -> str:
    """The bar of the four shares, and each in words with its number; both open the instances."""
    bar = "".join(
        f'<a class="cw-{share}" href="{links[share]}" tabindex="-1" style="flex-grow:{n}">{count(n)}</a>'
        for share, n in counts.items()
        if n
    )
    told = "".join(
        f'<li><i class="cw-{share}"></i>'
        + _share_link(n, escape(words[share]), links[share])
        + "</li>"
        for share, n in counts.items()
    )
    return (
        f'<tr class="cw-shares" style="{RUN_COLOUR}:{colour}"><td colspan="{n_columns}">'
        f'<div class="cw-shares-bar" aria-hidden="true">{bar}</div><ul>{told}</ul></td></tr>'
    )


def _share_link(n: int, words: str, link: str) -> str:
    said = f"{words} <b>{count(n)}</b>"
    return f'<a href="{link}">{said}</a>' if n else f"<span>{said}</span>"


def instances_html(
    rows: Sequence[Row],
    names: tuple[str, str],
    heads: Sequence[str],
    *,
    link_to: Callable[[str], str],
) -> str:
    """Instances with the votes of both runs; rows: of `RunComparison.instances`. heads: of library and root cause."""
    columns = ["Instance", "Actual", *map(escape, names), *heads]
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row"><a href="{link_to(row["instance_id"])}">{escape(row["instance_id"])}</a></th>'
        f'<td data-head="Actual">{"crash" if row["truth"] else "no crash"}</td>'
        f'<td data-head="{escape(names[0])}">{_vote_html(row, "baseline")}</td>'
        f'<td data-head="{escape(names[1])}">{_vote_html(row, "other")}</td>'
        f'<td data-head="{heads[0]}">{escape(row["library_group"] or NOTHING)}</td>'
        f'<td data-head="{heads[1]}">{escape(row["root_cause"] or NOTHING)}</td></tr>'
        for row in rows
    )
    return (
        f'<table class="cw-versus cw-cards cw-instances"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _vote_html(row: Row, side: str) -> str:
    votes = {
        "n_crash": row[f"crash_{side}"],
        "n_safe": row[f"safe_{side}"],
        "truth": row["truth"],
    }
    of = share_of_vote(votes)
    return (
        f"{vote_words(votes)} <small>{of}</small>" if of else vote_words(votes)
    )
