"""Access to models: sends requests to any OpenAI-compatible endpoint, within the caller's limits of number and cost."""
