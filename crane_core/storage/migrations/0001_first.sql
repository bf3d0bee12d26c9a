CREATE TABLE sources (
    source_id   VARCHAR PRIMARY KEY,
    kind        VARCHAR NOT NULL,
    name        VARCHAR NOT NULL,
    sha256      VARCHAR NOT NULL,
    n_bytes     BIGINT NOT NULL,
    imported_at TIMESTAMP,
    n_problems  INTEGER NOT NULL
);
CREATE TABLE source_counts (
    source_id VARCHAR NOT NULL,
    record    VARCHAR NOT NULL,
    n_read    INTEGER NOT NULL,
    n_new     INTEGER NOT NULL,
    PRIMARY KEY (source_id, record)
);
CREATE TABLE load_problems (
    source_id VARCHAR NOT NULL,
    ordinal   INTEGER NOT NULL,
    kind      VARCHAR NOT NULL,
    path      VARCHAR NOT NULL,
    place     VARCHAR NOT NULL,
    reason    VARCHAR NOT NULL,
    PRIMARY KEY (source_id, ordinal)
);
CREATE TABLE ledger_files (
    path           VARCHAR PRIMARY KEY,
    loaded_bytes   BIGINT NOT NULL,
    last_line_from BIGINT NOT NULL,
    last_line_sha  VARCHAR NOT NULL
);
CREATE TABLE benchmarks (
    benchmark VARCHAR PRIMARY KEY,
    title     VARCHAR NOT NULL,
    licence   VARCHAR,
    url       VARCHAR,
    source_id VARCHAR NOT NULL
);
CREATE TABLE cases (
    benchmark  VARCHAR NOT NULL,
    case_id    VARCHAR NOT NULL,
    library    VARCHAR,
    root_cause VARCHAR,
    exception  VARCHAR,
    crash_type VARCHAR,
    stage      VARCHAR,
    message    VARCHAR,
    traceback  VARCHAR,
    diagnosis  VARCHAR,
    source_id  VARCHAR NOT NULL,
    PRIMARY KEY (benchmark, case_id)
);
CREATE TABLE instances (
    benchmark   VARCHAR NOT NULL,
    case_id     VARCHAR NOT NULL,
    version     VARCHAR NOT NULL,
    instance_id VARCHAR NOT NULL,
    crashes     BOOLEAN NOT NULL,
    remark      VARCHAR,
    source_id   VARCHAR NOT NULL,
    PRIMARY KEY (benchmark, instance_id)
);
CREATE TABLE cells (
    benchmark       VARCHAR NOT NULL,
    instance_id     VARCHAR NOT NULL,
    origin          VARCHAR NOT NULL,
    position        INTEGER NOT NULL,
    role            VARCHAR NOT NULL,
    code            VARCHAR NOT NULL,
    execution_count INTEGER,
    notebook_index  INTEGER,
    crash_line      INTEGER,
    source_id       VARCHAR NOT NULL,
    PRIMARY KEY (benchmark, instance_id, origin, position)
);
CREATE TABLE kernel_states (
    benchmark   VARCHAR NOT NULL,
    instance_id VARCHAR NOT NULL,
    setting     VARCHAR NOT NULL,
    origin      VARCHAR NOT NULL,
    state       JSON NOT NULL,
    n_variables INTEGER NOT NULL,
    is_literal  BOOLEAN NOT NULL,
    source_id   VARCHAR NOT NULL,
    PRIMARY KEY (benchmark, instance_id, setting, origin)
);
CREATE TABLE prompts (
    benchmark   VARCHAR NOT NULL,
    instance_id VARCHAR NOT NULL,
    setting     VARCHAR NOT NULL,
    origin      VARCHAR NOT NULL,
    sha256      VARCHAR NOT NULL,
    text        VARCHAR NOT NULL,
    source_id   VARCHAR NOT NULL,
    PRIMARY KEY (benchmark, instance_id, setting, origin)
);
CREATE TABLE detectors (
    detector  VARCHAR PRIMARY KEY,
    title     VARCHAR NOT NULL,
    kind      VARCHAR NOT NULL,
    source_id VARCHAR NOT NULL
);
CREATE TABLE runs (
    benchmark     VARCHAR NOT NULL,
    instance_id   VARCHAR NOT NULL,
    detector      VARCHAR NOT NULL,
    setting       VARCHAR NOT NULL,
    experiment    VARCHAR NOT NULL,
    run_index     INTEGER NOT NULL,
    crashes       BOOLEAN,
    reasoning     VARCHAR,
    unanswered    VARCHAR,
    diagnostics   VARCHAR,
    prompt_sha256 VARCHAR,
    source_id     VARCHAR NOT NULL,
    PRIMARY KEY (benchmark, instance_id, detector, setting, experiment, run_index)
);
CREATE TABLE judgements (
    benchmark      VARCHAR NOT NULL,
    instance_id    VARCHAR NOT NULL,
    detector       VARCHAR NOT NULL,
    setting        VARCHAR NOT NULL,
    experiment     VARCHAR NOT NULL,
    annotator      VARCHAR NOT NULL,
    annotator_kind VARCHAR NOT NULL,
    label          VARCHAR NOT NULL,
    run_index      INTEGER NOT NULL,
    repetition     INTEGER NOT NULL,
    presentation   VARCHAR NOT NULL,
    note           VARCHAR,
    source_id      VARCHAR NOT NULL,
    PRIMARY KEY (benchmark, instance_id, detector, setting, experiment, annotator, run_index, repetition, presentation)
);
CREATE TABLE campaigns (
    campaign  VARCHAR PRIMARY KEY,
    plan      JSON NOT NULL,
    source_id VARCHAR NOT NULL
);
CREATE TABLE published_numbers (
    publication VARCHAR NOT NULL,
    table_id    VARCHAR NOT NULL,
    row         VARCHAR NOT NULL,
    "column"    VARCHAR NOT NULL,
    printed     VARCHAR NOT NULL,
    unit        VARCHAR NOT NULL,
    source_id   VARCHAR NOT NULL,
    ordinal     INTEGER NOT NULL,
    PRIMARY KEY (publication, table_id, row, "column")
);
