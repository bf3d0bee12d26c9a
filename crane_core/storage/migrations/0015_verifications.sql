CREATE TABLE verifications (
    benchmark   VARCHAR NOT NULL,
    case_id     VARCHAR NOT NULL,
    version     VARCHAR NOT NULL,
    environment VARCHAR NOT NULL,
    content     VARCHAR NOT NULL,
    python      VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL,
    verified_at VARCHAR NOT NULL,
    seconds     DOUBLE,
    recorded    VARCHAR,
    exception   VARCHAR,
    message     VARCHAR,
    cell        INTEGER,
    why         VARCHAR,
    source_id   VARCHAR NOT NULL,
    PRIMARY KEY (benchmark, case_id, version, environment)
);

COMMENT ON TABLE verifications IS 'Notebooks of pairs that were executed, the newest outcome of each in each environment';
COMMENT ON COLUMN verifications.benchmark IS 'benchmark';
COMMENT ON COLUMN verifications.case_id IS 'case';
COMMENT ON COLUMN verifications.version IS 'reproduced (crashes) or fixed';
COMMENT ON COLUMN verifications.environment IS 'digest of the interpreter and its packages';
COMMENT ON COLUMN verifications.content IS 'sha256 of the notebook, its claim and the files beside it';
COMMENT ON COLUMN verifications.python IS 'version of the interpreter';
COMMENT ON COLUMN verifications.outcome IS 'as recorded, cannot run here, stopped at a limit, or in which way the pair is not what it claims to be';
COMMENT ON COLUMN verifications.verified_at IS 'ISO 8601, UTC';
COMMENT ON COLUMN verifications.seconds IS 'wall time of all cells; null if none ran';
COMMENT ON COLUMN verifications.recorded IS 'exception that the crashing notebook claims';
COMMENT ON COLUMN verifications.exception IS 'exception that was raised';
COMMENT ON COLUMN verifications.message IS 'its message';
COMMENT ON COLUMN verifications.cell IS 'code cell that ended it, counted from 0';
COMMENT ON COLUMN verifications.why IS 'reason, for people';
COMMENT ON COLUMN verifications.source_id IS 'source that the row came from, or that of the ledger';
