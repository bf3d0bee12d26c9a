"""Code of the notebook in a copy of the kernel: forked, cut off, and what it did there."""
