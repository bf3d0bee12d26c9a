ALTER TABLE judgements ADD COLUMN campaign VARCHAR;
ALTER TABLE judge_replies ADD COLUMN campaign VARCHAR;
ALTER TABLE judge_replies ADD COLUMN labels VARCHAR;
COMMENT ON COLUMN judgements.campaign IS 'campaign whose own labels a judge gave, else null';
COMMENT ON COLUMN judge_replies.campaign IS 'campaign whose own labels the judge could give, else null';
COMMENT ON COLUMN judge_replies.labels IS 'codes of these labels, with commas between, else null';
