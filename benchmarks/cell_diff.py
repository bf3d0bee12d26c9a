"""Aligning long texts against plain difflib on the same lines: equal stretches must not cost minutes.

python -m benchmarks.cell_diff
"""

from __future__ import annotations

from difflib import SequenceMatcher

from benchmarks._timing import machine, timed
from crane_core.celldiff import align_cells, align_lines

LIMIT_S = 2.0
N_EQUAL = 4_000
"""Equal lines in a row for both; difflib's time grows with the square, so this stays small."""


def main() -> None:
    left = "x = 1\n" * N_EQUAL + "y\n" + "z = 1\n" * (N_EQUAL // 2)
    right = "w\n" + left
    lines = left.splitlines(), right.splitlines()
    peer_s, _ = timed(
        lambda: SequenceMatcher(None, *lines, autojunk=False).get_opcodes()
    )
    ours_s, _ = timed(lambda: align_lines(left, right))
    print(machine())
    print(
        f"{len(left.splitlines()):,} lines, most of them equal: ours {ours_s:.3f} s, difflib {peer_s:.3f} s"
    )
    print(f"ratio ours / difflib {ours_s / peer_s:.3f}")
    many = [f"x{i} = {i}\n" * 20 for i in range(120)]
    many_s, _ = timed(lambda: align_cells(many, [cell + "z" for cell in many]))
    huge_s, _ = timed(lambda: align_cells(["a" * 3_000_000], ["b" * 3_000_000]))
    print(
        f"120 changed cells: {many_s:.2f} s; two cells of 3,000,000 letters: {huge_s:.2f} s; limit {LIMIT_S} s"
    )
    print(f"share of the limit {max(many_s, huge_s) / LIMIT_S:.2f}")


if __name__ == "__main__":
    main()
