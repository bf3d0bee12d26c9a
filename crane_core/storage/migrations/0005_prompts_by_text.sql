-- An instance whose state was captured anew has another prompt; that of older answers stays.
CREATE TABLE prompts_by_text (
    benchmark   VARCHAR NOT NULL,
    instance_id VARCHAR NOT NULL,
    setting     VARCHAR NOT NULL,
    origin      VARCHAR NOT NULL,
    sha256      VARCHAR NOT NULL,
    text        VARCHAR NOT NULL,
    source_id   VARCHAR NOT NULL,
    PRIMARY KEY (benchmark, instance_id, setting, origin, sha256)
);
INSERT INTO prompts_by_text SELECT * FROM prompts;
DROP TABLE prompts;
ALTER TABLE prompts_by_text RENAME TO prompts;
