CREATE TABLE campaign_guidelines (
    campaign   VARCHAR NOT NULL,
    changed_at VARCHAR NOT NULL,
    changed_by VARCHAR NOT NULL,
    text       VARCHAR NOT NULL,
    source_id  VARCHAR NOT NULL,
    PRIMARY KEY (campaign, changed_at, changed_by)
);
