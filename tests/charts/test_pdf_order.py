"""A PDF whose objects are numbered in another order is the same file afterwards."""

from __future__ import annotations

from crane_core.charts.paper_figure import in_order


def pdf(numbers: dict[str, int]) -> bytes:
    """A page with two fonts and a stream that looks like a reference, its objects under these numbers."""
    n = numbers
    objects = {
        n["root"]: f"<<\n /Pages {n['page']} 0 R\n>>",
        n["page"]: f"<<\n  /f1 {n['bold']} 0 R\n  /f0 {n['plain']} 0 R\n>>",
        n["plain"]: "<< /Length 5 >>\nstream\n9 0 R\nendstream",
        n["bold"]: "<< /Font /Bold >>",
    }
    written, offsets = b"%PDF-1.7\n", []
    for number, text in sorted(objects.items()):
        offsets.append(len(written))
        written += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{offset:010d} 00000 n\r\n" for offset in offsets)
    end = f"trailer\n<<\n  /Size 5\n  /Root {n['root']} 0 R\n>>\n"
    start = len(written)
    return (
        written
        + f"xref\n0 5\n0000000000 65535 f\r\n{table}{end}".encode()
        + f"startxref\n{start}\n%%EOF".encode()
    )


def test_numbers_follow_the_way_of_a_reader_and_streams_stay() -> None:
    one = pdf({"root": 4, "page": 3, "plain": 1, "bold": 2})
    other = pdf({"root": 4, "page": 3, "plain": 2, "bold": 1})
    assert one != other
    settled = in_order(one)
    assert settled == in_order(other) == in_order(settled)
    assert settled.index(b"3 0 obj\n<< /Length 5 >>\nstream\n9 0 R") > 0
    assert b"/Root 1 0 R" in settled


def test_the_table_says_where_each_object_is() -> None:
    settled = in_order(pdf({"root": 2, "page": 1, "plain": 4, "bold": 3}))
    start = int(settled[settled.rindex(b"startxref") :].split()[1])
    assert settled[start:].startswith(b"xref\n0 5\n")
    lines = settled[start:].splitlines()[3:7]
    for number, line in enumerate(lines, start=1):
        place = int(line.split()[0])
        assert settled[place:].startswith(f"{number} 0 obj".encode())
