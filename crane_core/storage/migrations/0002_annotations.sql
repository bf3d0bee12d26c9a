CREATE TABLE campaign_locks (
    campaign  VARCHAR PRIMARY KEY,
    locked_at VARCHAR NOT NULL,
    locked_by VARCHAR NOT NULL,
    source_id VARCHAR NOT NULL
);
CREATE TABLE annotations (
    campaign        VARCHAR NOT NULL,
    annotator       VARCHAR NOT NULL,
    event           VARCHAR NOT NULL,
    sequence        INTEGER NOT NULL,
    action          VARCHAR NOT NULL,
    item            VARCHAR NOT NULL,
    showing         INTEGER NOT NULL,
    guideline       VARCHAR NOT NULL,
    submitted_at    VARCHAR NOT NULL,
    label           VARCHAR,
    reason          VARCHAR,
    note            VARCHAR,
    shown_at        VARCHAR,
    first_action_at VARCHAR,
    seconds         DOUBLE,
    source_id       VARCHAR NOT NULL,
    PRIMARY KEY (campaign, annotator, event)
);
