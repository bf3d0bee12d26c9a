"""Putting a kernel back to before a cell: a waiting copy of it, what differs from that copy, and how it is restored."""
