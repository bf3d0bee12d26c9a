CREATE TABLE campaign_messages (
    campaign   VARCHAR NOT NULL,
    event      VARCHAR NOT NULL,
    annotator  VARCHAR NOT NULL,
    item       VARCHAR NOT NULL,
    showing    INTEGER NOT NULL,
    action     VARCHAR NOT NULL,
    side       VARCHAR NOT NULL,
    written_by VARCHAR NOT NULL,
    written_at VARCHAR NOT NULL,
    text       VARCHAR,
    flag       VARCHAR,
    source_id  VARCHAR NOT NULL,
    PRIMARY KEY (campaign, event)
);
