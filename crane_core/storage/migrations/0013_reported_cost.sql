ALTER TABLE replies ADD COLUMN is_usd_reported BOOLEAN;
ALTER TABLE judge_replies ADD COLUMN is_usd_reported BOOLEAN;
COMMENT ON COLUMN replies.is_usd_reported IS 'true if the endpoint reported the cost; null if it is tokens times price';
COMMENT ON COLUMN judge_replies.is_usd_reported IS
    'true if the endpoint reported the cost; null if it is tokens times price';
