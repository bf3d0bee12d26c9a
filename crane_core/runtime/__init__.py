"""The door to kernels: starts one, brings it to the moment before the target, looks at it, ends it."""
