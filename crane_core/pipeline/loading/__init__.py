"""From sources and ledger into the database: what is imported, under which edition, what is lost or replaced."""
