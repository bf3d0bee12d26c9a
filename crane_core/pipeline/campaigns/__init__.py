"""Annotation campaigns: drawn, planned, labelled, adjudicated; kept in the ledger."""
