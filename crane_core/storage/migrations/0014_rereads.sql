CREATE TABLE rereads (
    job               VARCHAR NOT NULL,
    benchmark         VARCHAR NOT NULL,
    instance_id       VARCHAR NOT NULL,
    detector          VARCHAR NOT NULL,
    setting           VARCHAR NOT NULL,
    run_index         INTEGER NOT NULL,
    read_at           VARCHAR NOT NULL,
    crashes_before    BOOLEAN,
    unanswered_before VARCHAR,
    crashes_after     BOOLEAN,
    unanswered_after  VARCHAR,
    source_id         VARCHAR NOT NULL,
    PRIMARY KEY (job, benchmark, instance_id, run_index, read_at)
);
COMMENT ON TABLE rereads IS 'What replies were read as when they were loaded, where a later reading says something else';
COMMENT ON COLUMN rereads.job IS 'job';
COMMENT ON COLUMN rereads.benchmark IS 'benchmark';
COMMENT ON COLUMN rereads.instance_id IS 'instance';
COMMENT ON COLUMN rereads.detector IS 'detector';
COMMENT ON COLUMN rereads.setting IS 'what the detector was shown besides the code';
COMMENT ON COLUMN rereads.run_index IS 'which of the runs, counted from 1';
COMMENT ON COLUMN rereads.read_at IS 'when it was read again; ISO 8601, UTC';
COMMENT ON COLUMN rereads.crashes_before IS 'the verdict before; null if none could be read';
COMMENT ON COLUMN rereads.unanswered_before IS 'why there was no verdict before';
COMMENT ON COLUMN rereads.crashes_after IS 'the verdict from then on; null if none can be read';
COMMENT ON COLUMN rereads.unanswered_after IS 'why there is none from then on';
COMMENT ON COLUMN rereads.source_id IS 'source that the row came from, or that of the ledger';
