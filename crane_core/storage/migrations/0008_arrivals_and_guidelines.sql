ALTER TABLE annotations ADD COLUMN received_at VARCHAR;
ALTER TABLE annotations ADD COLUMN source VARCHAR;
ALTER TABLE judgements ADD COLUMN guideline VARCHAR;
ALTER TABLE judge_replies ADD COLUMN guideline VARCHAR;
