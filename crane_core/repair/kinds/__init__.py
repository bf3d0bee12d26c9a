"""Remedies by kind of crash: each file has `propose(site)`, which yields the fixes that it is certain of."""
