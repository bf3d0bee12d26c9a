"""The door to people: who is listed, who is who they say, and what each may do. Knows nothing of pages."""
