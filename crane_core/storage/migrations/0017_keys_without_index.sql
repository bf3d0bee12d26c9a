-- Keys without an index: it took four fifths of the file, and the only writer keeps keys unique itself
-- (crane_core.storage.write). DuckDB cannot drop a primary key, so each table is written anew with its comments.

CREATE TABLE instances_unindexed (
    benchmark   VARCHAR NOT NULL,
    case_id     VARCHAR NOT NULL,
    version     VARCHAR NOT NULL,
    instance_id VARCHAR NOT NULL,
    crashes     BOOLEAN NOT NULL,
    remark      VARCHAR,
    source_id   VARCHAR NOT NULL
);
INSERT INTO instances_unindexed SELECT * FROM instances;
DROP TABLE instances;
ALTER TABLE instances_unindexed RENAME TO instances;
COMMENT ON TABLE instances IS 'One notebook of a case, at the moment before its target cell runs';
COMMENT ON COLUMN instances.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN instances.case_id IS 'case, unique in its benchmark';
COMMENT ON COLUMN instances.version IS 'reproduced (crashes) or fixed';
COMMENT ON COLUMN instances.instance_id IS 'instance, named CASE_VERSION';
COMMENT ON COLUMN instances.crashes IS 'ground truth: whether the target cell crashes';
COMMENT ON COLUMN instances.remark IS 'remark of the benchmark';
COMMENT ON COLUMN instances.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE cells_unindexed (
    benchmark       VARCHAR NOT NULL,
    instance_id     VARCHAR NOT NULL,
    origin          VARCHAR NOT NULL,
    position        INTEGER NOT NULL,
    role            VARCHAR NOT NULL,
    code            VARCHAR NOT NULL,
    execution_count INTEGER,
    notebook_index  INTEGER,
    crash_line      INTEGER,
    source_id       VARCHAR NOT NULL
);
INSERT INTO cells_unindexed SELECT * FROM cells;
DROP TABLE cells;
ALTER TABLE cells_unindexed RENAME TO cells;
COMMENT ON TABLE cells IS 'Code cells of an instance, as one origin shows them';
COMMENT ON COLUMN cells.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN cells.instance_id IS 'instance, named CASE_VERSION';
COMMENT ON COLUMN cells.origin IS 'which text of the notebook; texts of different origins are not joined by position';
COMMENT ON COLUMN cells.position IS 'order of execution from 0, the target last';
COMMENT ON COLUMN cells.role IS 'executed, target or not run';
COMMENT ON COLUMN cells.code IS 'code';
COMMENT ON COLUMN cells.execution_count IS 'number that the notebook shows';
COMMENT ON COLUMN cells.notebook_index IS 'code cells of the notebook, counted from 0';
COMMENT ON COLUMN cells.crash_line IS 'line of the crash in this cell, from 1';
COMMENT ON COLUMN cells.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE kernel_states_unindexed (
    benchmark   VARCHAR NOT NULL,
    instance_id VARCHAR NOT NULL,
    setting     VARCHAR NOT NULL,
    origin      VARCHAR NOT NULL,
    state       JSON NOT NULL,
    n_variables INTEGER NOT NULL,
    is_literal  BOOLEAN NOT NULL,
    source_id   VARCHAR NOT NULL
);
INSERT INTO kernel_states_unindexed SELECT * FROM kernel_states;
DROP TABLE kernel_states;
ALTER TABLE kernel_states_unindexed RENAME TO kernel_states;
COMMENT ON TABLE kernel_states IS 'The relevant part of the live kernel before the target cell';
COMMENT ON COLUMN kernel_states.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN kernel_states.instance_id IS 'instance, named CASE_VERSION';
COMMENT ON COLUMN kernel_states.setting IS
    'what it was shown besides the code: code, runtime, runtime-S, runtime-R, runtime-V, runtime+docs or runtime+';
COMMENT ON COLUMN kernel_states.origin IS
    'which text of the notebook; texts of different origins are not joined by position';
COMMENT ON COLUMN kernel_states.state IS
    'JSON: variables with structure, representation and values, accesses, absences';
COMMENT ON COLUMN kernel_states.n_variables IS 'variables in it';
COMMENT ON COLUMN kernel_states.is_literal IS 'false if a published block holds what Python cannot evaluate';
COMMENT ON COLUMN kernel_states.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE prompts_unindexed (
    benchmark   VARCHAR NOT NULL,
    instance_id VARCHAR NOT NULL,
    setting     VARCHAR NOT NULL,
    origin      VARCHAR NOT NULL,
    sha256      VARCHAR NOT NULL,
    text        VARCHAR NOT NULL,
    source_id   VARCHAR NOT NULL
);
INSERT INTO prompts_unindexed SELECT * FROM prompts;
DROP TABLE prompts;
ALTER TABLE prompts_unindexed RENAME TO prompts;
COMMENT ON TABLE prompts IS 'The exact texts that detectors were shown';
COMMENT ON COLUMN prompts.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN prompts.instance_id IS 'instance, named CASE_VERSION';
COMMENT ON COLUMN prompts.setting IS
    'what it was shown besides the code: code, runtime, runtime-S, runtime-R, runtime-V, runtime+docs or runtime+';
COMMENT ON COLUMN prompts.origin IS 'which text of the notebook; texts of different origins are not joined by position';
COMMENT ON COLUMN prompts.sha256 IS 'SHA-256 of the bytes';
COMMENT ON COLUMN prompts.text IS 'the text';
COMMENT ON COLUMN prompts.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE runs_unindexed (
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
    source_id     VARCHAR NOT NULL
);
INSERT INTO runs_unindexed SELECT * FROM runs;
DROP TABLE runs;
ALTER TABLE runs_unindexed RENAME TO runs;
COMMENT ON TABLE runs IS 'One answer of a detector to one instance';
COMMENT ON COLUMN runs.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN runs.instance_id IS 'instance, named CASE_VERSION';
COMMENT ON COLUMN runs.detector IS 'detector';
COMMENT ON COLUMN runs.setting IS
    'what it was shown besides the code: code, runtime, runtime-S, runtime-R, runtime-V, runtime+docs or runtime+';
COMMENT ON COLUMN runs.experiment IS
    'release or job that the answer belongs to; repeats of a study are not mixed in one vote';
COMMENT ON COLUMN runs.run_index IS 'from 1; 0 means that the detector was never asked';
COMMENT ON COLUMN runs.crashes IS 'whether a crash is predicted, null without a readable answer';
COMMENT ON COLUMN runs.reasoning IS 'the detector''s diagnosis';
COMMENT ON COLUMN runs.unanswered IS 'why no answer can be read';
COMMENT ON COLUMN runs.diagnostics IS 'JSON: what an analyzer or the rules found';
COMMENT ON COLUMN runs.prompt_sha256 IS 'SHA-256 of the prompt''s UTF-8 bytes';
COMMENT ON COLUMN runs.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE judgements_unindexed (
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
    guideline      VARCHAR,
    campaign       VARCHAR
);
INSERT INTO judgements_unindexed SELECT * FROM judgements;
DROP TABLE judgements;
ALTER TABLE judgements_unindexed RENAME TO judgements;
COMMENT ON TABLE judgements IS 'A label of a verdict or of one run, by a person or a judge';
COMMENT ON COLUMN judgements.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN judgements.instance_id IS 'instance, named CASE_VERSION';
COMMENT ON COLUMN judgements.detector IS 'detector';
COMMENT ON COLUMN judgements.setting IS
    'what it was shown besides the code: code, runtime, runtime-S, runtime-R, runtime-V, runtime+docs or runtime+';
COMMENT ON COLUMN judgements.experiment IS
    'release or job that the answer belongs to; repeats of a study are not mixed in one vote';
COMMENT ON COLUMN judgements.annotator IS 'who labelled';
COMMENT ON COLUMN judgements.annotator_kind IS 'human or judge';
COMMENT ON COLUMN judgements.label IS
    'correct, partial, wrong, misdetected, unverifiable, or a code of the campaign''s own labels';
COMMENT ON COLUMN judgements.run_index IS 'run that is labelled, from 1; 0 means the verdict of all runs';
COMMENT ON COLUMN judgements.repetition IS 'from 1; a judge may be asked again';
COMMENT ON COLUMN judgements.presentation IS 'order of the two texts that a judge was shown: normal or reversed';
COMMENT ON COLUMN judgements.note IS 'remark of the annotator';
COMMENT ON COLUMN judgements.source_id IS 'source that the row came from, or that of the ledger';
COMMENT ON COLUMN judgements.guideline IS 'version that a judge was shown, null if none';
COMMENT ON COLUMN judgements.campaign IS 'campaign whose own labels a judge gave, else null';
