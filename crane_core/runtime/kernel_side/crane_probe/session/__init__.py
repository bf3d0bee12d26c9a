"""What else than the target may act in this session: work beside it, hooks, modules that are not as their files are."""
