CREATE TABLE judge_jobs (
    job        VARCHAR PRIMARY KEY,
    benchmark  VARCHAR NOT NULL,
    experiment VARCHAR NOT NULL,
    annotator  VARCHAR NOT NULL,
    options    VARCHAR NOT NULL,
    started_at VARCHAR NOT NULL,
    source_id  VARCHAR NOT NULL
);
CREATE TABLE judge_replies (
    job           VARCHAR NOT NULL,
    benchmark     VARCHAR NOT NULL,
    instance_id   VARCHAR NOT NULL,
    detector      VARCHAR NOT NULL,
    setting       VARCHAR NOT NULL,
    experiment    VARCHAR NOT NULL,
    annotator     VARCHAR NOT NULL,
    run_index     INTEGER NOT NULL,
    repetition    INTEGER NOT NULL,
    presentation  VARCHAR NOT NULL,
    prompt        VARCHAR NOT NULL,
    answered_at   VARCHAR NOT NULL,
    text          VARCHAR,
    trouble       VARCHAR,
    finish_reason VARCHAR,
    seconds       DOUBLE,
    attempts      INTEGER NOT NULL,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    usd           DOUBLE,
    source_id     VARCHAR NOT NULL,
    PRIMARY KEY (job, benchmark, instance_id, detector, setting, experiment, run_index, repetition, presentation)
);
