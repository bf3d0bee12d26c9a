"""What leaves the program: the evidence pack, one run, a dataset, the statistics; and how it comes back."""
