"""Care of an installation: diagnosis, backup, copies for replicas, what can be removed."""
