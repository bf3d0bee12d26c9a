"""The door to models: asks any OpenAI-compatible endpoint, as often and as dearly as it is told, and nothing else."""
