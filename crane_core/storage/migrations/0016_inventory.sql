CREATE TABLE inventory_acts (
    kind      VARCHAR NOT NULL,
    name      VARCHAR NOT NULL,
    action    VARCHAR NOT NULL,
    acted_at  VARCHAR NOT NULL,
    acted_by  VARCHAR NOT NULL,
    title     VARCHAR,
    held      VARCHAR,
    source_id VARCHAR NOT NULL,
    PRIMARY KEY (kind, name, acted_at, action)
);

COMMENT ON TABLE inventory_acts IS 'What was removed, restored or renamed; what is removed is not loaded';
COMMENT ON COLUMN inventory_acts.kind IS 'benchmark, source, run or campaign';
COMMENT ON COLUMN inventory_acts.name IS 'its id';
COMMENT ON COLUMN inventory_acts.action IS 'remove, restore or rename';
COMMENT ON COLUMN inventory_acts.acted_at IS 'ISO 8601, UTC';
COMMENT ON COLUMN inventory_acts.acted_by IS 'who did it';
COMMENT ON COLUMN inventory_acts.title IS 'its new name, for people';
COMMENT ON COLUMN inventory_acts.held IS 'what it held when it was removed, in words';
COMMENT ON COLUMN inventory_acts.source_id IS 'source that the row came from, or that of the ledger';
