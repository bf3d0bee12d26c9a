"""The page of runs: what ran, what it took, what each answer was, and starting one."""
