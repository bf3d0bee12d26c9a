"""From stored answers to rates, differences and intervals: the frames behind Results, Ablations and Stability."""
