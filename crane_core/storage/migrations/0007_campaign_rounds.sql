CREATE TABLE campaign_rounds (
    campaign  VARCHAR NOT NULL,
    made_at   VARCHAR NOT NULL,
    round     VARCHAR NOT NULL,
    source_id VARCHAR NOT NULL,
    PRIMARY KEY (campaign, made_at)
);
