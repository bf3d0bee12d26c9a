CREATE TABLE key_choices (
    annotator VARCHAR NOT NULL,
    chosen_at VARCHAR NOT NULL,
    chosen    VARCHAR NOT NULL,
    source_id VARCHAR NOT NULL,
    PRIMARY KEY (annotator, chosen_at)
);
COMMENT ON TABLE key_choices IS 'Keys that a person chose for labelling and deciding; the last row of a person is in force';
COMMENT ON COLUMN key_choices.annotator IS 'whose keys';
COMMENT ON COLUMN key_choices.chosen_at IS 'in force from then on; ISO 8601, UTC';
COMMENT ON COLUMN key_choices.chosen IS 'JSON: whether single keys are off, and the key of each changed action';
COMMENT ON COLUMN key_choices.source_id IS 'source that the row came from, or that of the ledger';
