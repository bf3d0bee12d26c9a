COMMENT ON COLUMN detectors.kind IS 'llm, analyzer, rules, or rehearsal (executes the target, predicts nothing)';
COMMENT ON COLUMN verdicts.detector_kind IS 'llm, analyzer, rules, or rehearsal (executes the target, predicts nothing)';
