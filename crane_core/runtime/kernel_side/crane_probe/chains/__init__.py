"""What the target needs of the kernel, and where its chains lead, followed by what objects store."""
