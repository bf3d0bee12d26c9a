"""People: who is listed, how their identity is proved, and what each may do. Knows nothing of pages."""
