"""The annotation protocol: plans, samples, orders, journals, outcomes. Plain values in, plain values out; no files."""
