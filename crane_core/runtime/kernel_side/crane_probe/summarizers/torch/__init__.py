"""Objects of torch, by kind."""
