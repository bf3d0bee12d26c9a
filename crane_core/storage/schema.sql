-- Every table and view, with what each column holds. A change here raises VERSION in schema.py: a database of another
-- version is built again from sources and ledger.
--
-- The large tables have no PRIMARY KEY: an index of their keys took four fifths of the file, and the only writer keeps
-- keys unique itself (crane_core.storage.write).

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
    received_at     VARCHAR,
    source          VARCHAR,
    PRIMARY KEY (campaign, annotator, event)
);
COMMENT ON TABLE annotations IS
    'One act of an annotator on an item of a campaign; nothing is edited, later acts replace earlier ones';
COMMENT ON COLUMN annotations.campaign IS 'campaign';
COMMENT ON COLUMN annotations.annotator IS 'who labelled';
COMMENT ON COLUMN annotations.event IS 'id of the act, made where the key was pressed';
COMMENT ON COLUMN annotations.sequence IS 'acts of the annotator in this campaign, counted from 1';
COMMENT ON COLUMN annotations.action IS 'label, reason, note, undo, skip, flag, unflag or adjudicate';
COMMENT ON COLUMN annotations.item IS 'the campaign''s own name of the item; it tells nothing of detector or setting';
COMMENT ON COLUMN annotations.showing IS '1, or 2 where the item comes back as a hidden repeat';
COMMENT ON COLUMN annotations.guideline IS 'version in force';
COMMENT ON COLUMN annotations.submitted_at IS 'ISO 8601, UTC, by the browser''s clock';
COMMENT ON COLUMN annotations.label IS 'code of the campaign''s label set';
COMMENT ON COLUMN annotations.reason IS 'code of the reason for the label';
COMMENT ON COLUMN annotations.note IS 'remark of the annotator';
COMMENT ON COLUMN annotations.shown_at IS 'ISO 8601, UTC, by the browser''s clock';
COMMENT ON COLUMN annotations.first_action_at IS 'ISO 8601, UTC, by the browser''s clock';
COMMENT ON COLUMN annotations.seconds IS 'how long the item was in sight, idle time capped';
COMMENT ON COLUMN annotations.source_id IS 'source that the row came from, or that of the ledger';
COMMENT ON COLUMN annotations.received_at IS 'ISO 8601, UTC, by the server''s clock; null in old acts';
COMMENT ON COLUMN annotations.source IS 'file that the act was imported from, null if it was done here';

CREATE TABLE benchmarks (
    benchmark   VARCHAR PRIMARY KEY,
    title       VARCHAR NOT NULL,
    licence     VARCHAR,
    url         VARCHAR,
    varied_from VARCHAR,
    source_id   VARCHAR NOT NULL
);
COMMENT ON TABLE benchmarks IS 'Collections of cases';
COMMENT ON COLUMN benchmarks.benchmark IS 'id of the benchmark';
COMMENT ON COLUMN benchmarks.title IS 'name, for people';
COMMENT ON COLUMN benchmarks.licence IS 'licence';
COMMENT ON COLUMN benchmarks.url IS 'address';
COMMENT ON COLUMN benchmarks.varied_from IS
    'benchmark whose cases these are copies of, with other names and numbers; null for others';
COMMENT ON COLUMN benchmarks.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE campaign_guidelines (
    campaign   VARCHAR NOT NULL,
    changed_at VARCHAR NOT NULL,
    changed_by VARCHAR NOT NULL,
    text       VARCHAR NOT NULL,
    source_id  VARCHAR NOT NULL,
    PRIMARY KEY (campaign, changed_at, changed_by)
);
COMMENT ON TABLE campaign_guidelines IS 'Versions of a campaign''s guideline after the one in its plan';
COMMENT ON COLUMN campaign_guidelines.campaign IS 'campaign';
COMMENT ON COLUMN campaign_guidelines.changed_at IS 'in force from then on; ISO 8601, UTC';
COMMENT ON COLUMN campaign_guidelines.changed_by IS 'who changed it';
COMMENT ON COLUMN campaign_guidelines.text IS 'Markdown';
COMMENT ON COLUMN campaign_guidelines.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE campaign_locks (
    campaign  VARCHAR PRIMARY KEY,
    locked_at VARCHAR NOT NULL,
    locked_by VARCHAR NOT NULL,
    source_id VARCHAR NOT NULL
);
COMMENT ON TABLE campaign_locks IS 'The ends of campaigns';
COMMENT ON COLUMN campaign_locks.campaign IS 'campaign';
COMMENT ON COLUMN campaign_locks.locked_at IS 'ISO 8601, UTC';
COMMENT ON COLUMN campaign_locks.locked_by IS 'who locked it';
COMMENT ON COLUMN campaign_locks.source_id IS 'source that the row came from, or that of the ledger';

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
COMMENT ON TABLE campaign_messages IS 'Messages about an item between an annotator and the lead';
COMMENT ON COLUMN campaign_messages.campaign IS 'campaign';
COMMENT ON COLUMN campaign_messages.event IS 'id of the message';
COMMENT ON COLUMN campaign_messages.annotator IS 'annotator whose item it is';
COMMENT ON COLUMN campaign_messages.item IS
    'the campaign''s own name of the item; it tells nothing of detector or setting';
COMMENT ON COLUMN campaign_messages.showing IS '1, or 2 where the item comes back as a hidden repeat';
COMMENT ON COLUMN campaign_messages.action IS 'write or resolve';
COMMENT ON COLUMN campaign_messages.side IS 'annotator or lead';
COMMENT ON COLUMN campaign_messages.written_by IS 'who wrote it';
COMMENT ON COLUMN campaign_messages.written_at IS 'ISO 8601, UTC';
COMMENT ON COLUMN campaign_messages.text IS 'the message; null for a resolution';
COMMENT ON COLUMN campaign_messages.flag IS 'event of the flag that stood then';
COMMENT ON COLUMN campaign_messages.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE campaign_rounds (
    campaign  VARCHAR NOT NULL,
    made_at   VARCHAR NOT NULL,
    round     VARCHAR NOT NULL,
    source_id VARCHAR NOT NULL,
    PRIMARY KEY (campaign, made_at)
);
COMMENT ON TABLE campaign_rounds IS 'Changes of who labels what in a campaign';
COMMENT ON COLUMN campaign_rounds.campaign IS 'campaign';
COMMENT ON COLUMN campaign_rounds.made_at IS 'ISO 8601, UTC';
COMMENT ON COLUMN campaign_rounds.round IS 'JSON: the change';
COMMENT ON COLUMN campaign_rounds.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE campaigns (
    campaign  VARCHAR PRIMARY KEY,
    plan      JSON NOT NULL,
    source_id VARCHAR NOT NULL
);
COMMENT ON TABLE campaigns IS 'Plans for labelling';
COMMENT ON COLUMN campaigns.campaign IS 'campaign';
COMMENT ON COLUMN campaigns.plan IS 'JSON: population, design, seed, annotators, labels';
COMMENT ON COLUMN campaigns.source_id IS 'source that the row came from, or that of the ledger';

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
    created    VARCHAR,
    source_id  VARCHAR NOT NULL,
    PRIMARY KEY (benchmark, case_id)
);
COMMENT ON TABLE cases IS 'A crash and its repair, with the labels of the benchmark';
COMMENT ON COLUMN cases.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN cases.case_id IS 'case, unique in its benchmark';
COMMENT ON COLUMN cases.library IS 'library that raised it, in the words of the benchmark';
COMMENT ON COLUMN cases.root_cause IS 'root cause, in the words of the benchmark';
COMMENT ON COLUMN cases.exception IS 'class of the exception';
COMMENT ON COLUMN cases.crash_type IS 'type of crash, in the words of the benchmark';
COMMENT ON COLUMN cases.stage IS 'stage of the machine-learning pipeline, in the words of the benchmark';
COMMENT ON COLUMN cases.message IS 'message of the exception';
COMMENT ON COLUMN cases.traceback IS 'traceback of the crash';
COMMENT ON COLUMN cases.diagnosis IS 'why it crashes, as the benchmark says';
COMMENT ON COLUMN cases.created IS 'when the notebook was written: a day or a month, ISO 8601; null if not stated';
COMMENT ON COLUMN cases.source_id IS 'source that the row came from, or that of the ledger';

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
    source_id       VARCHAR NOT NULL
);
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

CREATE TABLE detectors (
    detector  VARCHAR PRIMARY KEY,
    title     VARCHAR NOT NULL,
    kind      VARCHAR NOT NULL,
    source_id VARCHAR NOT NULL
);
COMMENT ON TABLE detectors IS 'Who predicts: models, analyzers, rules';
COMMENT ON COLUMN detectors.detector IS 'id of the detector';
COMMENT ON COLUMN detectors.title IS 'name, for people';
COMMENT ON COLUMN detectors.kind IS 'llm, analyzer, rules; rehearsal or repair (execute the target, predict nothing)';
COMMENT ON COLUMN detectors.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE instances (
    benchmark   VARCHAR NOT NULL,
    case_id     VARCHAR NOT NULL,
    version     VARCHAR NOT NULL,
    instance_id VARCHAR NOT NULL,
    crashes     BOOLEAN NOT NULL,
    remark      VARCHAR,
    source_id   VARCHAR NOT NULL
);
COMMENT ON TABLE instances IS 'One notebook of a case, at the moment before its target cell runs';
COMMENT ON COLUMN instances.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN instances.case_id IS 'case, unique in its benchmark';
COMMENT ON COLUMN instances.version IS 'reproduced (crashes) or fixed';
COMMENT ON COLUMN instances.instance_id IS 'instance, named CASE_VERSION';
COMMENT ON COLUMN instances.crashes IS 'ground truth: whether the target cell crashes';
COMMENT ON COLUMN instances.remark IS 'remark of the benchmark';
COMMENT ON COLUMN instances.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE inventory_acts (
    kind      VARCHAR NOT NULL,
    name      VARCHAR NOT NULL,
    action    VARCHAR NOT NULL,
    acted_at  VARCHAR NOT NULL,
    acted_by  VARCHAR NOT NULL,
    title     VARCHAR,
    held      VARCHAR,
    source_id VARCHAR NOT NULL,
    reason    VARCHAR,
    PRIMARY KEY (kind, name, acted_at, action)
);
COMMENT ON TABLE inventory_acts IS 'What was removed, restored or renamed; what is removed is not loaded';
COMMENT ON COLUMN inventory_acts.kind IS 'benchmark, source, run, campaign or answer';
COMMENT ON COLUMN inventory_acts.name IS 'its id';
COMMENT ON COLUMN inventory_acts.action IS 'remove, restore or rename';
COMMENT ON COLUMN inventory_acts.acted_at IS 'ISO 8601, UTC';
COMMENT ON COLUMN inventory_acts.acted_by IS 'who did it';
COMMENT ON COLUMN inventory_acts.title IS 'its new name, for people';
COMMENT ON COLUMN inventory_acts.held IS 'what it held when it was removed, in words';
COMMENT ON COLUMN inventory_acts.reason IS 'why an answer is invalid';
COMMENT ON COLUMN inventory_acts.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE jobs (
    job        VARCHAR PRIMARY KEY,
    benchmark  VARCHAR NOT NULL,
    detector   VARCHAR NOT NULL,
    setting    VARCHAR NOT NULL,
    options    VARCHAR NOT NULL,
    started_at VARCHAR NOT NULL,
    source_id  VARCHAR NOT NULL
);
COMMENT ON TABLE jobs IS 'A detector set to work on a benchmark in one setting';
COMMENT ON COLUMN jobs.job IS 'name of the job, and the experiment of its answers';
COMMENT ON COLUMN jobs.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN jobs.detector IS 'detector';
COMMENT ON COLUMN jobs.setting IS
    'what it was shown besides the code: code, runtime, runtime-S, runtime-R, runtime-V, runtime+docs or runtime+';
COMMENT ON COLUMN jobs.options IS
    'JSON: what else shaped the answers, such as model, address, template, temperature, seed';
COMMENT ON COLUMN jobs.started_at IS 'ISO 8601, UTC';
COMMENT ON COLUMN jobs.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE judge_jobs (
    job        VARCHAR PRIMARY KEY,
    benchmark  VARCHAR NOT NULL,
    experiment VARCHAR NOT NULL,
    annotator  VARCHAR NOT NULL,
    options    VARCHAR NOT NULL,
    started_at VARCHAR NOT NULL,
    source_id  VARCHAR NOT NULL
);
COMMENT ON TABLE judge_jobs IS 'A model set to judge the diagnoses of an experiment';
COMMENT ON COLUMN judge_jobs.job IS 'job';
COMMENT ON COLUMN judge_jobs.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN judge_jobs.experiment IS
    'release or job that the answer belongs to; repeats of a study are not mixed in one vote';
COMMENT ON COLUMN judge_jobs.annotator IS 'name of its labels';
COMMENT ON COLUMN judge_jobs.options IS
    'JSON: what else shaped the answers, such as model, address, template, temperature, seed';
COMMENT ON COLUMN judge_jobs.started_at IS 'ISO 8601, UTC';
COMMENT ON COLUMN judge_jobs.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE judge_replies (
    job             VARCHAR NOT NULL,
    benchmark       VARCHAR NOT NULL,
    instance_id     VARCHAR NOT NULL,
    detector        VARCHAR NOT NULL,
    setting         VARCHAR NOT NULL,
    experiment      VARCHAR NOT NULL,
    annotator       VARCHAR NOT NULL,
    run_index       INTEGER NOT NULL,
    repetition      INTEGER NOT NULL,
    presentation    VARCHAR NOT NULL,
    prompt          VARCHAR NOT NULL,
    answered_at     VARCHAR NOT NULL,
    text            VARCHAR,
    trouble         VARCHAR,
    finish_reason   VARCHAR,
    seconds         DOUBLE,
    attempts        INTEGER NOT NULL,
    input_tokens    INTEGER,
    output_tokens   INTEGER,
    usd             DOUBLE,
    source_id       VARCHAR NOT NULL,
    guideline       VARCHAR,
    campaign        VARCHAR,
    labels          VARCHAR,
    is_usd_reported BOOLEAN,
    PRIMARY KEY (job, benchmark, instance_id, detector, setting, experiment, run_index, repetition, presentation)
);
COMMENT ON TABLE judge_replies IS 'What a judge sent back, before it was read';
COMMENT ON COLUMN judge_replies.job IS 'job';
COMMENT ON COLUMN judge_replies.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN judge_replies.instance_id IS 'instance, named CASE_VERSION';
COMMENT ON COLUMN judge_replies.detector IS 'detector';
COMMENT ON COLUMN judge_replies.setting IS
    'what it was shown besides the code: code, runtime, runtime-S, runtime-R, runtime-V, runtime+docs or runtime+';
COMMENT ON COLUMN judge_replies.experiment IS
    'release or job that the answer belongs to; repeats of a study are not mixed in one vote';
COMMENT ON COLUMN judge_replies.annotator IS 'name of its labels';
COMMENT ON COLUMN judge_replies.run_index IS 'run whose diagnosis is judged, from 1';
COMMENT ON COLUMN judge_replies.repetition IS 'from 1: how often a judge was asked before, and now';
COMMENT ON COLUMN judge_replies.presentation IS 'order of the two texts that a judge was shown: normal or reversed';
COMMENT ON COLUMN judge_replies.prompt IS 'the exact text that the judge was shown';
COMMENT ON COLUMN judge_replies.answered_at IS 'ISO 8601, UTC';
COMMENT ON COLUMN judge_replies.text IS 'the reply, null if nothing came';
COMMENT ON COLUMN judge_replies.trouble IS 'why there is no text, null if there is one';
COMMENT ON COLUMN judge_replies.finish_reason IS 'why the model stopped, as the endpoint said';
COMMENT ON COLUMN judge_replies.seconds IS 'from the first attempt to the answer';
COMMENT ON COLUMN judge_replies.attempts IS 'requests that were sent';
COMMENT ON COLUMN judge_replies.input_tokens IS 'counted by the endpoint, null where unknown';
COMMENT ON COLUMN judge_replies.output_tokens IS 'counted by the endpoint, null where unknown';
COMMENT ON COLUMN judge_replies.usd IS 'cost by the price in the job''s options, null where unknown';
COMMENT ON COLUMN judge_replies.source_id IS 'source that the row came from, or that of the ledger';
COMMENT ON COLUMN judge_replies.guideline IS 'version of the guideline that was shown';
COMMENT ON COLUMN judge_replies.campaign IS 'campaign whose own labels the judge could give, else null';
COMMENT ON COLUMN judge_replies.labels IS 'codes of these labels, with commas between, else null';
COMMENT ON COLUMN judge_replies.is_usd_reported IS
    'true if the endpoint reported the cost; null if it is tokens times price';

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
    guideline      VARCHAR,
    campaign       VARCHAR
);
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

CREATE TABLE kernel_states (
    benchmark   VARCHAR NOT NULL,
    instance_id VARCHAR NOT NULL,
    setting     VARCHAR NOT NULL,
    origin      VARCHAR NOT NULL,
    state       JSON NOT NULL,
    n_variables INTEGER NOT NULL,
    is_literal  BOOLEAN NOT NULL,
    source_id   VARCHAR NOT NULL
);
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

CREATE TABLE key_choices (
    annotator VARCHAR NOT NULL,
    chosen_at VARCHAR NOT NULL,
    chosen    VARCHAR NOT NULL,
    source_id VARCHAR NOT NULL,
    PRIMARY KEY (annotator, chosen_at)
);
COMMENT ON TABLE key_choices IS
    'Keys that a person chose for labelling and deciding; the last row of a person is in force';
COMMENT ON COLUMN key_choices.annotator IS 'whose keys';
COMMENT ON COLUMN key_choices.chosen_at IS 'in force from then on; ISO 8601, UTC';
COMMENT ON COLUMN key_choices.chosen IS 'JSON: whether single keys are off, and the key of each changed action';
COMMENT ON COLUMN key_choices.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE ledger_files (
    path           VARCHAR PRIMARY KEY,
    loaded_bytes   BIGINT NOT NULL,
    last_line_from BIGINT NOT NULL,
    last_line_sha  VARCHAR NOT NULL
);
COMMENT ON TABLE ledger_files IS 'How far each file of the ledger is loaded';
COMMENT ON COLUMN ledger_files.path IS 'file, relative to the ledger';
COMMENT ON COLUMN ledger_files.loaded_bytes IS 'bytes that are loaded';
COMMENT ON COLUMN ledger_files.last_line_from IS 'byte where the last loaded line begins';
COMMENT ON COLUMN ledger_files.last_line_sha IS 'SHA-256 of that line';

CREATE TABLE load_problems (
    source_id VARCHAR NOT NULL,
    ordinal   INTEGER NOT NULL,
    kind      VARCHAR NOT NULL,
    path      VARCHAR NOT NULL,
    place     VARCHAR NOT NULL,
    reason    VARCHAR NOT NULL,
    PRIMARY KEY (source_id, ordinal)
);
COMMENT ON TABLE load_problems IS 'Records that did not come in as they are: which file, where in it, why';
COMMENT ON COLUMN load_problems.source_id IS 'source that the row came from, or that of the ledger';
COMMENT ON COLUMN load_problems.ordinal IS 'place in the source, from 0';
COMMENT ON COLUMN load_problems.kind IS 'unreadable, contradiction or waiting (nobody has brought the instance yet)';
COMMENT ON COLUMN load_problems.path IS 'file in the source';
COMMENT ON COLUMN load_problems.place IS 'where in the file';
COMMENT ON COLUMN load_problems.reason IS 'why';

-- An instance whose state was captured anew has another prompt; that of older answers stays.
CREATE TABLE prompts (
    benchmark   VARCHAR NOT NULL,
    instance_id VARCHAR NOT NULL,
    setting     VARCHAR NOT NULL,
    origin      VARCHAR NOT NULL,
    sha256      VARCHAR NOT NULL,
    text        VARCHAR NOT NULL,
    source_id   VARCHAR NOT NULL
);
COMMENT ON TABLE prompts IS 'The exact texts that detectors were shown';
COMMENT ON COLUMN prompts.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN prompts.instance_id IS 'instance, named CASE_VERSION';
COMMENT ON COLUMN prompts.setting IS
    'what it was shown besides the code: code, runtime, runtime-S, runtime-R, runtime-V, runtime+docs or runtime+';
COMMENT ON COLUMN prompts.origin IS 'which text of the notebook; texts of different origins are not joined by position';
COMMENT ON COLUMN prompts.sha256 IS 'SHA-256 of the bytes';
COMMENT ON COLUMN prompts.text IS 'the text';
COMMENT ON COLUMN prompts.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE published_numbers (
    publication VARCHAR NOT NULL,
    table_id    VARCHAR NOT NULL,
    "row"       VARCHAR NOT NULL,
    "column"    VARCHAR NOT NULL,
    printed     VARCHAR NOT NULL,
    unit        VARCHAR NOT NULL,
    source_id   VARCHAR NOT NULL,
    ordinal     INTEGER NOT NULL,
    PRIMARY KEY (publication, table_id, "row", "column")
);
COMMENT ON TABLE published_numbers IS 'The cells of tables in publications';
COMMENT ON COLUMN published_numbers.publication IS 'publication';
COMMENT ON COLUMN published_numbers.table_id IS 'table';
COMMENT ON COLUMN published_numbers."row" IS 'row';
COMMENT ON COLUMN published_numbers."column" IS 'column';
COMMENT ON COLUMN published_numbers.printed IS 'the cell''s text, with its digits';
COMMENT ON COLUMN published_numbers.unit IS 'unit';
COMMENT ON COLUMN published_numbers.source_id IS 'source that the row came from, or that of the ledger';
COMMENT ON COLUMN published_numbers.ordinal IS 'place in the source, from 0';

CREATE TABLE replies (
    job             VARCHAR NOT NULL,
    benchmark       VARCHAR NOT NULL,
    instance_id     VARCHAR NOT NULL,
    detector        VARCHAR NOT NULL,
    setting         VARCHAR NOT NULL,
    run_index       INTEGER NOT NULL,
    prompt_sha256   VARCHAR NOT NULL,
    answered_at     VARCHAR NOT NULL,
    text            VARCHAR,
    trouble         VARCHAR,
    finish_reason   VARCHAR,
    seconds         DOUBLE,
    attempts        INTEGER NOT NULL,
    input_tokens    INTEGER,
    output_tokens   INTEGER,
    usd             DOUBLE,
    source_id       VARCHAR NOT NULL,
    is_usd_reported BOOLEAN,
    chance          DOUBLE,
    PRIMARY KEY (job, benchmark, instance_id, run_index)
);
COMMENT ON TABLE replies IS 'What a model sent back, before it was read';
COMMENT ON COLUMN replies.job IS 'job';
COMMENT ON COLUMN replies.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN replies.instance_id IS 'instance, named CASE_VERSION';
COMMENT ON COLUMN replies.detector IS 'detector';
COMMENT ON COLUMN replies.setting IS
    'what it was shown besides the code: code, runtime, runtime-S, runtime-R, runtime-V, runtime+docs or runtime+';
COMMENT ON COLUMN replies.run_index IS 'from 1';
COMMENT ON COLUMN replies.prompt_sha256 IS 'SHA-256 of the prompt''s UTF-8 bytes';
COMMENT ON COLUMN replies.answered_at IS 'ISO 8601, UTC';
COMMENT ON COLUMN replies.text IS 'the reply, null if nothing came';
COMMENT ON COLUMN replies.trouble IS 'why there is no text, null if there is one';
COMMENT ON COLUMN replies.finish_reason IS 'why the model stopped, as the endpoint said';
COMMENT ON COLUMN replies.seconds IS 'from the first attempt to the answer';
COMMENT ON COLUMN replies.attempts IS 'requests that were sent';
COMMENT ON COLUMN replies.input_tokens IS 'counted by the endpoint, null where unknown';
COMMENT ON COLUMN replies.output_tokens IS 'counted by the endpoint, null where unknown';
COMMENT ON COLUMN replies.usd IS 'cost by the price in the job''s options, null where unknown';
COMMENT ON COLUMN replies.source_id IS 'source that the row came from, or that of the ledger';
COMMENT ON COLUMN replies.is_usd_reported IS 'true if the endpoint reported the cost; null if it is tokens times price';
COMMENT ON COLUMN replies.chance IS 'probability of the tokens that spell the detection; null if the endpoint did not tell it';

CREATE TABLE rereads (
    job               VARCHAR NOT NULL,
    benchmark         VARCHAR NOT NULL,
    instance_id       VARCHAR NOT NULL,
    detector          VARCHAR NOT NULL,
    setting           VARCHAR NOT NULL,
    run_index         INTEGER NOT NULL,
    read_at           VARCHAR NOT NULL,
    crashes_before    BOOLEAN,
    unanswered_before VARCHAR,
    crashes_after     BOOLEAN,
    unanswered_after  VARCHAR,
    source_id         VARCHAR NOT NULL,
    PRIMARY KEY (job, benchmark, instance_id, run_index, read_at)
);
COMMENT ON TABLE rereads IS
    'What replies were read as when they were loaded, where a later reading says something else';
COMMENT ON COLUMN rereads.job IS 'job';
COMMENT ON COLUMN rereads.benchmark IS 'benchmark';
COMMENT ON COLUMN rereads.instance_id IS 'instance';
COMMENT ON COLUMN rereads.detector IS 'detector';
COMMENT ON COLUMN rereads.setting IS 'what the detector was shown besides the code';
COMMENT ON COLUMN rereads.run_index IS 'which of the runs, counted from 1';
COMMENT ON COLUMN rereads.read_at IS 'when it was read again; ISO 8601, UTC';
COMMENT ON COLUMN rereads.crashes_before IS 'the verdict before; null if none could be read';
COMMENT ON COLUMN rereads.unanswered_before IS 'why there was no verdict before';
COMMENT ON COLUMN rereads.crashes_after IS 'the verdict from then on; null if none can be read';
COMMENT ON COLUMN rereads.unanswered_after IS 'why there is none from then on';
COMMENT ON COLUMN rereads.source_id IS 'source that the row came from, or that of the ledger';

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
    input_tokens  INTEGER,
    output_tokens INTEGER,
    seconds       DOUBLE,
    usd           DOUBLE
);
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
COMMENT ON COLUMN runs.input_tokens IS 'of an imported answer, as its file says; of a local job see replies';
COMMENT ON COLUMN runs.output_tokens IS 'of an imported answer, as its file says; of a local job see replies';
COMMENT ON COLUMN runs.seconds IS 'from question to answer of an imported answer, as its file says';
COMMENT ON COLUMN runs.usd IS 'cost of an imported answer, as its file says';
COMMENT ON COLUMN runs.source_id IS 'source that the row came from, or that of the ledger';

CREATE TABLE source_counts (
    source_id VARCHAR NOT NULL,
    record    VARCHAR NOT NULL,
    n_read    INTEGER NOT NULL,
    n_new     INTEGER NOT NULL,
    PRIMARY KEY (source_id, record)
);
COMMENT ON TABLE source_counts IS 'How many records of each kind a source held, and how many of them were new';
COMMENT ON COLUMN source_counts.source_id IS 'source that the row came from, or that of the ledger';
COMMENT ON COLUMN source_counts.record IS 'table';
COMMENT ON COLUMN source_counts.n_read IS 'records read';
COMMENT ON COLUMN source_counts.n_new IS 'records that no earlier source had';

CREATE TABLE sources (
    source_id   VARCHAR PRIMARY KEY,
    kind        VARCHAR NOT NULL,
    name        VARCHAR NOT NULL,
    sha256      VARCHAR NOT NULL,
    n_bytes     BIGINT NOT NULL,
    imported_at TIMESTAMP,
    n_problems  INTEGER NOT NULL
);
COMMENT ON TABLE sources IS 'What was imported, and what ships with the program';
COMMENT ON COLUMN sources.source_id IS 'id of the source';
COMMENT ON COLUMN sources.kind IS 'importer that read it';
COMMENT ON COLUMN sources.name IS 'name, for people';
COMMENT ON COLUMN sources.sha256 IS 'SHA-256 of the bytes';
COMMENT ON COLUMN sources.n_bytes IS 'size';
COMMENT ON COLUMN sources.imported_at IS 'UTC; null if it ships with the program';
COMMENT ON COLUMN sources.n_problems IS 'rows in load_problems';

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
COMMENT ON TABLE verifications IS
    'Notebooks of pairs that were executed, the newest outcome of each in each environment';
COMMENT ON COLUMN verifications.benchmark IS 'benchmark';
COMMENT ON COLUMN verifications.case_id IS 'case';
COMMENT ON COLUMN verifications.version IS 'reproduced (crashes) or fixed';
COMMENT ON COLUMN verifications.environment IS 'digest of the interpreter and its packages';
COMMENT ON COLUMN verifications.content IS 'sha256 of the notebook, its claim and the files beside it';
COMMENT ON COLUMN verifications.python IS 'version of the interpreter';
COMMENT ON COLUMN verifications.outcome IS
    'as recorded, cannot run here, stopped at a limit, or in which way the pair is not what it claims to be';
COMMENT ON COLUMN verifications.verified_at IS 'ISO 8601, UTC';
COMMENT ON COLUMN verifications.seconds IS 'wall time of all cells; null if none ran';
COMMENT ON COLUMN verifications.recorded IS 'exception that the crashing notebook claims';
COMMENT ON COLUMN verifications.exception IS 'exception that was raised';
COMMENT ON COLUMN verifications.message IS 'its message';
COMMENT ON COLUMN verifications.cell IS 'code cell that ended it, counted from 0';
COMMENT ON COLUMN verifications.why IS 'reason, for people';
COMMENT ON COLUMN verifications.source_id IS 'source that the row came from, or that of the ledger';

CREATE VIEW job_totals AS
SELECT j.job, j.benchmark, j.detector, j.setting, j.started_at,
       count(r.answered_at) AS n_replies,
       count(*) FILTER (r.answered_at IS NOT NULL AND r.text IS NULL) AS n_without_text,
       sum(r.input_tokens) AS input_tokens, sum(r.output_tokens) AS output_tokens, sum(r.usd) AS usd,
       max(r.answered_at) AS last_answer_at
FROM jobs j LEFT JOIN replies r USING (job)
GROUP BY ALL;
COMMENT ON VIEW job_totals IS 'One row per job: how many replies it has, their tokens and what they cost';
COMMENT ON COLUMN job_totals.job IS 'name of the job, and the experiment of its answers';
COMMENT ON COLUMN job_totals.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN job_totals.detector IS 'detector';
COMMENT ON COLUMN job_totals.setting IS
    'what it was shown besides the code: code, runtime, runtime-S, runtime-R, runtime-V, runtime+docs or runtime+';
COMMENT ON COLUMN job_totals.started_at IS 'ISO 8601, UTC';
COMMENT ON COLUMN job_totals.n_replies IS 'replies that are stored';
COMMENT ON COLUMN job_totals.n_without_text IS 'replies that are errors';
COMMENT ON COLUMN job_totals.input_tokens IS 'sum of what the endpoint counted';
COMMENT ON COLUMN job_totals.output_tokens IS 'sum of what the endpoint counted';
COMMENT ON COLUMN job_totals.usd IS 'sum of the known costs, null if none is known';
COMMENT ON COLUMN job_totals.last_answer_at IS 'ISO 8601, UTC';

CREATE VIEW pairs AS
SELECT c.benchmark, c.case_id, c.library, c.root_cause, c.exception, c.crash_type, c.stage, c.message, c.diagnosis,
       max(i.instance_id) FILTER (i.crashes) AS crashing_instance,
       max(i.instance_id) FILTER (NOT i.crashes) AS fixed_instance
FROM cases c LEFT JOIN instances i USING (benchmark, case_id)
GROUP BY ALL;
COMMENT ON VIEW pairs IS 'One row per case: its labels, its crashing and its fixed notebook';
COMMENT ON COLUMN pairs.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN pairs.case_id IS 'case, unique in its benchmark';
COMMENT ON COLUMN pairs.library IS 'library that raised it, in the words of the benchmark';
COMMENT ON COLUMN pairs.root_cause IS 'root cause, in the words of the benchmark';
COMMENT ON COLUMN pairs.exception IS 'class of the exception';
COMMENT ON COLUMN pairs.crash_type IS 'type of crash, in the words of the benchmark';
COMMENT ON COLUMN pairs.stage IS 'stage of the machine-learning pipeline, in the words of the benchmark';
COMMENT ON COLUMN pairs.message IS 'message of the exception';
COMMENT ON COLUMN pairs.diagnosis IS 'why it crashes, as the benchmark says';
COMMENT ON COLUMN pairs.crashing_instance IS 'instance that crashes, null if there is none';
COMMENT ON COLUMN pairs.fixed_instance IS 'instance that is repaired, null if there is none';

-- The rule of crane_core.stats.vote, the label of crane_core.storage.verdicts.
CREATE VIEW verdicts AS
WITH answers AS (
    SELECT benchmark, instance_id, detector, setting, experiment,
           count(*) FILTER (crashes) AS n_crash,
           count(*) FILTER (NOT crashes) AS n_safe,
           count(*) FILTER (crashes IS NULL AND run_index > 0) AS n_unanswered,
           count(*) FILTER (run_index = 0) AS n_skipped
    FROM runs GROUP BY ALL
), labels AS (
    SELECT benchmark, instance_id, detector, setting, experiment, label
    FROM judgements WHERE annotator = 'published human' || regexp_extract(experiment, '@.*$')
      AND run_index = 0 AND repetition = 1 AND presentation = 'normal'
)
SELECT a.benchmark, i.case_id, a.instance_id, i.version, c.library, c.root_cause, c.exception, c.crash_type, c.stage,
       a.detector, d.kind AS detector_kind, a.setting, a.experiment, i.crashes,
       a.n_crash, a.n_safe, a.n_unanswered, a.n_skipped,
       CASE WHEN a.n_crash + a.n_safe = 0 THEN 'unanswered' WHEN a.n_crash > a.n_safe THEN 'crash'
            WHEN a.n_safe > a.n_crash THEN 'safe' ELSE 'tie' END AS vote,
       CASE WHEN a.n_crash + a.n_safe > 0 THEN (a.n_crash > a.n_safe) = i.crashes END AS is_right,
       labels.label AS human_label
FROM answers a
JOIN instances i USING (benchmark, instance_id)
JOIN cases c ON c.benchmark = a.benchmark AND c.case_id = i.case_id
JOIN detectors d USING (detector)
LEFT JOIN labels USING (benchmark, instance_id, detector, setting, experiment);
COMMENT ON VIEW verdicts IS
    'One row per instance, detector, setting and experiment: its answers, their majority vote, the human label';
COMMENT ON COLUMN verdicts.benchmark IS 'benchmark of the instance';
COMMENT ON COLUMN verdicts.case_id IS 'case, unique in its benchmark';
COMMENT ON COLUMN verdicts.instance_id IS 'instance, named CASE_VERSION';
COMMENT ON COLUMN verdicts.version IS 'reproduced (crashes) or fixed';
COMMENT ON COLUMN verdicts.library IS 'library that raised it, in the words of the benchmark';
COMMENT ON COLUMN verdicts.root_cause IS 'root cause, in the words of the benchmark';
COMMENT ON COLUMN verdicts.exception IS 'class of the exception';
COMMENT ON COLUMN verdicts.crash_type IS 'type of crash, in the words of the benchmark';
COMMENT ON COLUMN verdicts.stage IS 'stage of the machine-learning pipeline, in the words of the benchmark';
COMMENT ON COLUMN verdicts.detector IS 'detector';
COMMENT ON COLUMN verdicts.setting IS
    'what it was shown besides the code: code, runtime, runtime-S, runtime-R, runtime-V, runtime+docs or runtime+';
COMMENT ON COLUMN verdicts.experiment IS
    'release or job that the answer belongs to; repeats of a study are not mixed in one vote';
COMMENT ON COLUMN verdicts.detector_kind IS 'llm, analyzer, rules; rehearsal or repair (execute the target, predict nothing)';
COMMENT ON COLUMN verdicts.crashes IS 'ground truth: whether the target cell crashes';
COMMENT ON COLUMN verdicts.n_crash IS 'runs that predict a crash';
COMMENT ON COLUMN verdicts.n_safe IS 'runs that predict none';
COMMENT ON COLUMN verdicts.n_unanswered IS 'runs without a readable answer';
COMMENT ON COLUMN verdicts.n_skipped IS '1 if the detector was never asked';
COMMENT ON COLUMN verdicts.vote IS 'crash, safe, tie or unanswered: more than half of the answered runs decide';
COMMENT ON COLUMN verdicts.is_right IS 'whether the vote is right; a tie counts as no crash, null if unanswered';
COMMENT ON COLUMN verdicts.human_label IS 'outcome that the people of the study gave, null if none';
